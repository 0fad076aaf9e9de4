"""Ranks as threads of one process, of which one runs at a time: tests of what ranks do without starting MPI."""

import pickle
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from spume.ranks.communicator import WRITER

UNDEFINED = 255
"""Bytes of what is not received yet: NaN as floating-point numbers, −1 as integers."""


class _Meeting:
    """A place where all threads exchange one value each."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.turn = threading.Condition()
        self.values: dict[int, Any] = {}
        self.met: list[Any] = []
        self.times = 0
        self.failed = False
        self.letters: dict[tuple[int, int], list[Any]] = {}
        """Messages on their way, by sender and receiver."""

    def meet(self, rank: int, value: Any) -> list[Any]:
        """The values of all ranks. Called by the thread whose turn it is; others have theirs while it waits."""
        assert rank not in self.values
        self.values[rank] = value
        if len(self.values) == self.size:
            self.met = [self.values[k] for k in range(self.size)]
            self.values = {}
            self.times += 1
            self.turn.notify_all()
        else:
            times = self.times
            self.wait(lambda: self.times > times, "a rank did not come")
        return self.met

    def wait(self, ready: Callable[[], bool], otherwise: str) -> None:
        """Give the turn away until `ready()`."""
        assert self.turn.wait_for(lambda: ready() or self.failed, timeout=300), otherwise
        if not ready():
            raise RuntimeError("another rank has failed")


class LockstepCommunicator:
    """One of the threads; see `spume.ranks.communicator.Communicator`."""

    def __init__(self, rank: int, meeting: _Meeting) -> None:
        self.rank, self.size, self._meeting = rank, meeting.size, meeting
        self.waited, self.sent, self.messages = 0.0, 0, 0
        self.silent = False

    def _all(self, value: Any) -> list[Any]:
        assert not self.silent, "a rank calls others in work of its own"
        return self._meeting.meet(self.rank, value)

    def maximum(self, values):
        return self.start_maximum(values)()

    def start_maximum(self, values):
        found = self._all(values.copy())
        return lambda: np.max(np.stack(found), axis=0)

    def sum(self, values):
        return np.sum(np.stack(self._all(values.copy())), axis=0)

    def exchange(self, outgoing: Mapping[int, Any]):
        self.sent += sum(part.nbytes for part in outgoing.values())
        everyone = self._all({peer: part.copy() for peer, part in outgoing.items()})
        found = {k: sent[self.rank] for k, sent in enumerate(everyone) if self.rank in sent}
        return {k: part for k, part in found.items() if part.size}

    def swap(self, outgoing, incoming):
        self.start_swap(outgoing, incoming)()

    def start_swap(self, outgoing: Sequence[tuple[int, Any]], incoming: Sequence[tuple[int, Any]]):
        """The arrays belong to the messages until they are waited for: those that are sent must not change, those that
        are received have wrong values."""
        assert not self.silent, "a rank calls others in work of its own"
        self.sent += sum(part.nbytes for _, part in outgoing)
        self.messages += len(outgoing)
        meeting = self._meeting
        copies = [(peer, part, part.copy()) for peer, part in outgoing]
        for peer, _, copied in copies:
            meeting.letters.setdefault((self.rank, peer), []).append(copied)
        for _, part in incoming:
            part.reshape(-1).view(np.uint8)[:] = UNDEFINED
        meeting.turn.notify_all()

        def wait() -> None:
            for _, part, copied in copies:
                assert part.tobytes() == copied.tobytes(), "an array was changed before it was sent"
            for peer, part in incoming:
                letters = meeting.letters.setdefault((peer, self.rank), [])
                meeting.wait(lambda letters=letters: bool(letters), "a message did not come")
                letter = letters.pop(0)
                assert letter.shape == part.shape, "a message of another size than expected"
                part[...] = letter

        return wait

    def look(self):
        assert not self.silent, "a rank calls others in work of its own"

    def everyone(self, values, sizes=None):
        found = self._all(values.copy())
        assert sizes is None or [part.size for part in found] == list(sizes)
        return found

    def gather(self, part):
        found = self._all(part.copy())
        return found if self.rank == WRITER else None

    def scatter(self, parts):
        return self._all(parts)[WRITER][self.rank].copy()

    def broadcast(self, value, root=WRITER):
        return pickle.loads(pickle.dumps(self._all(value)[root]))  # as MPI does: nobody shares it

    def abort(self, code: int) -> None:
        raise SystemExit(code)


def on_ranks(size: int, function: Callable[[LockstepCommunicator], Any]) -> list[Any]:
    """What `function` returns on each rank. An error of one of them is raised here."""
    meeting = _Meeting(size)
    results: list[Any] = [None] * size
    errors: list[tuple[int, BaseException]] = []

    def work(rank: int) -> None:
        with meeting.turn:
            try:
                results[rank] = function(LockstepCommunicator(rank, meeting))
            except BaseException as error:
                errors.append((rank, error))
                meeting.failed = True
                meeting.turn.notify_all()

    threads = [threading.Thread(target=work, args=(rank,)) for rank in range(size)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0][1]
    lost = [way for way, letters in meeting.letters.items() if letters]
    assert not lost, f"messages (sender, receiver) that nobody received: {lost}"
    return results
