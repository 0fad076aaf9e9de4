"""The frame loop: frames at the right times, deterministic files, one writer, no run overwritten by accident."""

import multiprocessing
import os
import signal

import ballistic
import numba
import numpy as np
import pytest
from ballistic import Ballistic, frame_bytes, make_scene, without_wall_times
from waiting import wait_until

import spume
from spume.errors import CacheError, RunFailed, SceneError
from spume.frames.info import run_lines
from spume.memory import available_memory
from spume.methods import Progress
from spume.runs.folder import RunFolder
from spume.runs.loop import resume_run, start_run
from spume.runs.manifest import Manifest
from spume.runs.progress import Silent


def test_frames_have_the_times_of_the_frame_rate_and_the_last_is_at_the_duration(tmp_path):
    scene = make_scene(duration=0.023, frame_rate=200.0)
    start_run(scene, tmp_path / "run")
    times = [frame.time for frame in spume.open_run(tmp_path / "run")]
    assert times == [0.0, 1 / 200, 2 / 200, 3 / 200, 4 / 200, 0.023]


def test_rounding_of_duration_times_frame_rate_makes_no_extra_frame():
    assert make_scene(duration=0.3, frame_rate=10.0).frame_count == 3
    assert make_scene(duration=0.7, frame_rate=10.0).frame_count == 7
    assert make_scene(duration=1e-6, frame_rate=1.0).frame_count == 1


def test_a_run_on_disk_is_the_simulation_in_memory_bit_for_bit(tmp_path):
    scene = make_scene()
    start_run(scene, tmp_path / "run")
    method = Ballistic(scene)
    for k, frame in enumerate(spume.open_run(tmp_path / "run")):
        method.advance(scene.frame_time(k), lambda: False, lambda progress: None)
        np.testing.assert_array_equal(frame.x, method.x)
        np.testing.assert_array_equal(frame["v"], method.v)
        assert frame.diagnostics["steps"] == method.steps


def test_two_runs_of_one_scene_write_the_same_bytes(tmp_path):
    for name in ("a", "b"):
        start_run(make_scene(), tmp_path / name)
    assert frame_bytes(tmp_path / "a") == frame_bytes(tmp_path / "b")


def test_an_opened_run_tells_everything(tmp_path):
    scene = make_scene()
    start_run(scene, tmp_path / "run", name="points")
    run = spume.open_run(tmp_path / "run")
    assert (run.name, run.method, run.complete, len(run)) == ("points", "ballistic", True, 11)
    assert run.scene == scene
    assert run.populations == Ballistic(scene).declarations()
    assert [entry["frame"] for entry in run.diagnostics] == list(range(11))
    assert set(run[-1]) == {"x", "v"}
    assert run[-1].number == 10
    assert "seconds" in run.diagnostics[3]
    with pytest.raises(IndexError, match="frames 0 to 10"):
        run[11]
    with pytest.raises(AttributeError, match="colour"):
        _ = run[0].colour


def test_a_finished_run_is_not_overwritten_unless_asked(tmp_path):
    start_run(make_scene(), tmp_path / "run")
    before = frame_bytes(tmp_path / "run")
    with pytest.raises(CacheError, match=r"finished run .* --overwrite"):
        start_run(make_scene(seed=4), tmp_path / "run")
    assert frame_bytes(tmp_path / "run") == before
    start_run(make_scene(seed=4), tmp_path / "run", overwrite=True)
    assert frame_bytes(tmp_path / "run") != before


def test_overwriting_deletes_nothing_that_is_not_of_the_run(tmp_path):
    start_run(make_scene(), tmp_path / "run")
    (tmp_path / "run" / "notes.txt").write_text("keep")
    (tmp_path / "run" / "frames" / "thesis.safetensors").write_text("keep")
    start_run(make_scene(duration=0.01), tmp_path / "run", overwrite=True)
    assert (tmp_path / "run" / "notes.txt").read_text() == "keep"
    assert (tmp_path / "run" / "frames" / "thesis.safetensors").read_text() == "keep"
    assert RunFolder(tmp_path / "run").frames_on_disk() == [0, 1, 2]


