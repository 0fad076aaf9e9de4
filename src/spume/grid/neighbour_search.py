"""Neighbour search among the points of cells: all points within a radius."""

import math
from typing import Any

import numpy as np
from numba import prange
from numpy.typing import NDArray

from spume.grid.blocks import BLOCK, LAYER_BITS, pack, run_of_cells
from spume.grid.cells import Cells
from spume.numerics.jit import compiled


def all_within(
    cells: Cells, x: NDArray[np.float64], places: NDArray[np.float64], radius: float
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Find the points within `radius` [m] of each of `places`, shape (m, d).

    `x` are the positions by which `cells` were sorted. Return the first entry of each place in the list of points, then
    its length, and the list, in the order of the cells. Places may be anywhere; a point is its own neighbour.
    """
    table, reach = _prepare(cells, radius)
    start = np.zeros(len(places) + 1, np.int64)
    found = np.empty(0, np.int32)
    arguments = (
        table.keys, table.blocks, table.neighbours, table.cell_start, table.sorted_points, cells.inverse_size,
        cells.offset, x, places, radius, reach,
    )  # fmt: skip
    _within[cells.dimension](*arguments, start, found)
    np.cumsum(start, out=start)
    found = np.empty(start[-1], np.int32)
    _within[cells.dimension](*arguments, start, found)
    return start, found


def _prepare(cells: Cells, radius: float) -> tuple[Any, int]:
    reach = math.ceil(radius * cells.inverse_size)
    side = BLOCK[cells.dimension][0]
    if not 0 < reach <= side:
        raise ValueError(
            f"the radius is {radius:g} m and a cell {cells.size:g} m: the radius should be positive and at most {side} "
            "cells"
        )
    return cells.table_with_surroundings(), reach


def _make_locate(D: int) -> Any:
    BX, BY, BZ = BLOCK[D]
    SX, SY, SZ = BX.bit_length() - 1, BY.bit_length() - 1, BZ.bit_length() - 1

    @compiled(fastmath=False)
    def locate(keys, places, n, inverse_size, offset):
        """Listed block of a place, −1 if there is none, and its cell counted from the corner of the block."""
        i = np.int64(np.floor(places[n, 0] * inverse_size - offset))
        j = np.int64(np.floor(places[n, 1] * inverse_size - offset))
        k = np.int64(np.floor(places[n, 2] * inverse_size - offset)) if D == 3 else np.int64(0)
        key = pack(i >> SX, j >> SY, k >> SZ)
        block = np.searchsorted(keys, key)
        if block == keys.size or keys[block] != key:
            return -1, i, j, k
        return block, i & (BX - 1), j & (BY - 1), k & (BZ - 1)

    return locate


_locate_2, _locate_3 = _make_locate(2), _make_locate(3)


@compiled
def _locate(D, keys, places, n, inverse_size, offset):
    return (
        _locate_2(keys, places, n, inverse_size, offset) if D == 2 else _locate_3(keys, places, n, inverse_size, offset)
    )


@compiled(inline="always")
def _squared_distance(D, x, q, places, n):
    dx, dy = x[q, 0] - places[n, 0], x[q, 1] - places[n, 1]
    dz = x[q, 2] - places[n, 2] if D == 3 else 0.0
    return dx * dx + dy * dy + dz * dz


def _make_within(D: int) -> Any:
    @compiled(parallel=True, fastmath=False)
    def within(
        keys, blocks, neighbours, cell_start, sorted_points, inverse_size, offset, x, places, radius, reach,
        start, found,
    ):  # fmt: skip
        """Count the neighbours of place n in start[n + 1], or list them if `found` has space."""
        deep = reach if D == 3 else 0
        for n in prange(places.shape[0]):
            block, i, j, k = _locate(D, keys, places, n, inverse_size, offset)
            count = 0
            if block >= 0:
                for a in range(i - reach, i + reach + 1):
                    for b in range(j - reach, j + reach + 1):
                        for layer in range((k - deep) >> LAYER_BITS, ((k + deep) >> LAYER_BITS) + 1):
                            first, last = run_of_cells(
                                D, neighbours, cell_start, block, a, b, k - deep, k + deep, layer
                            )
                            for entry in range(first, last):
                                q = sorted_points[entry]
                                if _squared_distance(D, x, q, places, n) <= radius * radius:
                                    if found.size > 0:
                                        found[start[n] + count] = q
                                    count += 1
            if found.size == 0:
                start[n + 1] = count

    return within


_within = {d: _make_within(d) for d in (2, 3)}
