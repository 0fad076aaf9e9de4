"""The coupled equations of a semi-implicit step for all species: [Tampubolon17] eqs. (18) to (22).

    r(v) = M (v − v̂) + Δt Σ_p V S(v) ∇w + Δt D v,    v̂ = vⁿ + Δt g

for the stacked velocities v of the active nodes of the species, with S as in `tangent.py` and the drag D between the
two species of a mixture. Its derivative

    A = M + Δt² Σ_p V T ∇w + Δt D

is symmetric but in general not definite; `adapt` makes it so where this is needed. The preconditioner is a 2×2 block
for each node and component,

    ( m_s + k_s + Δt c      −Δt c       )
    (     −Δt c       m_w + k_w + Δt c  )

(a single number for one species) with the diagonal k of the stiffness (`node_stiffness.py`), zero where it is negative,
so it is positive definite, as MINRES requires, and drag of any size is inverted exactly at each node.

S of water with viscosity includes its viscous stress, a second branch of the law, at the end of the step.

With pore pressure the water deforms with the flux q = n v_w + (1 − n) v_s of both species (`mixture/pore_pressure.py`):
for its points L is ∇q divided by their porosity, and, as the transpose, the forces of their stress are split n : 1 − n.
The stiffness of the water adds k ((1 − n)², n (1 − n); n (1 − n), n²) to the blocks.
"""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from spume.geometry.obstacles.collision import SEPARATE
from spume.materials.loops import LawInUse
from spume.materials.unilateral import Unilateral
from spume.materials.water import WATER
from spume.mpm.contacts import Contacts
from spume.mpm.implicit.node_stiffness import node_stiffness
from spume.mpm.implicit.normal_impulses import normal_impulses
from spume.mpm.implicit.tangent import NUMBERS, Plasticity, tangent_loops
from spume.mpm.nodes import DegreesOfFreedom, NodeFields, number_active
from spume.mpm.reflection import Reflection, closed_walls
from spume.mpm.species import Species
from spume.mpm.state import State
from spume.mpm.step import gaps_of

CUT = 0.4
"""Fraction below which a shortened iteration of Newton's method raises the damping [1]"""
FIRST_DAMPING, MOST_DAMPING, LEAST_DAMPING = 0.05, 10.0, 0.02
"""First and largest λ, and the one below which it becomes zero [1]"""

Floats = NDArray[np.float64]
Preconditioner = Literal["blocks", "mass"]


@dataclass(frozen=True)
class PoreVolumes:
    """Pore volumes shared by two species."""

    porosity: Floats
    """n of the nodes [1], shape (blocks, 64)"""
    at_points: Floats
    """n at the points of the water [1]"""
    bulk: Floats
    """Rest volume of each point of the water over its porosity [m³]"""


@dataclass(frozen=True)
class Exchange:
    """Interaction of species in a step."""

    forces: tuple[Floats, ...] = ()
    """Additional forces on the nodes of each species [N], shape (blocks, d, 64); none if empty"""
    drag: Floats | None = None
    """Drag coefficients of the nodes between the first two species [kg/s], shape (blocks, 64)"""
    pores: PoreVolumes | None = None


NO_EXCHANGE = Exchange()


@dataclass
class Part:
    """One species in the system."""

    species: Species
    dofs: DegreesOfFreedom
    mass: Floats
    """of the active nodes [kg]"""
    before: Floats
    """vⁿ [m/s]"""
    free: Floats
    """v̂ [m/s]"""
    contacts: Contacts
    gaps: Floats
    fields: NodeFields
    rows: slice
    """of the stacked unknowns"""
    engaged: NDArray[np.bool_]

    def __post_init__(self) -> None:
        count = len(self.species.particles)
        self.L, self.S = np.zeros((count, 3, 3)), np.zeros((count, 3, 3))
        self.T, self.numbers = np.zeros((count, 3, 3)), np.zeros((count, NUMBERS))
        self.smallest = np.ones(count)
        self.viscous = [(use, flowing) for use in self.species.model.laws if (flowing := _is_viscous(use)).any()]
        """Laws with viscous materials, and which materials these are"""
        self.viscous_numbers = np.zeros((count if self.viscous else 0, NUMBERS))


