"""Sums on nodes that several ranks have: each rank sends what its own blocks of cells add there, block by block.

The points of a block of cells are all on one rank, which computes the block's whole tile. What the tile adds to a
block of nodes that others have as well is written to a *slot* of its own (`slots.py`), behind the nodes, by the same
kernel. Ranks exchange slots, and all of them add the slots of a block of nodes in the order of the colours of the
blocks of cells, which is the order of one process that has all blocks (`grid/to_grid.py`). So all have the same sums,
with the same bits, and whatever is computed from them on the nodes needs no message.

Blocks of cells that others wait for are added first, with those that must come before them. Their slots travel while
the other blocks are added.
"""

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from spume.grid.blocks import NODES_PER_BLOCK, corner_steps, unpack
from spume.grid.border import Listed
from spume.grid.nodes import Nodes
from spume.ranks.communicator import Communicator
from spume.ranks.cuts import Cuts
from spume.ranks.slots import Contributions, Messages, Reach, Slots, colours, with_earlier

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
        reached = np.searchsorted(self._keys, cells[:, None] + self._steps)
        self._shared: dict[int, Integers] = {}
        """Blocks of nodes, ascending, that a peer has too."""
        theirs = {}
        for peer, keys in self._cells_near(cuts, reached).items():
            shared = self._reached(keys)
            if shared.size:
                self._shared[peer] = shared
                theirs[peer] = self._contributions(keys, shared)
        shared_by_any = np.zeros(len(self._keys), np.bool_)
        self._first_rank = np.full(len(self._keys), communicator.rank)
        for peer, shared in self._shared.items():
            shared_by_any[shared] = True
            self._first_rank[shared] = np.minimum(self._first_rank[shared], peer)
        awaited: NDArray[np.bool_] = np.any(shared_by_any[reached], axis=1)
        parity = unpack(self._keys) & 1
        unshared = self._contributions(cells, np.flatnonzero(~shared_by_any))
        self._first = cells[with_earlier(unshared, colours(unshared.corner, parity[unshared.node]), awaited)]
        own = self._contributions(cells, np.flatnonzero(shared_by_any))
        self._slots = Slots(own, self._shared, theirs, parity, Reach(d, nodes.order))
        self._order: Integers | None = None
        self._rooms: dict[int, Floats] = {}
        self._sent: dict[int, Messages] = {}
        """For each number of channels."""
        self._arrive: Callable[[], None] = lambda: None
        """Waits for the slots of others."""

    def _cells_near(self, cuts: Cuts, reached: Integers) -> Mapping[int, Integers]:
        """Keys of the blocks of cells of each peer that may add to nodes of this rank. Peers find each other by the
        owners of all blocks, occupied or not, that would reach the same nodes; `reached` are those of own blocks."""
        corners = self._steps.size
        owners = cuts.owners((self._keys[:, None] - self._steps).reshape(-1)).reshape(-1, corners)
        # the owners around the nodes of each own block of cells
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

    def _contributions(self, cells: Integers, nodes: Integers) -> Contributions:
        """Where the blocks `cells` add to the blocks `nodes`, node by node, by corner."""
        if not cells.size or not nodes.size:
            return Contributions(nodes[:0], nodes[:0], nodes[:0])
        wanted = self._keys[nodes][:, None] - self._steps
        place = np.minimum(np.searchsorted(cells, wanted), cells.size - 1)
        row, corner = np.nonzero(cells[place] == wanted)
        return Contributions(nodes[row], self._corner[corner], place[row, corner])

    @property
    def peers(self) -> int:
        """Number of ranks that this one shares nodes with."""
        return len(self._shared)

    @property
    def sent_nodes(self) -> int:
        """Nodes whose sums are sent, to all peers together."""
        return self._slots.sent_nodes

    def awaited(self, cells: Integers) -> NDArray[np.bool_]:
        """See `Border`."""
        return np.isin(cells, self._first)

    def corners(self, table: NDArray[np.int32]) -> NDArray[np.int32]:
        """See `Border`."""
        slots = self._slots.table[table, np.arange(8)]
        return np.where(slots >= 0, slots, table)

    def blocks(self, count: int) -> int:
        """See `Border`."""
        return self._slots.blocks

    def room(self, target: Floats, room: Floats | None) -> Floats:
        """See `Border`."""
        channels = target.shape[1]
        if room is not None:
            return room
        if channels not in self._rooms:
            self._rooms[channels] = np.empty((self._slots.blocks, channels, NODES_PER_BLOCK))
        return self._rooms[channels]

    def _letters(self, channels: int) -> Messages:
        if channels not in self._sent:
            self._sent[channels] = self._slots.messages(channels)
        return self._sent[channels]

    def send(self, sums: Floats) -> None:
        """See `Border`."""
        messages = self._letters(sums.shape[1])
        self._slots.pack(sums, messages)
        self._arrive = self._messages.start_swap(messages.outgoing, messages.incoming)

    def look(self) -> None:
        """See `Border`."""
        self._messages.look()

    def complete(self, sums: Floats, target: Floats) -> None:
        """See `Border`."""
        self._arrive()
        self._slots.finish(sums, self._letters(sums.shape[1]), target)

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
