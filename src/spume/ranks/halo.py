"""Sums on nodes that several ranks have: each rank sends what its own blocks of cells add there, block by block.

The points of a block of cells are all on one rank, which computes the block's whole tile. What the tile adds to a
block of nodes that others have as well is written to a *slot* of its own, behind the nodes, by the same kernel. Ranks
exchange slots, and all of them add the slots of a block of nodes in the order of the colours of the blocks of cells,
which is the order of one process that has all blocks (`grid/to_grid.py`). So all have the same sums, with the same
bits, and whatever is computed from them on the nodes needs no message.
"""

from collections.abc import Mapping

import numpy as np
from numba import prange
from numpy.typing import NDArray

from spume.grid.blocks import NODES_PER_BLOCK, corner_steps, unpack
from spume.grid.border import Listed
from spume.grid.nodes import Nodes
from spume.numerics.jit import compiled
from spume.ranks.communicator import Communicator
from spume.ranks.cuts import Cuts

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]


class Halo:
    """The border (`grid/border.py`) of one rank, for one arrangement of the blocks of all ranks."""

    def __init__(self, communicator: Communicator, cuts: Cuts, nodes: Nodes, cells: Integers) -> None:
        """`cells`: keys of the blocks of cells with points of this rank, ascending. All ranks make theirs at the same
        time."""
        self._messages, self._keys = communicator, nodes.keys
        self.cells = cells
        """Keys of the blocks of cells with points of this rank, ascending."""
        d = nodes.dimension
        self._steps = corner_steps(d)
        self._corner = np.arange(0, 8, 8 // self._steps.size)
        """Number of each corner in tables with eight columns."""
        near = self._cells_near(cuts)
        self._shared: dict[int, Integers] = {}
        """Blocks of nodes, ascending, that a peer has too."""
        listed = [_Slots(communicator.rank, *self._contributions(cells, np.arange(len(self._keys))))]
        for peer, keys in near.items():
            shared = self._reached(keys)
            if shared.size:
                self._shared[peer] = shared
                listed.append(_Slots(peer, *self._contributions(keys, shared)))
        shared_by_any = np.zeros(len(self._keys), np.bool_)
        self._first_rank = np.full(len(self._keys), communicator.rank)
        for peer, shared in self._shared.items():
            shared_by_any[shared] = True
            self._first_rank[shared] = np.minimum(self._first_rank[shared], peer)
        listed[0] = listed[0].of(shared_by_any)
        self._number(listed, unpack(self._keys) & 1)
        self._order: Integers | None = None
        self._rooms: dict[int, Floats] = {}
        self._messages_out: dict[int, dict[int, Floats]] = {}

    def _cells_near(self, cuts: Cuts) -> Mapping[int, Integers]:
        """Keys of the blocks of cells of each peer that may add to nodes of this rank. Peers find each other by the
        owners of all blocks, occupied or not, that would reach the same nodes."""
        corners = self._steps.size
        owners = cuts.owners((self._keys[:, None] - self._steps).reshape(-1)).reshape(-1, corners)
        # the nodes of each own block of cells, and the owners around these
        reached = np.searchsorted(self._keys, self.cells[:, None] + self._steps)
        around = owners[reached].reshape(-1, corners * corners)
        outgoing = {}
        for peer in np.unique(around):
            if peer != self._messages.rank:
                mine = self.cells[(around == peer).any(axis=1)]
                outgoing[int(peer)] = mine.view(np.uint8)
        received = self._messages.exchange(outgoing)
        return {peer: part.view(np.int64) for peer, part in received.items()}

    def _reached(self, cells: Integers) -> Integers:
        """Own blocks of nodes that blocks of cells reach, ascending."""
        wanted = np.unique((cells[:, None] + self._steps).reshape(-1))
        place = np.minimum(np.searchsorted(self._keys, wanted), len(self._keys) - 1) if len(self._keys) else wanted[:0]
        return place[self._keys[place] == wanted] if len(self._keys) else place

    def _contributions(self, cells: Integers, shared: Integers) -> tuple[Integers, Integers]:
        """Blocks of nodes among `shared` and their corners where one of the `cells` adds to them, node by node."""
        if not cells.size or not shared.size:
            return shared[:0], shared[:0]
        wanted = self._keys[shared][:, None] - self._steps
        place = np.minimum(np.searchsorted(cells, wanted), cells.size - 1)
        row, corner = np.nonzero(cells[place] == wanted)
        return shared[row], corner

    def _number(self, listed: list["_Slots"], parity: Integers) -> None:
        """Number the slots: own ones first, then those of each peer, behind the nodes."""
        first = len(self._keys)
        self._own = np.full((first, 8), -1, np.int32)
        own = listed[0]
        self._own[own.node, self._corner[own.corner]] = first + np.arange(own.node.size)
        self._incoming: dict[int, tuple[int, int]] = {}
        """First slot of each peer, and one past the last."""
        self._outgoing: dict[int, Integers] = {}
        """Own slots, for each peer."""
        count = first + own.node.size
        for slots in listed[1:]:
            self._incoming[slots.rank] = count, count + slots.node.size
            count += slots.node.size
            mine = self._own[self._shared[slots.rank]][:, self._corner]
            self._outgoing[slots.rank] = mine[mine >= 0].astype(np.int64)
        self._blocks = count
        node = np.concatenate([slots.node for slots in listed])
        corner = np.concatenate([slots.corner for slots in listed])
        # the parity of a block of cells is that of its corner minus the step to it
        steps = np.stack([self._corner >> 2, (self._corner >> 1) & 1, self._corner & 1], axis=1)
        odd = parity[node] ^ steps[corner]
        colour = 4 * odd[:, 0] + 2 * odd[:, 1] + odd[:, 2]
        order = np.lexsort((colour, node))
        self._sources = first + order
        self._targets, starts = np.unique(node[order], return_index=True)
        self._starts = np.append(starts, order.size)

    @property
    def peers(self) -> int:
        """Number of ranks that this one shares nodes with."""
        return len(self._shared)

    @property
    def sent_blocks(self) -> int:
        """Slots sent for each sum."""
        return sum(slots.size for slots in self._outgoing.values())

    def corners(self, table: NDArray[np.int32]) -> NDArray[np.int32]:
        """See `Border`."""
        slots = self._own[table, np.arange(8)]
        return np.where(slots >= 0, slots, table)

    def blocks(self, count: int) -> int:
        """See `Border`."""
        return self._blocks

    def room(self, target: Floats) -> Floats:
        """See `Border`."""
        channels = target.shape[1]
        if channels not in self._rooms:
            self._rooms[channels] = np.empty((self._blocks, channels, NODES_PER_BLOCK))
            self._messages_out[channels] = {
                peer: np.empty((slots.size, channels, NODES_PER_BLOCK)) for peer, slots in self._outgoing.items()
            }
        return self._rooms[channels]

    def complete(self, sums: Floats, target: Floats) -> None:
        """See `Border`."""
        outgoing = self._messages_out[target.shape[1]]
        for peer, part in outgoing.items():
            np.take(sums, self._outgoing[peer], axis=0, out=part)
        self._messages.swap(
            list(outgoing.items()), [(peer, sums[first:last]) for peer, (first, last) in self._incoming.items()]
        )
        target[:] = sums[: len(target)]
        _add_slots(sums, self._targets, self._starts, self._sources, target)

    def least(self, listed: Listed, values: Floats) -> Floats:
        """See `Border`."""
        block, filled = listed.node // NODES_PER_BLOCK, listed.filled
        own = values[filled]
        found = own.copy()
        entries = {peer: np.flatnonzero(np.isin(block, shared)) for peer, shared in self._shared.items()}
        outgoing = [(peer, own[chosen]) for peer, chosen in entries.items() if chosen.size]
        incoming = {peer: np.empty(chosen.size) for peer, chosen in entries.items() if chosen.size}
        self._messages.swap(outgoing, list(incoming.items()))
        for peer, theirs in incoming.items():
            found[entries[peer]] = np.minimum(found[entries[peer]], theirs)
        result = values.copy()
        result[filled] = found
        return result

    def chosen_by_any(self, chosen: Integers) -> Integers:
        """Of the own nodes, those that this rank or another has chosen: flat indices (64 per block), ascending."""
        key, local = self._keys[chosen // NODES_PER_BLOCK], chosen % NODES_PER_BLOCK
        listed = np.stack([key, local], axis=1)
        outgoing = {}
        for peer, shared in self._shared.items():
            outgoing[peer] = listed[np.isin(chosen // NODES_PER_BLOCK, shared)].reshape(-1).view(np.uint8)
        found = [chosen]
        for part in self._messages.exchange(outgoing).values():
            theirs = part.view(np.int64).reshape(-1, 2)
            found.append(NODES_PER_BLOCK * np.searchsorted(self._keys, theirs[:, 0]) + theirs[:, 1])
        return np.unique(np.concatenate(found))

    def counts(self, node: NDArray[np.int64]) -> NDArray[np.bool_]:
        """See `Border`."""
        return np.asarray(self._first_rank[node // NODES_PER_BLOCK] == self._messages.rank)

    def all_blocks(self, values: Floats) -> Floats:
        """See `Border`."""
        counted = self._first_rank == self._messages.rank
        if self._order is None:
            keys = self._messages.everyone(self._keys[counted])
            self._order, self._sizes = np.argsort(np.concatenate(keys)), [part.size for part in keys]
        rows = len(values)
        sizes = [rows * size for size in self._sizes]
        own = np.ascontiguousarray(values[:, counted]).reshape(-1).view(np.int64)
        parts = self._messages.everyone(own, sizes)
        found = np.concatenate([part.view(np.float64).reshape(rows, -1) for part in parts], axis=1)
        return np.ascontiguousarray(found[:, self._order])


class _Slots:
    """Places for what the blocks of cells of a rank add to nodes that this rank shares with others."""

    def __init__(self, rank: int, node: Integers, corner: Integers) -> None:
        self.rank, self.node, self.corner = rank, node, corner

    def of(self, chosen: NDArray[np.bool_]) -> "_Slots":
        """Those at the chosen nodes."""
        kept = chosen[self.node]
        return _Slots(self.rank, self.node[kept], self.corner[kept])


@compiled(parallel=True, fastmath=False)
def _add_slots(sums, targets, starts, sources, result):
    """Write the sums of the slots of each shared block of nodes, in their order."""
    for n in prange(targets.size):
        block = targets[n]
        for c in range(result.shape[1]):
            for node in range(NODES_PER_BLOCK):
                s = 0.0
                for entry in range(starts[n], starts[n + 1]):
                    s += sums[sources[entry], c, node]
                result[block, c, node] = s
