"""Momentum exchange between sand and water at the nodes: [Tampubolon17] sections 3.3 and 4.2.

Drag is implicit: a system of two equations is solved at each node,

    m_s (v_s − v_s*) = −Δt c (v_s − v_w),   m_w (v_w − v_w*) = Δt c (v_s − v_w)

so the relative velocity shrinks by 1/(1 + Δt c (1/m_s + 1/m_w)), the total momentum is conserved, and drag never limits
the time step. Where an obstacle prescribes the velocity of one species, the other solves its own equation.
"""

import numpy as np
from numba import prange
from numpy.typing import NDArray

from spume.matter.obstacle_loads import load_by_nodes
from spume.mixture.mixture import Mixture, MixtureFields, MixtureStep, bulk_volume
from spume.mpm.species import GridSpecies
from spume.mpm.step import gaps_of
from spume.mpm.world import GridWorld
from spume.numerics.jit import compiled


def find_drag(world: GridWorld, dt: float, mixture: Mixture, step: MixtureStep) -> None:
    """Compute the drag coefficients of the nodes.

    With `drag_coefficient`: c_E m_s m_w, eqs. (20) and (21); c_E depends on the cell size.
    With `hydraulic_conductivity`: C V S with the bulk volume V of the sand at the node and the degree of saturation
    S = m_w/(n ρw V), at most one; deep in saturated sand this is C h^d for every cell size h.
    """
    sand, water = world.species
    fields = step.fields
    m_s, m_w = sand.fields["mass"], water.fields["mass"]
    if mixture.drag_coefficient is not None:
        np.multiply(mixture.drag_coefficient * m_s, m_w, out=fields.drag)
        return
    volume = bulk_volume(world, sand, mixture.sand_densities, fields)
    full = m_w / (mixture.porosity * mixture.water_density)  # bulk volume that the water would saturate
    np.multiply(mixture.drag_per_volume, np.minimum(volume, full), out=fields.drag)


def push(world: GridWorld, dt: float, mixture: Mixture, step: MixtureStep) -> None:
    """Apply the buoyancy printed at the end of [Tampubolon17] section 5.3: move the water's fraction of the mass,
    m_w/(m_s + m_w), of its internal force to the sand, with the point volumes that are missing there. Call before
    forces become velocities."""
    step.pushed = None
    if mixture.buoyancy == "none":
        return
    sand, water = world.species
    m_s, m_w = sand.fields["mass"], water.fields["mass"]
    both = m_s + m_w
    share = np.divide(m_w, both, out=np.zeros_like(both), where=both > 0.0)
    share[(m_s <= 0.0) | (m_w <= 0.0)] = 0.0
    step.pushed = taken = share[:, None, :] * water.fields["force"]
    sand.fields["force"][:] += taken
    water.fields["force"][:] -= taken


def drag(world: GridWorld, dt: float, step: MixtureStep) -> None:
    """Apply implicit drag and the contacts of both species, which must have been found."""
    sand, water = world.species
    fields = step.fields
    water_before = _velocity_at_contacts(world, water, sand)
    sand_before = _velocity_at_contacts(world, sand, water)
    _drag(fields.drag, dt, sand.fields.array, water.fields.array)
    contacts, node = _contacts_of_both(world)
    free = _momentum(world, node)
    sand_gaps, water_gaps = gaps_of(world, sand), gaps_of(world, water)
    # sand first: the water flows through the sand as held by obstacles
    _collide(world, sand, sand_gaps, dt)
    _solve_row(world, water, sand, water_before, fields, dt)
    _collide(world, water, water_gaps, dt)
    _solve_row(world, sand, water, sand_before, fields, dt)
    _collide(world, sand, sand_gaps, dt)
    load_both(world, contacts, node, _momentum(world, node) - free)


def _collide(world: GridWorld, species: GridSpecies, gaps: NDArray[np.float64], dt: float) -> None:
    world.contacts_of(species).apply(species.fields["velocity"], species.fields["change"], gaps, dt)


