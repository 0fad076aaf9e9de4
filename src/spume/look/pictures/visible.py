"""What a camera sees: the nearest surface at each sample of a picture, and the thickness of clear matter before it.

The picture is divided into bands of rows; each band is drawn by one thread, which loops over everything that overlaps
it.
"""

from typing import NamedTuple

import numpy as np
from numba import prange
from numpy.typing import NDArray

from spume.look.pictures.camera import View
from spume.numerics.jit import compiled

Floats = NDArray[np.float64]
OVERSAMPLING = 2
"""Number of samples along each axis of a pixel, whose value is their mean."""
BAND = 64
"""Number of rows of samples in a band."""
NEAR = 1e-3
"""Near plane, as a fraction of the distance from the camera to its target."""
LEAST_RADIUS = 0.75
"""Smallest drawn radius of a ball [samples], so that none falls between samples."""
NOTHING, GROUND, FIRST_POINT = -1, -2, -3
"""What a sample shows if not a triangle: nothing, the ground, or point p as FIRST_POINT − p."""


class Eye(NamedTuple):
    """A camera and the samples of its picture."""

    position: Floats
    axes: Floats
    """unit vectors to the right, up and along the view, shape (3, 3)"""
    scale: float
    """samples for a slope of one"""
    near: float
    """distance of the near plane along the view [m]"""
    rows: int
    columns: int

    def seen(self, x: Floats) -> Floats:
        """Places to the right, above and along the view [m]."""
        return np.ascontiguousarray((x - self.position) @ self.axes.T)


class Seen(NamedTuple):
    """The nearest surface at each sample."""

    nearness: Floats
    """1/distance along the view [1/m], shape (rows, columns); 0 where there is nothing"""
    hit: NDArray[np.int32]
    """the triangle, or a number below zero"""


def eye_of(view: View, size: tuple[int, int]) -> Eye:
    """The samples of a picture `size` pixels wide and high."""
    columns, rows = OVERSAMPLING * size[0], OVERSAMPLING * size[1]
    scale = 0.5 * rows / float(np.tan(0.5 * np.radians(view.angle)))
    near = NEAR * float(np.linalg.norm(view.target - view.position))
    return Eye(view.position, camera_axes(view), scale, near, rows, columns)


def camera_axes(view: View) -> Floats:
    """Unit vectors to the right, up and along the view, shape (3, 3)."""
    along = (view.target - view.position) / np.linalg.norm(view.target - view.position)
    right = np.cross(along, view.up)
    right /= np.linalg.norm(right)
    return np.array([right, np.cross(right, along), along])


def visible(
    eye: Eye, seen: Floats, triangles: NDArray[np.int32], points: Floats, radius: Floats,
    ground: tuple[Floats, float] | None = None,
) -> Seen:  # fmt: skip
    """The nearest of triangles with vertices `seen`, balls at `points` of the given radius [m], and of the ground.

    ground: the normal of the ground and its height along it [m]."""
    found = Seen(np.zeros((eye.rows, eye.columns)), np.full((eye.rows, eye.columns), NOTHING, np.int32))
    if len(triangles):
        extent = _extent(eye, seen, triangles)
        none = np.zeros((1, 1))
        _draw_triangles(seen, triangles, eye.scale, eye.near, extent, False, none, none, *found)
    if len(points):
        _draw_balls(points, radius, eye.scale, eye.near, *found)
    if ground is not None:
        normal, height = ground
        above = height - float(eye.position @ normal)
        if above < 0.0:  # the camera is above the ground
            _draw_ground(eye.axes @ normal / above, eye.scale, *found)
    return found


def through(eye: Eye, seen: Floats, triangles: NDArray[np.int32], behind: Floats) -> tuple[Seen, Floats]:
    """The nearest surface of a clear body, and its thickness before what is `behind` it, of which the nearness is
    given [m along the view]: the depths of its back sides less those of its front sides."""
    found = Seen(np.zeros((eye.rows, eye.columns)), np.full((eye.rows, eye.columns), NOTHING, np.int32))
    thickness = np.zeros((eye.rows, eye.columns))
    extent = _extent(eye, seen, triangles)
    _draw_triangles(seen, triangles, eye.scale, eye.near, extent, True, thickness, behind, *found)
    return found, thickness


