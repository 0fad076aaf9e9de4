"""One explicit step of the material point method: [Yue15] section 4, without the additions of `foam`.

Every function with a number is one procedure of the paper, or several that loop over the same points or nodes; the
numbers are those of the paper. All species share the nodes and the contacts.
"""

import numba
import numpy as np
from numpy.typing import NDArray

from spume.errors import RunFailed
from spume.mpm.contacts import MARGIN
from spume.mpm.crowded_sand import restore_crowded_sand
from spume.mpm.grid_velocities import update_grid_velocities
from spume.mpm.motion import move_points
from spume.mpm.obstacle_loads import WatchedPoints, load_by_nodes
from spume.mpm.species import Species
from spume.mpm.state import State


def explicit_step(state: State, dt: float) -> None:
    """Advance `state` by dt [s] with symplectic Euler."""
    sort_points(state)
    rasterize(state)  # 1 mass and momentum, 3 forces
    update_velocities_on_grid(state, dt)  # 5 velocities, 6 collisions
    gather(state, dt)  # 7 deformation of the step, 9 velocities
    restore_crowded_sand(state, dt)  # not in the paper
    update_material(state, dt)  # 7 total deformation, 10 plastic flow, and the stress for the next step
    collide_and_move(state, dt)  # 13 collisions, 14 positions
    state.time += dt
    state.steps += 1


def sort_points(state: State) -> None:
    """Find the cells of all points and the nodes of their stencils."""
    with state.timed("sort"):
        for species in state.species:
            species.sort()
        state.nodes.cover([species.transfers.cells for species in state.species])
        for species in state.species:
            species.connect(state.nodes)


def rasterize(state: State) -> None:
    """Sum mass, momentum and internal forces of the points on the nodes."""
    with state.timed("particles to grid"):
        for species in state.species:
            p = species.particles
            species.fields.rename(velocity="momentum", change="force")
            species.transfers.to_grid(
                species.scheme.to_grid, p.x, species.fields.array, v=p.v, mass=p.mass, volume=p.volume, stress=p.stress,
                affine_velocity=species.affine_velocity,
            )  # fmt: skip


def update_velocities_on_grid(state: State, dt: float) -> None:
    """v* = v + Δt f/m + Δt g, then collisions with the obstacles in their poses at the end of the step."""
    with state.timed("grid"):
        accelerate(state, dt)
        find_contacts(state, dt)
        for species in state.species:
            collide_nodes(state, species, gaps_of(state, species), dt)


def accelerate(state: State, dt: float) -> None:
    """v* = v + Δt f/m + Δt g; replaces momenta by velocities and forces by velocity changes."""
    gravity = state.gravity(state.time)
    for species in state.species:
        update_grid_velocities[state.dimension](species.fields.array, dt, gravity)
        species.fields.rename(momentum="velocity", force="change")


def find_contacts(state: State, dt: float) -> None:
    """Find the nodes inside obstacles in their poses at the end of the step."""
    masses = [species.fields["mass"] for species in state.species if species.own_contacts is None]
    if masses:
        mass = masses[0] if len(masses) == 1 else np.sum(masses, axis=0)
        state.contacts.find(state.nodes, mass, state.obstacles, state.time + dt)
    for species in state.species:
        if species.own_contacts is not None:
            obstacles = state.obstacles_of(species)
            species.own_contacts.find(state.nodes, species.fields["mass"], obstacles, state.time + dt)


def gaps_of(state: State, species: Species) -> NDArray[np.float64]:
    """Gap between the obstacle of each contact and the points of a species [m], see `Contacts.gaps`."""
    p = species.particles
    return state.contacts_of(species).gaps(state.nodes, species.transfers, p.x, p.volume)


def collide_nodes(state: State, species: Species, gaps: NDArray[np.float64], dt: float) -> None:
    """Collide the velocities of a species on the nodes, and add the impulses to the obstacle loads."""
    contacts = state.contacts_of(species)
    node = contacts.node
    if not node.size:
        return
    velocity = species.fields["velocity"]
    if not state.obstacle_loads.active:
        contacts.apply(velocity, species.fields["change"], gaps, dt)
        return
    before = velocity[node // 64, :, node % 64]
    contacts.apply(velocity, species.fields["change"], gaps, dt)
    taken = species.fields["mass"][node // 64, node % 64][:, None] * (velocity[node // 64, :, node % 64] - before)
    load_by_nodes(state.obstacle_loads, state.obstacles_of(species), contacts, state.nodes, taken)


def gather(state: State, dt: float) -> None:
    """Interpolate the new velocities of the points and their deformation in the step from the collided v*."""
    with state.timed("grid to particles"):
        for species in state.species:
            p = species.particles
            unseen = unseen_velocities(species) if species.scheme.velocity == "aflip" else None
            species.transfers.to_points(
                species.scheme.to_points, p.x, species.fields.array, first_channel=species.fields.first("velocity"),
                blend=species.scheme.kept(dt), dt=dt, v=p.v, tensor=species.deformation,
                affine_velocity=species.affine_velocity,
            )  # fmt: skip
            if unseen is not None:
                v, C = unseen
                p.v[:] += species.scheme.kept(dt) * v
                p.C[:] += species.scheme.kept(dt) * C


def unseen_velocities(species: Species) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Part of the point velocities not resolved by the grid: v and C before the step, minus those that APIC
    interpolates from the velocities of the nodes before the step."""
    p, fields = species.particles, species.fields
    before = fields["velocity"] - fields["change"]
    v, C = np.empty_like(p.v), np.empty_like(p.C)
    species.transfers.to_points(("affine velocity",), p.x, before, v=v, affine_velocity=C)
    return p.v - v, p.C - C


def update_material(state: State, dt: float) -> None:
    """Update the history and the stress of all points by their laws."""
    with state.timed("material"):
        for species in state.species:
            p = species.particles
            species.model.update(p.arrays(), dt, species.deformation, p.stress)


def collide_and_move(state: State, dt: float) -> None:
    """Collide the velocities of points inside obstacles, then x ← x + Δt v; sticking points move rigidly with their
    obstacle."""
    with state.timed("move"):
        threads = numba.get_num_threads()
        state.speed = 0.0
        for species in state.species:
            p, held_by = species.particles, state.obstacles_of(species)
            obstacles = held_by.during(state.time, state.time + dt)
            tasks = len(p) * np.arange(threads + 1) // threads
            speed, broken = np.zeros(threads), np.zeros(threads, np.int64)
            clear_until, margin = species.clear_until(), MARGIN * state.cell
            watched = None
            if len(held_by) and state.obstacle_loads.active:
                watched = WatchedPoints(p.x, p.v, clear_until, held_by.travelled + margin)
            sides = state.passages.sides(p.x)
            move_points[state.dimension](
                tasks, dt, obstacles, held_by.travelled, margin, clear_until, p.x, p.v, speed, broken
            )
            state.passages.count(sides, p.x, p.mass)
            if watched is not None:
                watched.load(state.obstacle_loads, held_by, obstacles, p.v, p.mass)
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
