"""Arrays with room behind them, in which rows are replaced in place."""

from typing import Any
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

SPARE = 1 / 32
"""Room of an array that grows, in its rows. One that shrinks is copied when it has four times as much."""


class Room:
    """The memory of some arrays, by name, as long as they are used. Other arrays have no room."""

    def __init__(self) -> None:
        self._whole: WeakValueDictionary[str, NDArray[Any]] = WeakValueDictionary()

    def swap(self, name: str, array: NDArray[Any], gone: NDArray[np.int64], new: NDArray[Any]) -> NDArray[Any]:
        """`array` without the rows `gone`, ascending, and with `new` ones. Rows that have gone are replaced by new
        ones, or by those at the end; the others stay where they are."""
        both, count = min(len(gone), len(new)), len(array) - len(gone) + len(new)
        array[gone[:both]] = new[:both]
        if count == len(array):
            return array
        whole = self._around(name, array, count)
        if whole is None:
            whole = self._made(name, array, count)
            whole[: min(len(array), count)] = array[:count]
        if count > len(array):
            whole[len(array) : count] = new[both:]
        else:
            holes = gone[both:]
            stay = np.ones(len(array) - count, np.bool_)
            stay[holes[holes >= count] - count] = False
            whole[holes[holes < count]] = array[count:][stay]
        return whole[:count]

    def fit(self, name: str, array: NDArray[Any], count: int) -> NDArray[Any]:
        """`array` with `count` rows; their values are undefined."""
        if len(array) == count:
            return array
        whole = self._around(name, array, count)
        return (self._made(name, array, count) if whole is None else whole)[:count]

    def _around(self, name: str, array: NDArray[Any], count: int) -> NDArray[Any] | None:
        """The memory of `array`, if it has room for `count` rows and not for many more."""
        whole = self._whole.get(name)
        if whole is None or array.base is not whole or not count <= len(whole) <= (1.0 + 4.0 * SPARE) * count:
            return None
        return whole

    def _made(self, name: str, array: NDArray[Any], count: int) -> NDArray[Any]:
        """Memory for `count` rows like those of `array` and some more."""
        whole = self._whole[name] = np.zeros((count + int(SPARE * count), *array.shape[1:]), array.dtype)
        return whole