def test_a_manifest_of_something_else_is_not_overwritten(tmp_path):
    (tmp_path / "manifest.json").write_text('{"short_name": "a web page"}')
    with pytest.raises(CacheError, match="not a manifest of spume"):
        start_run(make_scene(), tmp_path, overwrite=True)
    assert "web page" in (tmp_path / "manifest.json").read_text()


def test_an_unfinished_run_says_how_to_resume(tmp_path):
    with pytest.raises(RunFailed):
        start_run(make_scene(fails_at=0.02), tmp_path / "run")
    with pytest.raises(CacheError, match=r"unfinished run .*spume resume"):
        start_run(make_scene(), tmp_path / "run")


def test_a_failed_run_keeps_its_frames_and_says_which(tmp_path):
    with pytest.raises(RunFailed, match=r"point 3 left the world.*frames 0 to 4 are good"):
        start_run(make_scene(fails_at=0.022), tmp_path / "run")
    run = spume.open_run(tmp_path / "run")
    assert len(run) == 5
    assert not run.complete
    assert all(np.isfinite(frame.x).all() for frame in run)


def test_a_scene_larger_than_memory_is_refused_with_the_figures(tmp_path):
    needed = 2 * available_memory()[1]
    with pytest.raises(SceneError, match=r"needs about .*B of memory for 50 points, and .*B of this machine's"):
        start_run(make_scene(memory=needed), tmp_path / "run")
    assert not (tmp_path / "run" / "manifest.json").exists()


class Notes(Silent):
    """Keeps what it is told."""

    def __init__(self):
        self.told = []

    def note(self, text):
        self.told.append(text)


def test_a_warning_is_told_once_also_by_a_resumed_run_and_listed_by_info(tmp_path):
    scene, notes = make_scene(warns_at=0.02, fails_at=0.034), Notes()
    with pytest.raises(RunFailed):
        start_run(scene, tmp_path / "run", display=notes)
    assert notes.told == ["warning: at 0.02 s a point flies high: lower it"]
    with pytest.raises(RunFailed):
        resume_run(tmp_path / "run", display=notes)
    assert len(notes.told) == 1
    assert "warning: at 0.03 s a point flies high: lower it" in run_lines(spume.open_run(tmp_path / "run"))


def test_the_manifest_tells_what_compiled_the_kernels_and_a_run_resumed_with_another_says_so(tmp_path, monkeypatch):
    installed = {"numba": numba.__version__, "cache": "spume"}
    other, notes = {"numba": "99.1", "cache": "numba"}, Notes()
    with pytest.raises(RunFailed):
        start_run(make_scene(fails_at=0.034), tmp_path / "run", display=notes)
    assert Manifest.read(tmp_path / "run" / "manifest.json").kernels == [installed]
    with pytest.raises(RunFailed):
        resume_run(tmp_path / "run", display=notes)
    assert notes.told == []
    monkeypatch.setattr("spume.runs.loop._kernels", lambda: other)
    with pytest.raises(RunFailed):
        resume_run(tmp_path / "run", display=notes)
    (told,) = notes.told
    assert told.startswith(f"begun with Numba {numba.__version__} and the cache of spume, resumed with Numba 99.1")


def test_a_resumed_run_lists_all_that_compiled_its_kernels(tmp_path, monkeypatch):
    start_run(make_scene(), tmp_path / "run", display=SignalAtStep(signal.SIGINT, steps=8))
    other = {"numba": "99.1", "cache": "numba"}
    monkeypatch.setattr("spume.runs.loop._kernels", lambda: other)
    resume_run(tmp_path / "run")
    kernels = Manifest.read(tmp_path / "run" / "manifest.json").kernels
    assert kernels == [{"numba": numba.__version__, "cache": "spume"}, other]


