"""One explicit step of the material point method: [Yue15] section 4, without what `foam` adds.

Every function is one procedure, or several that walk the same points or nodes; the numbers are those of the paper. All
species take part; they share the nodes and the contacts.
"""

import numba
import numpy as np

from spume.errors import RunFailed
from spume.mpm.contacts import MARGIN
from spume.mpm.grid_velocities import update_grid_velocities
from spume.mpm.motion import move_points
from spume.mpm.species import Species
from spume.mpm.state import State


def explicit_step(state: State, dt: float) -> None:
    """Advance `state` by dt [s], symplectic Euler."""
    sort_points(state)
    rasterize(state)  # 1 mass and momentum, 3 forces
    update_velocities_on_grid(state, dt)  # 5 velocities, 6 collisions
    gather(state, dt)  # 7 deformation of the step, 9 velocities
    update_material(state, dt)  # 7 total deformation, 10 plastic flow, and the stress for the next step
    collide_and_move(state, dt)  # 13 collisions, 14 positions
    state.time += dt
    state.steps += 1


def sort_points(state: State) -> None:
    """Find the cells of all points and the nodes they reach."""
    with state.timed("sort"):
        for species in state.species:
            species.sort()
        state.nodes.cover([species.transfers.cells for species in state.species])
        for species in state.species:
            species.connect(state.nodes)


def rasterize(state: State) -> None:
    """Mass, momentum and internal forces of the points to the nodes."""
    with state.timed("particles to grid"):
        for species in state.species:
            p = species.particles
            species.fields.rename(velocity="momentum", change="force")
            species.transfers.to_grid(
                species.scheme.to_grid, p.x, species.fields.array, v=p.v, mass=p.mass, volume=p.volume, stress=p.stress,
                affine_velocity=species.affine_velocity,
            )  # fmt: skip


def update_velocities_on_grid(state: State, dt: float) -> None:
    """v* = v + Δt f/m + Δt g, collided with the obstacles as they stand at the end of the step."""
    with state.timed("grid"):
        masses = [species.fields["mass"] for species in state.species]
        mass = masses[0] if len(masses) == 1 else np.sum(masses, axis=0)
        state.contacts.find(state.nodes, mass, state.obstacles, state.time + dt)
        gravity = state.gravity(state.time)
        for species in state.species:
            update_grid_velocities[state.dimension](species.fields.array, dt, gravity)
            species.fields.rename(momentum="velocity", force="change")
            p = species.particles
            gap = state.contacts.gaps(state.nodes, species.transfers.cells, p.x, p.volume)
            state.contacts.apply(species.fields["velocity"], species.fields["change"], gap, dt)


def gather(state: State, dt: float) -> None:
    """New velocities of the points and their deformation in the step, both from the collided v*."""
    with state.timed("grid to particles"):
        for species in state.species:
            p = species.particles
            species.transfers.to_points(
                species.scheme.to_points, p.x, species.fields.array, first_channel=species.fields.first("velocity"),
                blend=species.scheme.blend, dt=dt, v=p.v, tensor=species.deformation,
                affine_velocity=species.affine_velocity,
            )  # fmt: skip


def update_material(state: State, dt: float) -> None:
    """Every law advances the history of its points and gives their new stress."""
    with state.timed("material"):
        for species in state.species:
            p = species.particles
            species.model.update(p.arrays(), dt, species.deformation, p.stress)


def collide_and_move(state: State, dt: float) -> None:
    """Collide the velocities of points inside obstacles, then x ← x + Δt v; held points move with their obstacle, and
    embedded surfaces with the nodes."""
    with state.timed("move"):
        for surface in state.surfaces:
            fields = state.only.fields
            surface.carry(state.nodes, fields["mass"], fields["velocity"], dt)
        obstacles = state.obstacles.during(state.time, state.time + dt)
        threads = numba.get_num_threads()
        state.speed = 0.0
        for species in state.species:
            p = species.particles
            tasks = len(p) * np.arange(threads + 1) // threads
            speed, broken = np.zeros(threads), np.zeros(threads, np.int64)
            move_points[state.dimension](
                tasks, dt, obstacles, state.obstacles.travelled, MARGIN * state.cell, species.clear_until(),
                p.x, p.v, speed, broken,
            )  # fmt: skip
            state.speed = max(state.speed, float(speed.max(initial=0.0)))
            if broken.max(initial=-1) >= 0:
                _report_broken_point(state, species, int(broken.max()), dt)


def _report_broken_point(state: State, species: Species, point: int, dt: float) -> None:
    p = species.particles
    place = ", ".join(f"{c:.4g}" for c in p.x[point])
    law, _ = species.model.materials[int(p.material[point])]
    raise RunFailed(
        f"the velocity of point {point} near ({place}) is not finite at t = {state.time + dt:.6g} s (dt = {dt:.3g} s, "
        f"material {int(p.material[point])}, law {law.name}): the step is too long for the stiffness; "
        "reduce [time] courant or dt, or use a smaller cell"
    )
