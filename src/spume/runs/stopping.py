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
        self._announce = announce

    def __call__(self) -> bool:
        return self.asked

    def on_signal(self, number: int, frame: FrameType | None) -> None:
        """Signal handler: records the first signal, and lets the second one end the process at once."""
        if self.asked:
            raise KeyboardInterrupt
        self.asked = True
        self._announce("stopping; once more stops at once")


@contextlib.contextmanager
def stop_on_signals(announce: Callable[[str], None]) -> Iterator[StopRequest]:
    """While active, Ctrl-C, SIGTERM and the loss of the terminal (SIGHUP, unless it is ignored as under nohup) ask the
    run to stop. Outside the main thread nothing is changed."""
    request = StopRequest(announce)
    if threading.current_thread() is not threading.main_thread():
        yield request
        return
    numbers = [signal.SIGINT, signal.SIGTERM]
    if sys.platform != "win32" and signal.getsignal(signal.SIGHUP) == signal.SIG_DFL:
        numbers.append(signal.SIGHUP)
    before = {number: signal.signal(number, request.on_signal) for number in numbers}
    try:
        yield request
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
