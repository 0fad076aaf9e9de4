"""What a person sees while a run goes on."""

import io

import pytest

from spume.methods import Progress
from spume.numerics.clock import CLOCK
from spume.runs.progress import COMPILING, Live, Pace, Plain, display_for, readable_time


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self):
        return True


def play(display):
    """A short run: a kernel is compiled, ten steps are made, a frame is done, something is noted."""
    display.begin(0, 4, 0.0, 0.4)
    display.compiling("mpm.transfers")
    display.compiling("mpm.motion")
    for step in range(1, 11):
        display.step(Progress(time=0.01 * step, points=1234, steps=step, dt=0.01))
    display.frame(1)
    display.note("a sentence")
    display.end()


@pytest.mark.parametrize(("stream", "kind"), [(io.StringIO(), Plain), (Terminal(), Live)])
def test_a_terminal_gets_a_live_line_and_a_file_plain_ones(stream, kind):
    assert isinstance(display_for(stream), kind)


def test_plain_lines_tell_everything_and_compilation_once():
    stream = io.StringIO()
    play(Plain(stream))
    lines = stream.getvalue().splitlines()
    assert lines[0] == COMPILING
    assert len(lines) == 3
    assert all(words in lines[1] for words in ("frame 1/4", "t = 0.1 s", "1,234 points", "steps/s", "left"))
    assert lines[2] == "a sentence"


def test_the_live_line_tells_the_same():
    stream = Terminal()
    play(Live(stream))
    text = stream.getvalue()
    assert all(words in text for words in ("compiling kernels", "frame 1/4", "1,234 points", "a sentence"))


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.25, "0.25 s"), (48, "48 s"), (200, "3:20 min"), (7500, "2:05 h"), (293760, "3.4 days")]
)
def test_times_are_written_as_a_person_reads_them(seconds, text):
    assert readable_time(seconds) == text


def test_time_left_follows_what_the_method_says_is_done(monkeypatch):
    now = iter([0.0, 10.0])
    monkeypatch.setattr("spume.runs.progress.working_time", lambda: next(now))
    pace = Pace(duration=100.0)
    pace.step(Progress(time=0.0, points=10, steps=1, dt=0.1, done=0.0))
    pace.step(Progress(time=1.0, points=5, steps=2, dt=0.1, done=0.5))
    assert pace.text(1, 4).endswith("10 s left")


def test_time_left_does_not_count_compilation(monkeypatch):
    """Of the 30 s between two steps, 20 went into compilation."""
    now = iter([0.0, 5.0, 25.0, 30.0])
    monkeypatch.setattr("spume.numerics.clock.time.perf_counter", lambda: next(now))
    pace = Pace(duration=100.0)
    pace.step(Progress(time=0.0, points=10, steps=1, dt=0.1, done=0.0))
    CLOCK.stop()
    CLOCK.stop()  # a kernel that the first one calls
    CLOCK.start()
    CLOCK.start()
    pace.step(Progress(time=1.0, points=5, steps=2, dt=0.1, done=0.5))
    assert pace.text(1, 4).endswith("10 s left")
