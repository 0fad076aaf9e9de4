"""Ghosts: copies of points of other ranks that are near the own ones.

Arrays with ghosts have the own points first, then the ghosts. What is known of ghosts is sent by their owners whenever
it is needed.
"""

import copy
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spume.grid.blocks import around_steps, pack, unpack, with_surrounding_blocks
from spume.grid.cells import Cells
from spume.ranks.communicator import Communicator

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
REGION = 2
"""Binary digits of the number of blocks along each side of a region."""


class Ghosts:
    """None: this process has all points."""

    count = 0
    """Number of ghosts."""

    def extended(self, values: NDArray[Any]) -> NDArray[Any]:
        """`values` of the own points, one row each, followed by those of the ghosts."""
        return values

    def with_room(self, values: NDArray[Any]) -> NDArray[Any]:
        """`values` of the own points, followed by zeros for the ghosts."""
        return values

    def fill(self, rows: NDArray[Any]) -> None:
        """Write the rows of the ghosts, which follow those of the own points."""

    def widen(self, low: Floats, high: Floats) -> None:
        """Lower `low` and raise `high`, one row (n) for each block of the sorted cells of all points, to those of the
        other ranks that have points in these blocks."""

    def reduced(self, needed: NDArray[np.bool_]) -> "Ghosts":
        """Only the ghosts in `needed`, in the same order."""
        return self

    def links(self, own: Integers, ghost: Integers, ids: Integers) -> "Links":
        """Pairs of an own point and a ghost, by their indices; the owner of the ghost lists the same pairs. `ids`: of
        own points and ghosts."""
        return Links(None, np.empty(0, np.int64), [], [])


class GhostsOfPeers(Ghosts):
    """The points of other ranks that are in the same blocks of cells as own points, or in adjacent ones. It does not
    matter who owns which blocks."""

    def __init__(self, messages: Communicator, cells: Cells, further: Integers | None = None) -> None:
        """`cells`: those of the own points, sorted. All ranks make theirs at the same time. `further`: keys of blocks
        where other points of this rank are, whose neighbours are ghosts, too."""
        self._messages, self._own = messages, len(cells.sorted_points)
        keys = cells.keys if further is None else np.union1d(cells.keys, further)
        counts = np.zeros(keys.size, np.int64)
        counts[np.searchsorted(keys, cells.keys)] = np.diff(cells.cell_start[::64])
        self._sent: dict[int, Integers] = {}
        """Own points that are ghosts of each peer."""
        self._slices: dict[int, slice] = {}
        """Places of the ghosts from each peer, behind the own points."""
        blocks_sent, blocks_known = dict[int, Integers](), dict[int, Integers]()
        sizes = {}
        for peer, (theirs, number) in blocks_beside(messages, keys, counts, cells.dimension).items():
            mine = np.isin(keys, with_surrounding_blocks(theirs, cells.dimension))
            blocks_sent[peer], blocks_known[peer] = keys[mine], theirs
            self._sent[peer] = cells.sorted_points[np.repeat(mine, counts)].astype(np.int64)
            sizes[peer] = int(number.sum())
        self._arrange(sizes)
        whole = np.unique(np.concatenate([keys, *blocks_known.values()]))
        self._blocks = [
            {peer: np.searchsorted(whole, found) for peer, found in blocks.items()}
            for blocks in (blocks_sent, blocks_known)
        ]
        """Indices of the blocks of which each peer is told, and of which it tells."""

    def _arrange(self, sizes: Mapping[int, int]) -> None:
        """Give the ghosts from each peer their places."""
        ends = self._own + np.cumsum([0, *sizes.values()])
        self._slices = {peer: slice(first, last) for peer, first, last in zip(sizes, ends, ends[1:])}
        self.count = int(ends[-1]) - self._own

    def extended(self, values: NDArray[Any]) -> NDArray[Any]:
        """See `Ghosts`."""
        whole = self.with_room(values)
        self.fill(whole)
        return whole

    def with_room(self, values: NDArray[Any]) -> NDArray[Any]:
        """See `Ghosts`."""
        whole = np.zeros((self._own + self.count, *values.shape[1:]), values.dtype)
        whole[: self._own] = values
        return whole

    def fill(self, rows: NDArray[Any]) -> None:
        """See `Ghosts`."""
        self._messages.swap(
            [(peer, rows[sent]) for peer, sent in self._sent.items()],
            [(peer, rows[place]) for peer, place in self._slices.items()],
        )

    def widen(self, low: Floats, high: Floats) -> None:
        """See `Ghosts`."""
        rows, (sent, known) = np.concatenate([low, -high], axis=1), self._blocks
        incoming = [(peer, np.empty((len(blocks), rows.shape[1]))) for peer, blocks in known.items()]
        self._messages.swap([(peer, rows[blocks]) for peer, blocks in sent.items()], incoming)
        for peer, theirs in incoming:
            rows[known[peer]] = np.minimum(rows[known[peer]], theirs)
        low[:], high[:] = rows[:, : low.shape[1]], -rows[:, low.shape[1] :]

    def reduced(self, needed: NDArray[np.bool_]) -> "Ghosts":
        """See `Ghosts`."""
        found = copy.copy(self)
        wanted = {peer: needed[slice(s.start - self._own, s.stop - self._own)] for peer, s in self._slices.items()}
        kept = [(peer, np.empty(len(sent), np.bool_)) for peer, sent in self._sent.items()]
        self._messages.swap(list(wanted.items()), kept)
        found._sent = {peer: self._sent[peer][mask] for peer, mask in kept if mask.any()}
        found._arrange({peer: int(mask.sum()) for peer, mask in wanted.items() if mask.any()})
        return found

    def links(self, own: Integers, ghost: Integers, ids: Integers) -> "Links":
        """See `Ghosts`."""
        slots, sent, places = np.empty(len(own), np.int64), [], []
        first = 0
        for peer, place in self._slices.items():
            chosen = np.flatnonzero((ghost >= place.start) & (ghost < place.stop))
            mine, theirs = ids[own[chosen]], ids[ghost[chosen]]
            sent.append((peer, chosen[np.lexsort((theirs, mine))]))
            arriving = chosen[np.lexsort((mine, theirs))]
            slots[arriving] = first + np.arange(len(arriving))
            places.append((peer, slice(first, first + len(arriving))))
            first += len(arriving)
        return Links(self._messages, slots, sent, places)


