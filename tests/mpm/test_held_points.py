"""Points held by a moving obstacle move rigidly with it."""

import math

import numpy as np
import pytest

from spume.geometry.motion.models import Combine, Keyframes, Oscillate, Turn, Velocity
from spume.geometry.motion.trajectory import pose
from spume.geometry.obstacles.obstacle_set import Obstacle, ObstacleSet
from spume.geometry.shapes import Box, Circle, Rectangle
from spume.matter.motion import move_points

ROUNDING = 4 * np.finfo(float).eps
"""Of one rigid map: a product with a rotation matrix, and a sum."""


def advance(obstacles, x, v, dt, steps):
    """Move the points in steps of dt [s], as the last stage of a step does."""
    n = len(x)
    tasks, speed, broken = np.array([0, n]), np.zeros(1), np.zeros(1, np.int64)
    for step in range(steps):
        arrays = obstacles.during(step * dt, (step + 1) * dt)
        unknown = np.full(n, -np.inf)
        move_points[x.shape[1]](tasks, dt, arrays, obstacles.travelled, 0.0, unknown, x, v, speed, broken)
        assert broken[0] == -1


@pytest.mark.parametrize("rate", [30.0, 360.0])
def test_points_stuck_to_a_rotating_disc_keep_their_radius(rate):
    """x + Δt v would multiply the radius by exp(ω² Δt t / 2) = 1.05 and 652 in 1 s."""
    disc = Obstacle(Circle(center=(0.3, -0.2), radius=0.1), motion=Turn(about=(0.3, -0.2), rate=rate))
    rng = np.random.default_rng(1)
    start = np.array([0.3, -0.2]) + rng.uniform(-0.06, 0.06, (50, 2))
    x, v = start.copy(), rng.normal(size=(50, 2))
    steps = 10_000
    advance(ObstacleSet([disc], 2), x, v, 1.0 / steps, steps)
    arm, first = x - (0.3, -0.2), start - (0.3, -0.2)
    assert np.linalg.norm(arm, axis=1) == pytest.approx(np.linalg.norm(first, axis=1), abs=steps * ROUNDING)
    c, s = math.cos(rate), math.sin(rate)
    # the angle is a product of up to `rate` radians with rounded times
    assert arm == pytest.approx(first @ np.array([[c, s], [-s, c]]), abs=steps * ROUNDING + rate * 1e-15)
    assert v == pytest.approx(rate * arm[:, ::-1] * (-1, 1), abs=rate * steps * ROUNDING)


def test_friction_holds_points_as_sticking_does():
    """Pressed into a turning floor by more than |v_t| / μ, a point has no velocity relative to it after contact."""
    turn = Turn(axis=(0, 1, 0), rate=50.0)
    floor = Box(center=(0, -1, 0), size=(4, 2, 4))
    x = np.array([[0.7, -1e-3, 0.0]])
    for step in range(200):
        obstacles = ObstacleSet([Obstacle(floor, "separate", 0.9, turn)], 3)
        arrays = obstacles.during(step * 1e-3, (step + 1) * 1e-3)
        v = 50.0 * np.array([[x[0, 2], 0.0, -x[0, 0]]]) + (0.1, -2.0, 0.1)
        move_points[3](
            np.array([0, 1]), 1e-3, arrays, 0.0, 0.0, np.full(1, -np.inf), x, v, np.zeros(1), np.zeros(1, np.int64)
        )
    assert np.hypot(x[0, 0], x[0, 2]) == pytest.approx(0.7, abs=200 * ROUNDING)


def test_points_under_a_receding_surface_stay_where_they_are_in_the_obstacle():
    """The paddle moves by more than the depth of the points in each step, so at its end they would be outside."""
    motion = Combine(
        of=(
            Turn(about=(0.0, 0.0), rate=20.0),
            Oscillate(direction=(1, 0), amplitude=0.2, frequency=3.0),
            Velocity(linear=(0.0, 1.5)),
        )
    )
    paddle = Obstacle(Rectangle(center=(0.5, 0.0), size=(0.4, 0.02)), motion=motion)
    rng = np.random.default_rng(2)
    local = np.stack([rng.uniform(0.31, 0.69, 40), rng.uniform(-0.0099, 0.0099, 40)], axis=1)
    first, last = pose(motion, 0.0, 2), pose(motion, 0.4, 2)
    x, v = local @ first.R[:2, :2].T + first.p[:2], np.zeros((40, 2))
    advance(ObstacleSet([paddle], 2), x, v, 2e-3, 200)
    assert x == pytest.approx(local @ last.R[:2, :2].T + last.p[:2], abs=200 * ROUNDING * 2)


def test_points_that_slide_are_not_carried():
    """On a frictionless turning disc a point at rest stays at rest, however fast the disc turns under it."""
    disc = Obstacle(Circle(center=(0.0, 0.0), radius=1.0), "slip", motion=Turn(rate=300.0))
    x, v = np.array([[0.0, 0.999]]), np.array([[0.0, 0.0]])
    advance(ObstacleSet([disc], 2), x, v, 1e-3, 100)
    assert x == pytest.approx(np.array([[0.0, 0.999]]), abs=1e-12)


def test_an_obstacle_that_jumps_away_within_a_step_leaves_what_it_held():
    """It is displaced by fifty times its size between two keyframes 50 µs apart, at rest before and after."""
    there, away = (0.0, 0.0), (10.0, 0.0)
    jump = Keyframes(times=(0.0, 0.04001, 0.04006), positions=(there, there, away), interpolation="linear")
    hand = Obstacle(Circle(center=(0.0, 0.0), radius=0.1), motion=jump)
    x, v = np.array([[0.05, 0.0], [0.0, -0.02]]), np.zeros((2, 2))
    before = x.copy()
    advance(ObstacleSet([hand], 2), x, v, 0.02, 3)
    assert np.array_equal(x, before)
