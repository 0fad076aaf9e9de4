"""Groups of points that are treated one after another where they have points in common, also across ranks."""

import numpy as np
from numpy.typing import NDArray

from spume.numerics.jit import compiled


def find_turns(
    start: NDArray[np.int64], members: NDArray[np.int64], mine: NDArray[np.bool_], done: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """Which groups this rank may treat now, in their order: those that are `mine` and share no member with an earlier
    one that waits or has to be treated by another rank.

    start: first entry of each group in `members`, which are indices of points, then their number.
    """
    left = np.flatnonzero(~done)
    turn = np.zeros(len(left), np.bool_)
    blocked = np.zeros(int(members.max(initial=-1)) + 1, np.bool_)
    _find(left, start, members, mine, blocked, turn)
    return left[turn]


def members_of(
    groups: NDArray[np.int64], start: NDArray[np.int64], members: NDArray[np.int64]
) -> NDArray[np.int64]:  # fmt: skip
    """The members of some of the groups."""
    count = start[groups + 1] - start[groups]
    first = np.cumsum(count) - count
    return members[np.repeat(start[groups] - first, count) + np.arange(count.sum())]


@compiled
def _find(left, start, members, mine, blocked, turn):
    for place in range(left.size):
        n = left[place]
        free = mine[n]
        for entry in range(start[n], start[n + 1]):
            free = free and not blocked[members[entry]]
        if free:
            turn[place] = True
        else:
            for entry in range(start[n], start[n + 1]):
                blocked[members[entry]] = True