class SignalAtStep(Silent):
    """Sends this process a signal in the midst of a run, after a number of steps."""

    def __init__(self, number: int, steps: int) -> None:
        self.number, self.steps = number, steps

    def step(self, progress: Progress) -> None:
        if progress.steps == self.steps:
            os.kill(os.getpid(), self.number)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_after_a_step_and_the_resumed_run_has_the_same_bits(tmp_path, number):
    scene = make_scene()
    start_run(scene, tmp_path / "whole")
    outcome = start_run(scene, tmp_path / "run", display=SignalAtStep(number, steps=8))
    assert outcome.status == "interrupted"
    assert 0 < outcome.time < scene.duration
    assert resume_run(tmp_path / "run").status == "complete"
    whole, resumed = spume.open_run(tmp_path / "whole"), spume.open_run(tmp_path / "run")
    assert frame_bytes(tmp_path / "run") == frame_bytes(tmp_path / "whole")
    assert without_wall_times(resumed.diagnostics) == without_wall_times(whole.diagnostics)


def test_resuming_a_finished_run_changes_nothing(tmp_path):
    start_run(make_scene(), tmp_path / "run")
    before = {file: file.stat().st_mtime_ns for file in tmp_path.rglob("*") if file.suffix in (".json", ".safetensors")}
    assert resume_run(tmp_path / "run").status == "complete"
    assert {file: file.stat().st_mtime_ns for file in before} == before


def start_and_wait(folder, go_on):
    """Run the standard scene in a child process, whose first step waits for `go_on`."""
    advance = Ballistic.advance

    def advance_when_told(*arguments):
        go_on.wait()
        return advance(*arguments)

    Ballistic.advance = advance_when_told
    start_run(make_scene(), folder)


def start_elsewhere(folder):
    """A run in another process, and the event its first step waits for; returns once its first frame is on disk."""
    context = multiprocessing.get_context("fork")
    go_on = context.Event()
    child = context.Process(target=start_and_wait, args=(folder, go_on))
    child.start()
    first = folder / "frames" / "frame_00000.safetensors"
    wait_until(lambda: first.exists() or not child.is_alive(), "the first frame is on disk")
    return child, go_on


def test_a_run_whose_lock_file_was_deleted_makes_it_again(tmp_path):
    child, go_on = start_elsewhere(tmp_path / "run")
    (tmp_path / "run" / "run.lock").unlink()
    go_on.set()
    child.join()
    assert child.exitcode == 0
    assert (tmp_path / "run" / "run.lock").read_text() == str(child.pid)


class OtherGoesOn(Silent):
    """Lets another process run to its end during the first step."""

    def __init__(self, child, go_on) -> None:
        self.child, self.go_on = child, go_on

    def step(self, progress: Progress) -> None:
        self.go_on.set()
        self.child.join()


def test_a_run_that_lost_its_folder_to_another_process_stops_and_the_other_ends_well(tmp_path, capfd):
    start_run(make_scene(), tmp_path / "whole")
    child, go_on = start_elsewhere(tmp_path / "run")
    (tmp_path / "run" / "run.lock").unlink()
    assert resume_run(tmp_path / "run", display=OtherGoesOn(child, go_on)).status == "complete"
    assert child.exitcode == 1
    assert f"is being written by another process (number {os.getpid()})" in capfd.readouterr().err
    assert frame_bytes(tmp_path / "run") == frame_bytes(tmp_path / "whole")


def test_two_processes_do_not_write_one_folder(tmp_path):
    child, _ = start_elsewhere(tmp_path / "run")
    try:
        with pytest.raises(CacheError, match=f"another process .number {child.pid}"):
            resume_run(tmp_path / "run")
    finally:
        child.kill()
        child.join()
    assert resume_run(tmp_path / "run").status == "complete"


def test_a_simulation_in_memory_advances_by_exactly_what_it_is_told():
    simulation = spume.Simulation(make_scene())
    simulation.advance(0.005)
    simulation.advance(0.0025)
    assert simulation.time == 0.0075
    assert simulation.diagnostics()["points"] == 50
    with pytest.raises(SceneError, match="positive"):
        simulation.advance(-1.0)


def test_frames_may_hold_no_points(tmp_path, monkeypatch):
    nothing = {"points": {"x": np.zeros((0, 3)), "v": np.zeros((0, 3))}}
    monkeypatch.setattr(ballistic.Ballistic, "frame", lambda self: nothing)
    start_run(make_scene(), tmp_path / "run")
    assert spume.open_run(tmp_path / "run")[3].x.shape == (0, 3)
