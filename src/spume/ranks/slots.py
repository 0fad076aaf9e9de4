"""Slots: what single blocks of cells add to blocks of nodes, where it cannot be added to the node at once.

A node adds the tiles of the blocks of cells around it in the order of their colours, whoever computes them
(`grid/to_grid.py`). What other ranks are sent is kept in a slot of its own, and added in the end; the rest is added
where it is computed, in this order.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numba import prange
from numpy.typing import NDArray

from spume.grid.blocks import BLOCK, NODES_PER_BLOCK
from spume.numerics.jit import compiled

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]


class Contributions(NamedTuple):
    """Pairs of a block of nodes and a block of cells of which it is a corner."""

    node: Integers
    """Blocks of nodes, ascending."""
    corner: Integers
    """Which corner of the block of cells it is, see `Nodes.corner_blocks`."""
    cell: Integers
    """Block of cells."""

    def chosen(self, mask: NDArray[np.bool_]) -> "Contributions":
        """Some of the pairs."""
        return Contributions(self.node[mask], self.corner[mask], self.cell[mask])


class Reach:
    """The nodes of a block that the tile of a block of cells reaches: all of those in its own place, and the first few
    in the next blocks along each axis."""

    def __init__(self, dimension: int, order: int) -> None:
        """`order`: that of the splines."""
        side = BLOCK[dimension]
        index = np.stack(np.unravel_index(np.arange(NODES_PER_BLOCK), side), axis=1)
        listed = []
        for corner in range(8):
            beyond = np.array([corner >> 2, (corner >> 1) & 1, corner & 1], np.bool_)
            listed.append(np.flatnonzero((~beyond | (index < order)).all(axis=1)))
        self.nodes = np.concatenate(listed)
        """Nodes of a block, one corner after the other."""
        self.starts = np.cumsum([0, *map(len, listed)])
        """First of these of each corner, then their number."""
        self.counts = np.diff(self.starts)
        """Number of nodes by corner."""


def colours(corner: Integers, parity: Integers) -> Integers:
    """Colour of blocks of cells that have blocks of nodes, whose coordinates have this `parity` (n, 3), at a corner."""
    steps = np.stack([corner >> 2, (corner >> 1) & 1, corner & 1], axis=1)
    return np.asarray((parity ^ steps) @ [4, 2, 1])


def with_earlier(contributions: Contributions, colour: Integers, first: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Blocks of cells, of which the `first` ones are to be added before the others, with those that must come before
    one of them, as each block of nodes adds in the order of `colour`."""
    found = first.copy()
    node, cell, _ = contributions.node, contributions.cell, contributions.corner
    starts = np.flatnonzero(np.diff(node, prepend=-1))
    sizes = np.diff(starts, append=node.size)
    while node.size:
        latest = np.repeat(np.maximum.reduceat(np.where(found[cell], colour, -1), starts), sizes)
        more = cell[(colour < latest) & ~found[cell]]
        if not more.size:
            break
        found[more] = True
    return found


def leading(node: Integers, colour: Integers, rank: Integers) -> NDArray[np.bool_]:
    """Which contributions of the ranks to the blocks `node`, each of which adds in the order of `colour`, come before
    all of the other ranks."""
    order = np.lexsort((colour, node))
    node, rank, place = node[order], rank[order], np.arange(order.size)
    first = np.maximum.accumulate(np.where(np.diff(node, prepend=-1) != 0, place, 0))
    other = np.maximum.accumulate(np.where(rank != rank[first], place, -1))
    found = np.empty(order.size, np.bool_)
    found[order] = other < first
    return found


class Entries(NamedTuple):
    """What a rank sends of the blocks of nodes that others have as well, block by block: first the sum of all that
    comes before the contributions of other ranks, then one contribution after the other."""

    node: Integers
    """Blocks of nodes, ascending."""
    corner: Integers
    """That of the contribution; of a sum one with the nodes of all its contributions."""
    summed: NDArray[np.bool_]
    """Which are sums."""

    def chosen(self, mask: NDArray[np.bool_]) -> "Entries":
        """Some of them."""
        return Entries(self.node[mask], self.corner[mask], self.summed[mask])


