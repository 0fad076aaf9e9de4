"""Residuals of implicit steps determine the length of automatic steps, are counted, and cause warnings."""

import json
import math

import pytest
from implicit_beams import beam, beam_scene

from spume.foam.plain import MaterialPointMethod
from spume.mpm.implicit.admm import solve_by_admm
from spume.mpm.implicit.step import SHRINKING, SOLVERS


@pytest.fixture
def residuals(monkeypatch):
    """A list of the residuals that the next steps shall have; afterwards they have their own."""
    wanted = []

    def solve(problem, settings):
        outcome = solve_by_admm(problem, settings)
        if wanted:
            outcome.primal.append(wanted.pop(0))
            outcome.dual.append(0.0)
            outcome.displacement_error = 1.0
            outcome.converged = outcome.residual <= settings.tolerance
        return outcome

    monkeypatch.setitem(SOLVERS, "admm", solve)
    return wanted


def automatic():
    return MaterialPointMethod(beam_scene(dt="auto", frame_rate=1.0, gravity=[0.0, 0.0]))


def next_step(method):
    """Take one automatic step; return its length [s]."""
    dt = method.world.time_step.choose(method.world.speed, method.time)
    method.take_step(dt)
    return dt


def test_a_large_residual_shortens_the_next_step_and_small_ones_let_it_grow_back(residuals):
    """At rest without gravity nothing else limits the step but the frame; 'growth' is 1.1."""
    method = automatic()
    residuals += [0.01, 0.15, 0.07]
    first = next_step(method)
    assert next_step(method) == first
    shorter = next_step(method)
    assert shorter == SHRINKING * first
    lengths = [next_step(method) for _ in range(10)]
    assert lengths[0] == shorter  # neither large nor small
    assert lengths[1] == pytest.approx(1.1 * shorter)
    assert lengths[-1] == first
    assert max(lengths) == first


def test_a_repeated_step_halves_the_next_one(residuals):
    method = automatic()
    residuals += [0.3, 0.07, 0.07]
    first = next_step(method)
    assert method.diagnostics()["repeated_steps"] == 1
    assert method.time == first
    assert next_step(method) == 0.5 * first


def test_a_fixed_step_is_kept_unless_it_fails(residuals):
    method = beam()
    residuals += [0.15]
    method.take_step(1e-2)
    assert method.world.time_step.allowed == math.inf


def test_a_continued_run_keeps_the_allowed_step_and_the_counts(residuals):
    method = automatic()
    residuals += [0.15]
    next_step(method)
    arrays, values = method.checkpoint()
    other = automatic()
    other.restore({name: a.copy() for name, a in arrays.items()}, json.loads(json.dumps(values)))
    assert other.world.time_step.allowed == method.world.time_step.allowed
    assert next_step(other) == next_step(method)
    assert other.particles.x.tobytes() == method.particles.x.tobytes()
    counts = ("repeated_steps", "unconverged_steps", "worst_residual", "step_residuals", "solver_iterations")
    assert [other.diagnostics()[name] for name in counts] == [method.diagnostics()[name] for name in counts]


def test_steps_above_the_tolerance_are_counted_and_the_worst_since_a_frame_is_told(residuals):
    method = beam(frame_rate=50.0)
    residuals += [0.02, 0.09, 1e-4, 1e-5]
    for _ in range(2):
        method.take_step(1e-2)
    assert method.diagnostics()["unconverged_steps"] == 2
    assert method.diagnostics()["worst_residual"] == 0.09
    for _ in range(2):  # after the frame at 0.02 s
        method.take_step(1e-2)
    report = method.diagnostics()
    assert report["unconverged_steps"] == 2
    assert report["worst_residual"] == 1e-4
    assert "residuals" not in report.get("warnings", {})


def test_the_residual_of_every_step_since_the_last_frame_is_told(residuals):
    """Frames every 20 ms, steps of 10 ms or less."""
    method = beam(frame_rate=50.0)
    residuals[:] = [0.01, 0.02, 0.03, 0.04]
    method.advance(0.02, lambda: False, lambda progress: None)
    first = method.diagnostics()["step_residuals"]
    assert [value for _, value in first] == [0.01, 0.02, 0.03, 0.04][: len(first)]
    assert first[-1][0] == pytest.approx(0.02)
    method.advance(0.04, lambda: False, lambda progress: None)
    assert all(0.02 < time <= 0.04 + 1e-12 for time, _ in method.diagnostics()["step_residuals"])


def test_many_poor_steps_cause_a_warning(residuals):
    method = beam(frame_rate=1.0)
    residuals += [0.15] + 9 * [1e-4]
    for _ in range(10):  # one of ten is allowed
        method.take_step(1e-3)
    assert "residuals" not in method.diagnostics().get("warnings", {})
    residuals += [0.12]
    method.take_step(1e-3)
    sentence = method.diagnostics()["warnings"]["residuals"]
    assert "2 of the last 11 implicit steps" in sentence
    assert "above 0.1, the worst with 0.15" in sentence


def test_a_single_iteration_is_assessed():
    """A free body at rest needs none; without a residual no step would be accepted, however short."""
    method = beam(dt=1e-3, gravity=[0.0, 0.0], implicit={"iterations": 1})
    method.take_step(1e-3)
    assert method.diagnostics()["unconverged_steps"] == 0
    assert len(method.diagnostics()["primal_residuals"]) == 1
