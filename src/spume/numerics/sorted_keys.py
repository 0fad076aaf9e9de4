"""Neighbours of the cells of a sparse grid, by sorted integers instead of a hash table."""

import numpy as np
from numpy.typing import NDArray

from spume.numerics.jit import compiled


def places_of_shifted(keys: NDArray[np.int64], shifts: NDArray[np.int64]) -> NDArray[np.int32]:
    """For each of the sorted, different `keys` and each shift the place of key + shift among the keys, −1 where there
    is none. Shape (keys, shifts)."""
    places = np.full((keys.size, shifts.size), -1, np.int32)
    _find_places(keys, shifts, places)
    return places


@compiled(fastmath=False)
def _find_places(keys, shifts, places):
    """Walks the keys and the same keys shifted, side by side, once per shift."""
    for s in range(shifts.size):
        other = 0
        for n in range(keys.size):
            while other < keys.size and keys[other] < keys[n] + shifts[s]:
                other += 1
            if other < keys.size and keys[other] == keys[n] + shifts[s]:
                places[n, s] = other
