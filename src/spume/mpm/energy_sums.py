"""Sums over nodes and points for the energy budget.

Both are summed by block, points in the order of their cells and ids; then the sums of the blocks of all ranks are
added. The bits depend neither on threads and ranks nor on the order of the arrays.
"""

import numpy as np
from numba import prange
from numpy.typing import NDArray

from spume.geometry.obstacles.collision import find_owners, obstacle_velocity
from spume.geometry.obstacles.obstacle_set import ObstacleArrays
from spume.grid.blocks import CELLS_PER_BLOCK
from spume.grid.cells import Cells
from spume.grid.contacts import Contacts
from spume.grid.nodes import Nodes
from spume.matter.frame_fields import power_of
from spume.matter.obstacle_loads import split
from spume.mpm.species import GridSpecies
from spume.numerics.jit import compiled
from spume.ranks.ranks import Ranks

Floats = NDArray[np.float64]


def node_energies(nodes: Nodes, fields: Floats) -> tuple[float, float]:
    """½ Σ m v⁰² [J] of nodes with the velocity v⁰ before the step, and its change in the step, Σ m Δv·(v − Δv/2); from
    the channels mass, velocity v and change Δv of `fields` (blocks, channels, 64)."""
    parts = np.empty((len(fields), 2))
    _node_energies(fields, (fields.shape[1] - 1) // 2, parts)
    before, gained = nodes.border.all_blocks(parts.T).T.copy().sum(axis=0)
    return float(before), float(gained)


def contact_work(
    ranks: Ranks, nodes: Nodes, contacts: Contacts, velocity: Floats, change: Floats, impulse: Floats
) -> tuple[float, float]:
    """Work of the contacts on the nodes, and that done by the motion of their obstacles [J]: Σ I·v̄ and Σ I·u with the
    velocity u of an obstacle. `impulse` [N s] is that of the node of each contact."""
    node, numbers = contacts.node, contacts.numbers
    d = nodes.dimension
    block, local = node // 64, node % 64
    mean = velocity[block, :, local] - 0.5 * change[block, :, local]
    first = np.r_[True, node[1:] != node[:-1]][: node.size]
    counted = np.zeros(node.size, np.bool_)
    counted[nodes.border.counts(node)] = True
    driven = split(node, numbers[:, :d], impulse) * numbers[:, 3 : 3 + d]
    work, moved = ranks.totals([(impulse * mean)[first & counted], driven[counted]])
    return work, moved


def work_of_obstacles(
    ranks: Ranks, obstacles: ObstacleArrays, x: Floats, mass: Floats, before: Floats, after: Floats
) -> float:
    """Σ m Δv·u of points at `x` whose velocity `before` obstacles with the velocity u have changed to `after` [J]."""
    hit = np.flatnonzero((after != before).any(axis=1))
    d = x.shape[1]
    place = np.ascontiguousarray(np.pad(x[hit], ((0, 0), (0, 3 - d))))
    owner = np.zeros(hit.size, np.int64)
    if obstacles.number > 1:
        find_owners(obstacles, place, owner)
    surface = np.zeros((hit.size, 3))
    _surface_velocities(obstacles, place, owner, surface)
    impulse = mass[hit, None] * (after[hit] - before[hit])
    return ranks.dot(impulse, np.ascontiguousarray(surface[:, :d]))


def gathered(ranks: Ranks, species: GridSpecies, second_moment: float, power: Floats) -> float:
    """Kinetic energy of the points [J]; write the work τ : ln f of their stress in the deformation of the step [J/m³]
    to `power`."""
    p, affine = species.particles, species.affine_velocity
    points, parts = _blocks(species.cells, 1)
    _gathered(*points, p.mass, p.v, affine, second_moment, p.stress, species.deformation, power, parts)
    return ranks.total(parts)


def in_material(
    ranks: Ranks, species: GridSpecies, gravity: Floats, power: Floats, energies: tuple[Floats, Floats],
    dissipated: tuple[Floats, Floats], weak: NDArray[np.uint8],
) -> list[float]:  # fmt: skip
    """Sums over the points: work of the mean stress, flow, what torn points lose beyond it, elastic energy, and energy
    in gravity [J].

    power: work of the stress before the step [J/m³]. energies, dissipated: elastic energy and dissipated energy before
    and after the material was updated [J/m³]; they may be empty, and likewise `weak`.
    """
    p = species.particles
    points, parts = _blocks(species.cells, 5)
    fluid = np.array([law.traits.fluid is not None for law, _ in species.model.materials])
    _in_material(
        *points, p.x, p.mass, species.energy_volume, gravity, p.stress, species.deformation, power, *energies,
        *dissipated, weak, fluid, p.material, parts,
    )  # fmt: skip
    return ranks.totals(list(parts.T))


def moved(ranks: Ranks, species: GridSpecies, second_moment: float, gravity: Floats) -> tuple[float, float]:
    """Kinetic energy of the points and their energy in gravity [J]."""
    p = species.particles
    points, parts = _blocks(species.cells, 2)
    _moved(*points, p.x, p.mass, p.v, species.affine_velocity, second_moment, gravity, parts)
    kinetic, potential = ranks.totals(list(parts.T))
    return kinetic, potential


def _blocks(cells: Cells, sums: int) -> tuple[tuple[NDArray[np.int64], NDArray[np.int32]], Floats]:
    """The points by block: where each block begins in their order, and this order; and room for sums of each block."""
    first = cells.cell_start[::CELLS_PER_BLOCK].copy()  # contiguous, as it is for a single block, too
    return (first, cells.sorted_points), np.zeros((len(cells), sums))


@compiled(parallel=True)
def _node_energies(fields, D, parts):
    for block in prange(fields.shape[0]):
        before = 0.0
        gained = 0.0
        for node in range(fields.shape[2]):
            square = 0.0
            work = 0.0
            for q in range(D):
                change = fields[block, 1 + D + q, node]
                v = fields[block, 1 + q, node]
                square += (v - change) * (v - change)
                work += change * (v - 0.5 * change)
            before += 0.5 * fields[block, 0, node] * square
            gained += fields[block, 0, node] * work
        parts[block, 0] = before
        parts[block, 1] = gained


@compiled(inline="always")
def _kinetic(p, mass, v, C, moment):
    square = 0.0
    for q in range(v.shape[1]):
        square += v[p, q] * v[p, q]
    if C.shape[0] > 0:
        affine = 0.0
        for i in range(v.shape[1]):
            for j in range(v.shape[1]):
                affine += C[p, i, j] * C[p, i, j]
        square += moment * affine
    return 0.5 * mass[p] * square


@compiled(inline="always")
def _potential(p, x, mass, gravity):
    height = 0.0
    for q in range(x.shape[1]):
        height -= gravity[q] * x[p, q]
    return mass[p] * height


@compiled(parallel=True)
def _gathered(first, order, mass, v, C, moment, stress, deformation, power, parts):
    for block in prange(parts.shape[0]):
        kinetic = 0.0
        for n in range(first[block], first[block + 1]):
            p = order[n]
            kinetic += _kinetic(p, mass, v, C, moment)
            power[p] = power_of(p, stress, deformation)
        parts[block, 0] = kinetic


@compiled(parallel=True)
def _in_material(
    first, order, x, mass, volume, gravity, stress, deformation, power, W0, W1, D0, D1, weak, fluid, material, parts
):
    known, flows, tears = W0.size > 0, D0.size > 0, weak.size > 0
    for block in prange(parts.shape[0]):
        work, flow, torn, elastic, potential = 0.0, 0.0, 0.0, 0.0, 0.0
        for n in range(first[block], first[block + 1]):
            p = order[n]
            V = volume[p]
            recorded = D1[p] - D0[p] if flows else 0.0
            gain = W1[p] - W0[p] if known else 0.0
            elastic += V * W1[p] if known else 0.0
            potential += _potential(p, x, mass, gravity)
            if tears and weak[p] != 0:
                work += V * power[p]
                flow += V * recorded
                torn += V * (power[p] - gain - recorded)
            else:
                mean = 0.5 * (power[p] + power_of(p, stress, deformation))
                if known and fluid[material[p]] and (W0[p] == 0.0) != (W1[p] == 0.0):
                    mean = gain + recorded  # water that parts or meets: its pressure has a kink
                work += V * mean
                if recorded != 0.0:
                    flow += V * (mean - gain)
        parts[block, 0] = work
        parts[block, 1] = flow
        parts[block, 2] = torn
        parts[block, 3] = elastic
        parts[block, 4] = potential


@compiled(parallel=True)
def _moved(first, order, x, mass, v, C, moment, gravity, parts):
    for block in prange(parts.shape[0]):
        kinetic = 0.0
        potential = 0.0
        for n in range(first[block], first[block + 1]):
            p = order[n]
            kinetic += _kinetic(p, mass, v, C, moment)
            potential += _potential(p, x, mass, gravity)
        parts[block, 0] = kinetic
        parts[block, 1] = potential


@compiled
def _surface_velocities(obstacles, x, owner, velocity):
    for p in range(x.shape[0]):
        if owner[p] >= 0:
            vx, vy, vz = obstacle_velocity(obstacles, owner[p], x[p, 0], x[p, 1], x[p, 2])
            velocity[p, 0], velocity[p, 1], velocity[p, 2] = vx, vy, vz
