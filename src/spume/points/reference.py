"""Reference configurations: where the neighbours of a point are taken from, and when they are renewed.

Points of a body have the places of their release as reference until the body flows. While the reference stays the
same, the forces of `reference_forces` are derivatives of an energy of the present places, as in a total Lagrangian
method. Flow since the reference is the change of Cp = Fᵀ b⁻¹ F, with the deformation F since the reference and the
elastic b of the law: a purely elastic deformation does not change it. For laws without one elastic deformation b = I,
so that all strain counts. When Cp has changed by more than `FLOW` at any point of a body, the present places become its
reference. Points keep their elastic deformation, hence their energy, and lose that of non-affine motion: a renewal
never adds energy.

The distances of a neighbourhood are those without the deformation of its point since the start: a lattice that is
stretched keeps its neighbours, where a ball of fixed radius would lose them. The metric C ← F⁻ᵀ C F⁻¹ of the distances
is limited to stretches of `LARGEST_STRETCH`; what flows further changes its neighbours.

Groups tell which points can be neighbours. Each body has its own until it flows, then it belongs to group 0, in which
all points within the radius are neighbours at the next renewal: what flows sticks together. Bodies that touch when they
are released share a group. Points of different groups repel each other (`contacts`).
"""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numba import prange
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from spume.fields import IDENTITY, Field
from spume.grid.cells import Cells
from spume.grid.neighbour_search import all_within
from spume.materials.kinematics import load, load_sym, store_sym
from spume.materials.loops import ConstitutiveModel
from spume.numerics.jit import compiled
from spume.numerics.lanes import LANES
from spume.numerics.spectral3 import eigen_sym, eigenvalues_sym
from spume.numerics.sums import total
from spume.numerics.tensor3 import compose_sym, inverse, multiply, transpose
from spume.points.contacts import Contacts
from spume.points.deformation import OUTCOMES
from spume.points.elastic_metric import elastic_metric
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

if TYPE_CHECKING:
    from spume.points.world import PointWorld

FLOW = 0.05
"""Change of Cp at which a reference is renewed [1]."""
CHECK_STEPS = 4
"""Steps between two checks for flow."""
FLOWED, NEW = 0, -1
"""Groups of points that have flowed, and of points without a reference."""
TOUCHING = 1.5
"""Bodies whose points are nearer than this when they are released share a group [spacings]."""
SOFTEST = 0.05
"""Smallest modulus against non-affine motion, relative to that of pressure waves [1]: fluids have no shear modulus."""

LARGEST_STRETCH = 1.8
"""Neighbourhoods follow the deformation of their point up to this stretch along an axis, and its inverse [1]."""
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
    quality: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    """Whether each point has a fit, see `deformation.OUTCOMES`."""
    shear: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    """Modulus against non-affine motion of each material [Pa]."""
    lost: float = 0.0
    """Energy of non-affine motion and contacts lost in renewals since the start [J]."""

    def build(self, world: "PointWorld") -> None:
        """Build lists, weights and contacts from the reference of the points."""
        p, lists = world.particles, world.lists
        n = len(p)
        lists.build(p.rest_x, Pairs(p.group, p.rest_shape, _largest_stretch(p.rest_shape)))
        self.weight = np.empty(len(lists.neighbour))
        self.divisor, self.spread, self.quality = np.empty((n, 6)), np.empty(n), np.empty(n, np.int64)
        places = world.rows_of(LANES)
        pack_places(p.rest_x, p.rest_x, places)
        find_weights(
            lists.start, lists.neighbour, p.rest_x, p.rest_shape, world.dimension, lists.radius,
            world.scheme.least_neighbours, world.scheme.condition, self.weight, places, self.divisor, self.spread,
            p.neighbours, self.quality,
        )  # fmt: skip
        self.find_contacts(world)
        if len(self.shear) == 0:
            self.shear = moduli(world.model, world.spacing)

    def find_contacts(self, world: "PointWorld") -> None:
        """Find the pairs that may touch until points have moved away from `x_listed`."""
        p = world.particles
        self.contacts.find(p.x_listed, world.lists)

    def stiffness(self, world: "PointWorld") -> NDArray[np.float64]:
        """c of each point [N/m]; torn points have none."""
        p = world.particles
        c = world.scheme.hourglass * p.volume * self.shear[p.material] / self.spread
        c[self.quality != 0] = 0.0
        if "weak" in p:
            c[p.weak != 0] = 0.0
        return c

    def energy(self, world: "PointWorld") -> float:
        """Energy of non-affine motion and of contacts [J]."""
        p, lists = world.particles, world.lists
        if not world.listed:
            return 0.0
        each = np.empty(len(p))
        non_affine_energy(
            lists.start, lists.neighbour, self.weight, p.rest_x, p.x, p.rest_F, self.stiffness(world), each
        )
        return total(each) + self.contacts.energy(p.x, contact_stiffness(world))


