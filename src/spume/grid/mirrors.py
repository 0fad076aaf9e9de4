"""Nodes that are tied to others some cells away: values at the others, and sums onto them. Here all nodes are those of
one process; `ranks/mirrors.py` has those of a process that shares them.
"""

from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from spume.grid.blocks import BLOCK, KEY_STEP, NODES_PER_BLOCK, pack
from spume.grid.nodes import Nodes

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]


class Rows(NamedTuple):
    """Nodes that are tied to others, in the order of the nodes of all processes."""

    along: Floats
    """A number of each row, from the process that knows it"""
    normal: Floats
    weights: Floats
    sources: Integers
    """Flat indices (64 per block) of the nodes that a row is tied to, (n, k); −1 for those of other processes"""


class Mirrors(Protocol):
    """Ties of nodes. All processes make theirs, and call the functions, at the same time."""

    @property
    def sources(self) -> Integers:
        """Numbers for `at` of the nodes with the given coordinates; −1 for nodes that no process has."""

    def at(self, field: Floats, sources: Integers) -> Floats:
        """Values of a node field (blocks, c, 64) at nodes with these numbers, which may have any shape (…, c)."""

    def tie(self, node: Integers, normal: Floats, weights: Floats, chosen: NDArray[np.bool_]) -> None:
        """Tie own nodes, ascending, to those of the coordinates that are `chosen`, a row each."""

    def rows(self, along: Floats, row: Integers) -> Rows:
        """The rows whose sums reach own nodes, with the numbers `along` of the own rows `row`; others are left out."""


def places(nodes: Nodes, index: Integers) -> tuple[Integers, Integers]:
    """Keys of the blocks of the nodes with the given coordinates (…, d), and the indices of the nodes in them."""
    side = BLOCK[nodes.dimension]
    whole = np.zeros((*index.shape[:-1], 3), np.int64)
    whole[..., : nodes.dimension] = index
    block = whole // np.array(side)
    local = whole - block * np.array(side)
    keys = block @ np.array(KEY_STEP) + pack(0, 0, 0)
    return keys, (local[..., 0] * side[1] + local[..., 1]) * side[2] + local[..., 2]


def flat_indices(nodes: Nodes, keys: Integers, local: Integers) -> Integers:
    """Flat indices (64 per block) of nodes by key and index in the block; −1 where there is no block."""
    if not len(nodes):
        return np.full(keys.shape, -1)
    place = np.minimum(np.searchsorted(nodes.keys, keys), len(nodes) - 1)
    return np.where(nodes.keys[place] == keys, place * NODES_PER_BLOCK + local, -1)


class NoMirrors:
    """Ties among the nodes of one process."""

    def __init__(self, nodes: Nodes, index: Integers) -> None:
        """`index`: coordinates (n, k, d) of the nodes that n own nodes may be tied to."""
        self.sources = flat_indices(nodes, *places(nodes, index))

    def at(self, field: Floats, sources: Integers) -> Floats:
        """See `Mirrors`."""
        return np.asarray(field[sources // NODES_PER_BLOCK, :, sources % NODES_PER_BLOCK])

    def tie(self, node: Integers, normal: Floats, weights: Floats, chosen: NDArray[np.bool_]) -> None:
        """See `Mirrors`."""
        self._normal, self._weights, self._tied = normal, weights, self.sources[chosen]

    def rows(self, along: Floats, row: Integers) -> Rows:
        """See `Mirrors`."""
        return Rows(along, self._normal[row], self._weights[row], self._tied[row])
