"""The coupled equations of a semi-implicit step for all species: [Tampubolon17] eqs. (18) to (22).

    r(v) = M (v − v̂) + Δt Σ_p V S(v) ∇w + Δt D v,    v̂ = vⁿ + Δt g

for the stacked velocities v of the active nodes of the species, with S as in `tangent.py` and the drag D between two
species. Its derivative

    A = M + Δt² Σ_p V T ∇w + Δt D

is symmetric but in general not definite; `adapt` makes it so where this is needed. The preconditioner is a 2×2 block
for each node and component,

    ( m₁ + k₁ + Δt c      −Δt c      )
    (     −Δt c      m₂ + k₂ + Δt c  )

(a single number for one species) with the diagonal k of the stiffness (`node_stiffness.py`), zero where it is negative,
so it is positive definite, as MINRES requires, and drag of any size is inverted exactly at each node. At nodes of one
species it contains the derivative of friction, which is a d×d block.

S of a law with viscosity includes its viscous stress, the second branch of the law, at the end of the step.

The second species may deform with the flux q = n v₂ + (1 − n) v₁ of both (`SharedFlux`): for its points L is ∇q and
what the first species displaces (`mixture/solids.py`), and, as the transpose, the forces of their stress are split
n : 1 − n. Their stiffness adds about k ((1 − n)², n (1 − n); n (1 − n), n²) to the blocks, with V/n² for V in k.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from spume.grid.nodes import DegreesOfFreedom, NodeFields, number_active
from spume.grid.surroundings import Surroundings
from spume.materials.history import values_of
from spume.materials.loops import ConstitutiveModel, LawInUse
from spume.materials.unilateral import NO_SHAPE, Unilateral
from spume.mpm.implicit.contact_set import ContactSet
from spume.mpm.implicit.lagged_energy import energy_loop
from spume.mpm.implicit.node_stiffness import node_stiffness
from spume.mpm.implicit.tangent import NONE_TORN, NUMBERS, Plasticity, tangent_loops
from spume.mpm.species import GridSpecies
from spume.mpm.world import GridWorld
from spume.numerics.sums import block_dots

CUT = 0.4
"""Fraction below which a shortened iteration of Newton's method raises the damping [1]"""
FIRST_DAMPING, MOST_DAMPING, LEAST_DAMPING = 0.05, 10.0, 0.02
"""First and largest λ, and the one below which it becomes zero [1]"""

Floats = NDArray[np.float64]
Preconditioner = Literal["blocks", "mass"]


class SharedFlux(Protocol):
    """The flux q = n v₂ + (1 − n) v₁ of two species, with which the points of the second one deform.

    `engaged` says for each contact of the second species whether it holds the nodes at present.
    """

    @property
    def share(self) -> Floats:
        """n of the nodes [1], shape (blocks, 64)."""

    @property
    def volume(self) -> Floats:
        """Volume with which the stress of each point of the second species acts on the nodes [m³]."""

    @property
    def energy_volume(self) -> Floats:
        """Volume of their energy, whose derivative these forces are [m³]."""

    @property
    def stiffness_volume(self) -> Floats:
        """The same for the diagonal of their stiffness [m³]."""

    def add_solids(self, flux: Floats, gradient: Floats) -> None:
        """Turn gradients (n, 3, 3) of a flux at the points of the second species into those with which they deform:
        the first species displaces a part of it."""

    def add_forces(self, tensor: Floats, force: Floats) -> None:
        """Add the transpose, the forces on the volume of the first species by the stresses (n, 3, 3) of these points,
        to the node field `force` (blocks, d, 64)."""

    def extend(self, flux: Floats, engaged: NDArray[np.bool_], moving: bool) -> None:
        """Continue the node field `flux` (blocks, d, 64) behind walls, in place: a flux if `moving`, else a change of
        one, for which walls are at rest."""

    def return_forces(self, force: Floats, engaged: NDArray[np.bool_]) -> None:
        """Apply the transpose to the node field `force`, in place."""

    def load_walls(self, force: Floats, engaged: NDArray[np.bool_], dt: float) -> None:
        """Add the impulses that walls exert by `return_forces` in dt [s] to the loads on obstacles."""


