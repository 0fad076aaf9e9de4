"""The median of numbers on several ranks: found by counting, so that no rank has all of them."""

import numpy as np
from numpy.typing import NDArray

from spume.ranks.communicator import Communicator

Floats = NDArray[np.float64]
_SIGN = np.int64(2**63 - 1)


def median(values: Floats, messages: Communicator) -> float:
    """The median of the numbers of all ranks, with the bits of `numpy.median`; NaN if there are none."""
    places = np.sort(_places(np.ascontiguousarray(values, np.float64)))
    count = int(messages.sum(np.array([places.size]))[0])
    if count == 0:
        return float("nan")
    wanted = np.array([(count - 1) // 2, count // 2])
    ends = np.array([-places[0], places[-1]]) if places.size else np.full(2, -_SIGN - 1)
    least, most = (int(end) for end in messages.maximum(ends))
    low, high = [-least, -least], [most, most]
    while low != high:
        middle = [a + (b - a) // 2 for a, b in zip(low, high)]
        upto = messages.sum(np.searchsorted(places, middle, side="right"))
        for k in range(2):
            low[k], high[k] = (low[k], middle[k]) if upto[k] > wanted[k] else (min(middle[k] + 1, high[k]), high[k])
    return float(np.mean(_numbers(np.array(low))))


def _places(values: Floats) -> NDArray[np.int64]:
    """Integers in the order of the numbers."""
    bits = (values + 0.0).view(np.int64)  # −0 becomes 0
    return np.where(bits < 0, bits ^ _SIGN, bits)


def _numbers(places: NDArray[np.int64]) -> Floats:
    return np.where(places < 0, places ^ _SIGN, places).view(np.float64)
