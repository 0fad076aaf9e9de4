"""Display of frames and runs in notebooks: a picture of the points and a list of their fields.

The picture is made with NumPy alone, in a fraction of a second: each point is a small shaded ball seen from a fixed
direction. For better pictures use `spume render`.
"""

import base64
import struct
import zlib
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from spume.frames.populations import FramePopulations
from spume.frames.quantities import spatial

if TYPE_CHECKING:
    from spume.frames.reader import Run

WIDTH, HEIGHT, BORDER = 420, 280, 8
MOST_POINTS = 40_000
"""Maximum number of points drawn; of more, an even selection."""
BACKGROUND = (246, 246, 244)
PALETTE = np.array([(86, 133, 170), (214, 149, 90), (112, 158, 104), (176, 106, 128), (134, 120, 176), (150, 140, 110)])
"""Colours of materials, by their index."""
AZIMUTH, ELEVATION = np.radians(30.0), np.radians(20.0)

Pixels = NDArray[np.uint8]


def frame_html(frame: FramePopulations) -> str:
    """HTML of a frame."""
    time = vars(frame).get("time")  # a field may have this name, too
    heading = "Frame" if time is None else f"Frame {frame.number}, {time:g} s"
    return _side_by_side(point_picture(frame), f"<b>{heading}</b>{_fields(frame)}")


def run_html(run: "Run") -> str:
    """HTML of a run: its last frame and its state."""
    state = "complete" if run.complete else f"unfinished: spume.resume({str(run.path)!r})"
    rows = [("folder", str(run.path)), ("scene", run.name), ("method", run.method), ("state", state)]
    if not len(run):
        return _side_by_side(None, f"<b>{escape(run.title)}</b>{_table([*rows, ('frames', '0')])}")
    last = run.diagnostics[-1]
    rows += [("frames", f"{len(run)}, 0 to {last['time']:g} s")]
    rows += [(key, f"{last[key]:,}") for key in ("points", "steps") if isinstance(last.get(key), int)]
    return _side_by_side(point_picture(run[-1]), f"<b>{escape(run.title)}</b>{_table(rows)}")


def _fields(frame: FramePopulations) -> str:
    parts = []
    for name, population in frame.populations.items():
        units = {field.name: field for field in population.declared.fields}
        count = len(population[next(iter(population))]) if len(population) else 0
        rows = [(each, f"{units[each].unit}  {units[each].description}") for each in population]
        parts.append(f"<div>{escape(name)}: {count:,} {escape(population.declared.kind)}</div>{_table(rows)}")
    return "".join(parts)


def _table(rows: list[tuple[str, str]]) -> str:
    cells = (
        f"<tr><td style='text-align:left'>{escape(a)}</td><td style='text-align:left'>{escape(b)}</td></tr>"
        for a, b in rows
    )
    return f"<table>{''.join(cells)}</table>"


def _side_by_side(picture: Pixels | None, text: str) -> str:
    image = ""
    if picture is not None:
        data = base64.b64encode(png(picture)).decode()
        image = f"<img width='{WIDTH}' height='{HEIGHT}' src='data:image/png;base64,{data}'>"
    return f"<div style='display:flex;gap:1em;align-items:flex-start'>{image}<div>{text}</div></div>"


def point_picture(frame: FramePopulations) -> Pixels | None:
    """The points and vertices of a frame as shaded balls, shape (height, width, 3); None if it has no positions."""
    shown = [each for each in frame.of_kind("points", "mesh") if len(each["x"])]
    if not shown:
        return None
    x = np.concatenate([spatial(each["x"]) for each in shown])
    material = np.concatenate([np.asarray(each.get("material", np.zeros(len(each["x"]), int))) for each in shown])
    flat = all(each["x"].shape[1] == 2 for each in shown)
    chosen = np.linspace(0, len(x) - 1, min(len(x), MOST_POINTS)).astype(int)
    chosen = chosen[np.isfinite(x[chosen]).all(axis=1)]
    if not len(chosen):
        return None
    thinned = (len(x) / len(chosen)) ** (1 / (2 if flat else 3))
    x, material = x[chosen], material[chosen]
    across, up, depth = x.T if flat else _seen(x)
    scale = _scale(across, up)
    spacing = thinned * max((each.declared.spacing or 0.0) for each in shown)
    radius = int(np.clip(np.ceil(0.7 * spacing * scale), 2, 30))
    column = np.round((across - 0.5 * (across.min() + across.max())) * scale + WIDTH / 2).astype(int)
    row = np.round(HEIGHT / 2 - (up - 0.5 * (up.min() + up.max())) * scale).astype(int)
    return _paint(column, row, depth, PALETTE[material % len(PALETTE)], radius)


def _seen(x: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Coordinates across, up and towards the eye."""
    c, s = np.cos(AZIMUTH), np.sin(AZIMUTH)
    across, back = c * x[:, 0] - s * x[:, 2], s * x[:, 0] + c * x[:, 2]
    ce, se = np.cos(ELEVATION), np.sin(ELEVATION)
    return across, ce * x[:, 1] - se * back, se * x[:, 1] + ce * back


def _scale(across: NDArray[np.float64], up: NDArray[np.float64]) -> float:
    """Pixels per metre at which everything fits."""
    sizes = [(WIDTH - 2 * BORDER) / max(np.ptp(across), 1e-300), (HEIGHT - 2 * BORDER) / max(np.ptp(up), 1e-300)]
    return float(min(*sizes, 1e12))


def _paint(
    column: NDArray[Any], row: NDArray[Any], depth: NDArray[Any], color: NDArray[Any], radius: int
) -> NDArray[np.uint8]:
    """Balls of `radius` pixels, the nearer ones in front."""
    reach = np.arange(-radius + 1, radius)
    dx, dy = (grid.ravel() for grid in np.meshgrid(reach, reach))
    inside = dx * dx + dy * dy < radius * radius
    dx, dy = dx[inside], dy[inside]
    height = np.sqrt(1.0 - (dx * dx + dy * dy) / radius**2)
    light = 0.55 + 0.45 * np.clip(0.3 * dx / -radius + 0.5 * dy / -radius + 0.75 * height, 0.0, 1.0)
    order = np.argsort(depth, kind="stable")  # the last value written to a pixel stays
    picture = np.full((HEIGHT, WIDTH, 3), BACKGROUND, np.uint8)
    rows, columns = (row[order, None] + dy).ravel(), (column[order, None] + dx).ravel()
    shade = (color[order, None, :] * light[None, :, None]).reshape(-1, 3)
    seen = (rows >= 0) & (rows < HEIGHT) & (columns >= 0) & (columns < WIDTH)
    picture[rows[seen], columns[seen]] = shade[seen].astype(np.uint8)
    return picture


def png(picture: Pixels) -> bytes:
    """A picture as a PNG file."""
    height, width, _ = picture.shape
    lines = np.concatenate([np.zeros((height, 1), np.uint8), picture.reshape(height, -1)], axis=1)  # no filter
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    parts = ((b"IHDR", header), (b"IDAT", zlib.compress(lines.tobytes(), 6)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in parts
    )
