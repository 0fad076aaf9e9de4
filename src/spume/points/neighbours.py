"""Symmetric neighbour lists: the nearest points within a radius.

The list of a point contains the `count` nearest points within the radius plus a skin, and all points that list it:
lists cut at `count` alone would not be symmetric, and pair forces would not conserve momentum. Of points that are
equally far, all are listed or none, so that neighbourhoods of a lattice keep its symmetry: a choice among them would
leave a uniformly stressed lattice out of balance. Listed points beyond the radius have zero weight.

Lists are rebuilt when two points may have approached each other by more than the skin; until then they contain every
point within the radius, up to `count`. This is decided block by block from the displacements since the lists were
built, so a body that moves as a whole keeps its lists.

Each list is padded to a multiple of eight with the number of points, which is no valid index: sums over neighbours
process eight at a time (`numerics.lanes`). Neighbours are listed in the order of their cells and ids, the same for any
number of threads and ranks. Points have lists on the rank that has them; neighbours on other ranks are ghosts
(`ranks/ghosts.py`), whose indices follow those of the own points.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numba import prange
from numpy.typing import NDArray

from spume.grid.blocks import BLOCK, CELLS_PER_BLOCK, LAYER_BITS, cell_in_block, run_of_cells
from spume.grid.cells import Cells
from spume.numerics.jit import compiled
from spume.numerics.lanes import LANES
from spume.ranks.ghosts import NO_GHOSTS, Ghosts, Links
from spume.ranks.ranks import ALONE, Ranks

CELLS_PER_RADIUS = 2
"""Search cells per radius of a list: with smaller cells, fewer points are tested in more cells."""
EQUALLY_FAR = 1e-6
"""Relative difference of squared distances, in single precision, that are equal but for rounding."""
ROOM = 64
"""Initial capacity for the points within the radius of a list; it grows when needed, and stays for the next build."""


class Pairs(NamedTuple):
    """Which points may be neighbours, and how far they are from each other."""

    group: NDArray[np.int32]
    """Points of different groups are no neighbours."""
    metric: NDArray[np.float64]
    """Symmetric tensor C of each point, shape (n, 6): distances are √(dᵀ C d) with the mean C of both."""
    stretch: float
    """Largest length over distance of any pair [1]."""


@dataclass(frozen=True)
class Order:
    """The order in which points are listed: by cell and id. The arrays of the own points are in this order."""

    x: NDArray[np.float64]
    """Positions that decide [m]."""
    ids: NDArray[np.int64]
    size: float
    """Edge length of the cells [m]."""
    ranks: Ranks = ALONE
    """Those who share the points."""

    def numbers(self, ghosts: Ghosts) -> NDArray[np.int32]:
        """Place of each point and ghost in the order."""
        count = len(self.x) + ghosts.count
        places = np.arange(count, dtype=np.int32)
        if ghosts.count:
            cells = Cells(self.x.shape[1], self.size, 0.0)
            cells.sort(ghosts.extended(self.x), ghosts.extended(self.ids))
            places[cells.sorted_points] = np.arange(count, dtype=np.int32)
        return places


class NeighbourLists:
    """Neighbours of each point, excluding the point itself."""

    def __init__(self, dimension: int, radius: float, count: int, skin: float, both_ways: bool = True) -> None:
        """both_ways: whether the entry (j, i) can be found from (i, j)."""
        self.radius = radius
        """Radius of the kernels [m]."""
        self.count = count
        self.skin = skin
        """Distance by which lists extend beyond the radius [m]."""
        self.both_ways = both_ways
        self.cells = Cells(dimension, (radius + skin) / CELLS_PER_RADIUS, 0.0)
        self.ghosts: Ghosts = NO_GHOSTS
        """Neighbours on other ranks."""
        self._blocks: Ghosts = NO_GHOSTS
        """The same before those that are in no list were left out: it knows blocks of other ranks."""
        self.start = np.zeros(1, np.int64)
        """Index of each point's first entry in `neighbour`, then the total number of entries; multiples of eight."""
        self.neighbour = np.empty(0, np.int32)
        """Indices of the neighbours, padded with the number of points and ghosts."""
        self.reverse = np.empty(0, np.int32)
        """For each entry (i, j) the index of the weight of (j, i), see `memory_for_weights`; empty unless lists go both
        ways."""
        self._links: Links | None = None
        self._linked = np.empty(0, np.int64)
        """Entries with ghosts."""
        self._weights = np.zeros(1)
        self._room = ROOM

    def memory_for_weights(self) -> NDArray[np.float64]:
        """Work space with one number per entry, further ones for entries of other ranks, and a last one that is zero.
        The others are not initialised."""
        count = len(self.neighbour) + len(self._linked) + 1
        if len(self._weights) != count:
            self._weights = np.empty(count)
        self._weights[-1] = 0.0
        return self._weights

    def complete_weights(self, weights: NDArray[np.float64]) -> None:
        """Write the weights of entries of other ranks."""
        if self._links is not None:
            self._links.swap(weights[self._linked], weights[len(self.neighbour) : -1])

    def build(self, x: NDArray[np.float64], pairs: Pairs | None = None, order: Order | None = None) -> None:
        """Build the lists for the points at `x` [m], shape (n, d). Without an order it is that of the arrays, and there
        are no other ranks."""
        cells, n, reach = self.cells, len(x), self.radius + self.skin
        if pairs is not None:
            reach *= pairs.stretch
            cells = Cells(cells.dimension, reach / CELLS_PER_RADIUS, 0.0)
        cells.sort(x)
        # cells are so large that whatever is in reach of a point is in its own or an adjacent block
        ghosts = self._blocks = NO_GHOSTS if order is None else order.ranks.ghosts(cells)
        x = ghosts.extended(x)
        if ghosts.count:
            cells.sort(x)
        y = np.zeros((3, len(x)))
        y[: cells.dimension] = x[cells.sorted_points].T
        in_block = np.diff(cells.cell_start[::CELLS_PER_BLOCK], append=0)
        in_block[-1] = 0  # for absent neighbouring blocks
        capacity = int(in_block[cells.neighbours].sum(axis=1).max(initial=0))
        within = np.empty(n, np.int32)
        while True:
            table, square = np.empty((n, self._room), np.int32), np.empty((n, self._room), np.float32)
            _find_within[cells.dimension](
                cells.neighbours, cells.cell_start, cells.sorted_points, y, reach, capacity, table, square, within
            )
            most = int(within.max(initial=0))
            if most < self._room:  # the last entry of a row is overwritten
                break
            self._room = most + 1 + most // 8  # some more than now, for the next builds
        if pairs is not None:
            group, metric = ghosts.extended(pairs.group), ghosts.extended(pairs.metric)
            _keep_pairs(table, square, within, x, group, metric, self.radius**2)
            most = int(within.max(initial=0))
        cut_square = np.full(n, np.inf, np.float32)
        if most > self.count:
            _find_cuts(square, within, self.count, reach, cut_square)
        places = np.arange(n, dtype=np.int32) if order is None else order.numbers(ghosts)
        _keep_listed(table, square, within, ghosts.extended(cut_square), places)
        self.start = np.zeros(n + 1, np.int64)
        np.cumsum((within + (LANES - 1)) // LANES * LANES, out=self.start[1:])
        self.neighbour = np.empty(self.start[-1], np.int32)
        _fill(table, within, self.start, len(x), self.neighbour)
        self.ghosts, self.neighbour = only_needed(ghosts, n, self.neighbour)
        if self.both_ways:
            self._find_reverse(within, order)

    def _find_reverse(self, number: NDArray[np.int32], order: Order | None) -> None:
        """Find the reverse entries, also those that other ranks have."""
        n, count = len(number), self.ghosts.count
        self.reverse = np.empty(self.start[-1], np.int32)
        self._linked, self._links = np.empty(0, np.int64), None
        _find_reverse(number, self.start, self.neighbour, self.reverse)
        if order is not None and self.ghosts is not NO_GHOSTS:
            self._linked = np.flatnonzero((self.neighbour >= n) & (self.neighbour < n + count))
            own = np.searchsorted(self.start, self._linked, side="right") - 1
            ids = self.ghosts.extended(order.ids)
            self._links = self.ghosts.links(own, self.neighbour[self._linked].astype(np.int64), ids)
            self.reverse[self._linked] = len(self.neighbour) + self._links.slots
            self.reverse[self.neighbour == n + count] = len(self.neighbour) + len(self._linked)

    def valid(self, x: NDArray[np.float64], x_listed: NDArray[np.float64], ranks: Ranks = ALONE) -> bool:
        """Whether the lists, built at `x_listed`, contain all points within the radius at `x` [m].

        The lists are valid if points of adjacent blocks have approached each other by at most the skin; all others were
        at least the width of a block apart.
        """
        cells = self.cells
        width = min(BLOCK[cells.dimension][: cells.dimension]) * cells.size
        low, high = np.empty((len(cells), 3)), np.empty((len(cells), 3))
        _displacements(cells.cell_start, cells.sorted_points, x, x_listed, low, high)
        least = low.min(axis=0, initial=np.inf), high.max(axis=0, initial=-np.inf)
        bounds = ranks.maxima(np.concatenate([-least[0], least[1]]))
        far = float(np.linalg.norm(bounds[3:] + bounds[:3]))
        if far <= self.skin:
            return True
        self._blocks.widen(low, high)
        near = ranks.largest(float(_largest_approach(cells.neighbours, low, high)))
        return near <= self.skin and far <= width - self.radius


def only_needed(ghosts: Ghosts, own: int, indices: NDArray[np.int32]) -> tuple[Ghosts, NDArray[np.int32]]:
    """The ghosts among `indices` of `own` points, of ghosts and of the padding that follows them, and the indices when
    there are no others."""
    if ghosts is NO_GHOSTS:
        return ghosts, indices
    needed = np.zeros(own + ghosts.count + 1, np.bool_)
    needed[indices] = True
    found = ghosts.reduced(needed[own:-1])
    needed[:own] = needed[-1] = True
    return found, (np.cumsum(needed, dtype=np.int32) - 1)[indices]


def _make_find_within(D: int) -> Any:
    @compiled(parallel=True, fastmath=False)
    def find_within(neighbours, cell_start, sorted_points, y, radius, capacity, table, squares, number):
        """Write the points within `radius` of each point that has a row in `table` to it, up to its capacity, their
        squared distances to `squares`, and their total number. `y`: positions in the order of the cells, shape (3, n);
        `capacity`: largest number of points in a block and its neighbours."""
        deep = CELLS_PER_RADIUS if D == 3 else 0
        rows = table.shape[0]
        room = table.shape[1]
        limit = radius * radius
        for block in prange(neighbours.shape[0]):
            square, candidate = np.empty(capacity), np.empty(capacity, np.int32)
            for cell in range(CELLS_PER_BLOCK * block, CELLS_PER_BLOCK * (block + 1)):
                if cell_start[cell] == cell_start[cell + 1]:
                    continue
                _, i, j, k = cell_in_block(D, cell)
                # collect the points of all surrounding cells
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
                    if sorted_points[own] >= rows:
                        continue
                    p0, p1, p2 = y[0, own], y[1, own], y[2, own]
                    for n in range(count):
                        c = candidate[n]
                        d0, d1, d2 = y[0, c] - p0, y[1, c] - p1, y[2, c] - p2
                        square[n] = d0 * d0 + d1 * d1 + d2 * d2
                    p = sorted_points[own]
                    found = 0
                    for n in range(count):
                        # always written, kept only if within the radius: a branch here would often be mispredicted
                        place = min(found, room - 1)
                        table[p, place], squares[p, place] = sorted_points[candidate[n]], square[n]
                        found += 1 if square[n] <= limit and candidate[n] != own else 0
                    number[p] = found

    return find_within


_find_within = {d: _make_find_within(d) for d in (2, 3)}


@compiled(parallel=True, fastmath=False)
def _find_cuts(square, number, count, radius, cut_square):
    """Find the squared distance below which a point has at most `count` neighbours, for points with more of them within
    the radius: that of the next one, less what rounding may change."""
    for i in prange(number.size):
        if number[i] <= count:
            continue
        # bisection: counting vectorises, sorting does not
        values = square[i, : number[i]]
        low, high = np.float32(0.0), np.float32(radius * radius)
        middle = np.float32(high * (count / number[i]) ** (2.0 / 3.0))
        while high - low > EQUALLY_FAR * high:
            within = 0
            for value in values:
                within += 1 if value <= middle else 0
            if within > count:
                high = middle
            else:
                low = middle
                if within == count:
                    break
            middle = np.float32(0.5) * (low + high)
        following = np.float32(np.inf)
        for value in values:
            following = min(following, value if value > low else np.float32(np.inf))
        cut_square[i] = (1.0 - EQUALLY_FAR) * following


@compiled(inline="always")
def pair_square(metric, i, j, dx, dy, dz):
    """dᵀ C d [m²] with the mean metric C of two points; the same bits for (j, i)."""
    xx, yy, zz = metric[i, 0] + metric[j, 0], metric[i, 1] + metric[j, 1], metric[i, 2] + metric[j, 2]
    xy, xz, yz = metric[i, 3] + metric[j, 3], metric[i, 4] + metric[j, 4], metric[i, 5] + metric[j, 5]
    return 0.5 * (xx * dx * dx + yy * dy * dy + zz * dz * dz) + xy * dx * dy + xz * dx * dz + yz * dy * dz


@compiled(parallel=True, fastmath=False)
def _keep_pairs(table, square, number, x, group, metric, limit):
    """Keep the points of each row that have its group and are within the radius in the metric of the pair, with the
    squares of these distances."""
    deep = x.shape[1] == 3
    for i in prange(number.size):
        kept = 0
        for entry in range(number[i]):
            j = table[i, entry]
            dz = x[j, 2] - x[i, 2] if deep else 0.0
            s = pair_square(metric, i, j, x[j, 0] - x[i, 0], x[j, 1] - x[i, 1], dz)
            if group[i] == group[j] and s < limit:
                table[i, kept], square[i, kept] = j, s
                kept += 1
        number[i] = kept


@compiled(parallel=True, fastmath=False)
def _keep_listed(table, square, number, cut_square, order):
    """Keep the points of each row that are among the nearest of its point or have it among their nearest, by their
    place in the order."""
    for i in prange(number.size):
        kept = 0
        for entry in range(number[i]):
            j = table[i, entry]
            # the square of (j, i) has the same bits: it is that of the opposite vector
            if square[i, entry] < max(cut_square[i], cut_square[j]):
                place = kept
                while place > 0 and order[table[i, place - 1]] > order[j]:
                    table[i, place] = table[i, place - 1]
                    place -= 1
                table[i, place] = j
                kept += 1
        number[i] = kept


@compiled(parallel=True, fastmath=False)
def _fill(table, number, start, padding, neighbour):
    for i in prange(number.size):
        for entry in range(start[i + 1] - start[i]):
            neighbour[start[i] + entry] = table[i, entry] if entry < number[i] else padding


@compiled(fastmath=False)
def _find_reverse(number, start, neighbour, reverse):
    """Find the reverse entries of own points. Lists are in ascending order but for ghosts: if points are visited in
    this order, each is the next own entry of every list that contains it."""
    n = number.size
    following = start[:-1].copy()
    for i in range(n):
        for entry in range(start[i], start[i] + number[i]):
            j = neighbour[entry]
            if j >= n:
                continue  # a ghost
            while neighbour[following[j]] >= n:
                following[j] += 1
            reverse[entry] = following[j]
            following[j] += 1
        for entry in range(start[i] + number[i], start[i + 1]):
            reverse[entry] = neighbour.size


@compiled(parallel=True, fastmath=False)
def _displacements(cell_start, sorted_points, x, x_listed, low, high):
    """Smallest and largest displacement [m] along each axis of the points of each block, without ghosts."""
    for block in prange(low.shape[0]):
        low[block, 2] = high[block, 2] = 0.0
        for q in range(x.shape[1]):
            least, most = np.inf, -np.inf
            for entry in range(cell_start[CELLS_PER_BLOCK * block], cell_start[CELLS_PER_BLOCK * (block + 1)]):
                p = sorted_points[entry]
                if p >= x.shape[0]:
                    continue
                u = x[p, q] - x_listed[p, q]
                least, most = min(least, u), max(most, u)
            low[block, q], high[block, q] = least, most


@compiled(fastmath=False)
def _largest_approach(neighbours, low, high):
    """Upper bound of the approach [m] of two points of adjacent blocks."""
    near = 0.0
    for block in range(low.shape[0]):
        for code in range(27):
            other = neighbours[block, code]
            if other >= block:
                square = 0.0
                for q in range(3):
                    apart = max(high[block, q] - low[other, q], high[other, q] - low[block, q])
                    square += apart * apart
                near = max(near, square)
    return np.sqrt(near)