def entries(node: Integers, corner: Integers, leads: NDArray[np.bool_]) -> Entries:
    """Entries for contributions to blocks `node`, ascending, of which some lead."""
    starts = np.flatnonzero(np.diff(node[leads], prepend=-1))
    several = node[leads][starts]
    # along an axis a sum reaches beyond the first nodes if one of its contributions does
    common = np.bitwise_and.reduceat(corner[leads], starts) if starts.size else starts
    nodes, corners = np.concatenate([several, node[~leads]]), np.concatenate([common, corner[~leads]])
    summed = np.arange(nodes.size) < several.size
    order = np.lexsort((corners, ~summed, nodes))
    return Entries(nodes[order], corners[order], summed[order])


class Slots:
    """The slots of one rank, and what it sends and receives of them."""

    def __init__(
        self, own: Contributions, shared: Mapping[int, Integers], theirs: Mapping[int, Contributions],
        parity: Integers, reach: Reach,
    ) -> None:  # fmt: skip
        """`own`: contributions of this rank to blocks of nodes that others have as well; `shared`: those that a peer
        has, ascending; `theirs`: contributions of each peer to these; `parity`: of the coordinates of all blocks of
        nodes."""
        self._reach, count = reach, len(parity)
        listed = [own, *theirs.values()]
        node = np.concatenate([each.node for each in listed])
        corner = np.concatenate([each.corner for each in listed])
        sizes = [each.node.size for each in listed]
        leads = leading(node, colours(corner, parity[node]), np.repeat(np.arange(len(listed)), sizes))
        parts = [
            entries(each.node, each.corner, mask)
            for each, mask in zip(listed, np.split(leads, np.cumsum(sizes)[:-1]))
        ]  # fmt: skip
        mine = parts[0]
        slot = np.where(mine.summed, mine.node, count + np.cumsum(~mine.summed) - 1)
        """Slots, or the block of nodes itself, with which sums begin."""
        single = ~mine.summed
        self.table = np.full((count, 8), -1, np.int32)
        """Slot at each corner of each block of nodes, behind these; −1 where there is none."""
        self.table[mine.node[single], mine.corner[single]] = slot[single]
        self.blocks = count + int(np.count_nonzero(single))
        """Blocks of nodes and slots."""
        slots, corners = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
        self._sent: dict[int, tuple[int, int]] = {}
        """First node that is sent to each peer, and one past the last."""
        for peer, nodes in shared.items():
            chosen = np.isin(mine.node, nodes)
            slots.append(slot[chosen])
            corners.append(mine.corner[chosen])
            first = self._sent_until()
            self._sent[peer] = first, first + int(reach.counts[corners[-1]].sum())
        self._slot, self._corner = np.concatenate(slots), np.concatenate(corners)
        self._place = self._places(self._corner)
        received, self._received = 0, dict[int, tuple[int, int]]()
        for peer, found in zip(theirs, parts[1:]):
            last = received + int(reach.counts[found.corner].sum())
            self._received[peer] = received, last
            received = last
        self._list_sources(mine.chosen(single), slot[single], parts[1:], parity)

    def _sent_until(self) -> int:
        return max((last for _, last in self._sent.values()), default=0)

    def _places(self, corner: Integers) -> Integers:
        """First place of each slot in a message that has one after the other."""
        return np.cumsum(self._reach.counts[corner]) - self._reach.counts[corner]

    def _list_sources(self, own: Entries, slots: Integers, theirs: Sequence[Entries], parity: Integers) -> None:
        """List the blocks of nodes to which something is added in the end, and what, in the order of the colours."""
        node = np.concatenate([own.node, *[each.node for each in theirs]])
        corner = np.concatenate([own.corner, *[each.corner for each in theirs]])
        summed = np.concatenate([own.summed, *[each.summed for each in theirs]])
        # own ones are in slots, those of others in messages
        slot = np.full(node.size, -1)
        slot[: own.node.size] = slots
        place = np.zeros(node.size, np.int64)
        place[own.node.size :] = self._places(corner[own.node.size :])
        order = np.lexsort((np.where(summed, -1, colours(corner, parity[node])), node))
        self._sources = slot[order], corner[order], place[order]
        self._summed, starts = np.unique(node[order], return_index=True)
        self._starts = np.append(starts, node.size)

    @property
    def sent_nodes(self) -> int:
        """Number of nodes that are sent, to all peers together."""
        return self._sent_until()

    def messages(self, channels: int) -> "Messages":
        """Room for messages with so many numbers per node."""
        return Messages(self._sent, self._received, channels)

    def pack(self, sums: Floats, messages: "Messages") -> None:
        """Write what is sent of the slots in `sums`."""
        _pack(sums, self._slot, self._corner, self._place, self._reach.starts, self._reach.nodes, messages.packed)

    def finish(self, sums: Floats, messages: "Messages", target: Floats) -> None:
        """Write the sums on the nodes with all slots, own ones and those received, to `target`, with which `sums` may
        begin."""
        reach = self._reach
        if not np.may_share_memory(sums, target):
            target[:] = sums[: len(target)]
        _finish(
            sums, messages.arrived, self._summed, self._starts, *self._sources, reach.starts, reach.nodes, target
        )  # fmt: skip


