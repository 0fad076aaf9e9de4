"""Points in cubic bins of width r, in sparse blocks, for range queries. [Yue15] algorithm 2, line 5

Lengths in this package are in units of r, and the corner of bin i stands at coordinate i on each axis. Blocks of bins
are those of the sparse grid; beside the occupied ones the table lists every block that touches one of them, so that
whatever lies within a block's width of a point has a place. Memory and time follow the points, not the domain.

A block also owns as many grid nodes as bins: node i is the lower corner of bin i. In the plane the third axis has one
bin, one node, and the coordinate 0.
"""

from dataclasses import dataclass

import numpy as np
from numba import prange
from numpy.typing import NDArray

from spume.mpm.grid import CELLS_PER_BLOCK, SparseGrid, unpack
from spume.numerics.jit import compiled

_AXIS_STEP = (1 << 42, 1 << 21, 1)
"""What one block along an axis adds to the packed key of a block."""


@dataclass(frozen=True)
class PointBins:
    """Points sorted by bin; all arrays of blocks run over the listed blocks in the order of their keys."""

    dimension: int
    r: float
    """Width of a bin [m]."""
    y: NDArray[np.float64]
    """Coordinates of the points in the order of the bins [r], shape (n, 3)."""
    point: NDArray[np.int32]
    """Index of each entry of `y` among the points."""
    start: NDArray[np.int64]
    """First entry of each bin, 64 bins a block; one past the end last."""
    blocks: NDArray[np.int64]
    """Coordinates of the listed blocks, shape (blocks, 3)."""
    neighbours: NDArray[np.int32]
    """For each block its 27 neighbours, itself in the middle, z fastest; −1 where none is listed."""

    @property
    def capacity(self) -> int:
        """Room for the points of any block and its neighbours, and two more."""
        points = np.diff(self.start[::CELLS_PER_BLOCK], append=0)
        points[-1] = 0  # stands for the neighbours that are not listed
        return int(points[self.neighbours].sum(axis=1).max(initial=0)) + 2

    def position(self, y: NDArray[np.float64]) -> NDArray[np.float64]:
        """Coordinates [r] to metres."""
        return (y[:, : self.dimension] + _SHIFT) * self.r

    def coordinates(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Metres to coordinates [r], three of them."""
        y = np.zeros((len(x), 3))
        y[:, : self.dimension] = x * (1.0 / self.r) - _SHIFT
        return y


_SHIFT = 1.0
"""Coordinates are x/r − 1: the sparse grid puts the point x into its cell floor(x/r − 1), here its bin."""


def bin_points(x: NDArray[np.float64], r: float) -> PointBins:
    """Sort the points at `x` [m], shape (n, d), into bins of width `r` [m]."""
    dimension = x.shape[1]
    grid = SparseGrid(dimension, r, order=3, affine=False)
    grid.find_cells(x)
    keys = grid.keys
    for step in _AXIS_STEP[:dimension]:
        keys = np.unique(np.concatenate([keys - step, keys, keys + step]))
    start = np.empty(keys.size * CELLS_PER_BLOCK + 1, np.int64)
    _spread_starts(grid.keys, grid.cell_start, keys, start)
    neighbours = np.full((keys.size, 27), -1, np.int32)
    _find_neighbours(keys, np.array(_AXIS_STEP), neighbours)
    y = np.zeros((len(x), 3))
    _scale(x, grid.order_of, grid.inverse_cell, y)
    return PointBins(dimension, r, y, grid.order_of, start, unpack(keys), neighbours)


@compiled(parallel=True, fastmath=False)
def _scale(x, order, inverse, y):
    for n in prange(order.size):
        for a in range(x.shape[1]):
            y[n, a] = x[order[n], a] * inverse - _SHIFT


@compiled(fastmath=False)
def _spread_starts(occupied, cell_start, keys, start):
    """First entries of the bins of all listed blocks from those of the occupied ones; both lists are sorted."""
    o = 0
    for b in range(keys.size):
        first = b * CELLS_PER_BLOCK
        if o < occupied.size and occupied[o] == keys[b]:
            start[first : first + CELLS_PER_BLOCK] = cell_start[o * CELLS_PER_BLOCK : (o + 1) * CELLS_PER_BLOCK]
            o += 1
        else:
            start[first : first + CELLS_PER_BLOCK] = cell_start[o * CELLS_PER_BLOCK]
    start[keys.size * CELLS_PER_BLOCK] = cell_start[occupied.size * CELLS_PER_BLOCK]


@compiled(fastmath=False)
def _find_neighbours(keys, step, neighbours):
    """Walks the sorted keys and the same keys shifted, side by side, once per neighbour."""
    for code in range(27):
        shift = (code // 9 - 1) * step[0] + (code // 3 % 3 - 1) * step[1] + (code % 3 - 1) * step[2]
        other = 0
        for b in range(keys.size):
            while other < keys.size and keys[other] < keys[b] + shift:
                other += 1
            if other < keys.size and keys[other] == keys[b] + shift:
                neighbours[b, code] = other
