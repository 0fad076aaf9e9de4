"""Correction of the volume ratio J of water by the density on the grid.

J of a point changes with the divergence of the grid velocity, while points move with the grid velocity at their
positions. In splashes the two drift apart in two ways:

1. Water has no tension (`materials/water.py`): for J > 1 the pressure is zero while J follows the motion. In spray J
   follows the mean motion of separate drops and grows, although each drop keeps its volume. When the drops merge, J
   would still be above one: they would have no pressure until they were compressed by the amount J has gained, and
   their volume would be lost.
2. Points crowd together where water lands, while J remains one.

The density on the grid around a point is ρ = Σ_i w ρ_i with ρ_i = m_i/(h^d f_i), where f_i is the fraction of the
node's spline outside the obstacles, so that walls are not taken for free surfaces. The corrections are

    J ← min(J, max(1, ρ0/ρ))     for water that has come together again; the pressure stays zero
    J ← J + (J' − J) Δt/τ        where J differs from ρ0/ρ by more than BAND, towards the edge J' of the band

with τ = CROSSINGS h/c.

With pore pressure, J is the volume of the pores over that of the water, so water that fills the fraction S of the pores
has J ≥ (1 − BAND/n)/S, and no pressure unless S > 1 − BAND/n: points in pores are few, and S is uneven by as much.

Within the band, water at rest is not changed: the density on the grid is accurate to a few per cent only, and one per
cent of the bulk modulus exceeds the weight of the water. At a free surface and in spray ρ is low, and a J below ρ0/ρ is
not corrected. Fluids with tension are never corrected.
"""

import numpy as np
from numba import prange
from numpy.typing import NDArray

from spume.materials.history import field_of, values_of
from spume.mixture.mixture import Mixture, MixtureStep, bulk_volume
from spume.mpm.world import GridWorld
from spume.numerics.jit import compiled

Floats = NDArray[np.float64]

SPARSE = 1.1
"""Water whose density is lower than at rest by this factor is at a free surface."""
BAND = 0.05
"""Relative difference allowed between J and ρ0/ρ."""
CROSSINGS = 20.0
"""Decay time of the drift, in units of the time h/c in which sound crosses a cell."""
LEAST_ROOM = 0.05
"""Smallest fraction of a node's volume that is available to water between solids."""
LEAST_PART = 1.0 / 48.0
"""Smallest fraction of a spline outside the obstacles: that of a node one cell deep in a wall."""


def restore_volume(world: GridWorld, dt: float, mixture: Mixture, step: MixtureStep) -> None:
    """Correct J of all points of the water. Requires the masses and contacts of the nodes."""
    water = world.species[1]
    p = water.particles
    now, wider, least = volume_ratios(world, mixture, step)
    materials, arrays = water.model.materials, p.arrays()
    rates = np.array([law.wave_speed(parameters) for law, parameters in materials]) / (CROSSINGS * world.cell)
    decay = -np.expm1(-dt * rates)
    for use in water.model.laws:
        if (fluid := use.law.traits.fluid) is not None:
            free = values_of(use, fluid.separates, materials) > 0.0
            _restore(p.material, free, decay, now, wider, least, field_of(use, fluid.volume_ratio, arrays))


def volume_ratios(world: GridWorld, mixture: Mixture, step: MixtureStep) -> tuple[Floats, Floats, Floats]:
    """Return ρ0/ρ at each point of the water, the factor of its band, and the least J in pores that are not full.

    With pore pressure, the solids occupy part of a node's volume: ρ0/ρ is the pore volume over the volume of the water.
    The total volume is accurate to a few per cent, so the band is wider by 1/n in pores. ρ0/ρ and the least J are made
    of the same sums, and nodes in sand have at least the volume of its pores, so that the least J never exceeds the
    upper edge of the band. Limits that contradict each other would move J up and down in turn, and the delay of one of
    them would feed oscillations of the water.
    """
    sand, water = world.species
    p, fields, pores = water.particles, step.fields, step.pores
    near = fields.work(len(p))
    room = np.full_like(fields.density, world.cell**world.dimension)
    contacts = world.contacts_of(water)
    node = contacts.node
    if node.size:
        part = np.maximum(outer_part(contacts.numbers[:, 7] / world.cell, world.nodes.order), LEAST_PART)
        np.multiply.at(room, (node // 64, node % 64), part)
    if pores is not None:
        solids = (1.0 - mixture.porosity) * bulk_volume(world, sand, mixture.sand_densities, fields)
        np.maximum(room, fields.present["volume"], out=room)
        np.maximum(room - solids, LEAST_ROOM * room, out=fields.density)
    else:
        np.divide(water.fields["mass"], room, out=fields.density)
    first = fields.fields.first("density")
    water.transfers.to_points(("scalar",), p.x, fields.fields.array, first_channel=first, scalar=near)
    if pores is None:
        return p.mass / (p.volume * near), np.ones(len(p)), np.zeros(len(p))
    wider = 1.0 / pores.at_points
    return near / pores.held, wider, (1.0 - BAND * wider) / pores.filled


def outer_part(distance: NDArray[np.float64], order: int) -> NDArray[np.float64]:
    """Fraction of the B-spline around a node that lies outside a wall, from the node's signed distance to the wall
    [cells], negative inside.

    >>> outer_part(np.array([-1.5, -1.0, 0.0, 1.0]), 2).tolist()
    [0.0, 0.020833333333333332, 0.5, 0.9791666666666666]
    """
    a = np.abs(distance)
    if order == 2:  # 1 minus the integral of the quadratic spline up to a
        tail = np.where(a < 0.5, 0.5 - 0.75 * a + a**3 / 3.0, np.maximum(1.5 - a, 0.0) ** 3 / 6.0)
    else:
        tail = np.where(a < 1.0, 0.5 - 2.0 * a / 3.0 + a**3 / 3.0 - a**4 / 8.0, np.maximum(2.0 - a, 0.0) ** 4 / 24.0)
    return np.asarray(np.where(distance <= 0.0, tail, 1.0 - tail))


@compiled(parallel=True)
def _restore(material, free, decay, now, wider, least, J):
    """Correct J; `now` is ρ0/ρ of each point, `wider` the factor of its band, and J is at least
    `least` where that exceeds one: in pores that are not full."""
    for p in prange(J.size):
        m = material[p]
        if free[m]:
            band = BAND * wider[p]
            if J[p] > 1.0:
                J[p] = min(J[p], max(1.0, now[p]))
            if J[p] > (1.0 + band) * now[p]:
                J[p] += decay[m] * ((1.0 + band) * now[p] - J[p])
            elif J[p] < (1.0 - band) * now[p] and now[p] < 1.0 + (SPARSE - 1.0) * wider[p]:
                J[p] += decay[m] * ((1.0 - band) * now[p] - J[p])
            if least[p] > 1.0:
                J[p] = max(J[p], least[p])
