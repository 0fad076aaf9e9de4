"""Points in cubic bins of width r, in sparse blocks, for range queries. [Yue15] algorithm 2, line 5

Lengths in this package are in units of r, and the corner of bin i is at coordinate i on each axis. The bins are
`mpm.cells.Cells`; in addition to the occupied blocks all adjacent blocks are listed, so that every position within a
block's width of a point has a bin. Memory and time are proportional to the number of points, not to the domain.

A block also has as many grid nodes as bins: node i is the lower corner of bin i. In 2D the third axis has one bin, one
node, and the coordinate 0.
"""

from dataclasses import dataclass

import numpy as np
from numba import prange
from numpy.typing import NDArray

from spume.grid.blocks import BLOCK, CELLS_PER_BLOCK, keys_of_cells
from spume.grid.cells import Cells
from spume.numerics.jit import compiled

OFFSET = 1.0
"""Coordinates are x/r − OFFSET. The value is arbitrary, but it determines the random numbers of the bins."""


@dataclass(frozen=True)
class PointBins:
    """Points sorted by bin; arrays of blocks contain the listed blocks in the order of their keys."""

    dimension: int
    r: float
    """Width of a bin [m]."""
    y: NDArray[np.float64]
    """Coordinates of the points in the order of the bins [r], shape (n, 3)."""
    point: NDArray[np.int32]
    """Index of each entry of `y` among the points."""
    start: NDArray[np.int64]
    """First entry of each bin, 64 bins per block, then the number of points."""
    blocks: NDArray[np.int64]
    """Coordinates of the listed blocks, shape (blocks, 3)."""
    neighbours: NDArray[np.int32]
    """The 27 neighbours of each block, itself in the middle, z fastest; −1 for a neighbour that is not listed."""

    @property
    def capacity(self) -> int:
        """Largest number of points of a block and its neighbours, plus two."""
        points = np.diff(self.start[::CELLS_PER_BLOCK], append=0)
        points[-1] = 0  # for neighbours that are not listed
        return int(points[self.neighbours].sum(axis=1).max(initial=0)) + 2

    def coordinates_of(self, bins: NDArray[np.int64]) -> NDArray[np.int64]:
        """Coordinates of bins, shape (n, 3), by their numbers, 64 a block."""
        width = BLOCK[self.dimension]
        return self.blocks[bins // 64] * width + np.stack(np.unravel_index(bins % 64, width), axis=1)

    def middles(self, index: NDArray[np.int64]) -> NDArray[np.float64]:
        """Positions of the middles of the bins with the coordinates `index` (n, 3) [m]."""
        return self.position(index.astype(np.float64) + 0.5)

    def numbers_of(self, index: NDArray[np.int64]) -> NDArray[np.int64]:
        """Numbers of the bins with the coordinates `index` (n, 3); −1 for those in blocks that are not listed."""
        keys, local = keys_of_cells(index, self.dimension)
        listed = keys_of_cells(self.blocks * BLOCK[self.dimension], self.dimension)[0]
        block = np.searchsorted(listed, keys)
        known = np.append(listed, -1)[block] == keys
        return np.where(known, CELLS_PER_BLOCK * block + local, -1)

    def position(self, y: NDArray[np.float64]) -> NDArray[np.float64]:
        """Convert coordinates [r] to metres."""
        return (y[:, : self.dimension] + OFFSET) * self.r

    def coordinates(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Convert metres to three coordinates [r]."""
        y = np.zeros((len(x), 3))
        y[:, : self.dimension] = x * (1.0 / self.r) - OFFSET
        return y


def bin_points(x: NDArray[np.float64], r: float) -> PointBins:
    """Sort the points at `x` [m], shape (n, d), into bins of width `r` [m]."""
    dimension = x.shape[1]
    cells = Cells(dimension, r, OFFSET)
    cells.sort(x)
    table = cells.table_with_surroundings()
    y = np.zeros((len(x), 3))
    _scale(x, table.sorted_points, cells.inverse_size, y)
    return PointBins(dimension, r, y, table.sorted_points, table.cell_start, table.blocks, table.neighbours)


@compiled(parallel=True, fastmath=False)
def _scale(x, sorted_points, inverse_size, y):
    for n in prange(sorted_points.size):
        for a in range(x.shape[1]):
            y[n, a] = x[sorted_points[n], a] * inverse_size - OFFSET
