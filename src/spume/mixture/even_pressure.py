"""Removal of pressures that exert no force.

There are more points than nodes, so that many patterns of pressures exert no force: with two points per cell along an
axis, pressures that alternate from row to row. Steep pressures at a drained end, water that arrives from several places
and corrections of J leave such patterns, and nothing in the equations ever removes them: next to a drained end, single
rows of points were off by 17 % of the load while the sand felt a pressure that was right to 2 %. With A, the mean over
nodes of linear functions fitted to the points around them (`linear_fit.py`),

    J ← J − (1 − exp(−Δt/τ)) (I − A)² J,    τ = CROSSINGS h/c,  c² = K/ρw.

A is zero for alternating rows and, between edges of the water, the identity for quadratic functions, apart from what
SPREAD adds; therefore I − A is squared. It is symmetric with the volumes V of the water as weights, and its eigenvalues
are between zero and one. The volume Σ V J is conserved, and the energy ½ K Σ V (J − 1)² never grows.

Only water under pressure takes part, each fluid of another stiffness by itself: J > 1 is air around the points.
"""

import math

import numpy as np
from numpy.typing import NDArray

from spume.grid.blocks import NODES_PER_BLOCK
from spume.materials.history import field_of, values_of
from spume.mixture.linear_fit import fit_linear
from spume.mixture.mixture import Mixture
from spume.mpm.world import GridWorld

Floats = NDArray[np.float64]

CROSSINGS = 20.0
"""Decay time τ in units of the time h/c in which sound crosses a cell"""


def even_pressure(world: GridWorld, dt: float, mixture: Mixture) -> None:
    """Remove from J of the water what exerts no force. Requires sorted points. Applied about four times in τ."""
    water = world.species[1]
    p = water.particles
    materials, arrays = water.model.materials, p.arrays()
    for use in water.model.laws:
        fluid = use.law.traits.fluid
        if fluid is None:
            continue
        J = field_of(use, fluid.volume_ratio, arrays)
        free, stiffness = (values_of(use, f, materials) for f in (fluid.separates, fluid.bulk_modulus))
        pressed = ~((free[p.material] > 0.0) & (J >= 1.0))
        for K in np.unique(stiffness[stiffness > 0.0]):
            chosen = pressed & (stiffness[p.material] == K)
            if not world.ranks.any(bool(chosen.any())):
                continue
            volume = np.where(chosen, p.mass / mixture.water_density, 0.0)
            decay = CROSSINGS * world.cell / math.sqrt(K / mixture.water_density)
            every = max(1, int(0.25 * decay / dt))
            if world.steps % every == 0:
                J[chosen] += (math.expm1(-every * dt / decay) * _rough(world, J, volume))[chosen]


def _rough(world: GridWorld, values: Floats, volume: Floats) -> Floats:
    """(I − A)² of values of points of the water that stand for the volumes `volume`; where zero, they do not count."""
    water = world.species[1]
    fit = fit_linear(world, water, volume, np.ones((len(world.nodes), NODES_PER_BLOCK)))
    result = values - 1.0
    for _ in range(2):
        result = result - fit.carry(water, volume * result, water)
    return result
