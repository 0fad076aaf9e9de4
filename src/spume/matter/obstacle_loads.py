"""Loads of the material on the obstacles: impulse and angular impulse on each obstacle since the start.

Obstacles act twice in a step. They change velocities on the nodes, and a node of mass m whose velocity changes by Δv
receives the impulse m Δv from its obstacles. After that, they collide the points inside them. The obstacles receive the
negative of both, so that momentum is conserved except for external forces. The difference of the impulses at two times
divided by the time between them is the mean force, and likewise the mean torque.

If several obstacles contain a node, the impulse is split into parts along their normals; the remainder, friction, is
assigned to the obstacle with the largest part.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spume.geometry.obstacles.collision import find_owners
from spume.geometry.obstacles.obstacle_set import ObstacleArrays
from spume.grid.contacts import Contacts
from spume.grid.nodes import Nodes
from spume.ranks.ranks import ALONE, Ranks

Floats = NDArray[np.float64]
REGULAR = 1e-9
"""Added to the Gram matrix of the normals: obstacles with the same normal share equally."""


class ObstacleLoads:
    """Impulse [N s] and angular impulse about the origin [N m s] on each obstacle."""

    def __init__(self, names: Sequence[str], dimension: int) -> None:
        """`names`: those of the obstacles; obstacles with the same name share their loads."""
        self.places = {name: k for k, name in enumerate(dict.fromkeys(names))}
        self._place_of = np.array([self.places[name] for name in names], np.int64)
        self.impulse = np.zeros((len(self.places), dimension))
        self.angular_impulse = np.zeros((len(self.places), 3))
        self.ranks: Ranks = ALONE
        self.active = False
        """Whether loads are summed; this is off unless they are needed, since it takes a fifth of the time of a small
        scene."""

    def __len__(self) -> int:
        return len(self.places)

    def add(self, owner: NDArray[Any], place: Floats, impulse: Floats) -> None:
        """Subtract the impulses that the material received from obstacles at `place` [m], both of shape (n, d); `owner`
        is the index of the obstacle of each."""
        d = place.shape[1]
        own = self._place_of[owner]
        moment = np.cross(np.pad(place, ((0, 0), (0, 3 - d))), np.pad(impulse, ((0, 0), (0, 3 - d))))
        for k in np.flatnonzero(self.ranks.either(np.bincount(own, minlength=len(self)) > 0)):
            of_obstacle = own == k
            pushes, turns = impulse[of_obstacle].T, moment[of_obstacle].T
            sums = self.ranks.totals([*pushes, *turns])
            self.impulse[k] -= sums[:d]
            self.angular_impulse[k] -= sums[d:]

    def report(self) -> dict[str, Any]:
        """Loads on each obstacle by name, for diagnostics."""
        return {
            name: {"impulse": self.impulse[k].tolist(), "angular_impulse": self.angular_impulse[k].tolist()}
            for name, k in self.places.items()
        }

    def restore(self, values: dict[str, Any]) -> None:
        """Restore what `report` returned."""
        for name, k in self.places.items():
            if name in values:
                self.impulse[k] = values[name]["impulse"]
                self.angular_impulse[k] = values[name]["angular_impulse"]


def load_by_nodes(
    loads: ObstacleLoads, contacts: Contacts, nodes: Nodes, impulse: Floats, acting: NDArray[np.bool_] | None = None
) -> None:
    """Add the impulses on the nodes of `contacts`, one row (d) per contact, equal for all contacts of a node. Only the
    contacts in `acting` share in them (None: all)."""
    node, numbers, places = contacts.node, contacts.numbers, contacts.places(nodes)
    if acting is not None:
        node, numbers, places, impulse = node[acting], numbers[acting], places[acting], impulse[acting]
    counted = nodes.border.counts(node)
    node, numbers, places, impulse = node[counted], numbers[counted], places[counted], impulse[counted]
    owner = numbers[:, 8].astype(np.int64)
    parts = split(node, numbers[:, : impulse.shape[1]], impulse)
    loads.add(owner, places, parts)


def split(node: NDArray[np.int64], normal: Floats, impulse: Floats) -> Floats:
    """Share of each contact in the impulse of its node; contacts of one node are adjacent."""
    first = np.flatnonzero(np.r_[True, node[1:] != node[:-1]][: node.size])
    count = np.diff(np.r_[first, node.size])
    if count.max(initial=1) == 1:
        return impulse
    parts = impulse.copy()
    for several in np.unique(count[count > 1]):
        rows = first[count == several][:, None] + np.arange(several)
        n, p = normal[rows], impulse[rows[:, 0]]
        gram = np.einsum("gaq,gbq->gab", n, n) + REGULAR * np.eye(several)
        size = np.linalg.solve(gram, np.einsum("gaq,gq->ga", n, p)[:, :, None])[:, :, 0]
        along = size[:, :, None] * n
        rest = p - along.sum(axis=1)
        along[np.arange(len(rows)), np.abs(size).argmax(axis=1)] += rest
        parts[rows] = along
    return parts


class WatchedPoints:
    """Points that obstacles may collide in a step, with their values before it."""

    def __init__(self, x: Floats, v: Floats, clear_until: Floats, reach: float) -> None:
        """`clear_until`: see `Species.clear_until`; points above `reach` are certainly outside all obstacles."""
        self.points = np.flatnonzero(~(clear_until > reach))
        self.x, self.v = x[self.points], v[self.points]

    def load(self, loads: ObstacleLoads, obstacles: ObstacleArrays, v: Floats, mass: Floats) -> None:
        """Add the impulses of the obstacles, in the step, on the points."""
        change = v[self.points] - self.v
        hit = np.flatnonzero(change.any(axis=1))
        x = self.x[hit]
        owner = np.zeros(hit.size, np.int64)
        if obstacles.number > 1:
            find_owners(obstacles, np.pad(x, ((0, 0), (0, 3 - x.shape[1]))), owner)
        known = owner >= 0
        taken = mass[self.points[hit], None] * change[hit]
        loads.add(owner[known], x[known], taken[known])
