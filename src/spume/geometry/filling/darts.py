"""Random points of a shape, no two closer than r, so many that there is no room for another."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spume.geometry.darts import Domain, Thrower, cells_at
from spume.geometry.filling.lattice import slab_within
from spume.geometry.filling.sharing import ALONE, Sharers
from spume.geometry.sdf.evaluation import distance
from spume.geometry.sdf.operations import ShapeProgram
from spume.numerics.jit import compiled

ALPHA = {2: 0.75, 3: 0.9}
"""r in widths of the cells at which darts are thrown."""
INDEX, WIDTH = 5, 6
"""Places of the indices and the width of the cells in the tuple that the functions of the domain get."""
MOST_IN_CELL = 64
"""More points than a cell can have."""
LEVELS = 5
"""Gaps below 4^−5 = 1/1024 of a cell may stay open."""
MARGIN = 0.01
"""Distance of the points from the surface, at least [cells]. Without it, the search splits all boxes that touch the
surface from outside down to the last level, a million in each cell along a face."""


class Darts(NamedTuple):
    """Points that this process has."""

    positions: NDArray[np.float64]
    """[m], shape (n, dimension)"""
    numbers: NDArray[np.int64]
    """In the order of the points of all processes, ascending, with gaps."""


def throw_darts(
    program: ShapeProgram,
    lower: NDArray[np.float64],
    upper: NDArray[np.float64],
    r: float,
    seed: int,
    sharers: Sharers = ALONE,
) -> Darts:
    """Points inside the shape, no two closer than `r` [m]; the same for the same seed. Each of several `sharers` throws
    in the cells of its slab."""
    d = len(lower)
    width, step = r / ALPHA[d], np.full(d, r / ALPHA[d])
    slab = slab_within(
        program, lower, upper, step, 0.5 * math.sqrt(d) * width, None, sharers.rank, sharers.size, near=1
    )
    order = slab.order if slab.order.size else np.arange(len(slab.index))
    cell, place = _THROWERS[d].throw(
        cells_at(slab.index, d), (*program, slab.index, width), ALPHA[d], np.uint64(seed),
        links=sharers.links(order, slab.owner),
    )  # fmt: skip
    number_in_cell = np.arange(len(cell)) - np.searchsorted(cell, cell)
    return Darts((slab.index[cell] + place)[:, :d] * width, MOST_IN_CELL * order[cell] + number_in_cell)


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