@dataclass(frozen=True)
class SpeciesCoupling:
    """Interaction of species in a step."""

    forces: tuple[Floats, ...] = ()
    """Additional forces on the nodes of each species [N], shape (blocks, d, 64); none if empty"""
    drag: Floats | None = None
    """Drag coefficients of the nodes between the first two species [kg/s], shape (blocks, 64)"""
    flux: Callable[[], SharedFlux] | None = None
    """Called when contacts have been found. None: every species deforms with its own velocity"""


NO_COUPLING = SpeciesCoupling()


@dataclass
class Part:
    """One species in the system."""

    species: GridSpecies
    dofs: DegreesOfFreedom
    around: Surroundings
    mass: Floats
    """of the active nodes [kg]"""
    before: Floats
    """vⁿ [m/s]"""
    free: Floats
    """v̂ [m/s]"""
    contacts: ContactSet
    fields: NodeFields
    rows: slice
    """of the stacked unknowns"""

    def __post_init__(self) -> None:
        count = len(self.species.particles)
        self.L, self.S = np.zeros((count, 3, 3)), np.zeros((count, 3, 3))
        self.T, self.numbers = np.zeros((count, 3, 3)), np.zeros((count, NUMBERS))
        self.smallest = np.ones(count)
        model = self.species.model
        self.viscous = [(use, flowing) for use in model.laws if (flowing := _viscous(use, model)).any()]
        """Laws with viscous materials, and which materials these are"""
        d = self.fields.array.shape[1]
        self.friction: Floats = np.zeros((len(self.contacts.rows), d, d))
        """Second derivative of the potential of friction at the nodes of contacts [kg]"""
        self.inverse: Floats = self.friction
        """Inverse of this and of the diagonal of the matrix [1/kg]"""
        self.viscous_numbers = np.zeros((count if self.viscous else 0, NUMBERS))


def _viscous(use: LawInUse, model: ConstitutiveModel) -> NDArray[np.bool_]:
    """Which materials have this law and a viscosity."""
    viscosity = use.law.traits.viscosity
    if viscosity is None:
        return np.zeros_like(use.belongs)
    return values_of(use, viscosity, model.materials) > 0.0


