"""Messages by MPI. Arrays are sent from and received into their memory; only commands and errors are pickled."""

import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spume.ranks.communicator import WRITER, Bytes, Parts

LONGEST = 1 << 30
"""Bytes of one message; MPI counts them by 32-bit integers."""
SPINS = 50
"""Looks for a message before a core is offered to those who still compute."""
PATIENCE = 1e-3
"""Time after which a rank that waits sleeps between two looks [s]; until then it offers its core to others, which takes
a microsecond if there are none. The shortest sleep takes a tenth of a millisecond, more than most messages. Where ranks
outnumber cores they sleep at once: many that offer their cores to each other keep those that compute from theirs."""
SLEEP = 20e-6
"""Pause between two looks then [s]."""
_offer = getattr(os, "sched_yield", lambda: time.sleep(0.0))
FAREWELL = 0.5
"""Pause before all ranks are aborted [s]."""
MAGNITUDE = np.int64(2**63 - 1)
"""All bits of a number but its sign."""


class MpiCommunicator:
    """The processes of an MPI communicator."""

    def __init__(self, world: Any) -> None:
        """`world`: an `mpi4py.MPI.Comm`."""
        from mpi4py import MPI

        self._mpi, self._world = MPI, world
        self.rank: int = world.Get_rank()
        self.size: int = world.Get_size()
        self.waited, self.sent, self.messages = 0.0, 0, 0
        self.silent = False
        beside = world.Split_type(MPI.COMM_TYPE_SHARED)
        self.patience = PATIENCE if _have_cores(beside) else 0.0
        beside.Free()

    def _wait(self, requests: list[Any]) -> None:
        """Wait for `requests` without keeping a core busy."""
        started, looks = time.perf_counter(), 0
        while not self._mpi.Request.Testall(requests):
            looks += 1
            if looks <= SPINS:
                continue
            if time.perf_counter() - started < self.patience:
                _offer()
            else:
                time.sleep(SLEEP)
        self.waited += time.perf_counter() - started

    def _start_reducing(self, values: NDArray[Any], operation: Any) -> Callable[[], NDArray[Any]]:
        sent, found = np.ascontiguousarray(values), np.empty_like(values)
        requests = [self._world.Iallreduce(sent, found, operation)]

        def wait() -> NDArray[Any]:
            self._wait(requests)
            return found

        return wait

    def maximum(self, values: NDArray[Any]) -> NDArray[Any]:
        """See `Communicator`."""
        return self.start_maximum(values)()

    def start_maximum(self, values: NDArray[Any]) -> Callable[[], NDArray[Any]]:
        """See `Communicator`. Numbers are compared as integers of the same order, in which NaN comes after all
        others: what MPI makes of NaN depends on the order in which ranks meet."""
        if values.dtype != np.float64:
            return self._start_reducing(values, self._mpi.MAX)
        wait = self._start_reducing(_rank(values), self._mpi.MAX)
        return lambda: _number(wait())

    def sum(self, values: NDArray[Any]) -> NDArray[Any]:
        """See `Communicator`."""
        return self._start_reducing(values, self._mpi.SUM)()

    def exchange(self, outgoing: Mapping[int, Bytes]) -> dict[int, Bytes]:
        """See `Communicator`."""
        sizes = np.zeros(self.size, np.int64)
        for peer, part in outgoing.items():
            sizes[peer] = part.size
        expected = np.empty(self.size, np.int64)
        self._wait([self._world.Ialltoall(sizes, expected)])
        incoming = {int(peer): np.empty(expected[peer], np.uint8) for peer in np.flatnonzero(expected)}
        self.swap([(p, part) for p, part in outgoing.items() if part.size], list(incoming.items()))
        return incoming

    def swap(self, outgoing: Parts, incoming: Parts) -> None:
        """See `Communicator`."""
        self.start_swap(outgoing, incoming)()

    def start_swap(self, outgoing: Parts, incoming: Parts) -> Callable[[], None]:
        """See `Communicator`."""
        requests = [self._world.Irecv(part, peer) for peer, whole in incoming for part in _parts(whole)]
        requests += [self._world.Isend(part, peer) for peer, whole in outgoing for part in _parts(whole)]
        self.sent += sum(part.nbytes for _, part in outgoing)
        self.messages += len(outgoing)
        return lambda: self._wait(requests)

    def look(self) -> None:
        """See `Communicator`."""
        self._world.Iprobe()

    def everyone(self, values: NDArray[np.int64], sizes: Sequence[int] | None = None) -> list[NDArray[np.int64]]:
        """See `Communicator`."""
        lengths = np.empty(self.size, np.int64)
        if sizes is None:
            self._wait([self._world.Iallgather(np.array([values.size]), lengths)])
        else:
            lengths[:] = sizes
        found = np.empty(int(lengths.sum()), np.int64)
        starts = np.concatenate([[0], np.cumsum(lengths)])
        self._wait(
            [self._world.Iallgatherv(np.ascontiguousarray(values), [found, lengths, starts[:-1], self._mpi.INT64_T])]
        )
        return np.split(found, starts[1:-1])

    def gather(self, part: Bytes) -> list[Bytes] | None:
        """See `Communicator`."""
        received = self.exchange({} if self.rank == WRITER else {WRITER: part})
        if self.rank != WRITER:
            return None
        return [part if k == WRITER else received.get(k, part[:0]) for k in range(self.size)]

    def scatter(self, parts: Sequence[Bytes] | None) -> Bytes:
        """See `Communicator`."""
        if parts is None:
            return self.exchange({}).get(WRITER, np.empty(0, np.uint8))
        self.exchange({k: part for k, part in enumerate(parts) if k != WRITER})
        return parts[WRITER]

    def broadcast(self, value: Any, root: int = WRITER) -> Any:
        """See `Communicator`."""
        size = np.zeros(1, np.int64)
        text = b""
        if self.rank == root:
            text = self._mpi.pickle.dumps(value)
            size[0] = len(text)
        self._wait([self._world.Ibcast(size, root)])
        buffer = bytearray(text) if self.rank == root else bytearray(int(size[0]))
        self._wait([self._world.Ibcast(buffer, root)])
        return value if self.rank == root else self._mpi.pickle.loads(buffer)

    def abort(self, code: int) -> None:
        """See `Communicator`. The launcher ends the processes without passing on what it has not read yet, so it gets
        time to read the message of this one."""
        sys.stderr.flush()
        time.sleep(FAREWELL)
        self._world.Abort(code)


def _have_cores(beside: Any) -> bool:
    """Whether each of the ranks `beside` each other, on one machine, has a core to itself."""
    mine = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set(range(os.cpu_count() or 1))
    return len(set().union(*beside.allgather(mine))) >= beside.Get_size()


def _rank(values: NDArray[np.float64]) -> NDArray[np.int64]:
    """Integers in the order of the numbers, NaN last."""
    if values.size == 1 and values.item() > 0.0:  # in every step: its bits are in this order
        return values.view(np.int64)
    bits = np.where(np.isnan(values), np.nan, values).view(np.int64)
    return np.where(bits < 0, bits ^ MAGNITUDE, bits)


def _number(rank: NDArray[np.int64]) -> NDArray[np.float64]:
    """The numbers of which `_rank` made integers."""
    if rank.size == 1 and rank.item() >= 0:
        return rank.view(np.float64)
    return np.where(rank < 0, rank ^ MAGNITUDE, rank).view(np.float64)


def _parts(array: NDArray[Any]) -> list[NDArray[np.uint8]]:
    """The bytes of an array in pieces that a message may have."""
    whole = array.reshape(-1).view(np.uint8)
    return [whole[first : first + LONGEST] for first in range(0, whole.size, LONGEST)]
