"""What hides the light: shadows of the lamp from a map of its nearest surfaces, and the occlusion of the sky around
each place, both found at every second pixel and evened out along surfaces.
"""

from typing import NamedTuple

import numpy as np
from numba import prange
from numpy.typing import NDArray

from spume.look.pictures.lighting import Occupancy, open_at
from spume.look.pictures.soup import Soup
from spume.look.pictures.vectors import between, dot, put, row_of, unit
from spume.look.pictures.visible import FIRST_POINT, NOTHING, Eye, Seen, ray_at
from spume.numerics.jit import compiled

Floats = NDArray[np.float64]
MAP = 1024
"""Texels along each side of the lamp's map."""
TAPS = 14
"""Places that are looked at around each one, in either direction."""
LAMP_SLOPE = 0.13
"""Radius of the lamp over its distance, which softens shadows with the distance from what casts them."""
AROUND = 0.07
"""Radius within which surfaces hide the sky from each other, relative to the size of the scene."""
CELL = 4
"""Side of the texels, in samples."""
TILE = 4
"""Side of the squares of texels whose directions differ, and over which they are averaged."""


class LampMap(NamedTuple):
    """The surfaces nearest to the lamp."""

    axes: Floats
    """unit vectors along the rows, the columns and towards the lamp, shape (3, 3)"""
    origin: Floats
    """corner of the map along the first two [m]"""
    texel: float
    """[m]"""
    nearest: Floats
    """largest coordinate towards the lamp [m], −∞ where there is nothing"""


class Dimmed(NamedTuple):
    """Light at every second pixel: the place and the normal there, the visible part of the lamp and of the sky."""

    x: Floats
    normals: Floats
    """zero where there is nothing"""
    light: Floats
    """(rows, columns, 2): of the lamp, of the sky"""


def lamp_map(
    direction: Floats, x: Floats, triangles: NDArray[np.int32], points: Floats, radius: Floats,
    box: tuple[Floats, Floats],
) -> LampMap:  # fmt: skip
    """The map of triangles and balls, as far as they are in a box [m]."""
    across = np.cross(direction, np.eye(3)[int(np.argmin(np.abs(direction)))])
    across /= np.linalg.norm(across)
    axes = np.array([across, np.cross(direction, across), direction])
    corners = np.array([[a, b, c] for a in (0, 1) for b in (0, 1) for c in (0, 1)]) * (box[1] - box[0]) + box[0]
    room = corners @ axes[:2].T
    lower, upper = room.min(axis=0), room.max(axis=0)
    seen = x @ axes.T
    spots = points @ axes.T
    both = np.concatenate([seen[:, :2], spots[:, :2]])
    if len(both):
        lower, upper = np.maximum(lower, both.min(axis=0)), np.minimum(upper, both.max(axis=0))
    texel = max(float(np.max(upper - lower)), 1e-12) / (MAP - 8)
    origin = 0.5 * (lower + upper) - 0.5 * MAP * texel
    nearest = np.full((MAP, MAP), -np.inf)
    place = np.ascontiguousarray(np.column_stack([(seen[:, :2] - origin) / texel, seen[:, 2]]))
    _deposit_triangles(place, triangles, nearest)
    if len(points):
        place = np.ascontiguousarray(np.column_stack([(spots[:, :2] - origin) / texel, spots[:, 2]]))
        _deposit_balls(place, radius, texel, nearest)
    return LampMap(axes, origin, texel, nearest)


