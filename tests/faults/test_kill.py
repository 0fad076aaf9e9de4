"""A run killed at any moment loses at most the frame under way, and goes on to the same bits."""

import os
import random
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from ballistic import frame_bytes, make_scene, without_wall_times

import spume
from spume.run.folder import RunFolder
from spume.run.loop import resume_run, start_run


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
    assert not list(folder.rglob("*.partial"))


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The standard run, uninterrupted, and the time it took."""
    folder = tmp_path_factory.mktemp("whole") / "run"
    began = time.monotonic()
    start_run(make_scene(pause=0.001), folder)
    return folder, time.monotonic() - began


@pytest.mark.parametrize("attempt", range(20))
def test_killed_at_a_random_moment_and_resumed(whole, tmp_path, attempt):
    folder, duration = whole
    child = in_child(lambda: start_run(make_scene(pause=0.001), tmp_path / "run"))
    time.sleep(random.Random(attempt).uniform(0.0, duration))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    if not (tmp_path / "run" / "manifest.json").exists():
        start_run(make_scene(pause=0.001), tmp_path / "run")
    else:
        frames_before = len(spume.open_run(tmp_path / "run"))
        on_disk = len(RunFolder(tmp_path / "run").frames_on_disk())
        assert 0 <= on_disk - frames_before <= 1
        resume_run(tmp_path / "run")
    assert_same_run(tmp_path / "run", folder)


def kill_at_call(fatal: int) -> None:
    """Let this process die right before its call number `fatal` of fsync or rename."""
    calls = 0

    def counted(original: Callable) -> Callable:
        def call(*arguments):
            nonlocal calls
            calls += 1
            if calls == fatal:
                os.kill(os.getpid(), signal.SIGKILL)
            return original(*arguments)

        return call

    os.fsync, os.replace = counted(os.fsync), counted(os.replace)


def test_killed_before_each_single_move_of_a_file_and_resumed(tmp_path):
    """Each file is one fsync, one rename and one fsync of the folder; the two frames of this run and frame 0 make three
    times three files after the first manifest: every window between two of these calls is tried, and the resumed run
    is killed once, too."""
    scene = make_scene(duration=0.01)
    start_run(scene, tmp_path / "whole")
    calls = 3 * (1 + 3 * 3)
    for fatal in range(1, calls + 1):
        folder = tmp_path / f"killed-{fatal}"
        _die(lambda folder=folder, fatal=fatal: (kill_at_call(fatal), start_run(scene, folder)))
        if not (folder / "manifest.json").exists():
            continue
        _die(lambda folder=folder: (kill_at_call(4), resume_run(folder)))
        resume_run(folder)
        assert_same_run(folder, tmp_path / "whole")


def _die(work: Callable[[], object]) -> None:
    _, status = os.waitpid(in_child(work), 0)
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0
