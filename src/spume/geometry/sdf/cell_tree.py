"""Walks down a tree of cells towards the surface of a shape: its volume, and the points of a lattice inside it."""

import math

import numpy as np
from numpy.typing import NDArray

from spume.geometry.codes import ShapeProgram
from spume.geometry.sdf.evaluation import distance_and_gradient
from spume.numerics.jit import compiled


def volume_by_tree(program: ShapeProgram, lower: NDArray[np.float64], upper: NDArray[np.float64], depth: int) -> float:
    """Volume [m³ or m²] inside `program` between two corners, with cells halved up to `depth` times."""
    size = np.zeros(3)
    corner = np.zeros(3)
    size[: len(lower)] = upper - lower
    corner[: len(lower)] = lower
    return float(_volume(program, corner, size, depth)) * float(np.prod(upper - lower))


@compiled
def _volume(program, corner, size, depth):
    """The part of the box that is inside."""
    d = 3 if program.dimension == 3 else 2
    children = 1 << d
    path = np.empty((depth * children + 1, 4))
    path[0] = 0.0
    height = 1
    total = 0.0
    while height > 0:
        height -= 1
        level = int(path[height, 3])
        part = 0.5**level
        hx, hy, hz = 0.5 * part * size[0], 0.5 * part * size[1], 0.5 * part * size[2]
        x = corner[0] + path[height, 0] * size[0] + hx
        y = corner[1] + path[height, 1] * size[1] + hy
        z = corner[2] + path[height, 2] * size[2] + hz
        s, nx, ny, nz = distance_and_gradient(program, x, y, z)
        weight = part**d
        if s * s >= hx * hx + hy * hy + hz * hz:
            if s < 0.0:
                total += weight
        elif level == depth:
            reach = abs(nx) * hx + abs(ny) * hy + abs(nz) * hz
            # Only a surface with an inside and an outside counts: where two parts share a face, the distance of their
            # combination can vanish without changing sign.
            across = s + math.copysign(0.25 * reach, s)
            other, _, _, _ = distance_and_gradient(program, x - across * nx, y - across * ny, z - across * nz)
            if (other < 0.0) != (s < 0.0):
                total += weight * min(max(0.5 - 0.5 * s / reach, 0.0), 1.0)
            elif s < 0.0:
                total += weight
        else:
            x, y, z = path[height, 0], path[height, 1], path[height, 2]
            for child in range(children):
                path[height, 0] = x + 0.5 * part * (child & 1)
                path[height, 1] = y + 0.5 * part * ((child >> 1) & 1)
                path[height, 2] = z + 0.5 * part * ((child >> 2) & 1)
                path[height, 3] = level + 1
                height += 1
    return total


def lattice_within(
    program: ShapeProgram, lower: NDArray[np.float64], upper: NDArray[np.float64], spacing: float, margin: float
) -> NDArray[np.int64]:
    """Indices k, shape (n, 3), of the lattice points (k + 1/2) · spacing [m] between two corners whose distance from
    the shape is less than `margin` [m]. In 2D the third index is 0."""
    first, last = np.zeros(3, dtype=np.int64), np.ones(3, dtype=np.int64)
    first[: len(lower)] = np.floor((lower - margin) / spacing) - 1
    last[: len(lower)] = np.ceil((upper + margin) / spacing) + 1
    count = _lattice(program, first, last, spacing, margin, np.empty((0, 3), dtype=np.int64))
    found = np.empty((count, 3), dtype=np.int64)
    _lattice(program, first, last, spacing, margin, found)
    return found


# A lattice point exactly on a surface that two bodies share must belong to one of them, and only one: all points are
# asked about at a place aside by a millionth of the spacing, in a direction that faces are not parallel to.
ASIDE = (1.0e-6, 1.4142e-6, 1.7320e-6)


@compiled
def _lattice(program, first, last, spacing, margin, found):
    """Halves the box of indices along its longest side until it is wholly out, wholly in or a single point.
    Returns the number of points and writes as many of them as `found` has room for."""
    path = np.empty((200, 6), dtype=np.int64)
    for axis in range(3):
        path[0, axis], path[0, axis + 3] = first[axis], last[axis]
    height = 1
    count = 0
    while height > 0:
        height -= 1
        i0, j0, k0 = path[height, 0], path[height, 1], path[height, 2]
        i1, j1, k1 = path[height, 3], path[height, 4], path[height, 5]
        ni, nj, nk = i1 - i0, j1 - j0, k1 - k0
        x = (0.5 * (i0 + i1) + ASIDE[0]) * spacing
        y = (0.5 * (j0 + j1) + ASIDE[1]) * spacing
        z = (0.5 * (k0 + k1) + ASIDE[2]) * spacing
        s, _, _, _ = distance_and_gradient(program, x, y, z)
        s -= margin
        reach = 0.5 * spacing * math.sqrt((ni - 1.0) ** 2 + (nj - 1.0) ** 2 + (nk - 1.0) ** 2)
        if s >= reach:
            continue
        if s < -reach or reach == 0.0:
            for i in range(i0, i1):
                for j in range(j0, j1):
                    for k in range(k0, k1):
                        if count < len(found):
                            found[count, 0], found[count, 1], found[count, 2] = i, j, k
                        count += 1
            continue
        axis = 0 if ni >= nj and ni >= nk else (1 if nj >= nk else 2)
        middle = (path[height, axis] + path[height, axis + 3]) // 2
        path[height + 1] = path[height]
        path[height, axis] = middle
        path[height + 1, axis + 3] = middle
        height += 2
    return count
