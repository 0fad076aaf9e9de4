"""Groups of points that are treated one after another where they have points in common, also across ranks."""

import numpy as np
from numpy.typing import NDArray

from spume.numerics.jit import compiled


def find_turns(
    start: NDArray[np.int64], members: NDArray[np.int64], mine: NDArray[np.bool_], done: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Which groups this rank may treat now, in their order: those that are `mine` and share no member with an earlier
    one that waits or has to be treated by another rank.

    start: first entry of each group in `members`, which are indices of points, then their number.
    """
    turn = np.zeros(len(mine), np.bool_)
    blocked = np.zeros(int(members.max(initial=-1)) + 1, np.bool_)
    _find(start, members, mine, done, blocked, turn)
    return turn


@compiled
def _find(start, members, mine, done, blocked, turn):
    for n in range(turn.size):
        if done[n]:
            continue
        free = mine[n]
        for entry in range(start[n], start[n + 1]):
            free = free and not blocked[members[entry]]
        if free:
            turn[n] = True
        else:
            for entry in range(start[n], start[n + 1]):
                blocked[members[entry]] = True