def contact_stiffness(world: "PointWorld") -> NDArray[np.float64]:
    """M V/s² of each point [N/m]."""
    p = world.particles
    modulus = world.densities() * world.wave_speeds() ** 2
    return p.volume * modulus[p.material] / world.spacing**2


def moduli(model: ConstitutiveModel, spacing: float) -> NDArray[np.float64]:
    """Shear modulus of each material [Pa] in a small shear in the time in which waves cross a spacing, at least
    `SOFTEST` times the modulus of pressure waves."""
    count = len(model.materials)
    arrays: dict[str, NDArray[Any]] = {f.name: f.allocate(count) for f in model.fields}
    arrays["material"] = np.arange(count, dtype=np.int32)
    strain = 1e-6
    f = np.tile(np.eye(3), (count, 1, 1))
    f[:, 0, 1] = strain
    stress = np.zeros((count, 6))
    stiffness = np.array([p.density * law.wave_speed(p) ** 2 for law, p in model.materials])
    model.update(arrays, spacing / max(law.wave_speed(p) for law, p in model.materials), f, stress)
    return np.maximum(stress[:, 3] / strain, SOFTEST * stiffness)


def find_reference(world: "PointWorld", dt: float, reference: Reference) -> None:
    """Give new points a reference, renew that of bodies that have flowed, and find contacts where points have moved."""
    p = world.particles
    if not world.listed:
        renewed = admit(world)
    elif world.steps % CHECK_STEPS == 0:
        renewed = flowing(world)
    else:
        renewed = np.zeros(0, bool)
    if renewed.any() or not world.listed:
        renew(world, reference, renewed)
    elif not reference.contacts.lists.valid(p.x, p.x_listed):
        p.x_listed[:] = p.x
        reference.find_contacts(world)


def admit(world: "PointWorld") -> NDArray[np.bool_]:
    """Put points without a reference into groups; return which points are in a changed group."""
    p = world.particles
    new = p.group == NEW
    if not new.any():
        return new
    label = p.group.astype(np.int64)
    label[new] = 1 + max(label.max(), FLOWED) + p.body[new]
    cells = Cells(world.dimension, TOUCHING * world.spacing, 0.0)
    cells.sort(p.x)
    start, found = all_within(cells, p.x, p.x[new], TOUCHING * world.spacing)
    one, other = np.repeat(label[new], np.diff(start)), label[found]
    size = int(label.max()) + 1
    _, component = connected_components(coo_array((np.ones(len(one)), (one, other)), (size, size)), directed=False)
    first = np.full(component.max() + 1, size)
    np.minimum.at(first, component, np.arange(size))  # the group of a component is its smallest
    joined = first[component[label]].astype(np.int32)
    changed = np.isin(joined, joined[new])
    p.group[:] = joined
    return changed


def flowing(world: "PointWorld") -> NDArray[np.bool_]:
    """Move bodies that have flowed since their reference to group 0; return which points are in a group that has."""
    p = world.particles
    metric = np.empty((len(p), 6))
    elastic_metric(world.model, p.arrays(), metric, np.empty(len(p)))
    flow = np.empty(len(p))
    _find_flow(p.rest_F, metric, p.rest_metric, flow)
    changed = p.group[flow > FLOW]
    renewed = np.isin(p.group, changed)
    p.group[renewed] = FLOWED
    return renewed if not renewed.any() else p.group == FLOWED


@compiled(parallel=True)
def _find_flow(F, metric, before, flow):
    """Write the largest component of Fᵀ b⁻¹ F − b₀⁻¹ of each point."""
    for p in prange(flow.size):
        m, b = load_sym(metric, p), load_sym(before, p)
        f = load(F, p)
        g = multiply((m[0], m[3], m[4], m[3], m[1], m[5], m[4], m[5], m[2]), f)
        c = multiply(transpose(f), g)
        flow[p] = max(
            max(abs(c[0] - b[0]), abs(c[4] - b[1]), abs(c[8] - b[2])),
            max(abs(c[1] - b[3]), abs(c[2] - b[4]), abs(c[5] - b[5])),
        )


