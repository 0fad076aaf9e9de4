"""Active set of contacts in an implicit step, with friction.

A contact becomes *closed* in the iteration in which `Contacts.apply` stops or holds the material. A separating contact
opens again when the residual impulse at its node pulls it open. A sticking or slipping contact allows relative normal
velocities between two bounds: one closes the gap in this step, and, if the contact holds material, the other is zero.
It is closed at a bound, and released when the residual impulse points between the bounds. A closed contact with
friction *sticks* while the tangential impulse is within Coulomb's cone of the normal impulse; beyond the cone it slides
against an impulse on the cone, and sticks again when it would slide backwards. The impulses are the residuals of the
solver's equations at the constrained nodes, so they include the stress of the material and not only its momentum.

A contact near the limit of friction may alternate between the two states for ever. One that has often begun to stick
in the same step is *hesitant*: its friction impulse t becomes an unknown, and each iteration projects t − c A w onto
the disc of Coulomb's cone, with the sliding velocity w and the diagonal A of the solver's matrix. The fixed points are
those of the two states: w = 0 within the cone, or t on the cone and opposite to w ([Alart91]).

Newton's method minimises instead the potential Σ s ‖w‖ of the friction of sliding contacts, with the limits s of the
last update that changed them: `rub` and `turning` are its derivatives, and `arrest` stops contacts that have turned
round, since the potential has its least value where they stick. `coupling` is how the limits follow the normal
impulses.
"""

import numpy as np
from numpy.typing import NDArray

from spume.geometry.obstacles.collision import SEPARATE, STICK
from spume.grid.contacts import HOLD, TOUCH
from spume.grid.nodes import DegreesOfFreedom
from spume.mpm.implicit.normal_impulses import dual_normals, normal_impulses
from spume.mpm.species import GridSpecies
from spume.mpm.step import gaps_of
from spume.mpm.world import GridWorld

Vectors = NDArray[np.float64]
OFTEN = 2
"""A contact may turn round and stick this many times in a step; the next time, it is hesitant until it opens. If it
closes again, it begins to stick or slide like any other, and is hesitant again when it turns."""
SHARE = 0.15
"""c. The iterations converge if c times the response of a node to an impulse, in units of 1/A, is below two. In `sofa`
and `roller` 0.3 is small enough and 0.6 is too large."""
STIFFEST = 1e6
"""Largest derivative of the direction of friction, in units of A: that of a contact that hardly slides has no limit."""
TINY = 1e-300
"""Avoids divisions by zero."""
State = tuple[NDArray[np.bool_], ...]


