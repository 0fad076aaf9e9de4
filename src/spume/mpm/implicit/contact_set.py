"""Which contacts hold their nodes while an implicit step is solved, and the friction of those that slide.

Sticking and slipping contacts always act. A separating contact is *closed* when the material approaches it, and opens
when the impulses left at its node pull it open. A closed contact with friction *sticks* as long as the impulse along
the surface is within Coulomb's cone of the one across it; beyond, it slides against an impulse on the cone, and sticks
again when it would slide backwards. The impulses are those that the solver's equations leave at the nodes that are
held, so they contain the stress of the material and not only its momentum.
"""

import copy

import numpy as np
from numpy.typing import NDArray

from spume.geometry.obstacles.collision import SEPARATE, STICK
from spume.mpm.contacts import Contacts
from spume.mpm.nodes import DegreesOfFreedom

Vectors = NDArray[np.float64]


class ContactSet:
    """The contacts of a step as an active set that a solver updates between its iterations."""

    def __init__(self, contacts: Contacts, dofs: DegreesOfFreedom, dimension: int) -> None:
        self._all = contacts
        self._dofs = dofs
        self._row = dofs.number.reshape(-1)[contacts.node]
        self._normal = contacts.numbers[:, :dimension]
        self._velocity = contacts.numbers[:, 3 : 3 + dimension]
        self._friction = contacts.numbers[:, 6]
        self._separating = contacts.kind == SEPARATE
        self._first = np.searchsorted(contacts.node, contacts.node)
        self.closed = ~self._separating
        """Contacts that act."""
        self.stuck = np.zeros(len(contacts), np.bool_)
        """Closed contacts with friction that hold their node altogether."""
        self._slide = np.zeros_like(self._normal)

    def _sliding_velocity(self, v: Vectors) -> Vectors:
        relative = v[self._row] - self._velocity
        return relative - np.einsum("nq,nq->n", relative, self._normal)[:, None] * self._normal

    def close(self, v: Vectors, field: Vectors) -> None:
        """Collide `v` in place, by way of a node `field` (blocks, d, 64), and close the contacts it approached."""
        if len(self._all) == 0:
            return
        self._dofs.put(v, field)
        fresh = self._all.apply(field) & ~self.closed
        v[:] = self._dofs.take(field)
        self.closed |= fresh
        rough = fresh & (self._friction > 0.0)
        if rough.any():
            slide = self._sliding_velocity(v)
            self.stuck |= rough & (np.einsum("nq,nq->n", slide, slide) == 0.0)
            self._slide[rough] = slide[rough]

    def update(self, v: Vectors, residual: Vectors) -> None:
        """Open, stick or let slide what the `residual` impulses of the solver's equations at `v` demand, and add the
        friction of sliding contacts to `residual`. Both have the shape (unknowns, d)."""
        if not self._separating.any():
            return
        impulse = residual[self._row]
        across = np.einsum("nq,nq->n", impulse, self._normal)
        opened = self._separating & self.closed & (across > 0.0)
        self.closed &= ~opened
        self.stuck &= ~opened
        rough = self._separating & self.closed & (self._friction > 0.0)
        if not rough.any():
            return
        along = impulse - across[:, None] * self._normal
        limit = -self._friction * across
        slipping = self.stuck & (np.linalg.norm(along, axis=1) > limit)
        self.stuck &= ~slipping
        self._slide[slipping] = along[slipping]
        slide = self._sliding_velocity(v)
        moving = rough & ~self.stuck
        turned = moving & ~slipping & (np.einsum("nq,nq->n", slide, self._slide) <= 0.0)
        self.stuck |= turned
        v[self._row[turned]] = self._velocity[turned] + (
            np.einsum("nq,nq->n", v[self._row[turned]] - self._velocity[turned], self._normal[turned])[:, None]
            * self._normal[turned]
        )
        moving &= ~turned
        known = moving & ~slipping
        self._slide[known] = slide[known]
        length = np.linalg.norm(self._slide[moving], axis=1)
        length[length == 0.0] = 1.0
        pull = -(limit[moving] / length)[:, None] * self._slide[moving]
        np.add.at(residual, self._row[moving], pull)

    def project(self, dv: Vectors) -> None:
        """Remove from `dv` what the active contacts forbid."""
        if len(self._all) == 0:
            return
        active = copy.copy(self._all)
        if self.stuck.any():
            active.kind = self._all.kind.copy()
            active.kind[self._first[self.stuck]] = STICK
        active.project(dv, self._dofs, self.closed)
