"""The progress display of a run: a live line on a terminal, plain lines elsewhere."""

import sys
import time
from typing import Any, Protocol, TextIO

from spume.methods import Progress
from spume.numerics.clock import working_time
from spume.terminal import lasting, readable_size, tell, visible

COMPILING = "compiling kernels (first run only)"
PLAIN_INTERVAL = 5.0
"""Minimum time between two plain lines [s], except for the first and the last frame."""
LIVE_INTERVAL = 0.1


class Display(Protocol):
    """The events that the loop reports."""

    def begin(self, first: int, last: int, start: float, duration: float) -> None:
        """The run goes from frame `first`, at `start` [s], to frame `last`, at `duration` [s]."""

    def compiling(self, kernel: str) -> None:
        """A kernel is about to be compiled."""

    def step(self, progress: Progress) -> None:
        """A step is done."""

    def frame(self, number: int) -> None:
        """A frame is on disk."""

    def note(self, text: str) -> None:
        """A sentence for the user."""

    def end(self) -> None:
        """The run has ended."""


class Silent:
    """A display that shows nothing."""

    def begin(self, first: int, last: int, start: float, duration: float) -> None: ...

    def compiling(self, kernel: str) -> None: ...

    def step(self, progress: Progress) -> None: ...

    def frame(self, number: int) -> None: ...

    def note(self, text: str) -> None: ...

    def end(self) -> None: ...


class Pace:
    """Speed and time left, from the steps made since the run (or the resumed part of it) began, without the time that
    compilation took."""

    def __init__(self, duration: float) -> None:
        self._duration = duration
        self._first: tuple[float, Progress] | None = None
        self.latest: Progress | None = None

    def step(self, progress: Progress) -> None:
        """Count a step. The first one is left out of the speed: it waits for kernels to be read from disk."""
        if self._first is None:
            self._first = (working_time(), progress)
        self.latest = progress

    def text(self, frame: int, last: int) -> str:
        """One line: frame, time, points, speed, time left."""
        line = f"frame {frame}/{last}"
        if self.latest is None or self._first is None:
            return line
        began, first = self._first
        elapsed = max(working_time() - began, 1e-9)
        line += f"  t = {self.latest.time:.4g} s  {self.latest.points:,} points"
        if self.latest.steps > first.steps:
            line += f"  {(self.latest.steps - first.steps) / elapsed:.3g} steps/s"
        now, then = self._done(self.latest), self._done(first)
        if now > then:
            line += f"  {readable_time(elapsed * (1.0 - now) / (now - then))} left"
        return line

    def _done(self, progress: Progress) -> float:
        return progress.time / self._duration if progress.done is None else progress.done


class Plain:
    """Lines on a stream that is not a terminal."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._compiling = False
        self._printed = -PLAIN_INTERVAL

    def begin(self, first: int, last: int, start: float, duration: float) -> None:
        self._last = last
        self._pace = Pace(duration)

    def compiling(self, kernel: str) -> None:
        if not self._compiling:
            self._compiling = True
            self.note(COMPILING)

    def step(self, progress: Progress) -> None:
        self._pace.step(progress)

    def frame(self, number: int) -> None:
        now = time.monotonic()
        if number in (0, 1, self._last) or now - self._printed >= PLAIN_INTERVAL:
            self._printed = now
            self.note(self._pace.text(number, self._last))

    def note(self, text: str) -> None:
        tell(text, self._stream)

    def end(self) -> None: ...


class Live:
    """A bar and a line that change in place on a terminal."""

    def __init__(self, stream: TextIO) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn
        from rich.progress import Progress as Bar

        self._bar = Bar(BarColumn(bar_width=30), TextColumn("{task.description}"), console=Console(file=stream))
        self._task = self._bar.add_task("starting")
        self._drawn = 0.0
        self._frame = 0
        self._compiling = False

    def begin(self, first: int, last: int, start: float, duration: float) -> None:
        self._frame, self._last = first, last
        self._pace = Pace(duration)
        self._bar.update(self._task, total=duration, completed=start)
        self._bar.start()

    def compiling(self, kernel: str) -> None:
        self._compiling = True
        self._bar.update(self._task, description=f"{COMPILING}: {kernel}", refresh=True)

    def step(self, progress: Progress) -> None:
        self._pace.step(progress)
        now = time.monotonic()
        if now - self._drawn >= LIVE_INTERVAL:
            self._drawn = now
            self._draw()

    def frame(self, number: int) -> None:
        self._frame = number
        self._draw()

    def _draw(self) -> None:
        completed = self._pace.latest.time if self._pace.latest else None
        self._bar.update(self._task, completed=completed, description=self._pace.text(self._frame, self._last))

    def note(self, text: str) -> None:
        self._bar.console.print(visible(text), markup=False, highlight=False)

    def end(self) -> None:
        self._bar.stop()


def display_for(stream: TextIO | None = None) -> Display:
    """The display for the stream (default: stderr, so that results can be piped)."""
    chosen = sys.stderr if stream is None else stream
    if chosen is None:  # a program without a terminal
        return Silent()
    return Live(lasting(chosen)) if chosen.isatty() else Plain(chosen)


def readable_time(seconds: float) -> str:
    """A time span in readable form: 48 s, 3:20 min, 2:05 h, 3.4 days."""
    if seconds < 60:
        return f"{seconds:.0f} s" if seconds >= 1 else f"{seconds:.2g} s"
    if seconds < 3600:
        return f"{int(seconds // 60)}:{int(seconds % 60):02d} min"
    if seconds < 86400:
        return f"{int(seconds // 3600)}:{int(seconds % 3600 // 60):02d} h"
    return f"{seconds / 86400:.1f} days"


def rank_sentence(report: dict[str, Any]) -> str:
    """What the ranks of a run did, of `Crew.report`: shares of the first of them since it was started."""
    return (
        f"{report['size']} ranks: {100 * report['waiting']:.0f} % of the time in messages and waiting; the costliest "
        f"rank has {report['imbalance']:.2f} times the mean; {readable_size(report['bytes_per_step'])} and "
        f"{report['messages_per_step']:.0f} messages a step from the first"
    )