def dimmed(eye: Eye, seen: Seen, solid: Soup, lamp: LampMap, around: Occupancy, up: Floats, size: float) -> Dimmed:
    """The visible part of lamp and sky at every second pixel; `size` is that of the scene [m]."""
    shape = -(-eye.rows // CELL), -(-eye.columns // CELL)
    found = Dimmed(np.empty((*shape, 3)), np.empty((*shape, 3)), np.empty((*shape, 2)))
    _find_places(eye, seen, solid, up, found)
    turned = np.argsort(np.argsort(np.array([0, 8, 2, 10, 12, 4, 14, 6, 3, 11, 1, 9, 15, 7, 13, 5])))
    turn = 2.0 * np.pi * turned / turned.size
    _dim(found, eye, lamp, around, turn, size)
    even = np.empty_like(found.light)
    _even_out(found.x, found.normals, found.light, 0.004 * size, even)
    return found._replace(light=even)


@compiled
def corner_weights(triangle, x, ray, eye):
    """Weights of a triangle's corners where the ray from `eye` meets its plane, cut to the triangle."""
    (i, j, k), (dx, dy, dz) = triangle, ray
    ox, oy, oz = eye[0], eye[1], eye[2]
    ax, ay, az = x[i, 0] - ox, x[i, 1] - oy, x[i, 2] - oz
    bx, by, bz = x[j, 0] - ox, x[j, 1] - oy, x[j, 2] - oz
    cx, cy, cz = x[k, 0] - ox, x[k, 1] - oy, x[k, 2] - oz
    wa = dx * (by * cz - bz * cy) + dy * (bz * cx - bx * cz) + dz * (bx * cy - by * cx)
    wb = dx * (cy * az - cz * ay) + dy * (cz * ax - cx * az) + dz * (cx * ay - cy * ax)
    wc = dx * (ay * bz - az * by) + dy * (az * bx - ax * bz) + dz * (ax * by - ay * bx)
    total = wa + wb + wc
    if total == 0.0:
        return 1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0
    wa, wb, wc = max(wa / total, 0.0), max(wb / total, 0.0), max(wc / total, 0.0)
    total = wa + wb + wc
    return wa / total, wb / total, wc / total


@compiled(parallel=True)
def _find_places(eye, seen, solid, up, found):
    rows, columns = seen.nearness.shape
    nothing = (0.0, 0.0, 0.0)
    for i in prange(found.x.shape[0]):
        row = min(i * CELL + 1, rows - 1)
        for j in range(found.x.shape[1]):
            column = min(j * CELL + 1, columns - 1)
            t, u = seen.hit[row, column], seen.nearness[row, column]
            if t == NOTHING:
                put(found.x, i, j, nothing)
                put(found.normals, i, j, nothing)
                continue
            ray = ray_at(eye, row + 0.5, column + 0.5)
            place = eye.position[0] + ray[0] / u, eye.position[1] + ray[1] / u, eye.position[2] + ray[2] / u
            normal = up[0], up[1], up[2]
            if t >= 0:
                triangle = row_of(solid.triangles, t)
                weights = corner_weights(triangle, solid.x, ray, eye.position)
                normal = unit(between(solid.normals, triangle, weights))
            elif t <= FIRST_POINT:
                over = 1.0 / np.sqrt(dot(ray, ray))
                normal = -ray[0] * over, -ray[1] * over, -ray[2] * over
            put(found.x, i, j, place)
            put(found.normals, i, j, normal)


@compiled
def _nearest_at(nearest, i, j):
    n = nearest.shape[0]
    return nearest[i, j] if 0 <= i < n and 0 <= j < n else -np.inf


@compiled
def lamp_at(place, normal, lamp, taps, turn):
    """Visible part of the lamp at a place with a normal; `turn` rotates the taps."""
    origin, texel, nearest = lamp.origin, lamp.texel, lamp.nearest
    across, along, towards = row_of(lamp.axes, 0), row_of(lamp.axes, 1), row_of(lamp.axes, 2)
    na, nb, nl = dot(across, normal), dot(along, normal), dot(towards, normal)
    a, b, height = dot(across, place), dot(along, place), dot(towards, place)
    # the plane through the place, as seen from the lamp; a bias that grows where it is seen at a grazing angle
    steep = max(nl, 0.25)
    bias = texel * (1.0 + 1.5 / steep)
    gap, found = 0.0, 0
    reach = 0.05 * MAP
    for t in range(taps):
        r = reach * ((t + 0.5) / taps)
        angle = turn + 2.399963229728653 * t
        da, db = r * np.cos(angle), r * np.sin(angle)
        plane = height - min(max((na * da + nb * db) * texel / steep, -2.0 * r * texel), 2.0 * r * texel)
        l = _nearest_at(nearest, int((a - origin[0]) / texel + da), int((b - origin[1]) / texel + db))
        if l > plane + bias + 0.3 * r * texel:
            gap += l - plane
            found += 1
    if found == 0:
        return 1.0
    wide = min(max(LAMP_SLOPE * gap / found / texel, 1.5), reach)
    hidden = 0.0
    for t in range(taps):
        r = wide * np.sqrt((t + 0.5) / taps)
        angle = turn + 2.399963229728653 * t
        da, db = r * np.cos(angle), r * np.sin(angle)
        plane = height - min(max((na * da + nb * db) * texel / steep, -2.0 * r * texel), 2.0 * r * texel)
        l = _nearest_at(nearest, int((a - origin[0]) / texel + da), int((b - origin[1]) / texel + db))
        hidden += 1.0 if l > plane + bias + 0.3 * r * texel else 0.0
    return 1.0 - hidden / taps


@compiled(parallel=True)
def _dim(found, eye, lamp, around, turn, size):
    """Scalable ambient obscurance (McGuire, Mara and Luebke 2012) for the sky, percentage-closer soft shadows (Fernando
    2005) for the lamp."""
    place, outward, light = found.x, found.normals, found.light
    rows, columns = place.shape[0], place.shape[1]
    radius, scale = AROUND * size, eye.scale / CELL
    for i in prange(rows):
        for j in range(columns):
            nx, ny, nz = outward[i, j, 0], outward[i, j, 1], outward[i, j, 2]
            if nx == 0.0 and ny == 0.0 and nz == 0.0:
                light[i, j, 0], light[i, j, 1] = 1.0, 1.0
                continue
            px, py, pz = place[i, j, 0], place[i, j, 1], place[i, j, 2]
            own = turn[(i % TILE) * TILE + j % TILE]
            facing = dot(row_of(lamp.axes, 2), (nx, ny, nz))
            light[i, j, 0] = 1.0
            if facing > -0.3:
                light[i, j, 0] = lamp_at((px, py, pz), (nx, ny, nz), lamp, TAPS, own)
            at = eye.position
            away = dot((px - at[0], py - at[1], pz - at[2]), row_of(eye.axes, 2))
            reach = min(radius * scale / away, 70.0)
            hidden = 0.0
            for t in range(TAPS):
                r = max(reach * ((t + 0.5) / TAPS) ** 1.4, 1.0)
                angle = own + 2.399963229728653 * t
                row, column = int(np.rint(i + r * np.sin(angle))), int(np.rint(j + r * np.cos(angle)))
                if row < 0 or column < 0 or row >= rows or column >= columns:
                    continue
                if outward[row, column, 0] == 0.0 and outward[row, column, 1] == 0.0 and outward[row, column, 2] == 0.0:
                    continue
                vx, vy, vz = place[row, column, 0] - px, place[row, column, 1] - py, place[row, column, 2] - pz
                square = vx * vx + vy * vy + vz * vz
                above = (vx * nx + vy * ny + vz * nz) / np.sqrt(square + 1e-30) - 0.08
                hidden += max(above, 0.0) * max(0.0, 1.0 - square / (radius * radius))
            near = max(0.0, 1.0 - 2.2 * hidden / TAPS)
            light[i, j, 1] = near * open_at(around.far, around.origin, around.voxel, px, py, pz, nx, ny, nz)


@compiled(parallel=True)
def _even_out(place, outward, light, tolerance, even):
    """Means over squares of texels along the same surface."""
    rows, columns = place.shape[0], place.shape[1]
    for i in prange(rows):
        for j in range(columns):
            lamp, sky, total = 0.0, 0.0, 0.0
            for row in range(max(i - TILE // 2, 0), min(i + TILE // 2, rows)):
                for column in range(max(j - TILE // 2, 0), min(j + TILE // 2, columns)):
                    off, same = 0.0, 0.0
                    for k in range(3):
                        off += outward[i, j, k] * (place[row, column, k] - place[i, j, k])
                        same += outward[i, j, k] * outward[row, column, k]
                    if abs(off) < tolerance and same > 0.6:
                        lamp += light[row, column, 0]
                        sky += light[row, column, 1]
                        total += 1.0
            even[i, j, 0] = lamp / total if total > 0.0 else light[i, j, 0]
            even[i, j, 1] = sky / total if total > 0.0 else light[i, j, 1]


@compiled(parallel=True)
def _deposit_triangles(place, triangles, nearest):
    size = nearest.shape[0]
    for band in prange(size // 64):
        top, bottom = 64 * band, 64 * band + 64
        for t in range(triangles.shape[0]):
            i, j, k = triangles[t, 0], triangles[t, 1], triangles[t, 2]
            ax, ay, bx, by, cx, cy = place[i, 0], place[i, 1], place[j, 0], place[j, 1], place[k, 0], place[k, 1]
            low, high = max(min(ax, bx, cx), top), min(max(ax, bx, cx), bottom)
            left, right = max(min(ay, by, cy), 0.0), min(max(ay, by, cy), float(size))
            area = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
            if low > high or left > right or area == 0.0:
                continue
            for row in range(int(np.ceil(low - 0.5)), min(int(np.floor(high - 0.5)), size - 1) + 1):
                for column in range(int(np.ceil(left - 0.5)), min(int(np.floor(right - 0.5)), size - 1) + 1):
                    x, y = row + 0.5, column + 0.5
                    wa = ((bx - x) * (cy - y) - (by - y) * (cx - x)) / area
                    wb = ((cx - x) * (ay - y) - (cy - y) * (ax - x)) / area
                    wc = 1.0 - wa - wb
                    if wa >= -1e-9 and wb >= -1e-9 and wc >= -1e-9:
                        l = wa * place[i, 2] + wb * place[j, 2] + wc * place[k, 2]
                        nearest[row, column] = max(nearest[row, column], l)


@compiled
def _deposit_balls(place, radius, texel, nearest):
    size = nearest.shape[0]
    for p in range(place.shape[0]):
        r = max(radius[p] / texel, 0.75)
        x, y = place[p, 0], place[p, 1]
        for row in range(max(int(np.ceil(x - r - 0.5)), 0), min(int(np.floor(x + r - 0.5)), size - 1) + 1):
            for column in range(max(int(np.ceil(y - r - 0.5)), 0), min(int(np.floor(y + r - 0.5)), size - 1) + 1):
                away = ((row + 0.5 - x) ** 2 + (column + 0.5 - y) ** 2) / (r * r)
                if away <= 1.0:
                    nearest[row, column] = max(nearest[row, column], place[p, 2] + radius[p] * np.sqrt(1.0 - away))
