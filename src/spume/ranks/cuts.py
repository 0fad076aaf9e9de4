"""Which rank owns a block: the curve of all blocks is cut into as many ranges as there are ranks.

Cuts change nothing but the time that a step takes, so any will do; these follow from the numbers of points alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spume.ranks.curve import places

Integers = NDArray[np.int64]
BLOCK_COST = 40
"""What a block costs beside its points, in points: its nodes, and its part of the messages."""
UNEVEN = 1.1
"""Cost of the costliest rank over the mean from which on the cuts are moved."""


@dataclass(frozen=True)
class Cuts:
    """The first place of each rank after the first, ascending."""

    first: Integers
    dimension: int
    ranks: Integers | None = None
    """The rank of each range; None: in their order."""

    def owners(self, keys: Integers) -> Integers:
        """The rank that owns each block."""
        ranges = np.searchsorted(self.first, places(keys, self.dimension), side="right")
        return ranges if self.ranks is None else self.ranks[ranges]

    def for_holders(self, tables: Sequence[tuple[Integers, Integers]]) -> "Cuts":
        """The same ranges, of which each rank gets the one with most of the points that it has, as far as possible:
        `tables` has the keys of the blocks of each rank, and its numbers of points in them."""
        from scipy.optimize import linear_sum_assignment

        held = np.zeros((len(tables), len(tables)), np.int64)
        for rank, (keys, points) in enumerate(tables):
            np.add.at(held[rank], self.owners(keys), points)
        ranks = np.empty(len(tables), np.int64)
        holders, ranges = linear_sum_assignment(held, maximize=True)
        ranks[ranges] = holders
        return Cuts(self.first, self.dimension, ranks)


def costs(points: Integers) -> Integers:
    """Cost of blocks with so many points each."""
    return points + BLOCK_COST


def imbalance(cost: Integers, owners: Integers, size: int) -> float:
    """Cost of the costliest rank over the mean."""
    of_rank = np.bincount(owners, cost, size)
    return float(of_rank.max() * size / of_rank.sum()) if cost.size else 1.0


def even_cuts(keys: Integers, cost: Integers, size: int, dimension: int) -> Cuts:
    """Cuts that give each of `size` ranks an equal share of the cost of the blocks `keys`, which are listed once."""
    place = places(keys, dimension)
    order = np.argsort(place, kind="stable")
    ends = np.cumsum(cost[order])
    total = int(ends[-1]) if ends.size else 0
    # the middle of a block decides
    middles = 2 * ends - cost[order]
    first = np.searchsorted(middles, 2 * total * np.arange(1, size) // size)
    along = np.append(place[order], np.iinfo(np.int64).max)
    return Cuts(along[first], dimension)
