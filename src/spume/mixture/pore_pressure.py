"""Pore pressure from the motion of both phases, after [BandaraSoga15]: coupling = "pore-pressure".

Grains are incompressible, so the water of a saturated soil with porosity n is compressed by the inflow of both phases:
with the flux q = n v_w + (1 − n) v_s

    n dJ/J = ∇·q dt,    p = p(J) of the water's law.

∇·q contains the term (v_w − v_s)·∇n, so that water entering or leaving a soil keeps its pressure. The porosity of a
node

    n_i = V_p/(V_p + V_s),    V_p = max(V_w, Σ w J V − V_s),    V_w = Σ w m/ρw,    V_s = (1 − n₀) Σ w V

follows from the water, the solids and the pores between them, whose volume changes with J of the sand; it is n₀ in
sand at rest up to its edge and 1 in pure water.

Pores that are not full carry no pressure. Around a point of water the fraction S = Σ w V_w/Σ w V_p of the pores is
filled, and J is the volume of the pores over that of the water: `free_surface.restore_volume` keeps J near 1/S or
above, where water without tension has no pressure, and a compression of both phases has to close the pores first.

The forces are the transpose of the flux: with F_i of the volumes of water and grains (`solids.py`)

    n_i F_i on the water, (1 − n_i) F_i on the sand,

which are −n ∇p and −(1 − n) ∇p; momentum is conserved, and the work of the pressure equals the energy stored in the
water. The stress of the sand is the effective stress; Archimedes' buoyancy is included. Free water has its own density
ρw, and water that is in pores at the start the density n ρw, as for drag.

Behind walls that hold both species the flux is continued by `reflection.py`, and the forces by its transpose.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numba import prange
from numpy.typing import NDArray

from spume.grid.nodes import NodeFields
from spume.materials.kinematics import load
from spume.materials.table import Material
from spume.mixture.mixture import Mixture, MixtureStep, PoreVolumes, bulk_volume, present_volume
from spume.mixture.reflection import Reflection, closed_walls
from spume.mixture.solids import find_solids
from spume.mpm.implicit.coupled_system import SharedFlux
from spume.mpm.world import GridWorld
from spume.numerics.jit import compiled
from spume.numerics.tensor3 import det

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class PoreFlux:
    """The flux of both phases in the equations of a semi-implicit step (`coupled_system.SharedFlux`)."""

    world: GridWorld
    pores: PoreVolumes
    walls: Reflection

    @property
    def share(self) -> Floats:
        """n of the nodes [1], shape (blocks, 64)."""
        return self.pores.porosity

    @property
    def volume(self) -> Floats:
        """Volume with which the points of the water act [m³]."""
        return self.pores.solids.bulk

    @property
    def energy_volume(self) -> Floats:
        """Volume of the points of the water [m³]."""
        return self.pores.solids.water

    @property
    def stiffness_volume(self) -> Floats:
        """Volume of the points of the water over n² [m³]."""
        return self.pores.solids.water / self.pores.at_points**2

    def add_solids(self, flux: Floats, gradient: Floats) -> None:
        """Turn gradients of a flux at the points of the water into those with which the water deforms."""
        self.pores.solids.add_divergence(flux, gradient)

    def add_forces(self, tensor: Floats, force: Floats) -> None:
        """Add the forces of the stress (n, 3, 3) of the water on the grains: the transpose."""
        self.pores.solids.add_forces(np.trace(tensor, axis1=1, axis2=2) / 3.0, force)

    def _closed(self, engaged: NDArray[np.bool_]) -> Reflection:
        return self.walls.only(engaged[self.walls.contact])

    def extend(self, flux: Floats, engaged: NDArray[np.bool_], moving: bool) -> None:
        """Continue a flux, or a change of one unless `moving`, behind the walls."""
        closed = self._closed(engaged)
        (closed if moving else closed.at_rest()).extend(flux)

    def return_forces(self, force: Floats, engaged: NDArray[np.bool_]) -> None:
        """Apply the transpose to the forces."""
        self._closed(engaged).return_forces(force)

    def load_walls(self, force: Floats, engaged: NDArray[np.bool_], dt: float) -> None:
        """Add the impulses of the walls in dt [s] to the loads on obstacles."""
        closed = self._closed(engaged)
        closed.load(self.world, self.world.species[1], dt * closed.return_forces(force))


def pore_flux(world: GridWorld, pores: PoreVolumes | None) -> Callable[[], SharedFlux] | None:
    """Function that returns the flux once contacts have been found; None without pore pressure."""
    if pores is None:
        return None
    sand, water = world.species
    return lambda: PoreFlux(world, pores, closed_walls(world, water, sand))


def find_pores(world: GridWorld, dt: float, mixture: Mixture, step: MixtureStep) -> None:
    """Compute the porosity of the nodes and of the points of the water."""
    sand, water = world.species
    fields = step.fields
    V_w = water.fields["mass"] / mixture.water_density
    V_s = (1.0 - mixture.porosity) * bulk_volume(world, sand, mixture.sand_densities, fields)
    np.subtract(present_volume(sand, fields), V_s, out=fields.pores)
    occupied = np.maximum(V_w, fields.pores)
    both = occupied + V_s
    fields.porosity[:] = 1.0
    np.divide(occupied, both, out=fields.porosity, where=both > 0.0)

    p = water.particles
    grains = (1.0 - mixture.porosity) * sand.particles.volume
    solids = find_solids(world, grains, p.mass / mixture.water_density, V_w, occupied)
    at_points, mass, room = np.ones(len(p)), np.ones(len(p)), np.ones(len(p))
    for name, values in (("porosity", at_points), ("pores", room)):
        first = fields.fields.first(name)
        water.transfers.to_points(("scalar",), p.x, fields.fields.array, first_channel=first, scalar=values)
    first = water.fields.first("mass")
    water.transfers.to_points(("scalar",), p.x, water.fields.array, first_channel=first, scalar=mass)
    held = mass / mixture.water_density
    filled = held / np.maximum(room, held)
    step.pores = PoreVolumes(fields.porosity, at_points, filled, held, solids)


def find_walls(world: GridWorld, dt: float, step: MixtureStep) -> None:
    """Find the walls that close the pores. Requires the contacts of the nodes."""
    sand, water = world.species
    step.walls = closed_walls(world, water, sand)


def share_pressure(world: GridWorld, dt: float, step: MixtureStep) -> None:
    """Replace the forces of the water on the nodes by those of its pore pressure, and add the sand's share to the
    forces of the sand. Call before forces become velocities."""
    sand, water = world.species
    pores, walls = _found(step)
    p = water.particles
    force = NodeFields(force=world.dimension)
    force.fit(world.nodes)
    water.transfers.to_grid(("stress divergence",), p.x, force.array, volume=pores.solids.bulk, stress=p.stress)
    pores.solids.add_forces(p.stress[:, :3].sum(axis=1) / 3.0, force.array)
    walls.load(world, water, dt * walls.return_forces(force.array))
    n = pores.porosity[:, None, :]
    water.fields["force"][:] = n * force.array
    sand.fields["force"][:] += (1.0 - n) * force.array


def deform_by_flux(world: GridWorld, dt: float, step: MixtureStep) -> None:
    """Set the volume change of the water's points in the step to that of the flux of both phases.

    With A = Δt (∇q + what grains displace), the volume ratio is det(I + A), as in the solver, if the deformation of a
    step is of first order, else exp(tr A).
    """
    sand, water = world.species
    p = water.particles
    pores, walls = _found(step)
    flux = NodeFields(flux=world.dimension)
    flux.fit(world.nodes)
    n = pores.porosity[:, None, :]
    flux.array[:] = n * water.fields["velocity"] + (1.0 - n) * sand.fields["velocity"]
    walls.without_leaving(flux.array).extend(flux.array)
    gradient = np.zeros((len(p), 3, 3))
    water.transfers.to_points(("gradient",), p.x, flux.array, tensor=gradient)
    pores.solids.add_divergence(flux.array, gradient)
    exponential = 0 if water.scheme.deformation == "first-order" else 1
    _set_volume(gradient, dt, exponential, water.deformation)


def _found(step: MixtureStep) -> tuple[PoreVolumes, Reflection]:
    """What `find_pores` and `find_walls` have found in the step."""
    assert step.pores is not None
    assert step.walls is not None
    return step.pores, step.walls


@compiled(parallel=True)
def _set_volume(gradient, dt, exponential, deformation):
    for p in prange(gradient.shape[0]):
        l = load(gradient, p)
        if exponential == 1:
            volume = math.exp(dt * (l[0] + l[4] + l[8]))
        else:
            volume = det(
                (
                    1.0 + dt * l[0], dt * l[1], dt * l[2],
                    dt * l[3], 1.0 + dt * l[4], dt * l[5],
                    dt * l[6], dt * l[7], 1.0 + dt * l[8],
                )
            )  # fmt: skip
        scale = (volume / det(load(deformation, p))) ** (1.0 / 3.0)
        for i in range(3):
            for j in range(3):
                deformation[p, i, j] *= scale


def wave_speed(mixture: Mixture, sands: list[Material], waters: list[Material]) -> float:
    """Upper bound of the speed of pressure waves in saturated sand [m/s]; `sands` and `waters` are the materials.

    Without drag, pressure moves both phases: c² = K/n (n/ρw + (1 − n)²/ρs) with the bulk density ρs of the sand, to
    which the squared wave speed of the sand is added. Drag couples the phases, which makes waves slower.
    """
    if not sands or not waters:
        return 0.0
    n = mixture.porosity
    fluids = ((water.law.traits.fluid, water.parameters) for water in waters)
    K = max(fluid.bulk_modulus(parameters) for fluid, parameters in fluids if fluid is not None)
    fastest = 0.0
    for sand in sands:
        coupled = K / n * (n / mixture.water_density + (1.0 - n) ** 2 / sand.parameters.density)
        fastest = max(fastest, math.sqrt(coupled + sand.law.wave_speed(sand.parameters) ** 2))
    return fastest
