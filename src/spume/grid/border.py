"""What happens where the blocks of one process end. Here: nothing, because one process has all blocks.

`ranks/halo.py` has the border of a process that shares nodes with others.
"""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class Listed(Protocol):
    """A list that belongs to nodes, in which every process that has a node has the same entries for it."""

    @property
    def node(self) -> NDArray[np.int64]:
        """Flat index (64 per block) of the node of each entry, ascending."""

    @property
    def filled(self) -> NDArray[np.bool_]:
        """Mask of the entries in arrays of values."""


class Border(Protocol):
    """Nodes that other processes also have."""

    def awaited(self, cells: Integers) -> NDArray[np.bool_]:
        """Which of these blocks of cells, given by their keys, are added before `send`: those that add to nodes that
        other processes also have, and those that must come before them. The others are added between `send` and
        `complete`."""

    def corners(self, table: NDArray[np.int32]) -> NDArray[np.int32]:
        """Where sums at the corners of blocks of cells are written: `table`, see `Nodes.corner_blocks`, or blocks
        behind those of the nodes."""

    def blocks(self, count: int) -> int:
        """Number of blocks of the array that sums are written to, where there are `count` blocks of nodes."""

    def room(self, target: Floats, room: Floats | None) -> Floats:
        """The array (blocks, channels, 64) that sums are written to instead of `target`: `room`, an array that begins
        with `target` and has so many `blocks`, if there is one."""

    def send(self, sums: Floats) -> None:
        """Let other processes have what the awaited blocks have added to `sums`, without waiting for them."""

    def look(self) -> None:
        """Let what is on its way between `send` and `complete` move on."""

    def complete(self, sums: Floats, target: Floats) -> None:
        """Write `sums`, with those of other processes, to `target`."""

    def least(self, listed: Listed, values: Floats) -> Floats:
        """The smallest of the values that all processes have for each listed entry."""

    def counts(self, node: NDArray[np.int64]) -> NDArray[np.bool_] | slice:
        """Which of these nodes this process counts in sums over the nodes of all processes."""

    def all_blocks(self, values: Floats) -> Floats:
        """Values (n, blocks) of the blocks of nodes of all processes, each once, in the order of their keys."""


class NoBorder:
    """The border of a process that has all blocks."""

    def awaited(self, cells: Integers) -> NDArray[np.bool_]:
        """See `Border`."""
        return np.zeros(len(cells), np.bool_)

    def corners(self, table: NDArray[np.int32]) -> NDArray[np.int32]:
        """See `Border`."""
        return table

    def blocks(self, count: int) -> int:
        """See `Border`."""
        return count

    def room(self, target: Floats, room: Floats | None) -> Floats:
        """See `Border`."""
        return target

    def send(self, sums: Floats) -> None:
        """See `Border`."""

    def look(self) -> None:
        """See `Border`."""

    def complete(self, sums: Floats, target: Floats) -> None:
        """See `Border`."""

    def least(self, listed: Listed, values: Floats) -> Floats:
        """See `Border`."""
        return values

    def counts(self, node: NDArray[np.int64]) -> NDArray[np.bool_] | slice:
        """See `Border`."""
        return slice(None)

    def all_blocks(self, values: Floats) -> Floats:
        """See `Border`."""
        return values


NO_BORDER = NoBorder()
