"""Rows of arrays that are copies of rows of other ranks."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spume.ranks.communicator import Communicator
from spume.ranks.migration import pack, unpack_points

Integers = NDArray[np.int64]


def fill_copies(
    messages: Communicator, sent: Mapping[int, Integers], copies: Mapping[int, Integers],
    arrays: Sequence[NDArray[Any]],
) -> None:  # fmt: skip
    """Send the rows `sent` of some arrays to peers, and write those that they send to the rows `copies`."""
    named = {str(k): array for k, array in enumerate(arrays)}
    size = sum(array.dtype.itemsize * math.prod(array.shape[1:]) for array in arrays)
    incoming = {peer: np.empty(size * rows.size, np.uint8) for peer, rows in copies.items() if rows.size}
    messages.swap([(peer, pack(named, rows)) for peer, rows in sent.items() if rows.size], list(incoming.items()))
    for peer, part in incoming.items():
        for name, values in unpack_points(named, [part]).items():
            named[name][copies[peer]] = values


class RowLinks:
    """See `geometry.darts.links.Links`. All ranks make theirs, and fill arrays, at the same time."""

    def __init__(self, messages: Communicator, numbers: Integers, owner: Integers) -> None:
        """`numbers`: those that the rows have on all ranks, ascending; `owner`: the rank that each belongs to, which
        has it."""
        self._messages = messages
        self._copies = {int(peer): np.flatnonzero(owner == peer) for peer in np.unique(owner) if peer != messages.rank}
        requests = messages.exchange({peer: numbers[rows].view(np.uint8) for peer, rows in self._copies.items()})
        self._wanted = {peer: np.searchsorted(numbers, part.view(np.int64)) for peer, part in requests.items()}
        self.copies: Integers = np.flatnonzero(owner != messages.rank)
        """See `Links`."""

    def fill(self, *arrays: NDArray[Any]) -> None:
        """See `Links`."""
        fill_copies(self._messages, self._wanted, self._copies, arrays)

    def any(self, flag: bool) -> bool:
        """See `Links`."""
        return bool(self._messages.maximum(np.array([flag], np.int64))[0])
