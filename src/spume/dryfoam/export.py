"""Export of a dry foam as SVG with exact arcs; `spume.exports` has the other formats."""

from pathlib import Path

import numpy as np

from spume.dryfoam.drawing import box_translation, cell_half_edges, cell_outlines, half_edge_chords, wall_outline
from spume.dryfoam.network.half_edges import Floats, Network
from spume.dryfoam.network.walls import corner_paths


def _cell_path(network: Network, loop: list[int], chords: Floats, corners: dict[int, Floats]) -> str:
    """SVG path of a cell: one arc per film. SVG's y axis points down, so y and the sense of arcs are reversed."""
    ends = np.cumsum(chords[loop], axis=0)
    start = network.positions[network.origin[loop[0]]]
    start = start + box_translation(network, start + ends.mean(axis=0))
    words = [f"M {start[0]:.9g} {-start[1]:.9g}"]
    for h, end in zip(loop, start + ends, strict=True):
        theta = network.half_angles[h >> 1] * (1.0 if h % 2 == 0 else -1.0)
        words += [f"L {x:.9g} {-y:.9g}" for x, y in corners.get(h, np.zeros((0, 2)))[1:-1]]
        if abs(theta) < 1e-7:
            words.append(f"L {end[0]:.9g} {-end[1]:.9g}")
            continue
        radius = np.hypot(*chords[h]) / (2.0 * abs(np.sin(theta)))
        large, sweep = int(2.0 * abs(theta) > np.pi), int(theta < 0)
        words.append(f"A {radius:.9g} {radius:.9g} 0 {large} {sweep} {end[0]:.9g} {-end[1]:.9g}")
    return " ".join([*words, "Z"])


def save_svg(network: Network, path: str | Path) -> None:
    """Write the foam as SVG, with every film as an exact circular arc and every cell as a path with its number and
    pressure."""
    outlines = np.concatenate(cell_outlines(network))
    low, high = outlines.min(axis=0), outlines.max(axis=0)
    width = 0.02 * np.sqrt(network.targets.mean())
    span = high - low
    lines = [
        '<svg xmlns="http://www.w3.org/2000/svg" '
        f'viewBox="{low[0] - width:.9g} {-high[1] - width:.9g} {span[0] + 2 * width:.9g} {span[1] + 2 * width:.9g}">',
        f'<g fill="white" stroke="black" stroke-width="{width:.4g}" stroke-linejoin="round">',
    ]
    if network.is_lone and network.is_closed:
        corners = " L ".join(f"{x:.9g} {-y:.9g}" for x, y in wall_outline(network))
        lines.append(f'<path id="cell-{network.labels[0]}" d="M {corners} Z"/>')
    elif network.is_lone:
        x, y = network.positions[0]
        lines.append(f'<circle cx="{x:.9g}" cy="{-y:.9g}" r="{np.sqrt(network.targets[0] / np.pi):.9g}"/>')
    else:
        chords, turns = half_edge_chords(network), dict(corner_paths(network))
        for f, loop in enumerate(cell_half_edges(network)):
            data = f'id="cell-{network.labels[f]}" data-pressure="{network.pressures[f]:.9g}"'
            lines.append(f'<path {data} d="{_cell_path(network, loop, chords, turns)}"/>')
    lines += ["</g>", "</svg>", ""]
    Path(path).write_text("\n".join(lines), encoding="utf-8")
