"""Messages between ranks: the few operations that everything else in this package is made of.

`mpi.py` implements them with MPI. All ranks call the same operations in the same order.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]
Parts = Sequence[tuple[int, NDArray[Any]]]
"""Arrays to or from other ranks."""
WRITER = 0
"""The rank that writes frames and checkpoints, and talks to the user."""


class Communicator(Protocol):
    """Messages between ranks."""

    rank: int
    """Number of this process, from 0."""
    size: int
    """Number of processes."""
    waited: float
    """Time spent in messages since the start, waiting included [s]."""
    sent: int
    """Bytes sent since the start, without the sums and maxima of a few numbers."""
    messages: int
    """Messages sent since the start, likewise."""
    silent: bool
    """Whether this rank does work of its own, in which it must not call any of these operations, since others need not
    do the same: see `Ranks.agreed`. The communicator of the tests checks it."""

    def maximum(self, values: NDArray[Any]) -> NDArray[Any]:
        """Largest value of each entry over all ranks; NaN where one has NaN."""

    def start_maximum(self, values: NDArray[Any]) -> Callable[[], NDArray[Any]]:
        """The same without waiting: what is returned waits for it when it is called."""

    def sum(self, values: NDArray[Any]) -> NDArray[Any]:
        """Sum of each entry over all ranks. The order is not defined: only for numbers whose sums are exact."""

    def exchange(self, outgoing: Mapping[int, Bytes]) -> dict[int, Bytes]:
        """Send bytes to other ranks, which do not know how many, and return those received, by rank in ascending order;
        empty messages are not delivered."""

    def swap(self, outgoing: Parts, incoming: Parts) -> None:
        """Send arrays to other ranks, and receive arrays of known sizes from others, in place."""

    def start_swap(self, outgoing: Parts, incoming: Parts) -> Callable[[], None]:
        """The same without waiting: the arrays belong to the messages until what is returned has been called, which
        waits for them."""

    def look(self) -> None:
        """Let messages on their way move on: many implementations move long ones only while a rank calls them."""

    def everyone(self, values: NDArray[np.int64], sizes: Sequence[int] | None = None) -> list[NDArray[np.int64]]:
        """The arrays of all ranks, by rank; their lengths may differ. `sizes` are these lengths, where all ranks know
        them."""

    def gather(self, part: Bytes) -> list[Bytes] | None:
        """The bytes of all ranks, by rank, on the writer; None on the others."""

    def scatter(self, parts: Sequence[Bytes] | None) -> Bytes:
        """The part of this rank of what the writer gives."""

    def broadcast(self, value: Any, root: int = WRITER) -> Any:
        """The value of `root`, any object: for commands and errors, not for points."""

    def abort(self, code: int) -> None:
        """End all ranks at once."""
