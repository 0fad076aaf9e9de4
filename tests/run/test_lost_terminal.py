"""A run does not depend on anybody who listens: it goes on without a terminal, and 0 means that it is complete."""

import errno
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from ballistic import SCENE_TEXT, make_scene

import spume
from spume.cli import main
from spume.runs import compile_ahead
from spume.runs.compile_ahead import CompileAhead
from spume.runs.loop import start_run
from spume.runs.progress import Live, display_for
from spume.runs.stopping import stop_on_signals, stop_signals
from spume.scene.common import Scene

SUPPORT = Path(__file__).parents[1] / "support"
PROGRAM = (
    f"import sys; sys.path.insert(0, {str(SUPPORT)!r}); import ballistic; ballistic.register(); "
    "import spume.runs.progress; spume.runs.progress.PLAIN_INTERVAL = 0.0; "
    "from spume.cli import main; sys.exit(main(sys.argv[1:]))"
)
"""The command line with the method of the tests, and a line of progress for every frame."""


def shell(folder: Path, redirected: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command line in a shell, with its streams `redirected`; the exit code is that of the command line."""
    (folder / "points.toml").write_text(SCENE_TEXT)
    words = [sys.executable, "-c", PROGRAM, *arguments]
    quoted = " ".join("'" + word.replace("'", "'\\''") + "'" for word in words)
    command = f"{quoted} {redirected}; exit ${{PIPESTATUS[0]}}"
    return subprocess.run(["bash", "-c", command], cwd=folder, capture_output=True, text=True, timeout=120)


LOST = [
    "2>&1 | head -2",
    "<&- >&- 2>&-",
    *(pytest.param(words, marks=pytest.mark.slow_suite) for words in ("2>/dev/full", ">/dev/full", "2>&-", ">&-")),
]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
@pytest.mark.parametrize("redirected", LOST)
def test_a_run_whose_streams_are_lost_completes(tmp_path, redirected):
    ended = shell(tmp_path, redirected, "run", "points.toml", "--set", "pause=0.001", "--out", "run")
    assert "Traceback" not in ended.stdout + ended.stderr
    assert (ended.returncode, spume.open_run(tmp_path / "run").complete) == (0, True)
    assert all(frame.x.shape == (50, 3) for frame in spume.open_run(tmp_path / "run"))


@pytest.mark.parametrize("redirected", ["2>&1 | true", pytest.param(">&- 2>&-", marks=pytest.mark.slow_suite)])
def test_a_run_that_fails_unheard_does_not_end_with_0(tmp_path, redirected):
    arguments = ["run", "points.toml", "--set", "fails_at=0.02", "--out", "run"]
    assert shell(tmp_path, redirected, *arguments).returncode == 3


def test_a_sweep_with_a_failed_run_does_not_end_with_0(tmp_path, monkeypatch):
    (tmp_path / "points.toml").write_text(SCENE_TEXT)
    reader, writer = os.pipe()
    os.close(reader)
    monkeypatch.setattr(sys, "stdout", os.fdopen(writer, "w"))
    arguments = [
        "sweep",
        str(tmp_path / "points.toml"),
        "--vary",
        "fails_at=0.02,1.0",
        "--out",
        str(tmp_path / "sweep"),
    ]
    assert main([*arguments, "--processes", "1", "--pictures", "none"]) == 3


def test_a_result_that_cannot_be_written_is_an_error(tmp_path):
    """Other than the report of a run, a list of scenes is nowhere but on the output."""
    ended = shell(tmp_path, ">&-", "scenes")
    assert (ended.returncode, ended.stderr) == (1, "error: the output cannot be written: Bad file descriptor\n")


@pytest.mark.parametrize("command", [["scenes"], ["run", "--help"]])
def test_a_reader_that_has_seen_enough_is_no_error(tmp_path, command):
    """Whoever writes: spume, or the libraries for tables and help."""
    ended = shell(tmp_path, "| true", *command)
    assert (ended.returncode, ended.stderr) == (0, "")


class GoneTerminal:
    """A terminal that was closed."""

    encoding = "utf-8"

    def isatty(self):
        return True

    def write(self, text):
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    flush = fileno = lambda self: self.write("")


def test_a_live_display_survives_its_terminal(tmp_path):
    display = display_for(GoneTerminal())
    assert isinstance(display, Live)
    assert start_run(make_scene(), tmp_path / "run", display=display).status == "complete"


def test_a_program_without_an_error_stream_runs_silently(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "stderr", None)
    assert spume.run(make_scene(), tmp_path / "run").complete


LARGE_FOAM = {
    "title": "foam " * 40_000, "method": "continuum-foam", "duration": 0.01, "dimension": 2, "grid": {"cell": 0.01},
    "body": [{"material": "shaving cream", "shape": {"circle": {"center": [0.0, 0.0], "radius": 0.06}}}],
}  # fmt: skip


@pytest.mark.parametrize("helper", ["import sys; sys.exit(1)", "import time; time.sleep(60)"])
def test_a_compile_helper_that_does_not_read_its_scene_is_no_matter(monkeypatch, helper):
    """The scene is larger than the 64 KiB that a pipe holds: writing it would fail, or wait."""
    monkeypatch.setattr(compile_ahead, "cores", lambda: 2)
    monkeypatch.setattr(compile_ahead, "python_command", lambda *arguments: [sys.executable, "-c", helper])
    with CompileAhead(Scene(**LARGE_FOAM)) as ahead:
        ahead.start()


def test_a_compile_helper_that_cannot_be_started_is_no_matter(monkeypatch):
    monkeypatch.setattr(compile_ahead, "cores", lambda: 2)
    monkeypatch.setattr(compile_ahead, "python_command", lambda *arguments: ["/no/such/python"])
    with CompileAhead(Scene(**LARGE_FOAM)) as ahead:
        ahead.start()


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGHUP")
def test_a_lost_terminal_stops_the_run_at_a_checkpoint():
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)  # the tests may run under nohup themselves
    with stop_on_signals(lambda text: None) as stop:
        os.kill(os.getpid(), signal.SIGHUP)
        assert stop()
    assert signal.getsignal(signal.SIGHUP) == signal.SIG_DFL
    signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as under nohup
    try:
        with stop_on_signals(lambda text: None) as stop:
            os.kill(os.getpid(), signal.SIGHUP)
            assert not stop()
    finally:
        signal.signal(signal.SIGHUP, before)


def test_the_first_signal_after_that_of_another_process_does_not_end_the_run_at_once():
    """Launchers send a signal to all ranks; a rank may learn of that of another one before its own arrives."""
    told = []
    with stop_on_signals(told.append) as stop:
        stop.ask_for_peer()
        assert stop()
        signal.raise_signal(signal.SIGTERM)
        assert len(told) == 1
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGTERM)


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGHUP")
def test_an_ignored_loss_of_the_terminal_is_no_signal_to_stop():
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        assert signal.SIGHUP not in stop_signals()
    finally:
        signal.signal(signal.SIGHUP, before)
