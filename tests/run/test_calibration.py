"""Estimated times are corrected by timing a few steps on the machine at hand."""

import os
import subprocess
import sys
import time

import pytest

from spume import Scene, load_scene
from spume.methods import method_class
from spume.mpm.method import MaterialPointMethod
from spume.runs import calibration
from spume.runs.calibration import Trial, calibrated, time_steps

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


def test_a_trial_takes_the_time_of_its_steps(ball):
    method = MaterialPointMethod(ball)
    count = 0

    def after_a_hundred():
        nonlocal count
        count += 1
        return count > 100

    began = time.perf_counter()
    method.advance(ball.duration, after_a_hundred, lambda progress: None)
    step = (time.perf_counter() - began) / 100
    trial = time_steps(ball)
    assert trial.points == len(method.particles)
    assert calibration.LEAST_STEPS <= trial.steps <= calibration.TRIAL_STEPS
    # two timings of the same thing on a machine that may be busy with others
    assert 0.1 < (trial.seconds / trial.steps) / step < 10


def test_the_estimate_is_scaled_by_what_was_measured(ball, monkeypatch):
    plain = MaterialPointMethod.estimate(ball)
    expected = plain.step_seconds
    monkeypatch.setattr(calibration, "time_steps", lambda scene: Trial(plain.points, 40, 3.0 * 40 * expected))
    corrected = calibrated(ball, plain)
    assert corrected.seconds == pytest.approx(3.0 * plain.seconds, rel=1e-12)
    assert corrected.notes[-1] == f"time: from 40 steps of {plain.points:,} points on this machine"


def test_a_large_scene_is_timed_in_a_coarser_version(ball, monkeypatch):
    monkeypatch.setattr(calibration, "TRIAL_POINTS", 500)
    timed = []

    def trial(scene):
        timed.append(scene)
        expected = MaterialPointMethod.estimate(scene)
        return Trial(expected.points, 10, 10 * 0.5 * expected.step_seconds)

    monkeypatch.setattr(calibration, "time_steps", trial)
    plain = MaterialPointMethod.estimate(ball)
    assert plain.points > 500
    assert calibrated(ball, plain).seconds == pytest.approx(0.5 * plain.seconds, rel=1e-12)
    assert timed[0].grid.cell == 0.05


def test_points_that_resampling_adds_count_on_top_of_the_trial(monkeypatch):
    scene = load_scene("shaving-cream", preset="draft")
    plain = method_class(scene.method).estimate(scene)
    trial = Trial(plain.points, 10, 10 * 2.0 * plain.step_seconds)
    monkeypatch.setattr(calibration, "time_steps", lambda scene: trial)
    corrected = calibrated(scene, plain)
    assert corrected.seconds > 1.1 * plain.steps * trial.seconds / trial.steps


def test_kernels_that_are_not_compiled_count_with_their_time(ball, monkeypatch):
    def trial(scene):
        raise calibration._NotCompiled("add_points")

    monkeypatch.setattr(calibration, "time_steps", trial)
    plain = MaterialPointMethod.estimate(ball)
    corrected = calibrated(ball, plain)
    assert corrected.seconds == plain.seconds + calibration.COMPILATION
    assert "to compile the kernels" in corrected.notes[-1]


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


def test_a_flow_that_has_hardly_begun_is_not_timed(ball):
    slot = {"box": {"center": [0, 1, 0], "size": [0.1, 0.1, 0.1]}}
    flow = {"material": "soft rubber", "shape": slot, "velocity": [0, -0.5, 0]}
    scene = Scene(**{**BALL, "body": [], "emitter": [flow], "duration": 1.0})
    plain = MaterialPointMethod.estimate(scene)
    assert plain.mean_points == pytest.approx(plain.points / 2, rel=0.1)
    assert "too little material at the start" in calibrated(scene, plain).notes[-1]


def test_dry_foams_are_left_as_they_are():
    scene = load_scene("dry-foam-collapse")
    plain = method_class(scene.method).estimate(scene)
    assert calibrated(scene, plain) == plain
