"""One explicit step of the material point method: [Yue15] section 4, without what `foam` adds.

Every function is one procedure, or several that walk the same points or nodes; the numbers are those of the paper.
"""

import numba
import numpy as np

from spume.errors import RunFailed
from spume.mpm.clearance import MARGIN
from spume.mpm.grid_velocities import update_grid_velocities
from spume.mpm.motion import move_points
from spume.mpm.state import State


def explicit_step(state: State, dt: float) -> None:
    """Advance `state` by dt [s], symplectic Euler."""
    sort_points(state)
    rasterize(state)  # 1 mass and momentum, 3 forces
    update_velocities_on_grid(state, dt)  # 5 velocities, 6 collisions
    gather(state)  # 7 velocity gradient, 9 velocities
    update_material(state, dt)  # 7 deformation, 10 plastic flow, and the stress for the next step
    collide_and_move(state, dt)  # 13 collisions, 14 positions
    state.time += dt
    state.steps += 1


def sort_points(state: State) -> None:
    """Find the cell of each point; put the state arrays into the order of the cells when they have drifted from it."""
    with state.timed("sort"):
        disordered = state.grid.find_cells(state.particles.x)
        if disordered:
            before = state.particles.x
            state.particles.take(state.grid.order_of)
            state.clearances.reorder(state.grid.order_of, before, state.particles.x)
            state.grid.find_cells(state.particles.x)
        if len(state.gradient) != len(state.particles):
            state.gradient = np.zeros((len(state.particles), 3, 3))


def rasterize(state: State) -> None:
    """Mass, momentum and internal forces of the points to the grid."""
    with state.timed("particles to grid"):
        p = state.particles
        state.grid.add_points(p.x, p.v, p.mass, p.volume, p.stress, state.affine_velocity)


def update_velocities_on_grid(state: State, dt: float) -> None:
    """v* = v + Δt f/m + Δt g, collided with the obstacles as they stand at the end of the step."""
    with state.timed("grid"):
        grid = state.grid
        obstacles = state.obstacles.at(state.time + dt)
        gravity = state.gravity(state.time)
        update_grid_velocities[grid.dimension](
            grid.values, grid.node_blocks, grid.cell, dt, gravity, obstacles,
            state.obstacles.travelled, MARGIN * grid.cell, state.clearances.of_nodes(grid),
        )  # fmt: skip


def gather(state: State) -> None:
    """New velocities of the points and their velocity gradient, both from the collided v*."""
    with state.timed("grid to particles"):
        p = state.particles
        state.grid.gather(p.x, state.flip, p.v, state.gradient, state.affine_velocity)


def update_material(state: State, dt: float) -> None:
    """Every law advances the history of its points and gives their new stress."""
    with state.timed("material"):
        p = state.particles
        for law in state.laws:
            law.law.update(p.material, law.mine, law.rows, dt, state.gradient, p.stress, *law.history(p))


def collide_and_move(state: State, dt: float) -> None:
    """Collide the velocities of points inside obstacles, then x ← x + Δt v; held points move with their obstacle."""
    with state.timed("move"):
        grid, p = state.grid, state.particles
        obstacles = state.obstacles.during(state.time, state.time + dt)
        threads = numba.get_num_threads()
        tasks = len(p) * np.arange(threads + 1) // threads
        speed, culprit = np.zeros(threads), np.zeros(threads, np.int64)
        move_points[grid.dimension](
            tasks, dt, obstacles, state.obstacles.travelled, MARGIN * grid.cell, state.clearances.of_points(p.x),
            p.x, p.v, speed, culprit,
        )  # fmt: skip
        state.speed = float(speed.max(initial=0.0))
    if culprit.max(initial=-1) >= 0:
        _report_broken_point(state, int(culprit.max()), dt)


def _report_broken_point(state: State, point: int, dt: float) -> None:
    place = ", ".join(f"{c:.4g}" for c in state.particles.x[point])
    law, _ = state.materials[int(state.particles.material[point])]
    raise RunFailed(
        f"the velocity of point {point} near ({place}) is not finite at t = {state.time + dt:.6g} s (dt = {dt:.3g} s, "
        f"material {int(state.particles.material[point])}, law {law.name}): the step is too long for the stiffness; "
        "reduce [time] courant or dt, or use a smaller cell"
    )