Contacted = list[tuple[GridSpecies, NDArray[np.bool_]]]
"""A species with contacts, and which of them share in the impulses of the nodes."""


def _contacts_of_both(world: GridWorld) -> tuple[Contacted, NDArray[np.int64]]:
    """Contacts of both species, each node assigned to one species, and the nodes of all of them."""
    sand, water = world.species
    first, second = world.contacts_of(sand).node, world.contacts_of(water).node
    if world.contacts_of(sand) is world.contacts_of(water):
        return [(sand, np.ones(first.size, np.bool_))], first
    other = ~np.isin(second, first)
    return [(sand, np.ones(first.size, np.bool_)), (water, other)], np.concatenate([first, second[other]])


def _momentum(world: GridWorld, node: NDArray[np.int64]) -> NDArray[np.float64]:
    """Momentum of both species at nodes [kg m/s], shape (n, d)."""
    block, local = node // 64, node % 64
    parts = (s.fields["mass"][block, local][:, None] * s.fields["velocity"][block, :, local] for s in world.species)
    return sum(parts, start=np.zeros((node.size, world.dimension)))


def load_both(world: GridWorld, contacts: Contacted, node: NDArray[np.int64], taken: NDArray[np.float64]) -> None:
    """Add the impulses on both species at the nodes of `_contacts_of_both` to the loads on obstacles. An obstacle that
    holds the sand also bears the water dragged by it."""
    if not world.obstacle_loads.active:
        return
    start = 0
    for species, acting in contacts:
        count = int(acting.sum())
        impulse = np.zeros((acting.size, world.dimension))
        impulse[acting] = taken[start : start + count]
        start += count
        load_by_nodes(world.obstacle_loads, world.contacts_of(species), world.nodes, impulse, acting)


def _velocity_at_contacts(world: GridWorld, species: GridSpecies, held: GridSpecies) -> NDArray[np.float64]:
    """Velocities of `species` at the nodes where `held` has contacts, shape (contacts, d)."""
    node = world.contacts_of(held).node
    found: NDArray[np.float64] = species.fields["velocity"][node // 64, :, node % 64]
    return found


def _solve_row(
    world: GridWorld,
    species: GridSpecies,
    held: GridSpecies,
    before: NDArray[np.float64],
    fields: MixtureFields,
    dt: float,
) -> None:
    """At the nodes where `held` has contacts, solve for the velocity of `species` given that of `held`."""
    node = world.contacts_of(held).node
    if node.size:
        _row(node, fields.drag, dt, before, held.fields.array, species.fields.array)


@compiled(inline="always")
def _add(fields, block, q, node, D, change):
    """Add `change` to the velocity of a node and to its change in the step. Channels: mass, velocity, change."""
    fields[block, 1 + q, node] += change
    fields[block, 1 + D + q, node] += change


@compiled(parallel=True)
def _drag(c, dt, sand, water):
    D = sand.shape[1] // 2
    for block in prange(c.shape[0]):
        for node in range(64):
            m_s, m_w = sand[block, 0, node], water[block, 0, node]
            if m_s > 0.0 and m_w > 0.0:
                k = dt * c[block, node]
                k /= 1.0 + k * (1.0 / m_s + 1.0 / m_w)
                for q in range(D):
                    impulse = k * (sand[block, 1 + q, node] - water[block, 1 + q, node])
                    _add(sand, block, q, node, D, -impulse / m_s)
                    _add(water, block, q, node, D, impulse / m_w)


@compiled(parallel=True)
def _row(nodes, c, dt, before, held, fields):
    D = held.shape[1] // 2
    for n in prange(nodes.size):
        block, node = nodes[n] // 64, nodes[n] % 64
        if n > 0 and nodes[n] == nodes[n - 1]:
            continue
        m = fields[block, 0, node]
        if m > 0.0 and held[block, 0, node] > 0.0:
            k = dt * c[block, node]
            for q in range(D):
                solved = (m * before[n, q] + k * held[block, 1 + q, node]) / (m + k)
                _add(fields, block, q, node, D, solved - fields[block, 1 + q, node])
