"""Cells: points sorted into cubic cells, in sparse blocks. Memory and time are proportional to the number of points.

Cell i along an axis contains the points with floor(x / size − offset) = i. If `size` is the cell size of the grid and
`offset` that of the spline (`STENCIL_OFFSET`), cell i contains the points whose stencil begins at node i; with offset 0
the lower corner of cell i is at i · size. Transfers, neighbour searches and resampling use the same class.

To visit the points around a cell, loop over cell indices (i, j, k) counted from the corner of its block:

    block, i, j, k = cell_in_block(D, cell)
    for a in range(i - 1, i + 2):
        …
            here = cell_at(D, neighbours, block, a, b, c)
            if here >= 0:
                for entry in range(cell_start[here], cell_start[here + 1]):
                    q = sorted_points[entry]

`neighbour_search.py` implements the search for all points within a radius.
"""

import copy
from dataclasses import dataclass
from typing import Any

import numba
import numpy as np
from numba import prange
from numpy.typing import NDArray

from spume.grid.blocks import BLOCK, CELLS_PER_BLOCK, neighbour_table, pack, unpack, with_surrounding_blocks
from spume.grid.generations import new_generation
from spume.numerics.jit import compiled
from spume.numerics.room import Room

STENCIL_OFFSET = {2: 0.5, 3: 1.0}
"""Distance from the first node of a stencil to the start of its cell [cells], by the order of the spline."""
MOST_SORTERS = 8
"""Largest number of sorting threads: each needs a count for every cell, and one thread adds these up."""


def _make_locate(dimension: int) -> Any:
    BX, BY, BZ = BLOCK[dimension]
    SX, SY, SZ = BX.bit_length() - 1, BY.bit_length() - 1, BZ.bit_length() - 1

    @compiled(parallel=True, fastmath=False)
    def locate(x, inverse_size, offset, key, local):
        """Key of the block and cell within the block of each point."""
        for p in prange(x.shape[0]):
            i = np.int64(np.floor(x[p, 0] * inverse_size - offset))
            j = np.int64(np.floor(x[p, 1] * inverse_size - offset))
            k = np.int64(np.floor(x[p, 2] * inverse_size - offset)) if dimension == 3 else np.int64(0)
            key[p] = pack(i >> SX, j >> SY, k >> SZ)
            local[p] = ((i & (BX - 1)) * BY + (j & (BY - 1))) * BZ + (k & (BZ - 1))

    return locate


_locate = {d: _make_locate(d) for d in (2, 3)}


@compiled(fastmath=False)
def _find_runs(key, run_start):
    """Find the starts of runs of equal keys in the order of the points; return their number."""
    count = 0
    for p in range(key.size):
        if p == 0 or key[p] != key[p - 1]:
            run_start[count] = p
            count += 1
    return count


@compiled(parallel=True, fastmath=False)
def _sort_by_cell(local, run_start, run_block, run_share, place, cell_start, sorted_points):
    """Counting sort of the points by (block, cell). It is stable, so the order is the same for any number of threads.

    Thread t sorts the runs from run_share[t] on and counts in place[t].
    """
    points = local.size
    for t in prange(place.shape[0]):
        place[t, :] = 0
        for run in range(run_share[t], run_share[t + 1]):
            stop = run_start[run + 1] if run + 1 < run_block.size else points
            for p in range(run_start[run], stop):
                place[t, run_block[run] * CELLS_PER_BLOCK + local[p]] += 1
    total = 0
    for c in range(cell_start.size - 1):
        cell_start[c] = total
        for t in range(place.shape[0]):
            count = place[t, c]
            place[t, c] = total
            total += count
    cell_start[cell_start.size - 1] = total
    for t in prange(place.shape[0]):
        for run in range(run_share[t], run_share[t + 1]):
            stop = run_start[run + 1] if run + 1 < run_block.size else points
            for p in range(run_start[run], stop):
                c = run_block[run] * CELLS_PER_BLOCK + local[p]
                sorted_points[place[t, c]] = p
                place[t, c] += 1


@compiled(parallel=True, fastmath=False)
def _sort_by_id(cell_start, ids, sorted_points):
    """Sort the points of each cell by their ids; a cell has few of them, which are nearly in order."""
    for cell in prange(cell_start.size - 1):
        for entry in range(cell_start[cell] + 1, cell_start[cell + 1]):
            p = sorted_points[entry]
            place = entry
            while place > cell_start[cell] and ids[sorted_points[place - 1]] > ids[p]:
                sorted_points[place] = sorted_points[place - 1]
                place -= 1
            sorted_points[place] = p


