"""Stopping on request: the first signal stops the run after the current step, the second ends the process at once."""

import contextlib
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from types import FrameType


class StopRequest:
    """Whether the run has been asked to stop."""

    def __init__(self, announce: Callable[[str], None]) -> None:
        self.asked = False
        self._by_peer = False
        self._announce = announce

    def __call__(self) -> bool:
        return self.asked

    def on_signal(self, number: int, frame: FrameType | None) -> None:
        """Signal handler: records the first signal, and lets the second one end the process at once."""
        if self.asked and not self._by_peer:
            raise KeyboardInterrupt
        self._by_peer = False
        self._ask()

    def ask_for_peer(self) -> None:
        """Stop because another process of the run was asked to. A signal to all processes may reach this one later, and
        is then its first."""
        self._by_peer = True
        self._ask()

    def _ask(self) -> None:
        if not self.asked:
            self._announce("stopping; once more stops at once")
        self.asked = True


def stop_signals() -> list[signal.Signals]:
    """Signals that ask for a stop: Ctrl-C, SIGTERM and the loss of the terminal, unless that is ignored as under
    nohup."""
    numbers = [signal.SIGINT, signal.SIGTERM]
    if sys.platform != "win32" and signal.getsignal(signal.SIGHUP) == signal.SIG_DFL:
        numbers.append(signal.SIGHUP)
    return numbers


@contextlib.contextmanager
def stop_on_signals(announce: Callable[[str], None]) -> Iterator[StopRequest]:
    """While active, `stop_signals` ask the run to stop. Outside the main thread nothing is changed."""
    request = StopRequest(announce)
    if threading.current_thread() is not threading.main_thread():
        yield request
        return
    before = {number: signal.signal(number, request.on_signal) for number in stop_signals()}
    try:
        yield request
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