def _extent(eye: Eye, seen: Floats, triangles: NDArray[np.int32]) -> Floats:
    extent = np.empty((2, len(triangles)))
    _find_rows(seen, triangles, eye.scale, eye.near, eye.rows, extent)
    return extent


@compiled
def ray_at(eye, row, column):
    """Direction from the camera to a place of the picture [samples], with length one along the view."""
    right, above = (column - 0.5 * eye.columns) / eye.scale, (0.5 * eye.rows - row) / eye.scale
    axes = eye.axes
    return (
        axes[0, 0] * right + axes[1, 0] * above + axes[2, 0],
        axes[0, 1] * right + axes[1, 1] * above + axes[2, 1],
        axes[0, 2] * right + axes[1, 2] * above + axes[2, 2],
    )


@compiled
def _draw_triangle(corners, scale, top, bottom, number, is_clear, thickness, behind, nearness, hit):
    """Draw a triangle in front of the camera in the rows `top` to `bottom`. A corner is x, y, z."""
    rows, columns = nearness.shape
    x0, y0 = 0.5 * columns, 0.5 * rows
    u0, u1, u2 = 1.0 / corners[0, 2], 1.0 / corners[1, 2], 1.0 / corners[2, 2]
    ax, ay = x0 + scale * corners[0, 0] * u0, y0 - scale * corners[0, 1] * u0
    bx, by = x0 + scale * corners[1, 0] * u1, y0 - scale * corners[1, 1] * u1
    cx, cy = x0 + scale * corners[2, 0] * u2, y0 - scale * corners[2, 1] * u2
    area = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
    if area == 0.0:
        return
    low, high = max(min(ay, by, cy), top), min(max(ay, by, cy), bottom)
    left, right = max(min(ax, bx, cx), 0.0), min(max(ax, bx, cx), columns)
    if low > high or left > right:
        return
    over = 1.0 / area
    # rows count downwards, so that a triangle whose corners run counter-clockwise has a negative area
    side = 1.0 if area > 0.0 else -1.0
    first, last = int(np.ceil(left - 0.5)), int(np.floor(right - 0.5))
    across_a, across_b = (by - cy) * over, (cy - ay) * over
    for row in range(int(np.ceil(low - 0.5)), int(np.floor(high - 0.5)) + 1):
        y = row + 0.5
        x = first + 0.5
        wa = ((bx - x) * (cy - y) - (by - y) * (cx - x)) * over
        wb = ((cx - x) * (ay - y) - (cy - y) * (ax - x)) * over
        for column in range(first, last + 1):
            wc = 1.0 - wa - wb
            # the tolerance closes seams between triangles caused by rounding
            if wa >= -1e-9 and wb >= -1e-9 and wc >= -1e-9:
                u = wa * u0 + wb * u1 + wc * u2
                if u > nearness[row, column]:
                    nearness[row, column] = u
                    hit[row, column] = number
                if is_clear:
                    thickness[row, column] += side / max(u, behind[row, column])
            wa += across_a
            wb += across_b


@compiled
def _cut_off(corners, near, kept):
    """Write the part of a triangle beyond `near`, a polygon of up to 4 corners, to `kept`; return their number."""
    count = 0
    for m in range(3):
        n = (m + 1) % 3
        here, there = corners[m, 2] - near, corners[n, 2] - near
        if here > 0.0:
            for k in range(3):  # assigning rows takes seconds to compile
                kept[count, k] = corners[m, k]
            count += 1
        if (here > 0.0) != (there > 0.0):
            part = here / (here - there)
            for k in range(3):
                kept[count, k] = corners[m, k] + part * (corners[n, k] - corners[m, k])
            kept[count, 2] = near
            count += 1
    return count