def blocks_beside(
    messages: Communicator, keys: Integers, counts: Integers, dimension: int
) -> dict[int, tuple[Integers, Integers]]:
    """The blocks of each peer that are among the blocks `keys` of this rank or adjacent to these, ascending, and their
    `counts`, by the rank of the peer in ascending order.

    Any rank may have any block. Those with blocks around one meet at a rank that follows from its key: each rank tells
    these which blocks it has, and they say who else is there.
    """
    around = keys[:, None] + around_steps(dimension)
    meeting = _meeting_places(around.reshape(-1), messages.size).reshape(around.shape)
    table = np.stack([keys, counts], axis=1)
    told = _swapped(messages, {int(rank): table[(meeting == rank).any(axis=1)] for rank in np.unique(meeting)}, 2)
    answers = {}
    for rank, listed in told.items():
        own = listed[_meeting_places(listed[:, 0], messages.size) == messages.rank, 0]
        near = with_surrounding_blocks(own, dimension)
        found = [
            np.column_stack([np.full(len(other), peer), other])[np.isin(other[:, 0], near)]
            for peer, other in told.items()
            if peer != rank
        ]
        answers[rank] = np.concatenate([np.empty((0, 3), np.int64), *found])
    received = _swapped(messages, answers, 3).values()
    entries = np.unique(np.concatenate([np.empty((0, 3), np.int64), *received]), axis=0)
    of_peers = {int(peer): entries[entries[:, 0] == peer] for peer in np.unique(entries[:, 0])}
    return {peer: (listed[:, 1], listed[:, 2]) for peer, listed in of_peers.items()}


def _meeting_places(keys: Integers, size: int) -> Integers:
    """Ranks, spread evenly and the same for most blocks that are close together: a hash of the region of a block."""
    region = pack(*(unpack(keys) >> REGION).T).astype(np.uint64)
    return ((region * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(33)).astype(np.int64) % size


def _swapped(messages: Communicator, tables: Mapping[int, Integers], columns: int) -> dict[int, Integers]:
    """The tables that other ranks and this one send to this one, by rank."""
    others = {rank: table.reshape(-1).view(np.uint8) for rank, table in tables.items() if rank != messages.rank}
    found = {rank: part.view(np.int64).reshape(-1, columns) for rank, part in messages.exchange(others).items()}
    if messages.rank in tables:
        found[messages.rank] = tables[messages.rank]
    return found


class Links:
    """Pairs of an own point and a ghost, of which both owners know a number each."""

    def __init__(
        self,
        messages: Communicator | None,
        slots: Integers,
        sent: Sequence[tuple[int, Integers]],
        places: Sequence[tuple[int, slice]],
    ) -> None:
        self.slots = slots
        """Where the number that the other side knows of each pair is, see `swap`."""
        self._messages, self._sent, self._places = messages, sent, places

    def swap(self, values: Floats, other: Floats) -> None:
        """Send `values`, one for each pair, and write those of the other side to `other`."""
        if self._messages is not None:
            self._messages.swap(
                [(peer, values[pairs]) for peer, pairs in self._sent],
                [(peer, other[place]) for peer, place in self._places],
            )


NO_GHOSTS = Ghosts()
