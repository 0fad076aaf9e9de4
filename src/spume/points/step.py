"""One step of the point-based method, [Gerszewski09] section 3, with symplectic Euler."""

import numba
import numpy as np
from numba import prange
from numpy.typing import NDArray

from spume.errors import RunFailed
from spume.materials.kinematics import load
from spume.mpm.contacts import MARGIN
from spume.mpm.motion import move_points
from spume.mpm.obstacle_loads import WatchedPoints
from spume.numerics.jit import compiled
from spume.numerics.lanes import LANES
from spume.points.deformation import OUTCOMES, fit_deformation, keep_volume
from spume.points.elastic_metric import elastic_metric
from spume.points.forces import WIDTH
from spume.points.formulations import add_green_strain, step_from_rest
from spume.points.loads import apply_loads
from spume.points.resampling import resample
from spume.points.state import State
from spume.points.tearing import detect_tearing, limit_deformation, recover


def point_based_step(state: State, dt: float) -> None:
    """Advance `state` by dt [s]."""
    find_neighbours(state)
    detect_tearing(state)
    metric = accelerate(state, dt)  # eqs. (10) to (13)
    apply_loads(state, state.loads, dt)  # after the viscous forces, which depend on the velocities of the last step
    before = collide_and_move(state, dt)
    fit(state, dt, before, metric)  # eqs. (6), (7)
    limit_deformation(state)
    with state.timed("material"):  # eqs. (8), (9) and plastic flow
        p = state.particles
        state.model.update(p.arrays(), dt, state.deformation, p.stress)
    state.time += dt
    state.steps += 1
    recover(state)
    resample(state)


def find_neighbours(state: State) -> None:
    """Rebuild the neighbour lists if points have moved too far since the last time, or are new."""
    p, lists = state.particles, state.lists
    if state.scheme.formulation == "rest-configuration":
        if not state.listed:
            with state.timed("neighbours"):
                lists.build(p.rest_x)
                state.listed = True
                state.rebuilds += 1
        return
    with state.timed("neighbours"):
        if state.listed and lists.valid(p.x, p.x_listed):
            return
        if lists.cells.sort(p.x):
            p.take(lists.cells.sorted_points)
        p.x_listed[:] = p.x
        lists.build(p.x)
        state.listed = True
        state.rebuilds += 1


def restore_lists(state: State) -> None:
    """Rebuild the lists of a restored state as they were when it was saved."""
    if state.listed:
        rest = state.scheme.formulation == "rest-configuration"
        state.lists.build(state.particles.rest_x if rest else state.particles.x_listed)


def accelerate(state: State, dt: float) -> NDArray[np.float64]:
    """v ← v + Δt (f/m + g). Return the metric of the elastic deformation of each point."""
    p = state.particles
    metric, size = np.empty((len(p), 6)), np.zeros(len(p))
    with state.timed("metric"):
        if state.scheme.needs_metric:
            elastic_metric(state.model, p.arrays(), metric, size)
    with state.timed("forces"):
        wave = np.array([law.wave_speed(parameters) for law, parameters in state.model.materials])
        acceleration, uncorrected = state.forces.accelerations(
            state.lists, p.arrays(), size, metric, wave, state.rows_of(LANES), state.rows_of(WIDTH)
        )
        state.uncorrected += uncorrected
        _kick(p.v, acceleration, state.gravity(state.time), dt)
    return metric


@compiled(parallel=True)
def _kick(v, acceleration, gravity, dt):
    """v ← v + Δt (a + g)."""
    for p in prange(v.shape[0]):
        for q in range(v.shape[1]):
            v[p, q] += dt * (acceleration[p, q] + gravity[q])


def collide_and_move(state: State, dt: float) -> NDArray[np.float64]:
    """Collide the velocities of points inside obstacles, then x ← x + Δt v. Return the previous positions [m]."""
    p = state.particles
    before = p.x.copy()
    with state.timed("move"):
        obstacles = state.obstacles.during(state.time, state.time + dt)
        threads = numba.get_num_threads()
        tasks = len(p) * np.arange(threads + 1) // threads
        speed, broken = np.zeros(threads), np.zeros(threads, np.int64)
        clear_until, margin = state.clearances(), MARGIN * state.cell
        watched = None
        if len(state.obstacles) and state.obstacle_loads.active:
            watched = WatchedPoints(p.x, p.v, clear_until, state.obstacles.travelled + margin)
        sides = state.passages.sides(p.x)
        move_points[state.dimension](
            tasks, dt, obstacles, state.obstacles.travelled, margin, clear_until, p.x, p.v, speed, broken
        )
        state.passages.count(sides, p.x, p.mass)
        if watched is not None:
            watched.load(state.obstacle_loads, state.obstacles, obstacles, p.v, p.mass)
        state.speed = float(speed.max(initial=0.0))
    if broken.max(initial=-1) >= 0:
        _report_broken_point(state, int(broken.max()), dt)
    return before


def fit(state: State, dt: float, before: NDArray[np.float64], metric: NDArray[np.float64]) -> None:
    """Compute the deformation of the step and the strain rate at each point."""
    p, lists, scheme = state.particles, state.lists, state.scheme
    outcome = np.empty(len(p), np.int64)
    if len(state.deformation) != len(p):
        state.deformation = np.zeros((len(p), 3, 3))
    with state.timed("deformation"):
        start = p.rest_x if scheme.formulation == "rest-configuration" else before
        fit_deformation(
            lists, start, p.x, scheme.least_neighbours, scheme.condition, state.rows_of(LANES), state.deformation,
            p.neighbours, outcome,
        )  # fmt: skip
        if scheme.formulation == "rest-configuration":
            step_from_rest(outcome, p.rest_F, state.deformation)
        _rate_of_strain(state.deformation, 1.0 / dt, p.rate)
        if scheme.formulation == "additive":
            add_green_strain(metric, outcome, state.deformation)
        if scheme.formulation != "rest-configuration":  # that one does not sum up
            keep_volume(state.model.volume_ratio(p.arrays()), scheme.least_volume, state.deformation, outcome)
        state.outcomes += np.bincount(outcome, minlength=len(OUTCOMES))


@compiled(parallel=True)
def _rate_of_strain(deformation, per_time, rate):
    """Write the symmetric part of (f − I)/Δt to `rate`."""
    for p in prange(deformation.shape[0]):
        f0, f1, f2, f3, f4, f5, f6, f7, f8 = load(deformation, p)
        rate[p, 0], rate[p, 1], rate[p, 2] = (f0 - 1.0) * per_time, (f4 - 1.0) * per_time, (f8 - 1.0) * per_time
        half = 0.5 * per_time
        rate[p, 3], rate[p, 4], rate[p, 5] = half * (f1 + f3), half * (f2 + f6), half * (f5 + f7)


def _report_broken_point(state: State, point: int, dt: float) -> None:
    p = state.particles
    place = ", ".join(f"{c:.4g}" for c in p.x[point])
    law, _ = state.model.materials[int(p.material[point])]
    raise RunFailed(
        f"the velocity of point {point} near ({place}) is not finite at t = {state.time + dt:.6g} s (dt = {dt:.3g} s, "
        f"material {int(p.material[point])}, law {law.name}): the step is too long for the stiffness, or the "
        "neighbourhoods have broken down; reduce [time] courant or dt, or give the points pressure or viscosity"
    )
