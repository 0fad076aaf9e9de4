"""One step of the point-based method, [Gerszewski09] section 3, with symplectic Euler."""

import numba
import numpy as np
from numba import prange

from spume.errors import RunFailed
from spume.mpm.contacts import MARGIN
from spume.mpm.motion import move_points
from spume.numerics.jit import compiled
from spume.points.deformation import OUTCOMES, fit_deformation
from spume.points.elastic_metric import elastic_metric
from spume.points.force_fields import kick
from spume.points.forces import accelerate_points, lattice_density, prepare_forces
from spume.points.formulations import add_green_strain, metric_from_rest, step_from_rest
from spume.points.kernels import elastic_constant
from spume.points.state import State


def point_based_step(state: State, dt: float) -> None:
    """Advance `state` by dt [s]."""
    find_neighbours(state)
    metric = accelerate(state, dt)  # eqs. (10) to (13)
    before = collide_and_move(state, dt)
    fit(state, dt, before, metric)  # eqs. (6), (7)
    with state.timed("material"):  # eqs. (8), (9) and plastic flow
        p = state.particles
        state.model.update(p.arrays(), dt, p.gradient, p.stress)
        _to_gradient(p.gradient, 1.0 / dt)
    state.time += dt
    state.steps += 1


def find_neighbours(state: State) -> None:
    """Build the neighbour lists again when a point has moved too far since, or points are new."""
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
    """The lists of a restored state, as they were when it was saved."""
    if state.listed:
        rest = state.scheme.formulation == "rest-configuration"
        state.lists.build(state.particles.rest_x if rest else state.particles.x_listed)


def accelerate(state: State, dt: float) -> np.ndarray:
    """v ← v + Δt (f/m + g). Returns the metric of the elastic deformation of each point."""
    p, lists, scheme, d = state.particles, state.lists, state.scheme, state.dimension
    h = lists.radius
    c = elastic_constant(d, h)
    n = len(p)
    metric, size, B, pressure = np.empty((n, 6)), np.empty(n), np.empty((n, 3, 3)), np.empty(n)
    acceleration = np.empty((n, d))
    with state.timed("metric"):
        elastic_metric(state.model, p.arrays(), metric, size)
        if scheme.formulation == "rest-configuration":
            metric_from_rest(p.rest_F, metric)
            size[:] = p.volume
    with state.timed("forces"):
        lattice = lattice_density(d, state.spacing, h, c) if scheme.pressure > 0.0 else 1.0
        state.uncorrected += prepare_forces[d, scheme.stress, scheme.gradient](
            lists.start, lists.neighbour, p.x, p.volume, size, metric, p.stress, h, c, scheme.condition,
            scheme.pressure, lattice, B, pressure,
        )  # fmt: skip
        wave = np.array([law.wave_speed(parameters) for law, parameters in state.model.materials])
        accelerate_points[d](
            lists.start, lists.neighbour, p.x, p.v, p.mass, p.volume, size, metric, B, pressure, p.gradient, wave,
            p.material, h, c, scheme.viscosity, scheme.damping, acceleration,
        )  # fmt: skip
        centers = np.array([f.center for f in state.force_fields]).reshape(-1, d)
        growths = np.array([f.growth_at(state.time) for f in state.force_fields]).reshape(-1, d)
        kick(p.x, p.v, acceleration, state.gravity(state.time), centers, growths, dt)
    return metric


def collide_and_move(state: State, dt: float) -> np.ndarray:
    """Collide the velocities of points inside obstacles, then x ← x + Δt v. Returns the positions before [m]."""
    p = state.particles
    before = p.x.copy()
    with state.timed("move"):
        obstacles = state.obstacles.during(state.time, state.time + dt)
        threads = numba.get_num_threads()
        tasks = len(p) * np.arange(threads + 1) // threads
        speed, broken = np.zeros(threads), np.zeros(threads, np.int64)
        move_points[state.dimension](
            tasks, dt, obstacles, state.obstacles.travelled, MARGIN * state.cell, state.clearances(), p.x, p.v, speed,
            broken,
        )  # fmt: skip
        state.speed = float(speed.max(initial=0.0))
    if broken.max(initial=-1) >= 0:
        _report_broken_point(state, int(broken.max()), dt)
    return before


def fit(state: State, dt: float, before: np.ndarray, metric: np.ndarray) -> None:
    """The deformation of the step at each point, into `gradient`."""
    p, lists, scheme = state.particles, state.lists, state.scheme
    outcome = np.empty(len(p), np.int64)
    with state.timed("deformation"):
        start = p.rest_x if scheme.formulation == "rest-configuration" else before
        fit_deformation[state.dimension](
            lists.start, lists.neighbour, start, p.x, lists.radius, scheme.least_neighbours, scheme.condition,
            p.gradient, p.neighbours, outcome,
        )  # fmt: skip
        if scheme.formulation == "rest-configuration":
            step_from_rest(outcome, p.rest_F, p.gradient)
        elif scheme.formulation == "additive":
            add_green_strain(metric, outcome, p.gradient)
        state.outcomes += np.bincount(outcome, minlength=len(OUTCOMES))


@compiled(parallel=True)
def _to_gradient(tensor, rate):
    """From the deformation f of a step to L = (f − I)/Δt, in place."""
    for p in prange(tensor.shape[0]):
        for i in range(3):
            for j in range(3):
                tensor[p, i, j] = (tensor[p, i, j] - (1.0 if i == j else 0.0)) * rate


def _report_broken_point(state: State, point: int, dt: float) -> None:
    p = state.particles
    place = ", ".join(f"{c:.4g}" for c in p.x[point])
    law, _ = state.model.materials[int(p.material[point])]
    raise RunFailed(
        f"the velocity of point {point} near ({place}) is not finite at t = {state.time + dt:.6g} s (dt = {dt:.3g} s, "
        f"material {int(p.material[point])}, law {law.name}): the step is too long for the stiffness, or the "
        "neighbourhoods have broken down; reduce [time] courant or dt, or give the points pressure or viscosity"
    )