def _is_viscous(use: LawInUse) -> NDArray[np.bool_]:
    """The materials of water with viscosity, whose second branch is the viscous stress."""
    if use.law is not WATER:
        return np.zeros_like(use.belongs)
    return np.asarray(use.belongs & (use.constants[:, WATER.constants.index("eta")] > 0.0))


class CoupledSystem:
    """A system for `numerics.krylov`; its vectors have the shape (active nodes of sand and of water, d)."""

    def __init__(
        self, state: State, exchange: Exchange, dt: float, plasticity: Plasticity, unilateral: Unilateral | None,
        preconditioner: Preconditioner,
    ) -> None:  # fmt: skip
        """Set up the system; contacts must have been found."""
        self.state, self.dt = state, dt
        self._damping, self._definite = 0.0, False
        self._laws: tuple[Plasticity, Literal["hencky", "unilateral"]]
        self._laws = plasticity, "hencky" if unilateral is None else "unilateral"
        self._shape = (0.0,) * 5 if unilateral is None else unilateral.packed()
        self._preconditioner = preconditioner
        self._pores = exchange.pores
        self.parts: list[Part] = []
        first = 0
        for k, species in enumerate(state.species):
            dofs = number_active(species.fields["mass"])
            mass = dofs.take(species.fields["mass"])
            before = dofs.take(species.fields["momentum"]) / mass[:, None]
            free = before + dt * state.gravity(state.time)[: state.dimension]
            if exchange.forces:
                free += dt * dofs.take(exchange.forces[k]) / mass[:, None]
            contacts, work = state.contacts_of(species), NodeFields(vector=state.dimension)
            work.fit(state.nodes)
            rows = slice(first, first + len(dofs))
            engaged = np.zeros(contacts.filled.shape, np.bool_)
            part = Part(
                species, dofs, mass, before, free, contacts, gaps_of(state, species), work, rows, engaged
            )  # fmt: skip
            self.parts.append(part)
            first += len(dofs)
        self.count = first
        self.mass = np.concatenate([part.mass for part in self.parts])
        self._diagonal = np.repeat(self.mass[:, None], state.dimension, axis=1)
        """Masses, and Δt² times the diagonal of the stiffness [kg]"""
        self.before = np.concatenate([part.before for part in self.parts])
        self.free = np.concatenate([part.free for part in self.parts])
        self._sand = self._water = np.empty(0, np.int64)
        self._drag = np.empty(0)
        if exchange.drag is not None:
            sand, water = self.parts
            both = (sand.dofs.number >= 0) & (water.dofs.number >= 0)
            self._sand = sand.dofs.number[both].astype(np.int64)
            self._water = water.dofs.number[both].astype(np.int64) + sand.rows.stop
            self._drag = dt * exchange.drag[both]
        self._walls = None if self._pores is None else closed_walls(state, state.species[1], state.species[0])

    def _touching(self) -> list[Part]:
        """Species that have contacts."""
        return [part for part in self.parts if len(part.contacts) and len(part.dofs)]

    def close_contacts(self, v: Floats) -> None:
        """Apply the contacts to `v` in place, and record which are engaged."""
        for part in self._touching():
            part.dofs.put(v[part.rows], part.fields.array)
            part.engaged |= part.contacts.apply(part.fields.array, gap=part.gaps, dt=self.dt)
            v[part.rows] = part.dofs.take(part.fields.array)

    def engaged(self) -> list[NDArray[np.bool_]]:
        """Which contacts of each species are engaged."""
        return [part.engaged.copy() for part in self.parts]

    def engage(self, contacts: list[NDArray[np.bool_]]) -> None:
        """Restore what `engaged` returned."""
        for part, own in zip(self.parts, contacts):
            part.engaged[:] = own

    def release_contacts(self, residual: Floats) -> None:
        """Release separating contacts that would have to pull. `residual` is r(v), the impulse of the contacts."""
        for part in self._touching():
            rows, normal, _ = self._contact_rows(part)
            pull = self._push(part, rows, normal, residual) < 0.0
            filled = part.contacts.filled
            part.engaged[filled] &= ~(pull & (part.contacts.kind == SEPARATE))

    def _push(self, part: Part, rows: NDArray[np.int64], normal: Floats, residual: Floats) -> Floats:
        """Normal impulses of the contacts of a part."""
        separating, engaged = part.contacts.kind == SEPARATE, part.contacts.listed(part.engaged)
        return normal_impulses(part.contacts.node, normal, engaged, separating, residual[rows])

    def rub(self, v: Floats, residual: Floats) -> None:
        """Apply the Coulomb friction of engaged separating contacts to `v`, limited by their normal impulses."""
        for part in self._touching():
            rows, normal, numbers = self._contact_rows(part)
            push = self._push(part, rows, normal, residual)
            rough = part.engaged[part.contacts.filled] & (part.contacts.kind == SEPARATE) & (numbers[:, 6] > 0.0)
            for k in np.flatnonzero(rough & (push > 0.0)):
                relative = v[rows[k]] - numbers[k, 3 : 3 + v.shape[1]]
                slide = relative - (relative @ normal[k]) * normal[k]
                speed = float(np.linalg.norm(slide))
                if speed > 0.0:
                    v[rows[k]] -= min(1.0, numbers[k, 6] * push[k] / (self.mass[rows[k]] * speed)) * slide

    def _contact_rows(self, part: Part) -> tuple[NDArray[np.int64], Floats, Floats]:
        """Unknowns, normals and numbers of the contacts of a part."""
        numbers = part.contacts.numbers
        own = part.dofs.number.reshape(-1)[part.contacts.node]
        # contacts are shared: at nodes where this species has no mass, its first unknown is used but never engaged
        rows = np.where(own >= 0, own, 0) + part.rows.start
        normal = np.where((own >= 0)[:, None], numbers[:, : self.state.dimension], 0.0)
        return rows, normal, numbers

    def residual(self, v: Floats) -> tuple[Floats, float]:
        """Return r(v) and the smallest det f of all points, which must be positive; store the derivative for
        `multiply`."""
        r = self.mass[:, None] * (v - self.free)
        smallest = math.inf
        for part in self.parts:
            p = part.species.particles
            if len(p) == 0:
                continue
            self._gradient(part, v, moving=True)
            arrays = p.arrays()
            for use in part.species.model.laws:
                linearize, _ = tangent_loops(use.law, *self._laws)
                history = tuple(arrays[name] for name in use.columns)
                linearize(
                    p.material, use.belongs, use.constants, history, self.dt, self._shape, self._definite, part.L,
                    part.S, part.numbers, part.smallest,
                )  # fmt: skip
            for use, flowing in part.viscous:
                linearize, _ = tangent_loops(use.law, *self._laws, branch=1)
                history = tuple(arrays[name] for name in use.columns)
                linearize(
                    p.material, flowing, use.constants, history, self.dt, self._shape, self._definite, part.L, part.S,
                    part.viscous_numbers, part.smallest,
                )  # fmt: skip
            smallest = float(np.minimum(smallest, part.smallest.min()))  # NaN stays NaN
            self._add_divergence(part, part.S, -self.dt, r)
        return r + self._dragged(v), smallest

    def multiply(self, x: Floats) -> Floats:
        """A x."""
        result = self.mass[:, None] * x + self._dragged(x) + self._damping * self._diagonal * x
        for part in self.parts:
            p = part.species.particles
            if len(p) == 0:
                continue
            self._gradient(part, x)
            for use in part.species.model.laws:
                _, answer = tangent_loops(use.law, *self._laws)
                answer(p.material, use.belongs, part.numbers, part.L, part.T)
            for use, flowing in part.viscous:
                _, answer = tangent_loops(use.law, *self._laws, branch=1)
                answer(p.material, flowing, part.viscous_numbers, part.L, part.T)
            self._add_divergence(part, part.T, -(self.dt**2), result)
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

    def _shares_pores(self, part: Part) -> bool:
        return self._pores is not None and part is self.parts[1]

    def _closed(self) -> Reflection:
        """The nodes behind walls at which the contacts of the water are engaged."""
        assert self._walls is not None
        water = self.parts[1]
        return self._walls.only(water.contacts.listed(water.engaged)[self._walls.contact])

    def wall_impulses(self) -> tuple[Reflection, Floats] | None:
        """Impulses of walls on the material through the reflection of pore pressure at the last call of `residual`."""
        if self._walls is None or len(self.parts[1].species.particles) == 0:
            return None
        water, walls = self.parts[1], self._closed()
        p, field = water.species.particles, water.fields.array
        assert self._pores is not None
        water.species.transfers.to_grid(
            ("tensor divergence",), p.x, field, volume=self._pores.bulk, tensor=water.S
        )  # fmt: skip
        return walls, self.dt * walls.return_forces(field)

    def _gradient(self, part: Part, v: Floats, moving: bool = False) -> None:
        """Write the velocity gradients of `v`, or of a change of it unless `moving`, at the points of a part to L."""
        p, field = part.species.particles, part.fields.array
        part.dofs.put(v[part.rows], field)
        if self._shares_pores(part):
            assert self._pores is not None
            sand, n = self.parts[0], self._pores.porosity[:, None, :]
            sand.dofs.put(v[sand.rows], sand.fields.array)
            field[:] = n * field + (1.0 - n) * sand.fields.array
            walls = self._closed()
            (walls if moving else walls.at_rest()).extend(field)
        part.species.transfers.to_points(("gradient",), p.x, field, tensor=part.L)
        if self._shares_pores(part):
            assert self._pores is not None
            part.L /= self._pores.at_points[:, None, None]

    def _add_divergence(self, part: Part, tensor: Floats, factor: float, result: Floats) -> None:
        """Add factor · (−Σ V T ∇w) to the rows of the nodes on which it acts."""
        p, field = part.species.particles, part.fields.array
        shared = self._shares_pores(part)
        volume = self._pores.bulk if shared and self._pores is not None else p.volume
        part.species.transfers.to_grid(("tensor divergence",), p.x, field, volume=volume, tensor=tensor)
        if not shared:
            result[part.rows] += factor * part.dofs.take(field)
            return
        assert self._pores is not None
        self._closed().return_forces(field)
        sand, n = self.parts[0], self._pores.porosity[:, None, :]
        result[sand.rows] += factor * sand.dofs.take((1.0 - n) * field)
        result[part.rows] += factor * part.dofs.take(n * field)

    def _dragged(self, x: Floats) -> Floats:
        """Δt D x."""
        result = np.zeros_like(x)
        impulse = self._drag[:, None] * (x[self._sand] - x[self._water])
        result[self._sand] += impulse
        result[self._water] -= impulse
        return result

    def prepare_preconditioner(self) -> None:
        """Compute the blocks of mass, drag and stiffness for the points at the last call of `residual`."""
        dimension = self.state.dimension
        self._diagonal = np.repeat(self.mass[:, None], dimension, axis=1)
        coupling = np.zeros((self._sand.size, dimension))
        for part in self.parts:
            p = part.species.particles
            if len(p) == 0:
                continue
            shared = self._shares_pores(part)
            weight = p.volume
            if shared and self._pores is not None:
                weight = self._pores.bulk / self._pores.at_points
            k = node_stiffness(part.species.transfers, part.dofs, p.x, weight, part.numbers)
            if part.viscous:
                k += node_stiffness(part.species.transfers, part.dofs, p.x, weight, part.viscous_numbers)
            k = self.dt**2 * np.maximum(k, 0.0)
            if not shared:
                self._diagonal[part.rows] += k
                continue
            assert self._pores is not None
            n = part.dofs.take(self._pores.porosity)[:, None]
            self._diagonal[part.rows] += n**2 * k
            own = self._water - part.rows.start
            self._diagonal[self._sand] += (1.0 - n[own]) ** 2 * k[own]
            coupling += n[own] * (1.0 - n[own]) * k[own]
        damped = (1.0 + self._damping) * self._diagonal
        a, b, c = damped[self._sand], damped[self._water], self._drag[:, None]
        # drag can be so large that its square must not be formed
        scale = 1.0 / (a * b - coupling**2 + c * (a + b + 2.0 * coupling))
        self._block = scale * (b + c), scale * (c - coupling), scale * (a + c)

    def precondition(self, r: Floats) -> Floats:
        """Solve the 2×2 blocks for r."""
        if self._preconditioner == "mass":
            return r / self.mass[:, None]
        z = r / ((1.0 + self._damping) * self._diagonal)
        if self._sand.size:
            r_s, r_w = r[self._sand], r[self._water]
            z[self._sand] = self._block[0] * r_s + self._block[1] * r_w
            z[self._water] = self._block[1] * r_s + self._block[2] * r_w
        return z

    def project(self, x: Floats) -> None:
        """Remove the components constrained by engaged contacts."""
        for part in self._touching():
            own = np.ascontiguousarray(x[part.rows])
            part.contacts.project(own, part.dofs, part.engaged)
            x[part.rows] = own
