"""Rows of a table, such as points, of which some ranks have copies: those near the blocks that a rank owns.

A row belongs to one rank, its holder. The rank that owns the block in which it lies decides about it, and has a copy if
it is not the holder. Other ranks whose blocks are near have copies, too. The rows of a rank may be in any order; arrays
with a value per row are kept up to date by messages. With one process there are no copies, and nothing is sent.
"""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spume.grid.blocks import BLOCK, CELLS_PER_BLOCK, KEY_STEP, keys_of_cells
from spume.ranks.communicator import Bytes, Communicator
from spume.ranks.cuts import Cuts
from spume.ranks.migration import pack, unpack_points
from spume.ranks.row_links import fill_copies

Arrays = Mapping[str, NDArray[Any]]
Integers = NDArray[np.int64]
Mask = NDArray[np.bool_]


MANY = 10_000
"""Rows from which on arrays are fetched one by one: three copies of what a message has are in memory."""


class Nearby:
    """Rows without copies: those of a process that is alone. See also `geometry.darts.links.Links`."""

    def __init__(self, count: int) -> None:
        self.own = np.ones(count, np.bool_)
        """The rows that this rank holds; the others are copies."""
        self.here = np.ones(count, np.bool_)
        """The rows in blocks that this rank owns."""

    @property
    def copies(self) -> Integers:
        """Indices of the copies."""
        return np.flatnonzero(~self.own)

    def any(self, flag: bool) -> bool:
        """Whether a flag is set on any rank."""
        return flag

    def extended(self, arrays: Arrays) -> Arrays:
        """Arrays of the own rows, with the values of the copies behind them. To be called before `reorder`."""
        return arrays

    def fill(self, *arrays: NDArray[Any]) -> None:
        """Set the copies to the values of their holders."""

    def fetch(self, arrays: Arrays, needed: Mask) -> None:
        """Set the `needed` copies to the values of their holders."""

    def publish(self, arrays: Arrays, changed: Mask) -> None:
        """Give the rows that this rank has `changed`, which no other rank has, to all that have them."""

    def reorder(self, index: NDArray[Any]) -> None:
        """Keep the rows selected by `index`, in its order. All ranks that have a row keep it, or drop it."""
        self.own, self.here = self.own[index], self.here[index]

    def append(self, count: int) -> None:
        """Append rows of which there are no copies."""
        self.own, self.here = (np.concatenate([each, np.ones(count, np.bool_)]) for each in (self.own, self.here))


