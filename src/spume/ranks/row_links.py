"""Rows of arrays that are copies of rows of other ranks."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from spume.ranks.communicator import Communicator
from spume.ranks.migration import pack, unpack_points

Integers = NDArray[np.int64]


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
        named = {str(k): array for k, array in enumerate(arrays)}
        size = sum(array[:1].nbytes for array in arrays)
        incoming = {peer: np.empty(size * rows.size, np.uint8) for peer, rows in self._copies.items()}
        self._messages.swap([(peer, pack(named, rows)) for peer, rows in self._wanted.items()], list(incoming.items()))
        for peer, part in incoming.items():
            for name, values in unpack_points(named, [part]).items():
                named[name][self._copies[peer]] = values

    def any(self, flag: bool) -> bool:
        """See `Links`."""
        return bool(self._messages.maximum(np.array([flag], np.int64))[0])