class CoupledSystem:
    """A system for `numerics.krylov`; its vectors have the shape (active nodes of all species, d)."""

    def __init__(
        self, world: GridWorld, coupling: SpeciesCoupling, dt: float, plasticity: Plasticity,
        unilateral: Unilateral | None, preconditioner: Preconditioner,
    ) -> None:  # fmt: skip
        """Set up the system; contacts must have been found."""
        self.world, self.dt = world, dt
        self._damping, self._definite = 0.0, False
        self._laws: tuple[Plasticity, Literal["hencky", "unilateral"]]
        self._laws = plasticity, "hencky" if unilateral is None else "unilateral"
        self._shape = NO_SHAPE if unilateral is None else unilateral.packed()
        self._preconditioner = preconditioner
        self.parts: list[Part] = []
        first = 0
        for k, species in enumerate(world.species):
            dofs = number_active(species.fields["mass"], world.nodes.border)
            mass = dofs.take(species.fields["mass"])
            before = dofs.take(species.fields["momentum"]) / mass[:, None]
            free = before + dt * world.gravity(world.time)[: world.dimension]
            if coupling.forces:
                free += dt * dofs.take(coupling.forces[k]) / mass[:, None]
            contacts, work = ContactSet(world, species, dofs, dt), NodeFields(vector=world.dimension)
            work.fit(world.nodes)
            rows = slice(first, first + len(dofs))
            p = species.particles
            around = world.ranks.surroundings(species.transfers, world.nodes, dofs, p.x, p.id)
            self.parts.append(Part(species, dofs, around, mass, before, free, contacts, work, rows))
            first += len(dofs)
        self.count = first
        self._starts = np.concatenate([part.rows.start + part.dofs.starts[:-1] for part in self.parts] + [[first]])
        self.mass = np.concatenate([part.mass for part in self.parts])
        self._diagonal = np.repeat(self.mass[:, None], world.dimension, axis=1)
        """Masses, and Δt² times the diagonal of the stiffness [kg]"""
        self.before = np.concatenate([part.before for part in self.parts])
        self.free = np.concatenate([part.free for part in self.parts])
        self.impulse = np.zeros_like(self.free)
        """r at the last velocities without friction, which is the impulse of the contacts at their nodes [N s]."""
        self._v, self._energy = self.before, math.nan
        self._first = self._second = np.empty(0, np.int64)
        """Unknowns of the nodes that two species share"""
        self._drag = np.empty(0)
        if coupling.drag is not None:
            one, other = self.parts
            both = (one.dofs.number >= 0) & (other.dofs.number >= 0)
            self._first = one.dofs.number[both].astype(np.int64)
            self._second = other.dofs.number[both].astype(np.int64) + one.rows.stop
            self._drag = dt * coupling.drag[both]
        self._flux = None if coupling.flux is None else coupling.flux()

    def _touching(self) -> list[Part]:
        """Species that have contacts on any rank."""
        return [part for part in self.parts if part.contacts.anywhere]

    def close_contacts(self, v: Floats) -> None:
        """Apply the contacts to `v` in place, and close those that change it; those that would turn round stick."""
        for part in self._touching():
            part.contacts.close(v[part.rows], part.fields.array)
            part.contacts.arrest(v[part.rows])

    def engaged(self) -> list[tuple[NDArray[np.bool_], ...]]:
        """States of the contacts of each species."""
        return [part.contacts.state() for part in self.parts]

    def engage(self, states: list[tuple[NDArray[np.bool_], ...]]) -> None:
        """Restore what `engaged` returned."""
        for part, own in zip(self.parts, states):
            part.contacts.restore(own)

    def update_contacts(self, v: Floats, same_limits: bool) -> Floats:
        """Open contacts, or let them stick, which changes `v` in place, or slide; return r(v). See `ContactSet`."""
        before, balance = v.copy(), -self.impulse
        for part in self._touching():
            part.contacts.update(v[part.rows], balance[part.rows], same_limits)
        changed = self.world.ranks.any(not np.array_equal(v, before))
        return self.residual(v)[0] if changed else -balance

    def residual(self, v: Floats) -> tuple[Floats, float]:
        """Return r(v) with the friction of sliding contacts and the smallest det f of all points, which must be
        positive; store the derivative for `multiply`, and r(v) without friction as `impulse`."""
        self._v = v.copy()
        r = self.mass[:, None] * (v - self.free)
        smallest = math.inf
        for part in self.parts:
            p = part.species.particles
            self._gradient(part, v, moving=True)
            arrays = p.arrays()
            for use in part.species.model.laws:
                linearize, _ = tangent_loops(use.law, *self._laws)
                history = tuple(arrays[name] for name in use.columns)
                linearize(
                    p.material, use.belongs, use.constants, history, NONE_TORN, self.dt, self._shape, self._definite,
                    part.L, part.S, part.numbers, part.smallest,
                )  # fmt: skip
            for use, flowing in part.viscous:
                linearize, _ = tangent_loops(use.law, *self._laws, branch=1)
                history = tuple(arrays[name] for name in use.columns)
                linearize(
                    p.material, flowing, use.constants, history, NONE_TORN, self.dt, self._shape, self._definite,
                    part.L, part.S, part.viscous_numbers, part.smallest,
                )  # fmt: skip
            smallest = float(np.minimum(smallest, part.smallest.min(initial=np.inf)))  # NaN stays NaN
            self._add_divergence(part, part.S, -self.dt, r)
        self.impulse = r + self._dragged(v)
        self._energy = self._without_friction()
        r = self.impulse.copy()
        for part in self._touching():
            r[part.rows] -= part.contacts.rub(v[part.rows])
        return r, self.world.ranks.least(smallest)

    def energy(self) -> float:
        """Energy whose derivative `residual` returned at its last velocities [J]; nan if there is none."""
        return self._energy + sum(part.contacts.potential(self._v[part.rows]) for part in self._touching())

    def _without_friction(self) -> float:
        """The same without friction, which must follow `residual`. It is computed if it may fail to be convex: with the
        unilateral energy."""
        if self._laws != ("lagged", "unilateral") or any(part.viscous for part in self.parts):
            return math.nan
        v, change = self._v, self._v - self.free
        inertia, drag = self.dots([(self.mass[:, None] * change, change), (v, self._dragged(v))])
        result = 0.5 * inertia + 0.5 * drag
        for part in self.parts:
            p, arrays, flux = part.species.particles, part.species.particles.arrays(), self._flux_of(part)
            density = np.zeros(len(p))
            for use in part.species.model.laws:
                history = tuple(arrays[name] for name in use.columns)
                energy_loop(use.law, "unilateral")(
                    p.material, use.belongs, use.constants, history, self.dt, self._shape, part.L, density
                )
            result += self.world.ranks.total((p.volume if flux is None else flux.energy_volume) * density)
        return result

    def multiply(self, x: Floats) -> Floats:
        """A x."""
        result = self.mass[:, None] * x + self._dragged(x) + self._damping * self._diagonal * x
        for part in self.parts:
            p = part.species.particles
            self._gradient(part, x)
            for use in part.species.model.laws:
                _, answer = tangent_loops(use.law, *self._laws)
                answer(p.material, use.belongs, part.numbers, part.L, part.T)
            for use, flowing in part.viscous:
                _, answer = tangent_loops(use.law, *self._laws, branch=1)
                answer(p.material, flowing, part.viscous_numbers, part.L, part.T)
            self._add_divergence(part, part.T, -(self.dt**2), result)
        for part in self._touching():
            rows = part.contacts.rows + part.rows.start
            result[rows] += np.einsum("nij,nj->ni", part.friction, x[rows])
        return result

    def adapt(self, v: Floats, fraction: float) -> None:
        """Choose the matrix of the next iteration of Newton's method at `v`, after one shortened to `fraction`.

        Once one had to be shortened, negative eigenvalues of T at the points are replaced by zero for the rest of the
        step, so that dv points downhill. If much was cut, because the stress changes within a small part of dv, λ times
        the masses and the diagonal of the stiffness is added to A ([Marquardt63]), until full steps succeed again.
        """
        if fraction < 1.0 and not self._definite:
            self._definite = True
            self.residual(v)
        if fraction == 1.0:
            self._damping = 0.25 * self._damping if self._damping > LEAST_DAMPING else 0.0
        elif fraction < CUT:
            self._damping = min(max(4.0 * self._damping, FIRST_DAMPING), MOST_DAMPING)

    def _flux_of(self, part: Part) -> SharedFlux | None:
        """The flux with which the points of a part deform; None: their own velocity."""
        return self._flux if self._flux is not None and part is self.parts[1] else None

    def load_walls(self) -> None:
        """Add the impulses of walls by the shared flux at the last call of `residual` to the loads on obstacles."""
        if self._flux is None:
            return
        part = self.parts[1]
        p, field = part.species.particles, part.fields.array
        part.species.transfers.to_grid(
            ("tensor divergence",), p.x, field, volume=self._flux.volume, tensor=part.S
        )  # fmt: skip
        self._flux.add_forces(part.S, field)
        self._flux.load_walls(field, part.contacts.engaged, self.dt)

    def _gradient(self, part: Part, v: Floats, moving: bool = False) -> None:
        """Write the velocity gradients of `v`, or of a change of it unless `moving`, at the points of a part to L."""
        p, field = part.species.particles, part.fields.array
        part.dofs.put(v[part.rows], field)
        flux = self._flux_of(part)
        if flux is not None:
            other, n = self.parts[0], flux.share[:, None, :]
            other.dofs.put(v[other.rows], other.fields.array)
            field[:] = n * field + (1.0 - n) * other.fields.array
            flux.extend(field, part.contacts.engaged, moving)
        part.species.transfers.to_points(("gradient",), p.x, field, tensor=part.L)
        if flux is not None:
            flux.add_solids(field, part.L)

    def _add_divergence(self, part: Part, tensor: Floats, factor: float, result: Floats) -> None:
        """Add factor · (−Σ V T ∇w) to the rows of the nodes on which it acts."""
        p, field, flux = part.species.particles, part.fields.array, self._flux_of(part)
        volume = p.volume if flux is None else flux.volume
        part.species.transfers.to_grid(
            ("tensor divergence",), p.x, field, room=part.fields.room, volume=volume, tensor=tensor
        )
        if flux is None:
            result[part.rows] += factor * part.dofs.take(field)
            return
        flux.add_forces(tensor, field)
        flux.return_forces(field, part.contacts.engaged)
        other, n = self.parts[0], flux.share[:, None, :]
        result[other.rows] += factor * other.dofs.take((1.0 - n) * field)
        result[part.rows] += factor * part.dofs.take(n * field)

    def _dragged(self, x: Floats) -> Floats:
        """Δt D x."""
        result = np.zeros_like(x)
        impulse = self._drag[:, None] * (x[self._first] - x[self._second])
        result[self._first] += impulse
        result[self._second] -= impulse
        return result

    def prepare_preconditioner(self) -> None:
        """Compute the blocks of mass, drag and stiffness, and the derivative of friction, at the velocities of the last
        call of `residual`."""
        dimension = self.world.dimension
        self._diagonal = np.repeat(self.mass[:, None], dimension, axis=1)
        coupling = np.zeros((self._first.size, dimension))
        for part in self.parts:
            p = part.species.particles
            flux = self._flux_of(part)
            weight = p.volume if flux is None else flux.stiffness_volume
            k = node_stiffness(part.species.transfers, part.around, p.x, weight, part.numbers)
            if part.viscous:
                k += node_stiffness(part.species.transfers, part.around, p.x, weight, part.viscous_numbers)
            k = self.dt**2 * np.maximum(k, 0.0)
            if flux is None:
                self._diagonal[part.rows] += k
                continue
            n = part.dofs.take(flux.share)[:, None]
            self._diagonal[part.rows] += n**2 * k
            own = self._second - part.rows.start
            self._diagonal[self._first] += (1.0 - n[own]) ** 2 * k[own]
            coupling += n[own] * (1.0 - n[own]) * k[own]
        for part in self._touching():
            part.friction = part.contacts.turning(self._v[part.rows], self._diagonal[part.rows])
        damped = (1.0 + self._damping) * self._diagonal
        for part in self._touching():
            rows = part.contacts.rows + part.rows.start
            part.inverse = np.asarray(np.linalg.inv(part.friction + damped[rows, :, None] * np.eye(dimension)))
        a, b, c = damped[self._first], damped[self._second], self._drag[:, None]
        # drag can be so large that its square must not be formed
        scale = 1.0 / (a * b - coupling**2 + c * (a + b + 2.0 * coupling))
        self._block = scale * (b + c), scale * (c - coupling), scale * (a + c)

    def precondition(self, r: Floats) -> Floats:
        """Solve the 2×2 blocks for r."""
        if self._preconditioner == "mass":
            return np.asarray(r / self.mass[:, None])
        z = r / ((1.0 + self._damping) * self._diagonal)
        for part in self._touching():
            rows = part.contacts.rows + part.rows.start
            z[rows] = np.einsum("nij,nj->ni", part.inverse, r[rows])
        if self._first.size:
            r_1, r_2 = r[self._first], r[self._second]
            z[self._first] = self._block[0] * r_1 + self._block[1] * r_2
            z[self._second] = self._block[1] * r_1 + self._block[2] * r_2
        return z

    def dot(self, a: Floats, b: Floats) -> float:
        """Inner product."""
        return self.dots([(a, b)])[0]

    def dots(self, pairs: Sequence[tuple[Floats, Floats]]) -> list[float]:
        """Inner products."""
        return block_dots(pairs, self._starts, self._all_blocks)

    def _all_blocks(self, sums: Floats) -> Floats:
        """Sums of the blocks of all ranks, species by species."""
        rows = len(sums)
        return self.world.nodes.border.all_blocks(sums.reshape(rows * len(self.parts), -1)).reshape(rows, -1)

    def project(self, x: Floats) -> None:
        """Remove the components constrained by closed contacts."""
        for part in self._touching():
            part.contacts.project(x[part.rows])