@dataclass(frozen=True)
class CellTable:
    """Cells of listed blocks with their points and the neighbours of each block, for searches."""

    dimension: int
    size: float
    """Edge length of a cell [m]."""
    offset: float
    """Cell i begins at (i + offset) · size."""
    keys: NDArray[np.int64]
    """Keys of the listed blocks, in ascending order."""
    blocks: NDArray[np.int64]
    """Their coordinates, shape (blocks, 3)."""
    cell_start: NDArray[np.int64]
    """First entry of each cell in `sorted_points`, 64 cells per block, then the number of points."""
    sorted_points: NDArray[np.int32]
    """Points in the order of the cells."""
    neighbours: NDArray[np.int32]
    """The 27 neighbours of each block, see `neighbour_table`."""


class Cells:
    """Points sorted by cell, and the blocks of cells they occupy."""

    def __init__(self, dimension: int, size: float, offset: float) -> None:
        self.dimension = dimension
        self.size = size
        self.offset = offset
        self.inverse_size = 1.0 / size
        self.keys = np.empty(0, np.int64)
        """Keys of the occupied blocks, in ascending order."""
        self.blocks = np.empty((0, 3), np.int64)
        """Coordinates of the occupied blocks."""
        self.generation = new_generation()
        """Number of the occupied blocks: if it is the same at two times, they are the same."""
        self._before = self.keys, self.blocks, self.generation
        """What these were before they changed."""
        self._neighbours: NDArray[np.int32] | None = None
        self._room = Room()
        self._key = np.empty(0, np.int64)
        self._local = np.empty(0, np.uint8)
        self._run_start = np.zeros(1, np.int32)
        self._run_block = np.empty(0, np.int64)
        self._place = np.empty((0, 0), np.int32)
        self._sorted_points = np.empty(0, np.int32)
        self._cell_start = np.zeros(1, np.int64)
        self._in_order = True
        """Whether these two are those of the last `sort`."""
        self._ids: NDArray[np.int64] | None = None

    def __len__(self) -> int:
        """Number of occupied blocks."""
        return int(self.keys.size)

    def sort(self, x: NDArray[np.float64], ids: NDArray[np.int64] | None = None) -> bool:
        """Sort the points at `x` [m], shape (n, d), by cell, and those of a cell by their `ids`, so that sums over them
        do not depend on the order of the arrays; without ids, in the order of the arrays.

        Return True if the points of a block are so scattered over the arrays that the arrays should be reordered by
        `sorted_points`. This depends only on `x`, so a resumed run makes the same decision.

        Blocks are found at once, and the order of the points in them when it is asked for: ranks first move points.
        """
        count = len(x)
        self._key = self._room.fit("key", self._key, count)
        self._local = self._room.fit("local", self._local, count)
        self._run_start = self._room.fit("run", self._run_start, count + 1)
        self._sorted_points = self._room.fit("sorted", self._sorted_points, count)
        _locate[self.dimension](x, self.inverse_size, self.offset, self._key, self._local)
        runs = _find_runs(self._key, self._run_start)
        self._run_start[runs] = count
        keys, self._run_block = np.unique(self._key[self._run_start[:runs]], return_inverse=True)
        if not np.array_equal(keys, self.keys):
            now = self.keys, self.blocks, self.generation
            again = np.array_equal(keys, self._before[0])
            self.keys, self.blocks, self.generation = self._before if again else (keys, unpack(keys), new_generation())
            self._before, self._neighbours = now, None
        self._ids, self._in_order = ids, False
        return bool(runs > 2 * keys.size + count // 16)

    def _sort_within(self) -> None:
        """Find the order of the points."""
        self._in_order, count, runs = True, len(self._key), self._run_block.size
        if self._cell_start.size != self.keys.size * CELLS_PER_BLOCK + 1:
            self._cell_start = np.zeros(self.keys.size * CELLS_PER_BLOCK + 1, np.int64)
        sorters = min(numba.get_num_threads(), MOST_SORTERS)
        run_start = self._run_start[:runs]
        share = np.searchsorted(run_start, count * np.arange(sorters + 1) // sorters)
        if self._place.shape != (sorters, self._cell_start.size - 1):
            self._place = np.empty((sorters, self._cell_start.size - 1), np.int32)
        _sort_by_cell(
            self._local, run_start, self._run_block, share, self._place, self._cell_start, self._sorted_points
        )
        if self._ids is not None:
            _sort_by_id(self._cell_start, self._ids, self._sorted_points)
            self._ids = None

    def find_order(self) -> None:
        """Find the order of the points now."""
        if not self._in_order:
            self._sort_within()

    @property
    def sorted_points(self) -> NDArray[np.int32]:
        """Points in the order of the cells."""
        self.find_order()
        return self._sorted_points

    @property
    def cell_start(self) -> NDArray[np.int64]:
        """First entry of each cell in `sorted_points`, 64 cells per block, then the number of points."""
        self.find_order()
        return self._cell_start

    @property
    def counts(self) -> NDArray[np.int64]:
        """Numbers of points in the occupied blocks."""
        lengths = np.diff(self._run_start[: self._run_block.size + 1])
        return np.bincount(self._run_block, lengths, self.keys.size).astype(np.int64)

    def points_in(self, chosen: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The points in the `chosen` ones of the occupied blocks, ascending, and their blocks."""
        runs = np.flatnonzero(chosen[self._run_block])
        first = self._run_start[runs].astype(np.int64)
        lengths = self._run_start[runs + 1] - first
        within = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        return np.repeat(first, lengths) + within, np.repeat(self._run_block[runs], lengths)

    def coordinates(self, x: NDArray[np.float64]) -> NDArray[np.int64]:
        """Coordinates of the cells of positions (n, d) [m], shape (n, 3); in 2D the third is 0."""
        index = np.zeros((len(x), 3), np.int64)
        with np.errstate(invalid="ignore"):  # points that are not finite are found elsewhere
            index[:, : self.dimension] = np.floor(x * self.inverse_size - self.offset)
        return index

    def of_points(self) -> NDArray[np.int64]:
        """Flat index (64 per block) of the cell of each point."""
        cell = np.empty(len(self.sorted_points), np.int64)
        cell[self.sorted_points] = np.repeat(np.arange(len(self.cell_start) - 1), np.diff(self.cell_start))
        return cell

    def chosen(self, mask: NDArray[np.bool_]) -> "Cells":
        """These cells with the points in `mask` only, valid until the next sort."""
        mine = mask[self.sorted_points]
        found = copy.copy(self)
        found._sorted_points = self.sorted_points[mine]
        found._cell_start = np.concatenate([[0], np.cumsum(mine)])[self.cell_start]
        return found

    @property
    def neighbours(self) -> NDArray[np.int32]:
        """The 27 neighbours of each occupied block among the occupied blocks, see `neighbour_table`."""
        if self._neighbours is None:
            self._neighbours = neighbour_table(self.keys)
        return self._neighbours

    def table(self) -> CellTable:
        """Table of the occupied blocks. It shares its arrays with the cells and is valid until the next sort."""
        return CellTable(
            self.dimension, self.size, self.offset, self.keys, self.blocks, self.cell_start, self.sorted_points,
            self.neighbours,
        )  # fmt: skip

    def table_with_surroundings(self) -> CellTable:
        """Table of the occupied blocks and all adjacent blocks, so that every position within a block's width of a
        point has a cell."""
        keys = with_surrounding_blocks(self.keys, self.dimension)
        start = np.empty(keys.size * CELLS_PER_BLOCK + 1, np.int64)
        _spread_starts(self.keys, self.cell_start, keys, start)
        return CellTable(
            self.dimension, self.size, self.offset, keys, unpack(keys), start, self.sorted_points, neighbour_table(keys)
        )


@compiled(fastmath=False)
def _spread_starts(occupied, cell_start, keys, start):
    """Compute the first entries of the cells of all listed blocks from those of the occupied ones (both sorted)."""
    o = 0
    for b in range(keys.size):
        first = b * CELLS_PER_BLOCK
        if o < occupied.size and occupied[o] == keys[b]:
            for cell in range(CELLS_PER_BLOCK):  # assigning slices takes seconds to compile
                start[first + cell] = cell_start[o * CELLS_PER_BLOCK + cell]
            o += 1
        else:
            for cell in range(CELLS_PER_BLOCK):
                start[first + cell] = cell_start[o * CELLS_PER_BLOCK]
    start[keys.size * CELLS_PER_BLOCK] = cell_start[occupied.size * CELLS_PER_BLOCK]
