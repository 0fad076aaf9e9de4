"""Reflection at closed walls of a flux whose divergence the points feel, and of the forces of their pressure.

Nodes behind a wall move with it. The splines of the material reach beyond the wall, so that the velocity which points
see is not that of the wall on the wall, and the forces of a uniform pressure do not vanish at the first node in front
of it: in the rows of points next to a wall the pressure was wrong by a quarter, alternating from cell to cell. The cure
is the odd extension of the normal component: a node i at the distance s behind the wall, which has the velocity u and
the normal n, gets

    q_i → q_i − s/e n n·(q(y) − u),    y = x_i + (s + e) n,

with the flux q(y) at the distance e in front of the wall, linear between nodes, which is exact for linear q. The forces
are the transpose, F_j → F_j − s/e w_j n n·F_i, for the weights w_j of the nodes around y; the wall bears the
difference. e is s or, if that is closer to the wall than the next node in front of it, that node's distance. A uniform
pressure is then in exact equilibrium if the wall is on nodes or midway between them.
"""

from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from numpy.typing import NDArray

from spume.grid.blocks import NODES_PER_BLOCK
from spume.grid.contacts import TOUCH, Contacts
from spume.grid.mirrors import Mirrors
from spume.mpm.species import GridSpecies
from spume.mpm.step import gaps_of
from spume.mpm.world import GridWorld
from spume.numerics.jit import compiled

Floats = NDArray[np.float64]
LEAVING = 1e-9
"""Relative speed above which a node behind a wall counts as leaving it."""


