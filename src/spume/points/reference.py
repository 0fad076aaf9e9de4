"""Reference configurations: where the neighbours of a point are taken from.

Points of a body have the places of their release as reference until the body flows (`renewal`). While the reference
stays the same, the forces of `reference_forces` are derivatives of an energy of the present places, as in a total
Lagrangian method.

The distances of a neighbourhood are those without the deformation of its point since the start: a lattice that is
stretched keeps its neighbours, where a ball of fixed radius would lose them.

Groups tell which points can be neighbours. Each body has its own until it flows. Points of different groups repel each
other (`contacts`).
"""

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numba import prange
from numpy.typing import NDArray

from spume.fields import IDENTITY, Field
from spume.materials.kinematics import load_sym
from spume.materials.loops import ConstitutiveModel
from spume.numerics.jit import compiled
from spume.numerics.lanes import LANES
from spume.numerics.spectral3 import eigenvalues_sym
from spume.points.contacts import Contacts
from spume.points.deformation import FITTED
from spume.points.kernels import elastic_constant
from spume.points.neighbours import Pairs
from spume.points.reference_forces import (
    WIDTH,
    accelerate_points,
    add_sph_forces,
    compose_step,
    find_pressure,
    find_weights,
    fit_gradient,
    non_affine_energy,
    pack_places,
    pack_sph,
    prepare_rows,
)
from spume.points.stability import find_bounds, find_rates, find_sharpness, longest_step

if TYPE_CHECKING:
    from spume.points.world import PointWorld

FLOWED, NEW = 0, -1
"""Groups of points that have flowed, and of points without a reference."""
SOFTEST = 0.05
"""Smallest modulus against non-affine motion, relative to that of pressure waves [1]: fluids have no shear modulus."""

RESISTANCE = 0.125
"""Largest rate of the viscosity on non-affine motion [c/s], about, relative to `damping` and to tr A/(d Σ w)."""


def reference_fields(dimension: int) -> tuple[Field, ...]:
    """Fields of points with a reference configuration."""
    hidden: dict[str, Any] = {"in_frames": False}
    return (
        Field("rest_x", (dimension,), 0.0, "m", "average", description="place in the reference", **hidden),
        Field(
            "rest_F", (3, 3), IDENTITY, "1", "average-keep-determinant", description="deformation since the reference",
            **hidden,
        ),
        Field("rest_rate", (3, 3), 0.0, "1/s", "average", description="rate of rest_F in the last step", **hidden),
        Field(
            "rest_metric", (6,), (1.0, 1.0, 1.0, 0.0, 0.0, 0.0), "1", "average",
            description="inverse of the elastic b in the reference", **hidden,
        ),
        Field(
            "rest_shape", (6,), (1.0, 1.0, 1.0, 0.0, 0.0, 0.0), "1", "average",
            description="metric of the neighbourhood in the reference", **hidden,
        ),
        Field("group", (), NEW, "1", "nearest", dtype="int32", description="points with the same may be neighbours"),
    )  # fmt: skip


