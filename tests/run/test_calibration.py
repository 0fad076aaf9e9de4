"""Estimated times are corrected by timing a few steps on the machine at hand."""

import itertools
import json
import math
import os
import subprocess
import sys
import time

import numpy as np
import pytest

from spume import Scene, load_scene
from spume.errors import RunFailed
from spume.foam.method import RESAMPLED
from spume.foam.plain import MaterialPointMethod
from spume.methods import method_class
from spume.runs import calibration, machine
from spume.runs.calibration import Trial, calibrated, time_steps
from spume.runs.loop import start_run

SPHERE = {"sphere": {"center": [0, 0.2, 0], "radius": 0.1}}
BALL = {
    "title": "t",
    "method": "mpm",
    "duration": 0.5,
    "grid": {"cell": 0.025},
    "body": [{"material": "soft rubber", "shape": SPHERE}],
}


@pytest.fixture(scope="module")
def ball():
    scene = Scene(**BALL)
    MaterialPointMethod(scene).advance(1e-3, lambda: False, lambda progress: None)  # compiles what is missing
    return scene


@pytest.mark.parametrize(
    ("step", "steps"), [(2.0**-7, calibration.TRIAL_STEPS), (0.125, 17), (8.0, calibration.LEAST_STEPS)]
)
def test_a_trial_takes_the_time_of_its_steps(ball, step, steps):
    """With steps of a given duration: all of them, as many as fill TRIAL_SECONDS, or the least number."""
    trial = time_steps(ball, clock=itertools.count(step=step).__next__)
    assert trial.points == len(MaterialPointMethod(ball).particles)
    assert (trial.steps, trial.seconds) == (steps, steps * step)


def test_a_trial_is_timed_by_the_clock_on_the_wall(ball):
    began = time.perf_counter()
    trial = time_steps(ball)
    assert began < trial.clock[0] < trial.clock[-1] < time.perf_counter()
    assert trial.seconds == trial.clock[-1] - trial.clock[0]


def slow_machine(slowness: float, later: float = 1.0, more_steps: float = 1.0):
    """A `time_steps` that takes `slowness` times as long as expected, `later` times longer after a tenth of the scene,
    and needs `more_steps` than expected."""
    timed = []

    def time_steps(scene, seconds, steps, clock):
        timed.append(scene)
        expected = method_class(scene.method).estimate(scene)
        count = round(more_steps * expected.steps)
        taken = 20 if math.isfinite(steps) else count
        times = scene.duration * np.arange(taken + 1) / count
        costs = (
            slowness * expected.seconds_of_step(expected.points) * np.where(times < 0.1 * scene.duration, 1.0, later)
        )
        readings = np.concatenate([[0.0], np.cumsum(costs[:-1])])
        return Trial(expected.points, taken, readings[-1], expected.points, tuple(times), tuple(readings))

    return time_steps, timed


def test_the_estimate_is_scaled_by_what_was_measured(ball, monkeypatch):
    plain = MaterialPointMethod.estimate(ball)
    time_steps, timed = slow_machine(3.0)
    monkeypatch.setattr(calibration, "time_steps", time_steps)
    corrected = calibrated(ball, plain)
    assert corrected.seconds == pytest.approx(3.0 * plain.seconds, rel=1e-9)
    coarse = MaterialPointMethod.estimate(timed[1])
    words = (
        f"time: measured on this machine in 20 steps of {plain.points:,} points and, with a coarser grid, "
        f"{coarse.steps:,} steps of {coarse.points}"
    )
    assert words in corrected.notes[-1]


def test_steps_that_become_slower_or_shorter_in_the_rehearsal_count(ball, monkeypatch):
    """Twice as slow for nine tenths of the time, and a quarter more of them."""
    plain = MaterialPointMethod.estimate(ball)
    monkeypatch.setattr(calibration, "time_steps", slow_machine(1.0, later=2.0, more_steps=1.25)[0])
    corrected = calibrated(ball, plain)
    assert corrected.steps == pytest.approx(1.25 * plain.steps, rel=0.01)
    assert corrected.seconds == pytest.approx(1.25 * 1.9 * plain.seconds, rel=0.02)  # to a step of the coarse scene


