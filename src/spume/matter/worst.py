"""The point that a message is about: the same one for any number of ranks, and whatever the order in memory."""

import numpy as np
from numpy.typing import NDArray

from spume.ranks.ranks import Ranks


def worst_point(badness: NDArray[np.float64], ids: NDArray[np.int64]) -> int:
    """Index of the largest entry; among equal ones that of the lowest id."""
    equal = np.flatnonzero(badness == badness.max())
    return int(equal[np.argmin(ids[equal])])


def is_first(ranks: Ranks, key: tuple[float, ...] | None, length: int) -> bool:
    """Whether the key of this rank comes first, in lexical order, among those of all ranks; None: it has none. Keys
    have so many numbers, and no two are equal."""
    first = key is not None
    for k in range(length):
        number = key[k] if first and key is not None else np.inf
        first = bool(-ranks.largest(-number) == number) and first
    return first
