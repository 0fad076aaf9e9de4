"""Neighbour lists: the nearest points within a radius, made symmetric.

The list of a point holds the `count` nearest points within the radius and a skin, and all points that have it in their
own list: a list cut at `count` is not symmetric, and without its partner a pair force would not conserve momentum.
Points listed beyond the radius have no weight.

Lists are used until two points may have come closer to each other by more than the skin; until then nothing within the
radius is missing, unless the count cut it off. That is decided block by block from the displacements since the lists
were built, so a body that flies or falls as a whole keeps its lists.

Each list is filled up to a multiple of eight with the number of points, an index that no point has: sums over
neighbours take eight at a time (`numerics.lanes`). Lists are in ascending order, the same for any number
of threads.
"""

from typing import Any

import numpy as np
from numba import prange
from numpy.typing import NDArray

from spume.mpm.blocks import BLOCK, CELLS_PER_BLOCK, LAYER_BITS, cell_in_block, run_of_cells
from spume.mpm.cells import Cells
from spume.numerics.jit import compiled
from spume.numerics.lanes import LANES

CELLS_PER_RADIUS = 2
"""Search cells along the radius of a list: with smaller cells fewer points are looked at, in more cells."""
ROOM = 64
"""Points within the radius of a list for which there is room at first; more are made room for when needed."""


