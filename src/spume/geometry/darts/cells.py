"""The cells at which darts are thrown, and the neighbours of each.

Lengths are in cell widths. Darts keep a distance of at most one width, so only neighbouring cells matter. Positions are
relative to the corners of their cells: a table of neighbours is then all that tells a periodic domain from another.
"""

import itertools
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spume.errors import SceneError
from spume.numerics.sorted_keys import places_of_shifted


@dataclass(frozen=True)
class DartCells:
    """Cubic (in 2D, square) cells of one size."""

    dimension: int
    index: NDArray[np.int64]
    """Integer coordinates, shape (n, 3); in 2D the third is 0. The random numbers of a cell follow from them."""
    neighbours: NDArray[np.int32]
    """For each cell its 3^d neighbours, itself in the middle, the last axis fastest; −1 for none. Shape (n, 3^d)."""

    def __len__(self) -> int:
        return len(self.index)


def offsets(dimension: int) -> NDArray[np.int64]:
    """Of the 3^d neighbours, in the order of the table, shape (3^d, 3)."""
    return np.array([(*offset, 0)[:3] for offset in itertools.product((-1, 0, 1), repeat=dimension)], np.int64)


def cells_at(index: NDArray[np.int64], dimension: int) -> DartCells:
    """The different cells with integer coordinates `index`, shape (n, 3)."""
    if len(index) == 0:
        return DartCells(dimension, index, np.empty((0, 3**dimension), np.int32))
    low = index.min(axis=0)
    extent = [int(size) + 3 for size in index.max(axis=0) - low]
    if math.prod(extent) >= 2**63:
        raise SceneError(f"darts cannot be thrown at a domain of {' × '.join(map(str, extent))} cells")
    steps = np.array([extent[1] * extent[2], extent[2], 1], np.int64)
    keys = (index - low) @ steps
    order = np.argsort(keys, kind="stable")
    places = places_of_shifted(keys[order], offsets(dimension) @ steps)
    neighbours = np.empty_like(places)
    neighbours[order] = np.append(order, -1)[places]
    return DartCells(dimension, index, neighbours)


def periodic_cells(side: int) -> DartCells:
    """The side × side cells of a periodic square. With one or two cells along a side, different images of the same cell
    are neighbours."""
    i, j = np.divmod(np.arange(side * side), side)
    index = np.stack([i, j, np.zeros_like(i)], axis=1)
    neighbours = np.empty((side * side, 9), np.int32)
    for code, (di, dj, _) in enumerate(offsets(2)):
        neighbours[:, code] = (i + di) % side * side + (j + dj) % side
    return DartCells(2, index, neighbours)