class Messages:
    """The slots that are sent and received for one sum."""

    def __init__(
        self, sent: Mapping[int, tuple[int, int]], received: Mapping[int, tuple[int, int]], channels: int
    ) -> None:
        """`sent`, `received`: range of nodes of each peer."""
        self.packed, self.outgoing = _parts(sent, channels)
        self.arrived, self.incoming = _parts(received, channels)


def _parts(ranges: Mapping[int, tuple[int, int]], channels: int) -> tuple[Floats, list[tuple[int, Floats]]]:
    """An array for all peers, and the part of each."""
    whole = np.empty(channels * max((last for _, last in ranges.values()), default=0))
    parts = {peer: whole[channels * first : channels * last] for peer, (first, last) in ranges.items()}
    return whole, [(peer, part) for peer, part in parts.items() if part.size]


@compiled(parallel=True, fastmath=False)
def _pack(sums, slot, corner, place, reach_start, reach, packed):
    """Write the reached nodes of slots one after the other."""
    channels = sums.shape[1]
    for n in prange(slot.size):
        nodes = reach[reach_start[corner[n]] : reach_start[corner[n] + 1]]
        for c in range(channels):
            start = channels * place[n] + c * nodes.size
            values, written = sums[slot[n], c], packed[start : start + nodes.size]
            for r in range(nodes.size):  # unsigned: not counted from the end
                written[r] = values[np.uint64(nodes[r])]


@compiled(parallel=True, fastmath=False)
def _finish(sums, arrived, summed, starts, slot, corner, place, reach_start, reach, result):
    """Add slots to the sums of the listed blocks of nodes, in their order."""
    channels = result.shape[1]
    for listed in prange(summed.size):
        for entry in range(starts[listed], starts[listed + 1]):
            nodes = reach[reach_start[corner[entry]] : reach_start[corner[entry] + 1]]
            for c in range(channels):
                total = result[summed[listed], c]
                if slot[entry] >= 0:
                    values = sums[slot[entry], c]
                    for node in range(NODES_PER_BLOCK):  # it is zero where the tile does not reach
                        total[node] += values[node]
                else:
                    start = channels * place[entry] + c * nodes.size
                    values = arrived[start : start + nodes.size]
                    for r in range(nodes.size):
                        total[np.uint64(nodes[r])] += values[r]
