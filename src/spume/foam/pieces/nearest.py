"""The nearest point with another label."""

import math
from typing import Any

import numpy as np
from numba import prange
from numpy.typing import NDArray

from spume.foam.pieces.points import Points
from spume.grid.blocks import BLOCK, cell_at, cell_in_block
from spume.numerics.jit import compiled


def find_nearest(
    p: Points, label: NDArray[np.int64], chosen: NDArray[np.int64], radius: float
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The nearest point with another label, other than 0, nearer than `radius` [m] to each of the `chosen` points, or
    −1, and its distance [m]. Of equally near points it is that with the least id."""
    nearest, square = np.empty(len(chosen), np.int64), np.empty(len(chosen))
    cells = p.cells
    _find[cells.dimension](
        cells.neighbours, cells.cell_start, cells.sorted_points, cells.of_points(), chosen, p.x, p.id, label, radius,
        math.ceil(radius * cells.inverse_size), nearest, square,
    )  # fmt: skip
    return nearest, np.sqrt(square)


def _make_find(D: int) -> Any:
    deep_too = BLOCK[D][2] > 1

    @compiled(parallel=True, fastmath=False)
    def find(neighbours, cell_start, sorted_points, cell_of, chosen, x, ids, label, radius, reach, nearest, square):
        deep = reach if deep_too else 0
        for n in prange(chosen.size):
            p = chosen[n]
            block, i, j, k = cell_in_block(D, cell_of[p])
            best, least = np.int64(-1), radius * radius
            for a in range(i - reach, i + reach + 1):
                for b in range(j - reach, j + reach + 1):
                    for c in range(k - deep, k + deep + 1):
                        here = cell_at(D, neighbours, block, a, b, c)
                        if here < 0:
                            continue
                        for entry in range(cell_start[here], cell_start[here + 1]):
                            q = np.int64(sorted_points[entry])
                            if label[q] == label[p] or label[q] == 0:
                                continue
                            s = 0.0
                            for axis in range(D):
                                s += (x[p, axis] - x[q, axis]) ** 2
                            if s < least or (s == least and best >= 0 and ids[q] < ids[best]):
                                best, least = q, s
            nearest[n], square[n] = best, least

    return find


_find = {d: _make_find(d) for d in (2, 3)}
