"""Display of frames and runs in notebooks: a picture of the points and a list of their fields.

The picture is made without any extra, in a fraction of a second: each point is a small shaded ball seen from a fixed
direction, among the obstacles and walls of the scene. For better pictures use `spume render`.
"""

import base64
import struct
import zlib
from collections.abc import Callable, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from spume.fields import OBSTACLE_POSES
from spume.frames.populations import FramePopulations
from spume.frames.quantities import spatial
from spume.geometry.motion import pose
from spume.scene.bodies import ObstacleTable
from spume.scene.common import Scene
from spume.scene.material_scene import MaterialScene
from spume.scene.surroundings import obstacles

if TYPE_CHECKING:
    from spume.frames.reader import Run

WIDTH, HEIGHT, BORDER = 420, 280, 8
MOST_POINTS = 40_000
"""Maximum number of points drawn; of more, an even selection."""
BACKGROUND = (246, 246, 244)
PALETTE = np.array([(86, 133, 170), (214, 149, 90), (112, 158, 104), (176, 106, 128), (134, 120, 176), (150, 140, 110)])
"""Colours of materials, by their index."""
AZIMUTH, ELEVATION = np.radians(30.0), np.radians(20.0)

SOLID = np.array([188, 186, 180])
"""Colour of obstacles and walls."""
ROOM = 0.8
"""Size of the points in a picture with obstacles, relative to one without."""
RAY_STEPS = 60

Pixels = NDArray[np.uint8]
Distance = Callable[[NDArray[np.float64]], NDArray[np.float64]]
"""Signed distances [m] of positions, shape (n, 3)."""


def frame_html(frame: FramePopulations, scene: Scene | None = None, at: float | None = None) -> str:
    """HTML of a frame, with the obstacles of `scene` at the time `at`."""
    time = vars(frame).get("time", at)  # a field may have this name, too
    heading = "Frame" if at is not None or time is None else f"Frame {frame.number}, {time:g} s"
    return _side_by_side(point_picture(frame, _solids(scene, frame, time or 0.0)), f"<b>{heading}</b>{_fields(frame)}")


def run_html(run: "Run") -> str:
    """HTML of a run: its last frame and its state."""
    state = "complete" if run.complete else f"unfinished: spume.resume({str(run.path)!r})"
    rows = [("folder", str(run.path)), ("scene", run.name), ("method", run.method), ("state", state)]
    if not len(run):
        return _side_by_side(None, f"<b>{escape(run.title)}</b>{_table([*rows, ('frames', '0')])}")
    last = run.diagnostics[-1]
    rows += [("frames", f"{len(run)}, 0 to {last['time']:g} s")]
    rows += [(key, f"{last[key]:,}") for key in ("points", "steps") if isinstance(last.get(key), int)]
    frame = run[-1]
    picture = point_picture(frame, _solids(run.scene, frame, last["time"]))
    return _side_by_side(picture, f"<b>{escape(run.title)}</b>{_table(rows)}")


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


def _solids(scene: Scene | None, frame: FramePopulations, time: float) -> list[Distance]:
    """Distances from the obstacles of a scene, at their poses in a frame, and from its lowest wall."""
    if not isinstance(scene, MaterialScene):
        return []
    poses = frame.populations.get(OBSTACLE_POSES.name)
    found = []
    for k, obstacle in enumerate(obstacles(scene)):
        R, p = (poses["rotation"][k], poses["position"][k]) if poses else _scripted(obstacle, time, scene.dimension)
        found.append(_placed(obstacle, R, p, scene.dimension))
    if (walls := scene.walls) is not None:
        lowest = float(walls.lower[1])
        found.append(lambda x: x[:, 1] - lowest)
    return found


