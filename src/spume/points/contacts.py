"""Contact of points that are not neighbours in the reference configuration: other bodies, or far parts of the same.

Two such points repel each other below a distance s, the initial spacing of points, with the energy ½ k (s − r)²,
1/k = s²/(M V)_i + s²/(M V)_j for the modulus M of pressure waves. A dashpot along the pair damps their approach; it
never pulls.
"""

import numpy as np
from numba import prange
from numpy.typing import NDArray

from spume.numerics.jit import compiled
from spume.points.neighbours import NeighbourLists, Order, only_needed
from spume.ranks.ghosts import NO_GHOSTS, Ghosts
from spume.scene.point_based import EVERY

SKIN = 0.4
"""How far lists reach beyond the contact distance [spacings]."""
DASHPOT = 0.2
"""Damping of contacts relative to the critical one [1]."""


class Contacts:
    """Pairs of points that may touch without being neighbours in the reference."""

    def __init__(self, dimension: int, spacing: float) -> None:
        self.spacing = spacing
        self.lists = NeighbourLists(dimension, spacing, EVERY, SKIN * spacing, both_ways=False)
        self.pairs = np.empty((0, 2), np.int64)
        """Indices of points and ghosts; the first comes first in the order of the points."""
        self.ghosts: Ghosts = NO_GHOSTS
        """Points of other ranks in pairs with own ones."""

    def find(self, x: NDArray[np.float64], neighbours: NeighbourLists, order: Order) -> None:
        """Find the pairs of points at `x` [m] nearer than the distance of lists that are not among `neighbours`."""
        lists, n = self.lists, len(x)
        lists.build(x, order=order)
        first = np.repeat(np.arange(n), np.diff(lists.start))
        second, places = lists.neighbour, order.numbers(lists.ghosts)
        # pairs of own points once
        listed = np.flatnonzero((second < len(places)) & ((first < second) | (second >= n)))
        first, second = first[listed], second[listed]
        free = np.empty(len(listed), np.bool_)
        ids, bonded = lists.ghosts.extended(order.ids), neighbours.ghosts.extended(order.ids)
        _find_free(first, ids[second], neighbours.start, neighbours.neighbour, bonded, free)
        pairs = np.stack([first[free], second[free]], axis=1)
        swapped = places[pairs[:, 0]] > places[pairs[:, 1]]
        pairs[swapped] = pairs[swapped, ::-1]
        if lists.ghosts.count:
            pairs = pairs[np.lexsort((places[pairs[:, 1]], places[pairs[:, 0]]))]
        self.ghosts, kept = only_needed(lists.ghosts, n, pairs.astype(np.int32).reshape(-1))
        self.pairs = kept.reshape(-1, 2).astype(np.int64)

    def push(
        self,
        x: NDArray[np.float64],
        v: NDArray[np.float64],
        mass: NDArray[np.float64],
        stiffness: NDArray[np.float64],
        acceleration: NDArray[np.float64],
    ) -> None:
        """Add the accelerations of all contacts [m/s²]; stiffness: M V/s² of each point [N/m]."""
        if not len(self.pairs):
            return
        extended, whole = self.ghosts.extended, self.ghosts.with_room(acceleration)
        push_apart(
            self.pairs, self.spacing, extended(x), extended(v), extended(mass), extended(stiffness), whole
        )  # fmt: skip
        acceleration[:] = whole[: len(acceleration)]

    def energies(self, x: NDArray[np.float64], stiffness: NDArray[np.float64]) -> NDArray[np.float64]:
        """Energy of each contact [J] whose first point is one of the own."""
        each = np.empty(len(self.pairs))
        if len(self.pairs):
            contact_energies(self.pairs, self.spacing, self.ghosts.extended(x), self.ghosts.extended(stiffness), each)
        return each[self.pairs[:, 0] < len(x)]


@compiled(parallel=True, fastmath=False)
def _find_free(point, other, start, neighbour, ids, free):
    """Whether the list of each `point` does not contain the point with the id `other`."""
    for n in prange(point.size):
        free[n] = True
        for entry in range(start[point[n]], start[point[n] + 1]):
            j = neighbour[entry]
            if j < ids.size and ids[j] == other[n]:
                free[n] = False


@compiled
def push_apart(pairs, distance, x, v, mass, stiffness, acceleration):
    """Add the accelerations of all contacts; stiffness: M V/s² of each point [N/m]."""
    d = x.shape[1]
    for n in range(pairs.shape[0]):
        i, j = pairs[n, 0], pairs[n, 1]
        square = along = 0.0
        for q in range(d):
            apart = x[j, q] - x[i, q]
            square += apart * apart
            along += apart * (v[j, q] - v[i, q])
        if square == 0.0 or square >= distance * distance:
            continue
        r = np.sqrt(square)
        k = stiffness[i] * stiffness[j] / (stiffness[i] + stiffness[j])
        m = mass[i] * mass[j] / (mass[i] + mass[j])
        force = max(0.0, k * (distance - r) - 2.0 * DASHPOT * np.sqrt(k * m) * along / r) / r
        for q in range(d):
            push = force * (x[j, q] - x[i, q])
            acceleration[j, q] += push / mass[j]
            acceleration[i, q] -= push / mass[i]


@compiled
def contact_energies(pairs, distance, x, stiffness, energy):
    """Write the energy of each contact [J]."""
    for n in range(pairs.shape[0]):
        i, j = pairs[n, 0], pairs[n, 1]
        square = 0.0
        for q in range(x.shape[1]):
            square += (x[j, q] - x[i, q]) ** 2
        energy[n] = 0.0
        if square < distance * distance:
            k = stiffness[i] * stiffness[j] / (stiffness[i] + stiffness[j])
            energy[n] = 0.5 * k * (distance - np.sqrt(square)) ** 2
