"""Rasterizer of shaded meshes, with a depth buffer.

The light of vertices is given; the rasterizer projects triangles and balls, keeps the nearest surface at each sample,
and blends transparent ones. The picture is divided into bands of rows; each band is drawn by one thread, which loops
over everything that overlaps it.
"""

import functools
import itertools
from typing import NamedTuple

import numpy as np
from numba import prange
from numpy.typing import NDArray

from spume.look.finish import Color, to_srgb
from spume.look.pictures.camera import View
from spume.look.pictures.lens import out_of_focus
from spume.numerics.jit import compiled

OVERSAMPLING = 2
"""Number of samples along each axis of a pixel, whose value is their mean."""
BAND = 64
"""Number of rows of samples in a band."""
NEAR = 1e-3
"""Near plane, as a fraction of the distance from the camera to its target."""
LEAST_RADIUS = 0.75
"""Smallest drawn radius of a ball [samples], so that none falls between samples."""
BALL = (0.62, 0.44)
"""Brightness of a ball's surface: the first, plus the second times the cosine between its normal and the lamp. The mean
over the visible half is about 1 for a lamp above the camera."""
GAMMA = 2.2
"""Exponent from perceived brightness to linear light."""


class ShadedMesh(NamedTuple):
    """A mesh, or points, with its light towards the camera."""

    vertices: NDArray[np.float64]
    triangles: NDArray[np.int32]
    """empty for points"""
    light: NDArray[np.float64]
    """linear RGB of each vertex"""
    point_size: float = 0.0
    """diameter of points [m]"""
    opacity: float = 1.0
    """opacity of a mesh; below 1 it is transparent"""


class Layer(NamedTuple):
    """The nearest surface at each sample."""

    nearness: NDArray[np.float64]
    """1/distance along the view [1/m], shape (rows, columns); 0 where nothing was drawn"""
    light: NDArray[np.float64]
    """linear RGB, shape (rows, columns, 3)"""


def rasterize(
    parts: list[ShadedMesh],
    view: View,
    size: tuple[int, int],
    background: Color,
    lamp: NDArray[np.float64] | None = None,
) -> NDArray[np.uint8]:
    """Draw `parts`; return the picture in sRGB, shape (height, width, 3).

    Points are shaded as balls under a lamp in the direction `lamp`, or as discs if there is none. Of a transparent
    mesh, only the surface nearest to the camera is drawn.
    """
    columns, rows = OVERSAMPLING * size[0], OVERSAMPLING * size[1]
    axes = camera_axes(view)
    towards = None if lamp is None else axes @ lamp
    scale = 0.5 * rows / np.tan(0.5 * np.radians(view.angle))
    near = NEAR * float(np.linalg.norm(view.target - view.position))
    solid = _empty_layer(rows, columns, background)
    parts = [part for part in parts if len(part.vertices)]
    for part in parts:
        if part.opacity >= 1.0:
            _draw(solid, part, (part.vertices - view.position) @ axes.T, scale, near, towards)
    clear = [(part, (part.vertices - view.position) @ axes.T) for part in parts if part.opacity < 1.0]
    for part, seen in sorted(clear, key=lambda pair: -float(pair[1][:, 2].mean())):
        over = _empty_layer(rows, columns, background)
        _draw(over, part, seen, scale, near, towards)
        covered = over.nearness > solid.nearness
        solid.light[covered] += part.opacity * (over.light[covered] - solid.light[covered])
    light = np.clip(solid.light, 0.0, 1.0)
    if view.aperture > 0.0:
        light = out_of_focus(light, solid.nearness, view.aperture, view.focus, scale)
    return to_srgb(_pixels(light))


def _pixels(light: NDArray[np.float64]) -> NDArray[np.float64]:
    """Means over the samples of each pixel; adding shifted arrays is five times as fast as `mean` over two axes."""
    shifts = itertools.product(range(OVERSAMPLING), repeat=2)
    parts = (light[i::OVERSAMPLING, j::OVERSAMPLING] for i, j in shifts)
    return functools.reduce(np.add, parts) / OVERSAMPLING**2


def camera_axes(view: View) -> NDArray[np.float64]:
    """Unit vectors to the right, up and along the view, shape (3, 3)."""
    along = (view.target - view.position) / np.linalg.norm(view.target - view.position)
    right = np.cross(along, view.up)
    right /= np.linalg.norm(right)
    return np.array([right, np.cross(right, along), along])


def _empty_layer(rows: int, columns: int, background: Color) -> Layer:
    return Layer(np.zeros((rows, columns)), np.tile(np.asarray(background, np.float64), (rows, columns, 1)))