def _scripted(obstacle: ObstacleTable, time: float, dimension: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Rotation and position of an obstacle by its motion, for frames of earlier versions."""
    at = pose(obstacle.motion, time, dimension)
    return at.R, at.p


def _placed(obstacle: ObstacleTable, R: NDArray[np.float64], p: NDArray[np.float64], dimension: int) -> Distance:
    from spume.geometry.sdf.compiler import compile_shape  # needs Numba, which frames without obstacles do not
    from spume.geometry.sdf.evaluation import distances

    program = compile_shape(obstacle.shape, dimension)
    return lambda x: distances(program, np.ascontiguousarray((x - p) @ R))


def point_picture(frame: FramePopulations, solids: Sequence[Distance] = ()) -> Pixels | None:
    """The points and vertices of a frame as shaded balls, shape (height, width, 3); None if it has no positions.
    `solids` give the distances [m] of positions from things to be drawn, too."""
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
    scale = _scale(across, up) * (ROOM if solids else 1.0)
    spacing = thinned * max((each.declared.spacing or 0.0) for each in shown)
    radius = int(np.clip(np.ceil(0.7 * spacing * scale), 2, 30))
    column = np.round((across - 0.5 * (across.min() + across.max())) * scale + WIDTH / 2).astype(int)
    row = np.round(HEIGHT / 2 - (up - 0.5 * (up.min() + up.max())) * scale).astype(int)
    middle = tuple(0.5 * (values.min() + values.max()) for values in (across, up))
    behind = _backdrop(solids, middle, scale, None if flat else depth)
    return _paint(column, row, depth, PALETTE[material % len(PALETTE)], radius, *behind)


def _backdrop(
    solids: Sequence[Distance], middle: tuple[float, ...], scale: float, depth: NDArray[np.float64] | None
) -> tuple[Pixels, NDArray[np.float64]]:
    """Picture of the solids, and how near to the eye each pixel is [m]. Without a depth it is a section, behind all
    points; otherwise rays are followed through the surroundings of the points by the distances."""
    picture = np.full((HEIGHT * WIDTH, 3), BACKGROUND, np.uint8)
    nearness = np.full(HEIGHT * WIDTH, -np.inf)
    row, column = (grid.ravel() for grid in np.mgrid[:HEIGHT, :WIDTH])
    across, up = middle[0] + (column - WIDTH / 2) / scale, middle[1] + (HEIGHT / 2 - row) / scale
    for distance in solids:
        if depth is None:
            inside = distance(np.stack([across, up, np.zeros_like(up)], axis=1)) < 0.0
            picture[inside] = SOLID
            continue
        reach = 0.5 * HEIGHT / scale
        here = np.full(len(up), depth.max() + reach)
        left = np.arange(len(up))
        for _ in range(RAY_STEPS):
            gap = distance(_unseen(across[left], up[left], here[left]))
            here[left] -= np.maximum(gap, 0.0)
            left = left[(gap > 0.2 / scale) & (here[left] > depth.min() - reach)]
        hit = (here > depth.min() - reach) & (here > nearness)
        hit[left] = False
        shade = np.clip((here[hit] - depth.min() + reach) / (np.ptp(depth) + 2 * reach), 0.0, 1.0)
        picture[hit], nearness[hit] = np.outer(0.75 + 0.25 * shade, SOLID).astype(np.uint8), here[hit]
    return picture.reshape(HEIGHT, WIDTH, 3), nearness.reshape(HEIGHT, WIDTH)


def _unseen(across: NDArray[np.float64], up: NDArray[np.float64], depth: NDArray[np.float64]) -> NDArray[np.float64]:
    """Positions from coordinates across, up and towards the eye: the inverse of `_seen`, which is a rotation."""
    rotation = np.stack(_seen(np.eye(3)))
    return np.stack([across, up, depth], axis=1) @ rotation


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
    column: NDArray[Any], row: NDArray[Any], depth: NDArray[Any], color: NDArray[Any], radius: int,
    picture: Pixels, nearness: NDArray[np.float64],
) -> Pixels:  # fmt: skip
    """Balls of `radius` pixels in a picture, the nearer ones in front, without those behind what is nearer."""
    reach = np.arange(-radius + 1, radius)
    dx, dy = (grid.ravel() for grid in np.meshgrid(reach, reach))
    inside = dx * dx + dy * dy < radius * radius
    dx, dy = dx[inside], dy[inside]
    height = np.sqrt(1.0 - (dx * dx + dy * dy) / radius**2)
    light = 0.55 + 0.45 * np.clip(0.3 * dx / -radius + 0.5 * dy / -radius + 0.75 * height, 0.0, 1.0)
    order = np.argsort(depth, kind="stable")  # the last value written to a pixel stays
    rows, columns = (row[order, None] + dy).ravel(), (column[order, None] + dx).ravel()
    shade = (color[order, None, :] * light[None, :, None]).reshape(-1, 3)
    seen = (rows >= 0) & (rows < HEIGHT) & (columns >= 0) & (columns < WIDTH)
    seen[seen] = nearness[rows[seen], columns[seen]] <= np.repeat(depth[order], len(dx))[seen]
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