class NeighbourLists:
    """For each point its neighbours, itself not among them."""

    def __init__(self, dimension: int, radius: float, count: int, skin: float) -> None:
        self.radius = radius
        """Radius of the kernels [m]."""
        self.count = count
        self.skin = skin
        """By how much lists reach beyond the radius [m]."""
        self.cells = Cells(dimension, (radius + skin) / CELLS_PER_RADIUS, 0.0)
        self.start = np.zeros(1, np.int64)
        """First entry of each point in `neighbour`; one past the end last. Multiples of eight."""
        self.neighbour = np.empty(0, np.int32)
        """The neighbours; entries equal to the number of points fill the lists up."""
        self.reverse = np.empty(0, np.int32)
        """For each entry (i, j) the entry (j, i); for those that fill the lists up, one past the last entry."""
        self._weights = np.zeros(1)

    def memory_for_weights(self) -> NDArray[np.float64]:
        """A number for each entry and one more, which is zero; values remain from the last time."""
        if len(self._weights) != len(self.neighbour) + 1:
            self._weights = np.empty(len(self.neighbour) + 1)
        self._weights[-1] = 0.0
        return self._weights

    def build(self, x: NDArray[np.float64]) -> None:
        """List the neighbours of the points at `x` [m], shape (n, d)."""
        cells, n, reach = self.cells, len(x), self.radius + self.skin
        cells.sort(x)
        y = np.zeros((3, n))
        y[: cells.dimension] = x[cells.sorted_points].T
        in_block = np.diff(cells.cell_start[::CELLS_PER_BLOCK], append=0)
        in_block[-1] = 0  # stands for neighbours that are not occupied
        capacity = int(in_block[cells.neighbours].sum(axis=1).max(initial=0))
        within = np.empty(n, np.int32)
        room = ROOM
        while True:
            table = np.empty((n, room), np.int32)
            _find_within[cells.dimension](
                cells.neighbours, cells.cell_start, cells.sorted_points, y, reach, capacity, table, within
            )
            most = int(within.max(initial=0))
            if most < room:  # the last place of a row is overwritten
                break
            room = most + 1
        cut_square, cut_index = np.full(n, np.inf), np.zeros(n, np.int64)
        if most > self.count:
            _find_cuts(x, table, within, self.count, cut_square, cut_index)
        _keep_listed(x, table, within, cut_square, cut_index)
        self.start = np.zeros(n + 1, np.int64)
        np.cumsum((within + (LANES - 1)) // LANES * LANES, out=self.start[1:])
        self.neighbour = np.empty(self.start[-1], np.int32)
        self.reverse = np.empty(self.start[-1], np.int32)
        _fill(table, within, self.start, self.neighbour)
        _find_reverse(within, self.start, self.neighbour, self.reverse)

    def valid(self, x: NDArray[np.float64], x_listed: NDArray[np.float64]) -> bool:
        """Whether no two points at `x` [m] can have come closer than the radius that are not in each other's list,
        since the lists were built at `x_listed`.

        Points of blocks that touch each other have come closer by no more than the skin. All others were at least the
        width of a block apart.
        """
        cells = self.cells
        width = min(BLOCK[cells.dimension][: cells.dimension]) * cells.size
        low, high = np.empty((len(cells), 3)), np.empty((len(cells), 3))
        _displacements(cells.cell_start, cells.sorted_points, x, x_listed, low, high)
        if np.linalg.norm(high.max(axis=0) - low.min(axis=0)) <= self.skin:
            return True
        near, far = _largest_approach(cells.neighbours, low, high)
        return bool(near <= self.skin and far <= width - self.radius)


@compiled(inline="always", fastmath=False)
def _square(x, i, j):
    """Squared distance of two points; the same bits for (i, j) and (j, i)."""
    square = 0.0
    for q in range(x.shape[1]):
        square += (x[i, q] - x[j, q]) ** 2
    return square


def _make_find_within(D: int) -> Any:
    @compiled(parallel=True, fastmath=False)
    def find_within(neighbours, cell_start, sorted_points, y, radius, capacity, table, number):
        """Write the points within `radius` of each point to its row of `table`, as far as there is room, and their
        number. `y` are the positions in the order of the cells, shape (3, n); `capacity` is the largest number of
        points in a block and those around it."""
        deep = CELLS_PER_RADIUS if D == 3 else 0
        room = table.shape[1]
        limit = radius * radius
        for block in prange(neighbours.shape[0]):
            square, candidate = np.empty(capacity), np.empty(capacity, np.int32)
            for cell in range(CELLS_PER_BLOCK * block, CELLS_PER_BLOCK * (block + 1)):
                if cell_start[cell] == cell_start[cell + 1]:
                    continue
                _, i, j, k = cell_in_block(D, cell)
                # the points of all cells around, in one row
                count = 0
                for a in range(i - CELLS_PER_RADIUS, i + CELLS_PER_RADIUS + 1):
                    for b in range(j - CELLS_PER_RADIUS, j + CELLS_PER_RADIUS + 1):
                        for layer in range((k - deep) >> LAYER_BITS, ((k + deep) >> LAYER_BITS) + 1):
                            first, last = run_of_cells(
                                D, neighbours, cell_start, block, a, b, k - deep, k + deep, layer
                            )
                            for entry in range(first, last):
                                candidate[count] = entry
                                count += 1
                for own in range(cell_start[cell], cell_start[cell + 1]):
                    p0, p1, p2 = y[0, own], y[1, own], y[2, own]
                    for n in range(count):
                        c = candidate[n]
                        d0, d1, d2 = y[0, c] - p0, y[1, c] - p1, y[2, c] - p2
                        square[n] = d0 * d0 + d1 * d1 + d2 * d2
                    p = sorted_points[own]
                    found = 0
                    for n in range(count):
                        # written in any case and kept if it counts: a jump here would be guessed wrong too often
                        table[p, min(found, room - 1)] = sorted_points[candidate[n]]
                        found += 1 if square[n] <= limit and candidate[n] != own else 0
                    number[p] = found

    return find_within


_find_within = {d: _make_find_within(d) for d in (2, 3)}


@compiled(parallel=True, fastmath=False)
def _find_cuts(x, table, number, count, cut_square, cut_index):
    """For points with more than `count` others within the radius: squared distance and index of the last that is among
    the nearest; at equal distance lower indices come first."""
    n = number.size
    tasks = (n + 511) // 512
    for task in prange(tasks):
        values = np.empty(table.shape[1])
        for i in range(512 * task, min(n, 512 * (task + 1))):
            if number[i] <= count:
                continue
            for entry in range(number[i]):
                values[entry] = _square(x, i, table[i, entry])
            # the largest distance that fewer than `count` others are below; comparing all vectorises, sorting does not
            limit, nearer = -1.0, 0
            for entry in range(number[i]):
                own = values[entry]
                below = 0
                for other in range(number[i]):
                    below += 1 if values[other] < own else 0
                if below < count and own > limit:
                    limit, nearer = own, below
            # of those at the same distance as the last, the lowest indices
            index = -1
            for _ in range(count - nearer):
                following = n
                for entry in range(number[i]):
                    j = table[i, entry]
                    if j > index and j < following and _square(x, i, j) == limit:
                        following = j
                index = following
            cut_square[i], cut_index[i] = limit, index


@compiled(parallel=True, fastmath=False)
def _keep_listed(x, table, number, cut_square, cut_index):
    """Of the points in each row keep those that are among the nearest of this point or have it among theirs, in
    ascending order."""
    for i in prange(number.size):
        kept = 0
        for entry in range(number[i]):
            j = table[i, entry]
            square = _square(x, i, j)
            mine = square < cut_square[i] or (square == cut_square[i] and j <= cut_index[i])
            if mine or square < cut_square[j] or (square == cut_square[j] and i <= cut_index[j]):
                place = kept
                while place > 0 and table[i, place - 1] > j:
                    table[i, place] = table[i, place - 1]
                    place -= 1
                table[i, place] = j
                kept += 1
        number[i] = kept


@compiled(parallel=True, fastmath=False)
def _fill(table, number, start, neighbour):
    n = number.size
    for i in prange(n):
        for entry in range(start[i + 1] - start[i]):
            neighbour[start[i] + entry] = table[i, entry] if entry < number[i] else n


@compiled(fastmath=False)
def _find_reverse(number, start, neighbour, reverse):
    """Lists are in ascending order: when the points are visited in this order, each finds itself at the next entry of
    every list it is in."""
    following = start[:-1].copy()
    for i in range(number.size):
        for entry in range(start[i], start[i] + number[i]):
            j = neighbour[entry]
            reverse[entry] = following[j]
            following[j] += 1
        for entry in range(start[i] + number[i], start[i + 1]):
            reverse[entry] = neighbour.size


@compiled(parallel=True, fastmath=False)
def _displacements(cell_start, sorted_points, x, x_listed, low, high):
    """Least and largest displacement [m] along each axis of the points of each block."""
    for block in prange(low.shape[0]):
        low[block, 2] = high[block, 2] = 0.0
        for q in range(x.shape[1]):
            least, most = np.inf, -np.inf
            for entry in range(cell_start[CELLS_PER_BLOCK * block], cell_start[CELLS_PER_BLOCK * (block + 1)]):
                p = sorted_points[entry]
                u = x[p, q] - x_listed[p, q]
                least, most = min(least, u), max(most, u)
            low[block, q], high[block, q] = least, most


@compiled(fastmath=False)
def _largest_approach(neighbours, low, high):
    """By how much [m] two points can have come closer at the most: of blocks that touch each other, and of any."""
    near = 0.0
    least, most = low[0].copy(), high[0].copy()
    for block in range(low.shape[0]):
        least, most = np.minimum(least, low[block]), np.maximum(most, high[block])
        for code in range(27):
            other = neighbours[block, code]
            if other >= block:
                square = 0.0
                for q in range(3):
                    apart = max(high[block, q] - low[other, q], high[other, q] - low[block, q])
                    square += apart * apart
                near = max(near, square)
    return np.sqrt(near), np.sqrt(np.sum((most - least) ** 2))