@dataclass
class Reference:
    """The reference of a world: weights of its neighbour lists, fits, contacts. Their settings are in `Scheme`."""

    contacts: Contacts
    weight: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    """Weight of each entry of the lists [1]."""
    divisor: NDArray[np.float64] = field(default_factory=lambda: np.empty((0, 6)))
    """A⁻¹ of each point [1/m²], zero without a fit."""
    spread: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    """tr A/d of each point [m²]."""
    sharpness: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    """1/λ_min(A) of each point [1/m²], zero without a fit."""
    quality: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    """Whether each point has a fit, see `deformation.OUTCOMES`."""
    without_fit: int = 0
    """Number of points without a fit."""
    shear: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    """Modulus against non-affine motion of each material [Pa]."""
    limit: float = math.inf
    """Longest stable step for the present reference [s]."""

    def build(self, world: "PointWorld") -> None:
        """Build lists, weights and contacts from the reference of the points."""
        world.arrange()
        p, lists = world.particles, world.lists
        n = len(p)
        stretch = world.ranks.largest(_largest_stretch(p.rest_shape))
        lists.build(p.rest_x, Pairs(p.group, p.rest_shape, stretch), world.order())
        self.weight = np.empty(len(lists.neighbour))
        self.divisor, self.spread, self.quality = np.empty((n, 6)), np.empty(n), np.empty(n, np.int64)
        self.sharpness = np.empty(n)
        places = world.rows_of(LANES)
        pack_places(p.rest_x, p.rest_x, places)
        lists.ghosts.fill(places)
        extended = lists.ghosts.extended
        find_weights(
            lists.start, lists.neighbour, extended(p.rest_x), extended(p.rest_shape), world.dimension, lists.radius,
            world.scheme.least_neighbours, world.scheme.condition, self.weight, places, self.divisor, self.spread,
            p.neighbours, self.quality,
        )  # fmt: skip
        find_sharpness(self.divisor, self.quality, self.sharpness)
        self.without_fit = world.ranks.count(int(np.count_nonzero(self.quality)))
        self.find_contacts(world)
        if len(self.shear) == 0:
            self.shear = moduli(world.model, world.spacing)

    def find_contacts(self, world: "PointWorld") -> None:
        """Find the pairs that may touch until points have moved away from `x_listed`."""
        self.contacts.find(world.particles.x_listed, world.lists, world.order())

    def refresh(self, world: "PointWorld") -> None:
        """Build everything anew where the points have other places in memory than before; it is the same then."""
        if world.stale:
            self.build(world)

    def stiffness(self, world: "PointWorld") -> NDArray[np.float64]:
        """c of each point [N/m]; torn points have none."""
        p = world.particles
        softest = SOFTEST * world.densities() * world.wave_speeds() ** 2
        return self._resisting(world, world.scheme.hourglass * np.maximum(self.shear, softest)[p.material])

    def resistance(self, world: "PointWorld") -> NDArray[np.float64]:
        """ν of each point [N s/m]."""
        impedance = world.densities() * world.wave_speeds()
        scale = RESISTANCE * world.forces.damping * world.spacing
        return self._resisting(world, scale * impedance[world.particles.material])

    def _resisting(self, world: "PointWorld", modulus: NDArray[np.float64]) -> NDArray[np.float64]:
        """V modulus d/tr A of each point; 0 for points without a fit and torn ones."""
        p = world.particles
        result = np.zeros(len(p))
        own = self.quality == FITTED
        if "weak" in p:
            own &= p.weak == 0
        result[own] = p.volume[own] * modulus[own] / self.spread[own]
        return result

    def viscosity(self, world: "PointWorld") -> tuple[NDArray[np.float64], ...]:
        """η and ζ of the artificial viscosity of each point [Pa s]: shear and pressure waves of the same length decay
        by the same part per period. Lengths are those of the shortest axis of the neighbourhood."""
        p, density = world.particles, world.densities()
        shortest = np.sqrt(np.minimum(1.0, 1.0 / np.maximum(self.sharpness * self.spread, 1e-300)))
        scale = world.scheme.artificial_viscosity * world.spacing * shortest
        if "weak" in p:
            scale[p.weak != 0] = 0.0
        pressure_speed, shear_speed = world.wave_speeds(), np.sqrt(np.maximum(self.shear, 0.0) / density)
        eta = scale * (density * shear_speed)[p.material]
        return eta, np.maximum(scale * (density * pressure_speed)[p.material] - 4.0 / 3.0 * eta, 0.0)

    def limit_step(self, world: "PointWorld") -> None:
        """Limit the next steps to stable ones."""
        self.limit = world.time_step.allowed = self.longest_step(world)

    def longest_step(self, world: "PointWorld") -> float:
        """Longest stable step [s], see `stability`."""
        p, lists, n = world.particles, world.lists, len(world.particles)
        spring, dashpot, square, rate = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
        eta, zeta = self.viscosity(world)
        modulus = world.densities() * world.wave_speeds() ** 2
        find_bounds(
            p.rest_F, p.stress, self.quality, self.sharpness, p.volume, modulus[p.material], 4.0 / 3.0 * eta + zeta,
            self.stiffness(world), self.resistance(world), spring, dashpot,
        )  # fmt: skip
        spring, dashpot = lists.ghosts.extended(spring), lists.ghosts.extended(dashpot)
        find_rates(lists.start, lists.neighbour, self.weight, spring, dashpot, p.mass, square, rate)
        return longest_step(square, rate, world.ranks)

    def energy(self, world: "PointWorld") -> float:
        """Energy of non-affine motion and of contacts [J]."""
        return math.fsum(world.ranks.totals(self.energies(world)))

    def energies(self, world: "PointWorld") -> list[NDArray[np.float64]]:
        """Energy of the non-affine motion of each point, and of each contact, on this rank [J]."""
        if not world.listed:
            return []
        self.refresh(world)
        p, lists = world.particles, world.lists
        each, extended = np.empty(len(p)), lists.ghosts.extended
        non_affine_energy(
            lists.start, lists.neighbour, self.weight, extended(p.rest_x), extended(p.x), p.rest_F,
            self.stiffness(world), each,
        )  # fmt: skip
        return [each, self.contacts.energies(p.x, contact_stiffness(world))]


