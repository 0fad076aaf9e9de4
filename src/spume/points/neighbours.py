"""Neighbour lists: the nearest points within a radius, made symmetric.

The list of a point holds the `count` nearest points within the radius and a skin, and all points that have it in their
own list: a list cut at `count` is not symmetric, and without its partner a pair force would not conserve momentum.
Lists are used until a point has moved by half the skin; until then nothing within the radius is missing, unless the
count cut it off. Points listed beyond the radius have no weight.

The order of a list depends on the positions and the order of the points alone, not on the number of threads.
"""

import numpy as np
from numba import prange
from numpy.typing import NDArray

from spume.mpm.cells import Cells
from spume.mpm.neighbour_search import nearest_within
from spume.numerics.jit import compiled

CELLS_PER_RADIUS = 2
"""Search cells along the radius of a list: with smaller cells fewer points are looked at, in more cells."""


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
        """First entry of each point in `neighbour`; one past the end last."""
        self.neighbour = np.empty(0, np.int32)

    def build(self, x: NDArray[np.float64]) -> None:
        """List the neighbours of the points at `x` [m], shape (n, d)."""
        self.cells.sort(x)
        # a point is its own nearest neighbour, so one more is asked for
        found, distance, number = nearest_within(self.cells, x, x, self.count + 1, self.radius + self.skin)
        size = np.zeros(len(x), np.int64)
        _count(found, distance, number, size)
        self.start = np.zeros(len(x) + 1, np.int64)
        np.cumsum(size, out=self.start[1:])
        self.neighbour = np.empty(self.start[-1], np.int32)
        _fill(found, distance, number, self.start, self.neighbour)

    def valid(self, x: NDArray[np.float64], x_listed: NDArray[np.float64]) -> bool:
        """Whether no point has moved by more than half the skin since the lists were built at `x_listed`."""
        return bool(_largest_square(x, x_listed) <= 0.25 * self.skin * self.skin)


@compiled(fastmath=False)
def _lists(found, distance, number, j, i, apart):
    """Whether j has i in its own list; `apart` is their distance [m]."""
    most = found.shape[1]
    if number[j] < most:
        return True  # its list was not cut off
    if apart > distance[j, most - 1]:
        return False
    for entry in range(most - 1, -1, -1):
        if found[j, entry] == i:
            return True
        if distance[j, entry] < apart:
            return False
    return False


@compiled(fastmath=False)
def _count(found, distance, number, size):
    for i in range(found.shape[0]):
        for entry in range(number[i]):
            j = found[i, entry]
            if j != i:
                size[i] += 1
                if not _lists(found, distance, number, j, i, distance[i, entry]):
                    size[j] += 1


@compiled(fastmath=False)
def _fill(found, distance, number, start, neighbour):
    """Own entries first, nearest first, then the points that list this one, in ascending order."""
    place = start[:-1].copy()
    for i in range(found.shape[0]):
        for entry in range(number[i]):
            if found[i, entry] != i:
                neighbour[place[i]] = found[i, entry]
                place[i] += 1
    for i in range(found.shape[0]):
        for entry in range(number[i]):
            j = found[i, entry]
            if j != i and not _lists(found, distance, number, j, i, distance[i, entry]):
                neighbour[place[j]] = i
                place[j] += 1


@compiled(parallel=True)
def _largest_square(x, y):
    largest = 0.0
    for p in prange(x.shape[0]):
        s = 0.0
        for q in range(x.shape[1]):
            s += (x[p, q] - y[p, q]) ** 2
        largest = max(largest, s)
    return largest