def _draw(
    layer: Layer,
    part: ShadedMesh,
    seen: NDArray[np.float64],
    scale: float,
    near: float,
    towards: NDArray[np.float64] | None,
) -> None:
    """Draw a part whose vertices have the camera coordinates `seen`."""
    light = np.ascontiguousarray(part.light, dtype=np.float64)
    if len(part.triangles):
        triangles = np.ascontiguousarray(part.triangles, dtype=np.int64)
        extent = np.empty((2, len(triangles)))
        _find_rows(seen, triangles, scale, near, layer.nearness.shape[0], extent)
        _draw_triangles(seen, triangles, light, scale, near, extent, layer.nearness, layer.light)
        return
    shade, facing = BALL if towards is not None else (1.0, 0.0)
    direction = np.zeros(3) if towards is None else towards * (1.0, 1.0, -1.0)
    _draw_balls(seen, 0.5 * part.point_size, light, scale, near, shade, facing * direction, layer.nearness, layer.light)


@compiled
def _draw_triangle(corners, scale, top, bottom, nearness, image):
    """Draw a triangle in front of the camera in the rows `top` to `bottom`. A corner is x, y, z, red, green, blue."""
    rows, columns = nearness.shape
    x0, y0 = 0.5 * columns, 0.5 * rows
    u0, u1, u2 = corners[0, 2], corners[1, 2], corners[2, 2]
    u0, u1, u2 = 1.0 / u0, 1.0 / u1, 1.0 / u2
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
    for row in range(int(np.ceil(low - 0.5)), int(np.floor(high - 0.5)) + 1):
        y = row + 0.5
        for column in range(int(np.ceil(left - 0.5)), int(np.floor(right - 0.5)) + 1):
            x = column + 0.5
            wa = ((bx - x) * (cy - y) - (by - y) * (cx - x)) * over
            wb = ((cx - x) * (ay - y) - (cy - y) * (ax - x)) * over
            wc = 1.0 - wa - wb
            # the tolerance closes seams between triangles caused by rounding
            if wa < -1e-9 or wb < -1e-9 or wc < -1e-9:
                continue
            u = wa * u0 + wb * u1 + wc * u2
            if u > nearness[row, column]:
                nearness[row, column] = u
                wa, wb, wc = wa * u0 / u, wb * u1 / u, wc * u2 / u
                for k in range(3):
                    image[row, column, k] = wa * corners[0, 3 + k] + wb * corners[1, 3 + k] + wc * corners[2, 3 + k]


@compiled
def _cut_off(corners, near, kept):
    """Write the part of a triangle beyond `near`, a polygon of up to 4 corners, to `kept`; return their number."""
    count = 0
    for m in range(3):
        n = (m + 1) % 3
        here, there = corners[m, 2] - near, corners[n, 2] - near
        if here > 0.0:
            for k in range(6):  # assigning rows takes seconds to compile
                kept[count, k] = corners[m, k]
            count += 1
        if (here > 0.0) != (there > 0.0):
            part = here / (here - there)
            for k in range(6):
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
def _draw_triangles(seen, triangles, light, scale, near, extent, nearness, image):
    rows = nearness.shape[0]
    for band in prange((rows + BAND - 1) // BAND):
        top, bottom = band * BAND, min(rows, band * BAND + BAND)
        corners, kept, third = np.empty((3, 6)), np.empty((4, 6)), np.empty((3, 6))
        for t in range(triangles.shape[0]):
            if extent[1, t] < top or extent[0, t] > bottom:
                continue
            nearest = np.inf
            for m in range(3):
                p = triangles[t, m]
                nearest = min(nearest, seen[p, 2])
                for k in range(3):
                    corners[m, k], corners[m, 3 + k] = seen[p, k], light[p, k]
            if nearest > near:
                _draw_triangle(corners, scale, top, bottom, nearness, image)
                continue
            count = _cut_off(corners, near, kept)
            for m in range(1, count - 1):
                for k in range(6):
                    third[0, k], third[1, k], third[2, k] = kept[0, k], kept[m, k], kept[m + 1, k]
                _draw_triangle(third, scale, top, bottom, nearness, image)


@compiled(parallel=True)
def _draw_balls(seen, radius, light, scale, near, shade, facing, nearness, image):
    """Draw balls as discs with the depth of a ball; their light is multiplied by `shade` + `facing` · normal."""
    rows, columns = nearness.shape
    for band in prange((rows + BAND - 1) // BAND):
        top, bottom = band * BAND, min(rows, band * BAND + BAND)
        for p in range(seen.shape[0]):
            z = seen[p, 2]
            if z - radius <= near:
                continue
            x, y = 0.5 * columns + scale * seen[p, 0] / z, 0.5 * rows - scale * seen[p, 1] / z
            size = max(scale * radius / z, LEAST_RADIUS)
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
                    nz = np.sqrt(1.0 - away)
                    u = 1.0 / (z - radius * nz)
                    if u > nearness[row, column]:
                        nearness[row, column] = u
                        factor = (shade + facing[0] * nx + facing[1] * ny + facing[2] * nz) ** GAMMA
                        for k in range(3):
                            image[row, column, k] = factor * light[p, k]