class ContactSet:
    """Active set of the contacts of a species in a step, which a solver updates between its iterations."""

    def __init__(self, world: GridWorld, species: GridSpecies, dofs: DegreesOfFreedom, dt: float) -> None:
        """Set up for the contacts found for the `species` of `world` and a step of dt [s]."""
        contacts = self._contacts = world.contacts_of(species)
        self._dofs, self._dt, self._ranks = dofs, dt, world.ranks
        self._gap = gaps_of(world, species)
        d = world.dimension
        row = dofs.number.reshape(-1)[contacts.node]
        self._present = row >= 0
        """Contacts at nodes where this species has mass: species may share the contacts of a world."""
        node, kind, numbers = (
            contacts.node[self._present],
            contacts.kind[self._present],
            contacts.numbers[self._present],
        )
        self._node, self._row = node, row[self._present]
        self._counted = dofs.border.counts(node)
        """Contacts that count in sums over those of all ranks."""
        self.anywhere = world.ranks.any(bool(node.size))
        """Whether a rank has contacts."""
        self._normal, self._velocity, self._friction = numbers[:, :d], numbers[:, 3 : 3 + d], numbers[:, 6]
        self._separating, self._sticking = kind == SEPARATE, kind == STICK
        gap = contacts.listed(self._gap)[self._present]
        width = np.where(self._separating, gap, np.maximum(gap - TOUCH * world.cell, 0.0))
        self._lower = -width / dt
        """Least normal velocities relative to the obstacles [m/s]."""
        self._upper = np.where(~self._separating & (gap < HOLD * world.cell), 0.0, np.inf)
        """Largest ones [m/s]."""
        first = np.searchsorted(node, node)
        self._rank = np.arange(len(node)) - first
        """Index of each contact among those of its node."""
        self.rows, self._place = np.unique(self._row, return_inverse=True)
        """Unknowns with contacts."""
        self.closed = np.zeros(len(node), np.bool_)
        """Closed contacts."""
        self.stuck = np.zeros(len(node), np.bool_)
        """Closed contacts with friction that stick."""
        self._between = np.zeros(len(node), np.bool_)
        """Closed sticking contacts whose normal velocity is between its bounds."""
        self._above = np.zeros(len(node), np.bool_)
        """Closed contacts at their upper bound."""
        self._slide = np.zeros((len(node), d))
        self._sliding = np.zeros(len(node), np.bool_)
        """Contacts that slide since the last update, other than hesitant ones."""
        self._limit = np.full(len(node), np.nan)
        """Limits of friction [N s]; nan: none yet."""
        self.inertia: NDArray[np.float64] | None = None
        """Diagonal of the solver's matrix (unknowns,) [kg]; without it no contact is hesitant."""
        self._turns = np.zeros(len(node), np.int64)
        """Times that contacts have turned round."""
        self._drag = np.zeros((len(node), d))
        """Friction of hesitant contacts [N s]."""
        self._drag_before = self._drag
        self._new = np.zeros(len(node), np.bool_)
        """Contacts that have become hesitant in the last update."""
        self._projectors: NDArray[np.float64] | None = None

    def __len__(self) -> int:
        return len(self._row)

    @property
    def engaged(self) -> NDArray[np.bool_]:
        """Closed contacts among all that `Contacts` lists."""
        engaged = np.zeros(len(self._present), np.bool_)
        engaged[self._present] = self.closed
        return engaged

    @property
    def _hesitant(self) -> NDArray[np.bool_]:
        return self._turns > OFTEN

    def _sum_of_nodes(self, values: Vectors) -> Vectors:
        """Sum of `values` over all contacts of the node of each contact."""
        sums = np.zeros((len(self.rows), values.shape[1]))
        np.add.at(sums, self._place, values)
        return sums[self._place]

    def _sliding_velocity(self, v: Vectors) -> Vectors:
        relative = v[self._row] - self._velocity
        return relative - _along(relative, self._normal)[:, None] * self._normal

    def close(self, v: Vectors, field: Vectors) -> None:
        """Collide `v` in place, using the node field `field` (blocks, d, 64), and close the contacts that change it."""
        if not self.anywhere:
            return
        self._dofs.put(v, field)
        engaged = self._contacts.apply(field, gap=self._gap, dt=self._dt)
        fresh = self._contacts.listed(engaged)[self._present] & (~self.closed | self._between)
        if not self._ranks.any(bool(fresh.any())):
            return
        v[:] = self._dofs.take(field)
        self._projectors = None
        normal = _along(v[self._row] - self._velocity, self._normal)
        rounding = 1e-12 * np.linalg.norm(v[self._row], axis=1)
        above = normal >= self._upper - rounding
        between = ~self._separating & ~above & (normal > self._lower + rounding)
        fresh &= ~between | self._sticking
        self.closed |= fresh
        self._above[fresh] = above[fresh]
        self._between[fresh] = between[fresh]
        rough = fresh & self._separating & (self._friction > 0.0)
        slide = self._sliding_velocity(v)
        self.stuck |= rough & ~self._hesitant & (_along(slide, slide) == 0.0)
        self._slide[rough] = slide[rough]

    def update(self, v: Vectors, residual: Vectors, same_limits: bool = False) -> None:
        """Update which contacts are open, sticking or sliding from the `residual` impulses of the solver's equations at
        `v`, and add the friction of those that do not stick to `residual`. Both have the shape (unknowns, d). With
        `same_limits` only contacts without a limit of friction get one."""
        self._drag_before, before = self._drag.copy(), self._limit
        self._sliding, self._new = np.zeros(len(self), np.bool_), np.zeros(len(self), np.bool_)
        self._limit = np.full(len(self), np.nan)
        if not self.closed.any():
            return
        self._projectors = None
        impulse = residual[self._row]
        across = -normal_impulses(self._node, self._normal, self.closed & ~self._sticking, self._separating, -impulse)
        away = np.where(self._above, across < 0.0, across > 0.0) & (self._lower < self._upper)
        released = self.closed & ~self._separating & away & ~self._between
        self._between |= released & self._sticking
        self.closed &= ~released | self._sticking
        active = self._separating & self.closed
        opened = active & (across > 0.0)
        self.closed &= ~opened
        self.stuck &= ~opened
        self._drag[opened] = 0.0
        self._turns[opened] = np.minimum(self._turns[opened], OFTEN)
        rough = active & ~opened & (self._friction > 0.0)
        if not rough.any():
            return
        along = impulse - self._sum_of_nodes((across * (self.closed & ~self._sticking))[:, None] * self._normal)
        limit = -self._friction * across
        if same_limits:
            limit = np.where(np.isnan(before) | opened, limit, before)
        of_node = self._sum_of_nodes(np.where(rough, limit, 0.0)[:, None])[:, 0]
        slipping = self.stuck & (np.linalg.norm(along, axis=1) > of_node)
        self.stuck &= ~slipping
        self._slide[slipping] = along[slipping]
        slide = self._sliding_velocity(v)
        sliding = rough & ~self.stuck & ~slipping & ~self._hesitant
        turned = sliding & (_along(slide, self._slide) <= 0.0)
        sliding &= ~turned
        turned &= ~self._hesitate(turned, limit)
        self.stuck |= turned
        v[self._row[turned]] -= slide[turned]
        self._slide[sliding] = slide[sliding]
        sliding |= slipping
        self._sliding, self._limit = sliding, np.where(rough, limit, np.nan)
        np.add.at(residual, self._row[sliding], self._kinetic(sliding, limit))
        hesitant = rough & self._hesitant
        if hesitant.any():
            np.add.at(residual, self._row[hesitant], self._dragged(hesitant, slide, limit))

    def friction_change(self) -> float:
        """Change of the friction of hesitant contacts in the last update, divided by c, relative to the limits of all
        closed contacts [1]; at least one if a contact has just become hesitant."""
        if not self.anywhere:
            return 0.0
        hesitant = self.closed & self._hesitant
        changes: Vectors = np.where(hesitant, np.linalg.norm(self._drag - self._drag_before, axis=1), 0.0)
        limits = np.where(np.isnan(self._limit), 0.0, self._limit)
        new = self._new.astype(np.float64)
        new_ones, change, largest = self._ranks.totals([a[self._counted] for a in (new, changes, limits)])
        return float(new_ones > 0.0) + (change / (SHARE * largest) if largest > 0.0 else 0.0)

    def take_back(self) -> None:
        """Undo the last update of the friction of hesitant contacts."""
        self._drag = self._drag_before

    def _hesitate(self, turned: NDArray[np.bool_], limit: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Count the contacts that have `turned`, keep the friction of those that are now hesitant, and return these."""
        if self.inertia is not None:
            self._turns += turned
        new = self._hesitant & turned
        self._drag[new] = self._kinetic(new, limit)
        self._new = new
        return new

    def _kinetic(self, sliding: NDArray[np.bool_], limit: NDArray[np.float64]) -> Vectors:
        """Friction of `sliding` contacts: on the cone, opposite to their last sliding velocity."""
        slide = self._slide[sliding]
        length = np.linalg.norm(slide, axis=1)
        length[length == 0.0] = 1.0
        return np.asarray(-(limit[sliding] / length)[:, None] * slide)

    def _dragged(self, hesitant: NDArray[np.bool_], slide: Vectors, limit: NDArray[np.float64]) -> Vectors:
        """The new friction of `hesitant` contacts."""
        assert self.inertia is not None
        drag = self._drag[hesitant] - SHARE * self.inertia[self._row[hesitant], None] * slide[hesitant]
        size = np.linalg.norm(drag, axis=1)
        drag *= np.divide(limit[hesitant], size, out=np.ones_like(size), where=size > limit[hesitant])[:, None]
        self._drag[hesitant] = drag
        return drag

    def state(self) -> State:
        """Which contacts are closed, stick and slide, for `restore`."""
        return tuple(a.copy() for a in (self.closed, self.stuck, self._between, self._above, self._sliding))

    def restore(self, state: State) -> None:
        """Restore what `state` returned."""
        self.closed, self.stuck, self._between, self._above, self._sliding = (a.copy() for a in state)
        self._projectors = None

    def arrest(self, v: Vectors) -> None:
        """Let contacts that have turned round since the last update stick, and change `v` in place to that of the
        obstacle."""
        if not self._sliding.any():
            return
        slide = self._sliding_velocity(v)
        turned = self._sliding & (_along(slide, self._slide) <= 0.0)
        v[self._row[turned]] -= slide[turned]
        self.stuck |= turned
        self._sliding &= ~turned
        self._projectors = None

    def rub(self, v: Vectors) -> Vectors:
        """Friction of the contacts that slide with `v`, with the limits of the last update [N s]."""
        friction, sliding = np.zeros_like(v), self._sliding
        slide = self._sliding_velocity(v)[sliding]
        still = _along(slide, slide) == 0.0
        slide[still] = self._slide[sliding][still]
        slide *= (self._limit[sliding] / np.maximum(np.linalg.norm(slide, axis=1), TINY))[:, None]
        np.add.at(friction, self._row[sliding], -slide)
        return friction

    def potential(self, v: Vectors) -> float:
        """Σ s ‖w‖ of the contacts that slide with `v`, with the limits of the last update [J]."""
        sliding = self._sliding
        speed = np.linalg.norm(self._sliding_velocity(v)[sliding], axis=1)
        work = np.zeros(len(self))
        work[sliding] = self._limit[sliding] * speed
        return self._ranks.total(work[self._counted])

    def turning(self, v: Vectors, inertia: Vectors) -> Vectors:
        """Second derivative of the potential of friction at `v` [kg], a matrix for each of `rows`; `inertia` is the
        diagonal of the solver's matrix.

        It is s/‖w‖ for a change of w across w. A contact that has stuck until now will slide with about the part of its
        impulse beyond the limit, divided by the inertia.
        """
        d = v.shape[1]
        matrices = np.zeros((len(self.rows), d, d))
        if d == 2 or not self._sliding.any():  # friction in a plane does not turn
            return matrices
        sliding = self._sliding
        w, limit, n = self._slide[sliding], self._limit[sliding], self._normal[sliding]
        speed, slide = np.linalg.norm(w, axis=1), self._sliding_velocity(v)[sliding]
        response = 1.0 / inertia[self._row[sliding]].mean(axis=1)
        begins = _along(slide, slide) == 0.0
        least = limit * response / STIFFEST
        rate = np.maximum(np.where(begins, response * (speed - limit), speed), np.maximum(least, TINY))
        w = w / np.maximum(speed, TINY)[:, None]
        across = np.eye(d) - n[:, :, None] * n[:, None, :] - w[:, :, None] * w[:, None, :]
        np.add.at(matrices, self._place[sliding], (limit / rate)[:, None, None] * across)
        return matrices

    def coupling(self) -> Vectors:
        """I + Σ μ ŵ νᵀ over the sliding contacts of each of `rows`: the impulse y of a change of v changes the normal
        impulses by ν · y, and friction by −μ ŵ ν · y."""
        matrices = np.tile(np.eye(self._normal.shape[1]), (len(self.rows), 1, 1))
        sliding = self._sliding
        dual = dual_normals(self._node, self._normal, self.closed & ~self._sticking)[sliding]
        w = self._slide[sliding] / np.maximum(np.linalg.norm(self._slide[sliding], axis=1), TINY)[:, None]
        np.add.at(matrices, self._place[sliding], (self._friction[sliding, None] * w)[:, :, None] * dual[:, None, :])
        return matrices

    @property
    def slides(self) -> bool:
        """Whether a contact with friction slides on any rank."""
        return self.anywhere and self._ranks.any(bool(self._sliding.any()))

    def project(self, dv: Vectors) -> None:
        """Remove the components constrained by closed contacts from `dv` (unknowns, d), by orthogonal projection."""
        if not self.closed.any():
            return
        if self._projectors is None:
            self._projectors = self._make_projectors(dv.shape[1])
        dv[self.rows] = np.einsum("nij,nj->ni", self._projectors, dv[self.rows])

    def _make_projectors(self, d: int) -> NDArray[np.float64]:
        """I − Σ n nᵀ over an orthonormal basis of the normals of each node's closed contacts; zero if it sticks."""
        projectors = np.tile(np.eye(d), (len(self.rows), 1, 1))
        for rank in range(int(self._rank.max()) + 1):
            chosen = self.closed & (self._rank == rank)
            place = self._place[chosen]
            rest = np.einsum("nij,nj->ni", projectors[place], self._normal[chosen])
            length = np.linalg.norm(rest, axis=1)
            rest[length <= 1e-8] = 0.0  # skip a normal in the span of the others
            rest[length > 1e-8] /= length[length > 1e-8, None]
            projectors[place] -= rest[:, :, None] * rest[:, None, :]
        held = (self.closed & self._sticking) | self.stuck
        projectors[self._place[held]] = 0.0
        along = self.closed & self._between
        projectors[self._place[along]] = self._normal[along, :, None] * self._normal[along, None, :]
        return projectors


def _along(a: Vectors, b: Vectors) -> NDArray[np.float64]:
    """Scalar products of the rows."""
    return np.asarray(np.einsum("nq,nq->n", a, b))