def test_a_coarse_version_that_fails_is_left_out(ball, monkeypatch):
    plain = MaterialPointMethod.estimate(ball)
    paced = slow_machine(3.0)[0]

    def time_steps(scene, seconds, steps, clock):
        if math.isinf(steps):
            raise RunFailed("too coarse")
        return paced(scene, seconds, steps, clock)

    monkeypatch.setattr(calibration, "time_steps", time_steps)
    corrected = calibrated(ball, plain)
    assert corrected.seconds == pytest.approx(3.0 * plain.seconds, rel=1e-9)
    assert corrected.notes[-1] == (
        f"time: measured on this machine in 20 steps of {plain.points:,} points; a coarser version could not be "
        "rehearsed, so later steps may take longer"
    )


def test_a_large_scene_is_timed_in_a_coarser_version(ball, monkeypatch):
    monkeypatch.setattr(calibration, "TRIAL_POINTS", 500)
    time_steps, timed = slow_machine(0.5)
    monkeypatch.setattr(calibration, "time_steps", time_steps)
    plain = MaterialPointMethod.estimate(ball)
    assert plain.points > 500
    assert calibrated(ball, plain).seconds == pytest.approx(0.5 * plain.seconds, rel=1e-9)
    assert timed[0].grid.cell == 0.05


def test_points_that_resampling_adds_count_on_top_of_the_trial(monkeypatch):
    """Trial and rehearsal have the points of the start. Their steps are twice as slow as expected, and so are all."""
    scene = load_scene("shaving-cream", preset="draft")
    plain = method_class(scene.method).estimate(scene)
    assert plain.mean_points == pytest.approx(RESAMPLED.at_start * plain.points)
    monkeypatch.setattr(calibration, "time_steps", slow_machine(2.0)[0])
    corrected = calibrated(scene, plain)
    assert corrected.seconds == pytest.approx(2.0 * plain.seconds, rel=1e-9)
    assert corrected.seconds > 1.1 * plain.steps * 2.0 * plain.seconds_of_step(plain.points)


@pytest.fixture
def own_machine(tmp_path, monkeypatch):
    monkeypatch.setenv("SPUME_CACHE_DIR", str(tmp_path))
    return tmp_path / "machine.json"


def test_kernels_that_are_not_compiled_count_with_their_time(ball, own_machine, monkeypatch):
    def trial(scene, seconds, steps, clock):
        raise calibration._NotCompiled("add_points")

    monkeypatch.setattr(calibration, "time_steps", trial)
    plain = MaterialPointMethod.estimate(ball)
    corrected = calibrated(ball, plain)
    assert corrected.seconds == plain.seconds + machine.COMPILATION["mpm"]
    assert "a guess for two cores of 2021, and 36 s to compile the kernels" in corrected.notes[-1]
    machine.record_compilation(ball, 25.0)
    machine.record_compilation(ball, 2.0)  # most of the kernels were there
    machine.record_run(ball, 1000, 3.0, 2.0)
    assert calibrated(ball, plain).seconds == pytest.approx(1.5 * plain.seconds + 25.0)
    assert "from earlier runs of such scenes on this machine, and 25 s" in calibrated(ball, plain).notes[-1]


def test_compilation_of_other_kinds_follows_the_speed_of_the_machine(ball, own_machine):
    foam = load_scene("shaving-cream", preset="draft")
    machine.record_compilation(ball, 2.0 * machine.COMPILATION["mpm"])
    assert machine.compilation_time(foam) == pytest.approx(2.0 * machine.COMPILATION["continuum-foam"])
    own_machine.write_text("[damaged")
    assert machine.compilation_time(foam) == machine.COMPILATION["continuum-foam"]
    assert machine.known_ratio(foam) is None


