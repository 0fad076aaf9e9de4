"""What the stages of a step ask of the ranks, and the answers of a process that is alone.

Stages call these verbs and do not know how many ranks there are. With one process they return what they are given.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from spume.grid.cells import Cells
from spume.grid.nodes import Nodes
from spume.numerics.sums import dot, total

Floats = NDArray[np.float64]


class Movable(Protocol):
    """Points that can move to another rank, sorted by cell."""

    @property
    def cells(self) -> Cells:
        """The cells of the points."""

    def sort(self) -> None:
        """Sort the points by cell."""

    def point_arrays(self) -> dict[str, NDArray[Any]]:
        """All arrays of the points, by name."""

    def exchange_points(self, kept: NDArray[Any], arrived: dict[str, NDArray[Any]]) -> None:
        """Keep the points selected by `kept`, and append those that arrived."""


class Ranks:
    """One process that has everything."""

    rank = 0
    size = 1

    def part(self, count: int) -> slice:
        """Which of `count` new points, listed alike on every rank, this rank adds; they move to their owners when they
        are sorted."""
        return slice(0, count)

    def settle(self, species: Sequence[Movable], dimension: int, steps: int) -> None:
        """Move sorted points to the ranks that own their blocks; `steps` is the number of steps since the start."""

    def join(self, nodes: Nodes, cells: Sequence[Cells]) -> None:
        """Find out which nodes, which cover these cells, other ranks have as well."""

    def total(self, values: Floats) -> float:
        """Sum of all entries on all ranks."""
        return total(values)

    def totals(self, arrays: Sequence[Floats]) -> list[float]:
        """Sums of all entries of each array on all ranks."""
        return [total(values) for values in arrays]

    def dot(self, a: Floats, b: Floats) -> float:
        """Sum of the products of corresponding entries on all ranks."""
        return dot(a, b)

    def count(self, number: int) -> int:
        """Sum of a number over all ranks."""
        return number

    def largest(self, number: float) -> float:
        """Largest of a number over all ranks."""
        return number

    def either(self, flags: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Which of several flags are set on any rank."""
        return flags

    def any(self, flag: bool) -> bool:
        """Whether a flag is set on any rank."""
        return flag

    @contextmanager
    def agreed(self) -> Iterator[None]:
        """An error for the user that is raised in the `with` block on any rank is raised on all."""
        yield


ALONE = Ranks()
