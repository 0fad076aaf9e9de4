"""Volume and first moment of a shape by a tree of cells that is refined towards the surface."""

import math

import numpy as np
from numpy.typing import NDArray

from spume.geometry.sdf.evaluation import distance_and_gradient
from spume.geometry.sdf.operations import ShapeProgram
from spume.numerics.jit import compiled


def moments_by_tree(
    program: ShapeProgram, lower: NDArray[np.float64], upper: NDArray[np.float64], depth: int
) -> NDArray[np.float64]:
    """Volume [m³ or m²] inside `program` between two corners, and its first moment about their middle [m⁴ or m³],
    shape (4,), with cells halved up to `depth` times; NaN if that takes more than MOST_CELLS cells, for example because
    the shape is too thin for its extent."""
    size = np.zeros(3)
    corner = np.zeros(3)
    size[: len(lower)] = upper - lower
    corner[: len(lower)] = lower
    found = np.zeros(4)
    _moments(program, corner, size, depth, found)
    found[1:] *= size
    return np.asarray(found * float(np.prod(upper - lower)))


MOST_CELLS = 5_000_000
"""A closed surface crosses about 6 · 4⁹ = 1.6 million of the smallest cells of a tree in 3D."""


@compiled
def covered_part(program, x, y, z, hx, hy, hz, s, nx, ny, nz):
    """Fraction of a small box that is inside, which the surface may cross: that on one side of a plane. The box has the
    middle (x, y, z) and half the edges (hx, hy, hz); s and n: distance and gradient at its middle."""
    reach = abs(nx) * hx + abs(ny) * hy + abs(nz) * hz
    # The distance of a mesh or of a smooth union may have a slope below one: the surface is then further away than s,
    # by the slope computed here.
    step = math.copysign(0.25 * reach, s)
    ahead, _, _, _ = distance_and_gradient(program, x - step * nx, y - step * ny, z - step * nz)
    slope = min(max((s - ahead) / step, 0.25), 1.0)
    if slope < 0.999:
        s /= slope
    # Only a change of sign is a surface: where two parts share a face, the distance of their combination can vanish
    # without changing sign.
    across = s + step
    other, _, _, _ = distance_and_gradient(program, x - across * nx, y - across * ny, z - across * nz)
    if (other < 0.0) != (s < 0.0):
        return min(max(0.5 - 0.5 * s / reach, 0.0), 1.0)
    return 1.0 if s < 0.0 else 0.0


@compiled
def _moments(program, corner, size, depth, found):
    """Add the fraction of the box that is inside to `found`, and its first moment about the middle in parts of the
    box."""
    d = 3 if program.dimension == 3 else 2
    children = 1 << d
    path = np.empty((depth * children + 1, 4))
    path[0] = 0.0
    height = 1
    visited = 0
    while height > 0:
        visited += 1
        if visited > MOST_CELLS:
            found[0] = math.nan
            return
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
            _add(found, weight if s < 0.0 else 0.0, path, height, part)
        elif level == depth:
            weight *= covered_part(program, x, y, z, hx, hy, hz, s, nx, ny, nz)
            _add(found, weight, path, height, part)
        else:
            x, y, z = path[height, 0], path[height, 1], path[height, 2]
            for child in range(children):
                path[height, 0] = x + 0.5 * part * (child & 1)
                path[height, 1] = y + 0.5 * part * ((child >> 1) & 1)
                path[height, 2] = z + 0.5 * part * ((child >> 2) & 1)
                path[height, 3] = level + 1
                height += 1


@compiled
def _add(found, weight, path, height, part):
    """Add a cell, as if what is inside of it were around its middle: on a closed surface the errors cancel."""
    found[0] += weight
    for axis in range(3):
        found[1 + axis] += weight * (path[height, axis] + 0.5 * part - 0.5)
