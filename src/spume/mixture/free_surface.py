"""The volume of water: J follows the density on the grid where the motion of the points has lost it.

J of a point moves with the divergence of the smooth velocity of the grid, the points themselves with its values at
their places. The two drift apart in splashes, in two ways.

1. Water has no tension (`materials/water.py`): beyond its rest volume, J > 1, the pressure is zero while J follows the
   motion. In spray J follows the mean motion of separate drops and grows, though each drop keeps its volume. When the
   drops come together, J would still be above one: they would carry no pressure until they are compressed by all that
   J has gained, and their volume would be lost.
2. Points crowd together where water lands, while J still says one.

The density of the grid around a point, ρ = Σ_i w ρ_i with ρ_i = m_i/(h^d f_i), tells. f_i is the part of the node's
spline outside the obstacles, so that walls do not look like free surfaces.

    J ← min(J, max(1, ρ0/ρ))     what has come together is whole again; the pressure stays zero
    J ← J + (J' − J) Δt/τ        where J is off ρ0/ρ by more than BAND, towards the edge J' of the band

with τ = CROSSINGS h/c.

The band leaves water alone that is at rest: the density of the grid is known to a few per cent only, and one per cent
of the bulk modulus is more than the weight of the water. At a free surface and in spray ρ is low, and a J below ρ0/ρ is
left to the motion. Water with tension = "full" is left as it is.
"""

import numpy as np
from numba import prange
from numpy.typing import NDArray

from spume.mixture.mixture import MixtureFields
from spume.mpm.species import Species
from spume.mpm.state import State
from spume.numerics.jit import compiled

SPARSE = 1.1
"""Water this much thinner than at rest is at a free surface."""
BAND = 0.05
"""Part by which J may differ from the density of the grid."""
CROSSINGS = 20.0
"""Time in which drift decays, in times that sound takes to cross a cell."""
LEAST_PART = 1.0 / 48.0
"""Least part of a spline outside the obstacles that is told from none: that of a node a cell deep in a wall."""


def restore_volume(state: State, water: Species, fields: MixtureFields, dt: float) -> None:
    """Apply the rules to all points of `water`. Masses and contacts of the nodes must be known."""
    p = water.particles
    if len(p) == 0:
        return
    near = fields.work(len(p))
    np.copyto(fields.density, water.fields["mass"])
    contacts = state.contacts_of(water)
    node = contacts.node
    if node.size:
        part = np.maximum(outer_part(contacts.numbers[:, 7] / state.cell, state.nodes.order), LEAST_PART)
        np.divide.at(fields.density, (node // 64, node % 64), part)
    first = fields.fields.first("density")
    water.transfers.to_points(("scalar",), p.x, fields.fields.array, first_channel=first, scalar=near)
    materials = water.model.materials
    free = np.array([getattr(parameters, "tension", "full") == "none" for _, parameters in materials])
    rates = np.array([law.wave_speed(parameters) for law, parameters in materials]) / (CROSSINGS * state.cell)
    decay = -np.expm1(-dt * rates)
    _restore(p.material, free, decay, p.mass, p.volume, near, state.cell**state.dimension, p.Jw)


def outer_part(distance: NDArray[np.float64], order: int) -> NDArray[np.float64]:
    """Part of the B-spline around a node that lies outside a wall, by the node's distance from it [cells], negative
    inside.

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
def _restore(material, free, decay, mass, volume, near, cell_volume, J):
    for p in prange(J.size):
        m = material[p]
        if free[m]:
            now = mass[p] * cell_volume / (volume[p] * near[p])  # ρ0/ρ
            if J[p] > 1.0:
                J[p] = min(J[p], max(1.0, now))
            if J[p] > (1.0 + BAND) * now:
                J[p] += decay[m] * ((1.0 + BAND) * now - J[p])
            elif J[p] < (1.0 - BAND) * now and now < SPARSE:
                J[p] += decay[m] * ((1.0 - BAND) * now - J[p])
