"""Pore pressure from the motion of both phases, after [BandaraSoga15]: coupling = "pore-pressure".

Grains are incompressible, so the water of a saturated soil with porosity n is compressed by the inflow of both phases:
with the flux q = n v_w + (1 − n) v_s

    n dJ/J = ∇·q dt,    p = p(J) of the water's law.

∇·q contains the term (v_w − v_s)·∇n, so that water entering or leaving a soil keeps its pressure. The porosity of a
node

    n_i = V_w/(V_w + V_s),    V_w = Σ w m/ρw,    V_s = (1 − n₀) Σ w V

follows from the water and the solids there; it is n₀ in saturated sand up to its edge and 1 in pure water. A point of
water has the porosity n_p = Σ w n_i and the bulk volume V_b = m/(ρw n_p). The forces are the transpose of the flux:

    F_i = −Σ_p V_b τ_p ∇w,    n_i F_i on the water, (1 − n_i) F_i on the sand,

which are −n ∇p and −(1 − n) ∇p; momentum is conserved, and the work of the pressure equals the energy stored in the
water. The stress of the sand is the effective stress; Archimedes' buoyancy is included. Free water has its own density
ρw, and water that is in pores at the start the density n ρw, as for drag.

Behind walls that hold both species the flux is continued by `mpm/reflection.py`, and the forces by its transpose.
"""

import math
from typing import Any

import numpy as np
from numba import prange
from numpy.typing import NDArray

from spume.materials.kinematics import load
from spume.mixture.mixture import Mixture, MixtureFields, bulk_volume
from spume.mpm.implicit.coupled_system import PoreVolumes
from spume.mpm.nodes import NodeFields
from spume.mpm.reflection import Reflection
from spume.mpm.state import State
from spume.numerics.jit import compiled
from spume.numerics.tensor3 import det

Floats = NDArray[np.float64]


def find_pores(state: State, mixture: Mixture, fields: MixtureFields) -> PoreVolumes:
    """Porosity of the nodes and of the points of the water."""
    sand, water = state.species
    V_w = water.fields["mass"] / mixture.water_density
    V_s = (1.0 - mixture.porosity) * bulk_volume(state, sand, mixture.sand_densities, fields)
    both = V_w + V_s
    fields.porosity[:] = 1.0
    np.divide(V_w, both, out=fields.porosity, where=both > 0.0)
    p = water.particles
    at_points = np.ones(len(p))
    first = fields.fields.first("porosity")
    water.transfers.to_points(("scalar",), p.x, fields.fields.array, first_channel=first, scalar=at_points)
    return PoreVolumes(fields.porosity, at_points, p.mass / (mixture.water_density * at_points))


def share_pressure(state: State, pores: PoreVolumes, walls: Reflection, dt: float) -> None:
    """Replace the forces of the water on the nodes by those of its pore pressure, and add the sand's share to the
    forces of the sand. Call before forces become velocities."""
    sand, water = state.species
    p = water.particles
    force = NodeFields(force=state.dimension)
    force.fit(state.nodes)
    water.transfers.to_grid(("stress divergence",), p.x, force.array, volume=pores.bulk, stress=p.stress)
    walls.load(state, water, dt * walls.return_forces(force.array))
    n = pores.porosity[:, None, :]
    water.fields["force"][:] = n * force.array
    sand.fields["force"][:] += (1.0 - n) * force.array


def deform_by_flux(state: State, pores: PoreVolumes, walls: Reflection, dt: float) -> None:
    """Set the volume change of the water's points in the step to that of the flux of both phases.

    If the deformation of a step is of first order, the volume ratio is det(I + A) with A = Δt ∇q/n, as in the solver,
    else exp(tr A).
    """
    sand, water = state.species
    p = water.particles
    if len(p) == 0:
        return
    flux = NodeFields(flux=state.dimension)
    flux.fit(state.nodes)
    n = pores.porosity[:, None, :]
    flux.array[:] = n * water.fields["velocity"] + (1.0 - n) * sand.fields["velocity"]
    walls.without_leaving(flux.array).extend(flux.array)
    gradient = np.zeros((len(p), 3, 3))
    water.transfers.to_points(("gradient",), p.x, flux.array, tensor=gradient)
    exponential = 0 if water.scheme.deformation == "first-order" else 1
    _set_volume(gradient, pores.at_points, dt, exponential, water.deformation)


@compiled(parallel=True)
def _set_volume(gradient, porosity, dt, exponential, deformation):
    for p in prange(porosity.size):
        s = dt / porosity[p]
        l = load(gradient, p)
        if exponential == 1:
            volume = math.exp(s * (l[0] + l[4] + l[8]))
        else:
            volume = det(
                (
                    1.0 + s * l[0], s * l[1], s * l[2],
                    s * l[3], 1.0 + s * l[4], s * l[5],
                    s * l[6], s * l[7], 1.0 + s * l[8],
                )
            )  # fmt: skip
        scale = (volume / det(load(deformation, p))) ** (1.0 / 3.0)
        for i in range(3):
            for j in range(3):
                deformation[p, i, j] *= scale


def wave_speed(mixture: Mixture, sands: list[Any], waters: list[Any]) -> float:
    """Upper bound of the speed of pressure waves in saturated sand [m/s]; `sands` and `waters` are the materials.

    Without drag, pressure moves both phases: c² = K/n (n/ρw + (1 − n)²/ρs) with the bulk density ρs of the sand, to
    which the squared wave speed of the sand is added. Drag couples the phases, which makes waves slower.
    """
    if not sands or not waters:
        return 0.0
    n = mixture.porosity
    K = max(material.parameters.bulk_modulus for material in waters)
    fastest = 0.0
    for sand in sands:
        coupled = K / n * (n / mixture.water_density + (1.0 - n) ** 2 / sand.parameters.density)
        fastest = max(fastest, math.sqrt(coupled + sand.law.wave_speed(sand.parameters) ** 2))
    return fastest