@compiled(parallel=True)
def _renew_shapes(renewed, F, shape):
    """C ← F⁻ᵀ C F⁻¹ for the renewed points, with eigenvalues limited to `LARGEST_STRETCH`⁻² and its inverse."""
    for p in prange(renewed.size):
        if renewed[p]:
            c, undone = load_sym(shape, p), inverse(load(F, p))
            moved = multiply(
                transpose(undone), multiply((c[0], c[3], c[4], c[3], c[1], c[5], c[4], c[5], c[2]), undone)
            )
            values, Q = eigen_sym((moved[0], moved[4], moved[8], moved[1], moved[2], moved[5]))
            least, most = LARGEST_STRETCH**-2, LARGEST_STRETCH**2
            limited = (
                min(max(values[0], least), most), min(max(values[1], least), most), min(max(values[2], least), most),
            )  # fmt: skip
            store_sym(shape, p, compose_sym(limited, Q))


def _largest_stretch(shape: NDArray[np.float64]) -> float:
    """Upper bound of the length over the distance of any pair [1]."""
    lowest = np.empty(len(shape))
    _lowest_eigenvalue(shape, lowest)
    return float(lowest.min(initial=1.0)) ** -0.5 * (1.0 + 1e-9)


@compiled(parallel=True)
def _lowest_eigenvalue(shape, lowest):
    for p in prange(lowest.size):
        lowest[p] = eigenvalues_sym(load_sym(shape, p))[2]


def renew(world: "PointWorld", reference: Reference, renewed: NDArray[np.bool_]) -> None:
    """Make the present places the reference of the `renewed` points, and build lists, weights and contacts anew."""
    p = world.particles
    before = reference.energy(world)
    _renew_shapes(renewed, p.rest_F, p.rest_shape)
    p.rest_x[renewed] = p.x[renewed]
    p.rest_F[renewed] = np.eye(3)
    metric = np.empty((len(p), 6))
    elastic_metric(world.model, p.arrays(), metric, np.empty(len(p)))
    p.rest_metric[renewed] = metric[renewed]
    p.x_listed[:] = p.x
    world.arrange(p.rest_x)
    reference.build(world)
    places, lists = world.rows_of(LANES), world.lists
    pack_places(p.rest_x, p.rest_x + p.v, places)
    fit_gradient(lists.start, lists.neighbour, reference.weight, places, reference.divisor, p.rest_rate)
    reference.lost += max(0.0, before - reference.energy(world)) if world.listed else 0.0
    world.listed = True
    world.rebuilds += 1


def reference_accelerations(world: "PointWorld", reference: Reference) -> NDArray[np.float64]:
    """Acceleration of each point [m/s²] by all pair forces and contacts."""
    p, lists, forces = world.particles, world.lists, world.forces
    stiffness, impedance = reference.stiffness(world), world.densities() * world.wave_speeds()
    resistance = RESISTANCE * forces.damping * p.volume * impedance[p.material] * world.spacing / reference.spread
    resistance[stiffness == 0.0] = 0.0
    rows = world.rows_of(WIDTH)
    prepare_rows(
        p.rest_x, p.x, p.v, p.volume, p.stress, p.rest_F, p.rest_rate, reference.divisor, stiffness, resistance, rows
    )
    acceleration = np.empty((len(p), world.dimension))
    accelerate_points(
        lists.start, lists.neighbour, reference.weight, rows, p.mass, world.dimension, acceleration
    )  # fmt: skip
    if max(forces.pressure, forces.viscosity) > 0.0:
        _add_sph(world, acceleration)
    reference.contacts.push(p.x, p.v, p.mass, contact_stiffness(world), acceleration)
    world.uncorrected += int(np.count_nonzero(reference.quality))
    return acceleration


def _add_sph(world: "PointWorld", acceleration: NDArray[np.float64]) -> None:
    """Add the accelerations of SPH pressure and viscosity between neighbours in the reference [m/s²]."""
    p, lists, forces, h = world.particles, world.lists, world.forces, world.lists.radius
    c, places = elastic_constant(world.dimension, h), world.rows_of(LANES)
    pack_sph(p.x, p.v, p.volume, places)
    if forces.pressure > 0.0:
        pressure = np.empty(len(p))
        find_pressure(
            lists.start, lists.neighbour, places, p.volume, h, c, forces.pressure, forces.lattice, pressure
        )  # fmt: skip
        places[:-1, 7] = pressure
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
    gradient, outcome = np.empty((len(p), 3, 3)), np.empty(len(p), np.int64)
    fit_gradient(lists.start, lists.neighbour, reference.weight, places, reference.divisor, gradient)
    compose_step(
        gradient, reference.quality, world.model.volume_ratio(p.arrays()), world.scheme.least_volume, 1.0 / dt,
        p.rest_F, p.rest_rate, world.deformation, outcome,
    )  # fmt: skip
    world.outcomes += np.bincount(outcome, minlength=len(OUTCOMES))