def contact_stiffness(world: "PointWorld") -> NDArray[np.float64]:
    """M V/s² of each point [N/m]."""
    p = world.particles
    modulus = world.densities() * world.wave_speeds() ** 2
    return p.volume * modulus[p.material] / world.spacing**2


def moduli(model: ConstitutiveModel, spacing: float) -> NDArray[np.float64]:
    """Shear modulus of each material [Pa] in a small shear in the time in which waves cross a spacing."""
    count = len(model.materials)
    arrays: dict[str, NDArray[Any]] = {f.name: f.allocate(count) for f in model.fields}
    arrays["material"] = np.arange(count, dtype=np.int32)
    strain = 1e-6
    f = np.tile(np.eye(3), (count, 1, 1))
    f[:, 0, 1] = strain
    stress = np.zeros((count, 6))
    model.update(arrays, spacing / max(law.wave_speed(p) for law, p in model.materials), f, stress)
    return stress[:, 3] / strain


def _largest_stretch(shape: NDArray[np.float64]) -> float:
    """Upper bound of the length over the distance of any pair [1]."""
    lowest = np.empty(len(shape))
    _lowest_eigenvalue(shape, lowest)
    return float(lowest.min(initial=1.0)) ** -0.5 * (1.0 + 1e-9)


@compiled(parallel=True)
def _lowest_eigenvalue(shape, lowest):
    for p in prange(lowest.size):
        lowest[p] = eigenvalues_sym(load_sym(shape, p))[2]


def reference_accelerations(world: "PointWorld", reference: Reference) -> NDArray[np.float64]:
    """Acceleration of each point [m/s²] by all pair forces and contacts. The lists must be those of the points."""
    p, lists, forces = world.particles, world.lists, world.forces
    eta, zeta = reference.viscosity(world)
    rows = world.rows_of(WIDTH)
    prepare_rows(
        p.rest_x, p.x, p.v, p.volume, p.stress, p.rest_F, p.rest_rate, reference.divisor,
        reference.stiffness(world), reference.resistance(world), eta, zeta, rows,
    )  # fmt: skip
    lists.ghosts.fill(rows)
    acceleration = np.empty((len(p), world.dimension))
    accelerate_points(
        lists.start, lists.neighbour, reference.weight, rows, p.mass, world.dimension, acceleration
    )  # fmt: skip
    if max(forces.pressure, forces.viscosity) > 0.0:
        _add_sph(world, acceleration)
    reference.contacts.push(p.x, p.v, p.mass, contact_stiffness(world), acceleration)
    return acceleration


def _add_sph(world: "PointWorld", acceleration: NDArray[np.float64]) -> None:
    """Add the accelerations of SPH pressure and viscosity between neighbours in the reference [m/s²]."""
    p, lists, forces, h = world.particles, world.lists, world.forces, world.lists.radius
    c, places = elastic_constant(world.dimension, h), world.rows_of(LANES)
    pack_sph(p.x, p.v, p.volume, places)
    lists.ghosts.fill(places)
    if forces.pressure > 0.0:
        pressure = np.empty(len(p))
        find_pressure(
            lists.start, lists.neighbour, places, p.volume, h, c, forces.pressure, forces.lattice, pressure
        )  # fmt: skip
        places[: len(p), 7] = pressure
        lists.ghosts.fill(places)
    add_sph_forces(
        lists.start, lists.neighbour, places, p.volume, p.mass, world.dimension, h, c,
        forces.viscosity / forces.slope, acceleration,
    )  # fmt: skip


def fit_reference(world: "PointWorld", dt: float, reference: Reference) -> None:
    """Compute the deformation of the step from the deformation since the reference."""
    p, lists = world.particles, world.lists
    world.only.fit_deformation()
    places = world.rows_of(LANES)
    pack_places(p.rest_x, p.x, places)
    lists.ghosts.fill(places)
    gradient, outcome = np.empty((len(p), 3, 3)), np.empty(len(p), np.int64)
    fit_gradient(lists.start, lists.neighbour, reference.weight, places, reference.divisor, gradient)
    compose_step(
        gradient, reference.quality, world.model.volume_ratio(p.arrays()), world.scheme.least_volume, 1.0 / dt,
        p.rest_F, p.rest_rate, world.deformation, outcome,
    )  # fmt: skip
    world.count_outcomes(outcome)
