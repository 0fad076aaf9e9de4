"""A run killed at any moment loses at most the frame under way, and goes on to the same bits."""

import os
import random
import signal
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from ballistic import frame_bytes, make_scene, without_wall_times

import spume
from spume.runs import storage
from spume.runs.folder import RunFolder
from spume.runs.loop import resume_run, start_run

MEMORY = "/dev/shm" if os.path.isdir("/dev/shm") else None


def in_child(work: Callable[[], object]) -> int:
    """Start `work` in a child process that ends without cleaning up after itself; returns its process number."""
    number = os.fork()
    if number == 0:
        try:
            work()
        finally:
            os._exit(0)
    return number


def assert_same_run(folder: Path, whole: Path) -> None:
    """Frame files equal byte for byte, diagnostics equal, nothing half written left behind."""
    assert frame_bytes(folder) == frame_bytes(whole)
    killed, uninterrupted = spume.open_run(folder), spume.open_run(whole)
    assert killed.complete
    assert without_wall_times(killed.diagnostics) == without_wall_times(uninterrupted.diagnostics)
    assert not list(folder.rglob("*.partial*"))


@pytest.fixture(scope="module")
def whole():
    """The standard run, uninterrupted, and the time it took."""
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        began = time.monotonic()
        start_run(make_scene(pause=0.001), Path(folder) / "run")
        yield Path(folder) / "run", time.monotonic() - began


@pytest.fixture
def memory_path():
    """A folder in memory where the system has that: a killed process loses the same there, and it is quick."""
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        yield Path(folder)


@pytest.mark.parametrize("attempt", range(20))
def test_killed_at_a_random_moment_and_resumed(whole, memory_path, attempt):
    folder, duration = whole
    child = in_child(lambda: start_run(make_scene(pause=0.001), memory_path / "run"))
    time.sleep(random.Random(attempt).uniform(0.0, duration))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    if not (memory_path / "run" / "manifest.json").exists():
        start_run(make_scene(pause=0.001), memory_path / "run")
    else:
        frames_before = len(spume.open_run(memory_path / "run"))
        on_disk = len(RunFolder(memory_path / "run").frames_on_disk())
        assert 0 <= on_disk - frames_before <= 1
        if on_disk > 1:
            latest, *_ = RunFolder(memory_path / "run").checkpoints()
            assert storage.read_metadata(latest)["frame"] >= on_disk - 2
        resume_run(memory_path / "run")
    assert_same_run(memory_path / "run", folder)


class FatalFile:
    """A file whose fatal write gets half of its data to disk, and no further."""

    def __init__(self, file, count: Callable[[], bool]) -> None:
        self._file, self._is_fatal = file, count

    def __enter__(self):
        return self

    def __exit__(self, *error) -> None:
        self._file.close()

    def write(self, data) -> int:
        if self._is_fatal():
            self._file.write(bytes(data)[: len(data) // 2])
            self._file.flush()
            os.kill(os.getpid(), signal.SIGKILL)
        return self._file.write(data)

    def __getattr__(self, name: str):
        return getattr(self._file, name)


def die_at_call(fatal: int) -> None:
    """Let this process die at its call number `fatal` of write (half way), fsync or rename (right before)."""
    calls = 0

    def is_fatal() -> bool:
        nonlocal calls
        calls += 1
        return calls == fatal

    def counted(original: Callable) -> Callable:
        def call(*arguments):
            if is_fatal():
                os.kill(os.getpid(), signal.SIGKILL)
            return original(*arguments)

        return call

    os.fsync, os.replace = counted(os.fsync), counted(os.replace)
    storage.open = lambda *arguments: FatalFile(open(*arguments), is_fatal)  # noqa: SIM115


def dies(fatal: int, work: Callable[[], object]) -> bool:
    """Whether a child process doing `work` gets as far as its call number `fatal`."""

    def doomed() -> None:
        die_at_call(fatal)
        work()

    _, status = os.waitpid(in_child(doomed), 0)
    return os.WIFSIGNALED(status)


@pytest.mark.slow_suite
def test_killed_at_every_single_call_that_changes_the_disk_and_resumed(memory_path):
    """A run of two frames makes eight files: a manifest, then frame and checkpoint three times, and the manifest of a
    complete run. Each is written in pieces, synced, renamed, and its folder synced. After each checkpoint a record is
    written and synced. The run is killed at each of these calls; the resumed run is killed once more, half way into its
    own, and resumed again."""
    scene = make_scene(duration=0.01)
    start_run(scene, memory_path / "whole")
    folder, fatal = memory_path / "1", 1
    while dies(fatal, partial(start_run, scene, folder)):
        if (folder / "manifest.json").exists():
            dies(9, partial(resume_run, folder))
            resume_run(folder)
            assert_same_run(folder, memory_path / "whole")
        fatal += 1
        folder = memory_path / f"{fatal}"
    assert fatal > 8 * 4 + 3 * 2