@compiled(parallel=True)
def _find_rows(seen, triangles, scale, near, rows, extent):
    """Find the first and last row of samples that each triangle may cover; none for one nearer than `near`."""
    for t in prange(triangles.shape[0]):
        farthest, nearest = -np.inf, np.inf
        low, high = np.inf, -np.inf
        for m in range(3):
            p = triangles[t, m]
            z = seen[p, 2]
            farthest, nearest = max(farthest, z), min(nearest, z)
            y = 0.5 * rows - scale * seen[p, 1] / max(z, near)
            low, high = min(low, y), max(high, y)
        if farthest <= near:
            low, high = np.inf, -np.inf
        elif nearest <= near:  # cut off: it may cover any row
            low, high = -np.inf, np.inf
        extent[0, t], extent[1, t] = low, high


@compiled(parallel=True)
def _draw_triangles(seen, triangles, scale, near, extent, is_clear, thickness, behind, nearness, hit):
    rows = nearness.shape[0]
    for band in prange((rows + BAND - 1) // BAND):
        top, bottom = band * BAND, min(rows, band * BAND + BAND)
        corners, kept, third = np.empty((3, 3)), np.empty((4, 3)), np.empty((3, 3))
        for t in range(triangles.shape[0]):
            if extent[1, t] < top or extent[0, t] > bottom:
                continue
            nearest = np.inf
            for m in range(3):
                p = triangles[t, m]
                nearest = min(nearest, seen[p, 2])
                for k in range(3):
                    corners[m, k] = seen[p, k]
            if nearest > near:
                _draw_triangle(corners, scale, top, bottom, t, is_clear, thickness, behind, nearness, hit)
                continue
            count = _cut_off(corners, near, kept)
            for m in range(1, count - 1):
                for k in range(3):
                    third[0, k], third[1, k], third[2, k] = kept[0, k], kept[m, k], kept[m + 1, k]
                _draw_triangle(third, scale, top, bottom, t, is_clear, thickness, behind, nearness, hit)


@compiled(parallel=True)
def _draw_balls(seen, radius, scale, near, nearness, hit):
    """Draw balls as discs with the depth of a ball."""
    rows, columns = nearness.shape
    for band in prange((rows + BAND - 1) // BAND):
        top, bottom = band * BAND, min(rows, band * BAND + BAND)
        for p in range(seen.shape[0]):
            z = seen[p, 2]
            if z - radius[p] <= near:
                continue
            x, y = 0.5 * columns + scale * seen[p, 0] / z, 0.5 * rows - scale * seen[p, 1] / z
            size = max(scale * radius[p] / z, LEAST_RADIUS)
            if y + size < top or y - size > bottom or x + size < 0.0 or x - size > columns:
                continue
            first, last = max(int(np.ceil(x - size - 0.5)), 0), min(int(np.floor(x + size - 0.5)), columns - 1)
            for row in range(
                max(int(np.ceil(y - size - 0.5)), top), min(int(np.floor(y + size - 0.5)), bottom - 1) + 1
            ):
                ny = (y - row - 0.5) / size
                for column in range(first, last + 1):
                    nx = (column + 0.5 - x) / size
                    away = nx * nx + ny * ny
                    if away > 1.0:
                        continue
                    u = 1.0 / (z - radius[p] * np.sqrt(1.0 - away))
                    if u > nearness[row, column]:
                        nearness[row, column] = u
                        hit[row, column] = FIRST_POINT - p


@compiled(parallel=True)
def _draw_ground(slope, scale, nearness, hit):
    """Draw a plane n · x = h: seen from e, its nearness along the ray d = (x, y, 1) is n · d / (h − n · e)."""
    rows, columns = nearness.shape
    for row in prange(rows):
        begin = slope[2] + slope[1] * (0.5 * rows - row - 0.5) / scale
        for column in range(columns):
            u = begin + slope[0] * (column + 0.5 - 0.5 * columns) / scale
            if u > nearness[row, column]:
                nearness[row, column] = u
                hit[row, column] = GROUND