class NearbyOfPeers(Nearby):
    """The rows of one rank, and copies of those of its peers. All ranks call the methods at the same time."""

    def __init__(
        self, messages: Communicator, cuts: Cuts, index: Integers, reach: int, occupied: Integers | None = None
    ) -> None:
        """See `Ranks.nearby`; `index`: coordinates (n, 3) of the cells of the rows of this rank; `occupied`: keys of
        the blocks that count, as far as rows of this rank are in them; None: all count."""
        super().__init__(len(index))
        self._messages = messages
        keys, local = keys_of_cells(index, cuts.dimension)
        blocks, block = np.unique(keys, return_inverse=True)
        steps = np.array([np.dot(step, KEY_STEP) for step in _steps(cuts.dimension)], np.int64)
        owners = cuts.owners((blocks[:, None] + steps).reshape(-1)).reshape(-1, steps.size)
        home = owners[block, steps.size // 2]
        if occupied is not None:
            around = np.unique(blocks[:, None] + steps)
            counts = _occupied(messages, cuts, occupied, around)
            owners = np.where(counts[np.searchsorted(around, blocks[:, None] + steps)], owners, messages.rank)
        touched = _touched(cuts.dimension, reach)
        self._sent: dict[int, NDArray[Any]] = {}
        """Rows of which each peer has copies."""
        for peer in np.unique(owners):
            if peer != messages.rank:
                reached = (owners == peer).astype(np.int64) @ touched.T > 0
                rows = np.flatnonzero(reached[block, local])
                if rows.size:
                    self._sent[int(peer)] = rows
        parts = messages.exchange({peer: (home[rows] == peer).view(np.uint8) for peer, rows in self._sent.items()})
        self.here = np.concatenate([home == messages.rank, *(part.view(np.bool_) for part in parts.values())])
        ends = np.cumsum([len(index), *(part.size for part in parts.values())])
        self._received: dict[int, NDArray[Any]] = {
            peer: np.arange(first, last) for peer, first, last in zip(parts, ends, ends[1:])
        }
        """The copies of rows of each peer, in its order."""
        self.own = np.arange(ends[-1]) < len(index)

    def extended(self, arrays: Arrays) -> dict[str, NDArray[Any]]:
        """See `Nearby`."""
        found = {}
        for name, array in arrays.items():
            found[name] = np.zeros((len(self.own), *array.shape[1:]), array.dtype)
            found[name][: len(array)] = array
        self.fill(*found.values())
        return found

    def any(self, flag: bool) -> bool:
        """See `Nearby`."""
        return bool(self._messages.maximum(np.array([flag], np.int64))[0])

    def fill(self, *arrays: NDArray[Any]) -> None:
        """See `Nearby`."""
        fill_copies(self._messages, self._sent, self._received, arrays)

    def fetch(self, arrays: Arrays, needed: Mask) -> None:
        """See `Nearby`: all arrays at once, or one by one where a rank needs many rows."""
        wanted = {peer: np.flatnonzero(needed[rows]) for peer, rows in self._received.items()}
        asked = self._messages.exchange({peer: places.view(np.uint8) for peer, places in wanted.items()})
        answered = {peer: self._sent[peer][request.view(np.int64)] for peer, request in asked.items()}
        many = self.any(bool(np.count_nonzero(needed) > MANY))
        for names in [[name] for name in arrays] if many else [list(arrays)]:
            chosen = {name: arrays[name] for name in names}
            answers = self._messages.exchange({peer: pack(chosen, rows) for peer, rows in answered.items()})
            for peer, packed in answers.items():
                _write(chosen, self._received[peer][wanted[peer]], unpack_points(chosen, [packed]))

    def publish(self, arrays: Arrays, changed: Mask) -> None:
        """See `Nearby`: by way of the holders."""
        known = changed.copy()
        for rows in self._pass_on(arrays, changed, self._received, self._sent):
            known[rows] = True
        self._pass_on(arrays, known & self.own, self._sent, self._received)

    def _pass_on(
        self, arrays: Arrays, changed: Mask, sent: Mapping[int, NDArray[Any]], received: Mapping[int, NDArray[Any]]
    ) -> list[NDArray[Any]]:
        """Send the changed ones of the rows `sent` to peers, write what they send to `received`, and return what has
        been written."""
        outgoing: dict[int, Bytes] = {}
        for peer, rows in sent.items():
            place = np.flatnonzero(changed[rows])
            if place.size:
                outgoing[peer] = pack({name: a[rows[place]] for name, a in arrays.items()} | {_PLACE: place})
        like = dict(arrays) | {_PLACE: np.empty(0, np.int64)}
        written = []
        for peer, packed in self._messages.exchange(outgoing).items():
            values = unpack_points(like, [packed])
            written.append(received[peer][values.pop(_PLACE)])
            _write(arrays, written[-1], values)
        return written

    def reorder(self, index: NDArray[Any]) -> None:
        """See `Nearby`."""
        selected = np.flatnonzero(index) if index.dtype == np.bool_ else index
        place = np.full(len(self.own), -1, np.int64)
        place[selected] = np.arange(len(selected))
        for table in (self._sent, self._received):
            for peer, rows in table.items():
                table[peer] = place[rows][place[rows] >= 0]
        super().reorder(selected)


_PLACE = "place in the message"


def _occupied(messages: Communicator, cuts: Cuts, own: Integers, keys: Integers) -> Mask:
    """Which of the blocks `keys` are among the blocks `own` of any rank: their owners know."""

    def by_owner(keys: Integers) -> dict[int, Bytes]:
        owners = cuts.owners(keys)
        return {int(peer): keys[owners == peer].view(np.uint8) for peer in np.unique(owners)}

    told = by_owner(own)
    here = told.pop(messages.rank, own[:0].view(np.uint8))
    known = np.concatenate([here, *messages.exchange(told).values()]).view(np.int64)
    asked = by_owner(keys)
    asked.pop(messages.rank, None)
    requests = messages.exchange(asked)
    answers = {peer: np.isin(request.view(np.int64), known).view(np.uint8) for peer, request in requests.items()}
    found, owners = np.isin(keys, known), cuts.owners(keys)
    for peer, answer in messages.exchange(answers).items():
        found[owners == peer] = answer.view(np.bool_)
    return found


def _write(arrays: Arrays, rows: NDArray[Any], values: Arrays) -> None:
    for name, array in arrays.items():
        array[rows] = values[name]


def _steps(dimension: int) -> Sequence[tuple[int, ...]]:
    """Steps from a block to itself and all adjacent blocks, itself in the middle."""
    return list(product((-1, 0, 1), (-1, 0, 1), (-1, 0, 1) if dimension == 3 else (0,)))


def _touched(dimension: int, reach: int) -> Integers:
    """Which of the adjacent blocks are at most `reach` cells from each cell of a block, shape (64, steps)."""
    width = BLOCK[dimension]
    if reach > min(width[:dimension]):
        raise ValueError(f"reach is {reach} cells; it must not be more than {min(width[:dimension])}, the next block")
    cell = np.stack(np.unravel_index(np.arange(CELLS_PER_BLOCK), width), axis=1)[:, None, :]
    step = np.array(_steps(dimension))[None, :, :]
    distance = np.where(step < 0, cell + 1, np.where(step > 0, np.array(width) - cell, 0))
    return np.asarray((distance <= reach).all(axis=2), np.int64)
