"""Random points of a shape, no two closer than r, so many that there is no room for another."""

import math

import numpy as np
from numpy.typing import NDArray

from spume.geometry.darts import Domain, Thrower, cells_at
from spume.geometry.filling.lattice import lattice_within
from spume.geometry.sdf.evaluation import distance
from spume.geometry.sdf.operations import ShapeProgram
from spume.numerics.jit import compiled

ALPHA = {2: 0.75, 3: 0.9}
"""r in widths of the cells at which darts are thrown."""
INDEX, WIDTH = 5, 6
"""Places of the indices and the width of the cells in the tuple that the functions of the domain get."""
LEVELS = 5
"""Gaps below 4^−5 = 1/1024 of a cell may stay open."""
MARGIN = 0.01
"""Distance of the points from the surface, at least [cells]. Without it, the search splits all boxes that touch the
surface from outside down to the last level, a million in each cell along a face."""


def throw_darts(
    program: ShapeProgram, lower: NDArray[np.float64], upper: NDArray[np.float64], r: float, seed: int
) -> NDArray[np.float64]:
    """Points inside the shape [m], shape (n, dimension), no two closer than `r` [m]; the same for the same seed."""
    d = len(lower)
    width = r / ALPHA[d]
    index = lattice_within(program, lower, upper, np.full(d, width), 0.5 * math.sqrt(d) * width)
    cell, place = _THROWERS[d].throw(cells_at(index, d), (*program, index, width), ALPHA[d], np.uint64(seed))
    return (index[cell] + place)[:, :d] * width


@compiled
def _no_points(arrays, cell, alpha, points):
    return 0


def _make_domain(D: int) -> Domain:
    HALF_DIAGONAL = 0.5 * math.sqrt(D)
    HALF_DEPTH = 0.5 if D == 3 else 0.0

    @compiled
    def distance_of_middle(arrays, numbers, x, y, z, w):
        rows, coefficients, starts, voxels, dimension, _, width = arrays
        program = ShapeProgram(rows, coefficients, starts, voxels, dimension)
        x, y, z = numbers[0] + x + 0.5 * w, numbers[1] + y + 0.5 * w, numbers[2] + z + HALF_DEPTH * w
        return distance(program, x * width, y * width, z * width)

    @compiled
    def prepare(arrays, cell, numbers):
        for axis in range(3):
            numbers[axis] = arrays[INDEX][cell, axis]
        return distance_of_middle(arrays, numbers, 0.0, 0.0, 0.0, 1.0) < -(HALF_DIAGONAL + MARGIN) * arrays[WIDTH]

    @compiled
    def contains(arrays, numbers, x, y, z):
        return distance_of_middle(arrays, numbers, x, y, z, 0.0) < -MARGIN * arrays[WIDTH]

    @compiled
    def reaches(arrays, numbers, x, y, z, w):
        # distances are 1-Lipschitz
        return distance_of_middle(arrays, numbers, x, y, z, w) < (HALF_DIAGONAL * w - MARGIN) * arrays[WIDTH]

    return Domain(_no_points, prepare, contains, reaches)


_THROWERS = {d: Thrower(d, _make_domain(d), LEVELS, rounds=4) for d in (2, 3)}
