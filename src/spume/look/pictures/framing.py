"""Where a camera stands so that the material of a run fills the picture, and how much of a picture it covers."""

import numpy as np
from numpy.typing import NDArray

from spume.frames.extent import FRAMES, point_spacing
from spume.frames.quantities import DRAWN, drawable, spatial
from spume.frames.reader import Run
from spume.frames.selection import spread
from spume.look.pictures.camera import AUTOMATIC_ANGLE, View, automatic_angle
from spume.look.pictures.visible import FIRST_POINT, eye_of, visible
from spume.look.triangle_mesh import TriangleMesh

Floats = NDArray[np.float64]
STRAYS = 0.004
"""Fraction of the points of a frame at each end of an axis that may be outside of the picture, such as drops."""
DIRECTIONS = 96
"""Directions in which the outermost points of a frame are found."""
MARGIN = 1.16
"""Margin around the material."""


def outermost_points(run: Run) -> Floats:
    """The outermost points of frames over the whole run [m], shape (n, 3), without strays."""
    directions = _directions(DIRECTIONS)
    found = [np.empty((0, 3))]
    for number in spread(list(range(len(run))), FRAMES):
        for population in run[number].of_kind(*DRAWN):
            x = spatial(population["x"])
            if len(x) == 0:
                continue
            low, high = np.quantile(x, (STRAYS, 1.0 - STRAYS), axis=0)
            kept = x[((x >= low) & (x <= high)).all(axis=1)] if len(x) > 10 else x
            kept = kept if len(kept) else x
            found.append(kept[np.unique((kept @ directions.T).argmax(axis=0))])
    points = np.concatenate(found)
    return points if len(points) else np.array([[0.0, 0.0, 0.0], [1.0, 1.0, 1.0]])


def _directions(count: int) -> Floats:
    """Unit vectors spread evenly over a sphere, on a spiral."""
    z = 1.0 - 2.0 * (np.arange(count) + 0.5) / count
    angle = np.pi * (3.0 - np.sqrt(5.0)) * np.arange(count)
    r = np.sqrt(1.0 - z * z)
    return np.column_stack([r * np.cos(angle), r * np.sin(angle), z])


def view_of_run(run: Run, up: Floats, aspect: float) -> View:
    """The camera that the material of a run fills."""
    pad = 0.5 * max(point_spacing(run, each) for each in drawable(run.populations))
    return view_of_points(outermost_points(run), up, aspect, pad, automatic_angle(run.scene))


def view_of_points(points: Floats, up: Floats, aspect: float, pad: float = 0.0, angle: float = AUTOMATIC_ANGLE) -> View:
    """The camera nearest to points that shows all of them with a margin and `pad` [m] around each, from the front, a
    little from the right and above; more from above if they are flat."""
    upright = abs(up[2]) < 0.5
    forward = np.eye(3)[2] if upright else -np.eye(3)[1]
    side = np.cross(up, forward)
    extent = [float(np.ptp(points @ axis)) for axis in (up, forward, side)]
    flat = np.clip(1.0 - 2.0 * extent[0] / (max(extent[1:]) or 1.0), 0.0, 1.0)
    towards = 0.38 * side + (0.30 + 0.35 * flat) * up + forward
    towards /= np.linalg.norm(towards)
    right = np.cross(up, towards)
    right /= np.linalg.norm(right)
    above = np.cross(towards, right)
    depth = points @ towards + pad
    # A place at (X, T) across and towards the camera at (s, z) is seen if |X − s| ≤ A (z − T).
    slope = np.tan(np.radians(angle) / 2) / MARGIN
    near, middle = [], []
    for axis, reach in ((right, slope * aspect), (above, slope)):
        along = points @ axis
        high, low = np.max(along + reach * depth) + pad, np.min(along - reach * depth) - pad
        near.append((high - low) / (2.0 * reach))
        middle.append(0.5 * (high + low))
    distance = max(near)
    aim = float(np.mean(depth))
    target = middle[0] * right + middle[1] * above + aim * towards
    return View(target + max(distance - aim, 1e-9) * towards, target, up, angle)


def covered(run: Run, number: int, view: View, aspect: float, hiding: list[TriangleMesh]) -> float:
    """Part of the picture of a frame that the material covers, where no mesh in `hiding` is in front of it."""
    clouds = [each for each in run[number].of_kind(*DRAWN) if len(each["x"])]
    if not clouds:
        return 0.0
    eye = eye_of(view, (round(120 * aspect), 120))
    x = np.concatenate([spatial(each["x"]) for each in clouds])
    radius = np.repeat([0.6 * point_spacing(run, each.declared) for each in clouds], [len(e["x"]) for e in clouds])
    first = np.cumsum([0, *(len(mesh.vertices) for mesh in hiding)])
    corners = np.concatenate([np.empty((0, 3)), *(mesh.vertices for mesh in hiding)])
    triangles = [mesh.triangles + start for mesh, start in zip(hiding, first)]
    faces = np.concatenate([np.empty((0, 3), np.int32), *triangles]).astype(np.int32)
    seen = visible(eye, eye.seen(corners), faces, eye.seen(x), radius)
    return float((seen.hit <= FIRST_POINT).mean())