def test_a_run_records_what_it_took(ball, own_machine, tmp_path):
    start_run(ball.changed({"duration": 0.2}), tmp_path / "run")
    entry = json.loads(own_machine.read_text())[machine.kind_of(ball)]
    assert len(entry["ratios"]) == 1
    assert entry["ratios"][0] > 0.0


def test_one_slow_run_among_many_does_not_matter(ball, own_machine):
    for seconds in (2.0, 2.2, 30.0):
        machine.record_run(ball, 1000, seconds, 2.0)
    assert machine.known_ratio(ball) == pytest.approx(1.1)
    for _ in range(machine.KEPT):
        machine.record_run(ball, 1000, 4.0, 2.0)
    assert machine.known_ratio(ball) == pytest.approx(2.0)


def test_unusable_records_are_ignored(ball, own_machine):
    own_machine.write_text(json.dumps({machine.kind_of(ball): {"compilation": -1.0, "ratios": [0.0, "x", 1.5]}}))
    assert machine.known_ratio(ball) == 1.5
    assert machine.compilation_time(ball) == machine.COMPILATION["mpm"]


def test_steps_fill_whole_frames():
    """Frames of 1/30 s in steps of 0.02 s take two each, 30 frames 60 steps, not 50."""
    scene = Scene(**{**BALL, "duration": 1.0, "time": {"dt": 0.02, "integrator": "implicit"}})
    assert MaterialPointMethod.estimate(scene).steps == 60


def test_the_steps_of_the_rehearsal_end_at_frames_too(ball):
    """Frames much shorter than the steps that waves allow: one step each, in the trials as in the run."""
    scene = Scene(**{**BALL, "frame_rate": 20_000.0, "duration": 0.01})
    assert method_class("mpm").estimate(scene).steps == 200
    found = calibrated(scene, method_class("mpm").estimate(scene))
    assert found.steps == 200


def test_a_missing_kernel_is_noticed_and_not_compiled(tmp_path):
    """In a fresh process with an empty cache the trial ends at once."""
    code = (
        "import time; from spume import Scene; from spume.runs.calibration import time_steps, _NotCompiled\n"
        f"scene = Scene(**{BALL!r})\n"
        "began = time.process_time()\n"
        "try:\n    time_steps(scene)\nexcept _NotCompiled as kernel:\n    print('missing', kernel)\n"
        "assert time.process_time() - began < 5\n"
    )
    environment = {**os.environ, "SPUME_CACHE_DIR": str(tmp_path)}
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert result.stdout.startswith("missing"), result.stderr


def test_a_flow_that_has_hardly_begun_is_rehearsed_coarsely(ball, monkeypatch):
    monkeypatch.setattr(calibration, "REHEARSAL_POINTS", 200)
    slot = {"box": {"center": [0, 1, 0], "size": [0.1, 0.1, 0.1]}}
    flow = {"material": "soft rubber", "shape": slot, "velocity": [0, -0.5, 0]}
    scene = Scene(**{**BALL, "body": [], "emitter": [flow], "duration": 1.0})
    plain = MaterialPointMethod.estimate(scene)
    assert plain.mean_points == pytest.approx(plain.points / 2, rel=0.1)
    timed = []

    def trial(scene, seconds, steps, clock):
        timed.append((scene.grid.cell, seconds))
        return time_steps(scene, seconds, steps, clock)

    monkeypatch.setattr(calibration, "time_steps", trial)
    assert "measured on this machine" in calibrated(scene, plain).notes[-1]
    assert timed == [(0.025, calibration.TRIAL_SECONDS), (0.05, calibration.REHEARSAL)]


def test_dry_foams_are_left_as_they_are():
    scene = load_scene("dry-foam-collapse")
    plain = method_class(scene.method).estimate(scene)
    assert calibrated(scene, plain) == plain
