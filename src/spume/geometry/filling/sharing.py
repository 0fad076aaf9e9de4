"""Processes that fill a shape together: each has some of the points."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from spume.geometry.darts import NO_LINKS, Links
from spume.numerics.sums import dot, total

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class Sharers(Protocol):
    """What filling asks of the processes; `ranks/ranks.py` has it, too."""

    @property
    def rank(self) -> int:
        """Number of this process, from 0."""

    @property
    def size(self) -> int:
        """Number of processes."""

    def total(self, values: Floats) -> float:
        """Sum of all entries of all processes."""

    def dots(self, pairs: Sequence[tuple[Floats, Floats]]) -> list[float]:
        """Sums of the products of corresponding entries of each pair of arrays, of all processes."""

    def count(self, number: int) -> int:
        """Sum of a number over all processes."""

    def any(self, flag: bool) -> bool:
        """Whether a flag is set in any process."""

    def links(self, numbers: Integers, owner: Integers) -> Links:
        """Links of cells that belong to the processes `owner` and have the same numbers, ascending here, in all."""

    def places(self, numbers: Integers) -> Integers:
        """Places of different numbers, ascending here, among those of all processes in ascending order."""


class Alone:
    """One process."""

    rank = 0
    size = 1

    def total(self, values: Floats) -> float:
        """See `Sharers`."""
        return total(values)

    def dots(self, pairs: Sequence[tuple[Floats, Floats]]) -> list[float]:
        """See `Sharers`."""
        return [dot(a, b) for a, b in pairs]

    def count(self, number: int) -> int:
        """See `Sharers`."""
        return number

    def any(self, flag: bool) -> bool:
        """See `Sharers`."""
        return flag

    def links(self, numbers: Integers, owner: Integers) -> Links:
        """See `Sharers`."""
        return NO_LINKS

    def places(self, numbers: Integers) -> Integers:
        """See `Sharers`."""
        return np.arange(len(numbers))


ALONE = Alone()