@dataclass(frozen=True)
class Reflection:
    """Nodes behind walls; all arrays have one row for each."""

    mirrors: Mirrors
    """Ties of all nodes behind walls"""
    row: NDArray[np.int64]
    """Index of the node among these"""
    contact: NDArray[np.int64]
    """Index of the contact of the node"""
    node: NDArray[np.int64]
    """Flat index (64 per block)"""
    normal: Floats
    velocity: Floats
    """of the wall [m/s]"""
    sources: NDArray[np.int64]
    """The nodes around y, for `mirrors.at`, shape (n, 2^d)"""
    weights: Floats
    """s/e w of these nodes"""

    def __len__(self) -> int:
        return int(self.node.size)

    def only(self, chosen: NDArray[np.bool_]) -> "Reflection":
        """Some of the nodes."""
        return Reflection(
            self.mirrors, self.row[chosen], self.contact[chosen], self.node[chosen], self.normal[chosen],
            self.velocity[chosen], self.sources[chosen], self.weights[chosen],
        )  # fmt: skip

    def without_leaving(self, flux: Floats) -> "Reflection":
        """The nodes that `flux` (blocks, d, 64) does not carry away from their walls."""
        own = flux[self.node // NODES_PER_BLOCK, :, self.node % NODES_PER_BLOCK] - self.velocity
        ahead = np.where(self.weights > 0.0, np.abs(self._at_sources(flux)), 0.0)
        speed = np.abs(own).sum(axis=1) + ahead.max(axis=1, initial=0.0)
        return self.only(np.einsum("nq,nq->n", own, self.normal) <= LEAVING * speed)

    def _at_sources(self, flux: Floats) -> Floats:
        """n·(q_j − u) of the sources, shape (n, 2^d)."""
        q = self.mirrors.at(flux, self.sources) - self.velocity[:, None, :]
        return np.einsum("njq,nq->nj", q, self.normal)

    def extend(self, flux: Floats) -> None:
        """Extend the node field `flux` (blocks, d, 64) behind the walls, in place."""
        change = -np.einsum("nj,nj->n", self.weights, self._at_sources(flux))[:, None] * self.normal
        _add(flux, self.node, change)

    def at_rest(self) -> "Reflection":
        """The same for walls without velocity, for changes of a flux."""
        return replace(self, velocity=np.zeros_like(self.velocity))

    def return_forces(self, force: Floats) -> Floats:
        """Apply the transpose to the node field `force` (blocks, d, 64), in place; return the force that the walls add
        on the material by it, shape (n, d)."""
        own = force[self.node // NODES_PER_BLOCK, :, self.node % NODES_PER_BLOCK]
        along = np.einsum("nq,nq->n", own, self.normal)
        rows = self.mirrors.rows(along, self.row)
        added = _returned(rows.along, rows.normal, rows.weights)
        _add(force, rows.sources.ravel(), added.reshape(-1, force.shape[1]))
        return np.asarray(_returned(along, self.normal, self.weights).sum(axis=1))

    def load(self, world: GridWorld, species: GridSpecies, impulse: Floats) -> None:
        """Add impulses of the walls on the material, one row for each node, to the loads on the obstacles."""
        if not world.obstacle_loads.active:
            return
        counted = world.nodes.border.counts(self.node)
        owner = world.contacts_of(species).numbers[self.contact, 8].astype(np.int64)
        places = world.nodes.places(self.node)
        world.obstacle_loads.add(owner[counted], places[counted], impulse[counted])


def _returned(along: Floats, normal: Floats, weights: Floats) -> Floats:
    """−s/e w_j n n·F of each row, (n, 2^d, d)."""
    return -weights[:, :, None] * (along[:, None] * normal)[:, None, :]


def closed_walls(world: GridWorld, species: GridSpecies, other: GridSpecies) -> Reflection:
    """The nodes behind obstacles that `species` touches and that hold both species; contacts must have been found.

    Nodes behind several obstacles count if the normals are orthogonal, as in the corners of a box.
    """
    contacts, d = world.contacts_of(species), world.dimension
    node, numbers = contacts.node, contacts.numbers
    gap = contacts.listed(gaps_of(world, species))
    behind = -numbers[:, 7]
    normal = np.ascontiguousarray(numbers[:, :d])
    closed = (gap <= TOUCH * world.cell) & (behind > 1e-9 * world.cell) & _square(node, normal)
    closed &= _held(contacts, world.contacts_of(other))
    at = np.flatnonzero(closed)
    node, normal, behind = node[at], normal[at], behind[at]
    ahead = np.maximum(behind, world.cell * np.abs(normal).sum(axis=1) - behind)
    place = (world.nodes.places(node) + (behind + ahead)[:, None] * normal) / world.cell
    lower = np.floor(place + 1e-9)
    part = np.clip(place - lower, 0.0, 1.0)
    part[part < 1e-9] = 0.0
    corners, weights = np.array(list(product((0, 1), repeat=d))), np.zeros((at.size, 2**d))
    for k, corner in enumerate(corners):
        weights[:, k] = np.prod(np.where(corner == 1, part, 1.0 - part), axis=1)
    mirrors = world.ranks.mirrors(world.nodes, lower.astype(np.int64)[:, None, :] + corners)
    present, sources = mirrors.sources >= 0, np.maximum(mirrors.sources, 0)
    mass = mirrors.at(species.fields["mass"][:, None], sources)[..., 0]
    reached = ((present & (mass > 0.0)) | (weights == 0.0)).all(axis=1)
    weights *= (behind / ahead)[:, None]
    velocity = np.ascontiguousarray(numbers[at, 3 : 3 + d])
    mirrors.tie(node[reached], normal[reached], weights[reached], reached)
    row = np.cumsum(reached) - 1
    return Reflection(mirrors, row, at, node, normal, velocity, sources, weights).only(reached)


@compiled
def _add(field, node, values):
    """Add `values` (n, d) at nodes, which may repeat, to a node field (blocks, d, 64); −1 stands for no node."""
    for k in range(node.size):
        if node[k] < 0:
            continue
        for q in range(field.shape[1]):
            field[node[k] // NODES_PER_BLOCK, q, node[k] % NODES_PER_BLOCK] += values[k, q]


def _square(node: NDArray[np.int64], normal: Floats) -> NDArray[np.bool_]:
    """Whether the normal of each contact is orthogonal to those of the other contacts of its node."""
    square = np.ones(node.size, np.bool_)
    for shift in range(1, normal.shape[1] + 1):  # contacts of one node are adjacent
        same = node[shift:] == node[:-shift]
        slanted = same & (np.abs(np.einsum("nq,nq->n", normal[shift:], normal[:-shift])) > 1e-6)
        square[shift:] &= ~slanted
        square[:-shift] &= ~slanted
    return square


def _held(contacts: Contacts, others: Contacts) -> NDArray[np.bool_]:
    """Whether the obstacle of each contact also acts on the other species at this node."""
    if contacts is others:
        return np.ones(len(contacts), np.bool_)
    obstacles = [c.numbers[:, 8].astype(np.int64) for c in (contacts, others)]
    count = 1 + max(int(found.max(initial=0)) for found in obstacles)
    own, known = (c.node * count + found for c, found in zip((contacts, others), obstacles))
    return np.isin(own, known)
