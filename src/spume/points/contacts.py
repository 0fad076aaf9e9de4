"""Contact of points that are not neighbours in the reference configuration: other bodies, or far parts of the same.

Two such points repel each other below a distance s, the initial spacing of points, with the energy ½ k (s − r)²,
1/k = s²/(M V)_i + s²/(M V)_j for the modulus M of pressure waves. A dashpot along the pair damps their approach; it
never pulls.
"""

import numpy as np
from numpy.typing import NDArray

from spume.numerics.jit import compiled
from spume.points.neighbours import NeighbourLists
from spume.scene.point_based import EVERY

SKIN = 0.4
"""How far lists reach beyond the contact distance [spacings]."""
DASHPOT = 0.2
"""Damping of contacts relative to the critical one [1]."""


class Contacts:
    """Pairs of points that may touch without being neighbours in the reference."""

    def __init__(self, dimension: int, spacing: float) -> None:
        self.spacing = spacing
        self.lists = NeighbourLists(dimension, spacing, EVERY, SKIN * spacing)
        self.pairs = np.empty((0, 2), np.int64)

    def find(self, x: NDArray[np.float64], neighbours: NeighbourLists) -> None:
        """Find the pairs of points at `x` [m] nearer than the distance of lists that are not among `neighbours`."""
        self.lists.build(x)
        near, bonded = _codes(self.lists), _codes(neighbours)
        place = np.minimum(np.searchsorted(bonded, near), max(len(bonded) - 1, 0))
        free = bonded[place] != near if len(bonded) else np.ones(len(near), bool)
        self.pairs = np.stack(np.divmod(near[free], len(x)), axis=1)

    def push(
        self,
        x: NDArray[np.float64],
        v: NDArray[np.float64],
        mass: NDArray[np.float64],
        stiffness: NDArray[np.float64],
        acceleration: NDArray[np.float64],
    ) -> None:
        """Add the accelerations of all contacts [m/s²]; stiffness: M V/s² of each point [N/m]."""
        if len(self.pairs):
            push_apart(self.pairs, self.spacing, x, v, mass, stiffness, acceleration)

    def energy(self, x: NDArray[np.float64], stiffness: NDArray[np.float64]) -> float:
        """Energy of all contacts [J]."""
        return float(contact_energy(self.pairs, self.spacing, x, stiffness)) if len(self.pairs) else 0.0


def _codes(lists: NeighbourLists) -> NDArray[np.int64]:
    """i n + j of the listed pairs i < j of n points, in ascending order."""
    n = len(lists.start) - 1
    first = np.repeat(np.arange(n), np.diff(lists.start))
    listed = (first < lists.neighbour) & (lists.neighbour < n)
    return first[listed] * n + lists.neighbour[listed]


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
def contact_energy(pairs, distance, x, stiffness):
    """Energy of all contacts [J]."""
    total = 0.0
    for n in range(pairs.shape[0]):
        i, j = pairs[n, 0], pairs[n, 1]
        square = 0.0
        for q in range(x.shape[1]):
            square += (x[j, q] - x[i, q]) ** 2
        if square < distance * distance:
            k = stiffness[i] * stiffness[j] / (stiffness[i] + stiffness[j])
            total += 0.5 * k * (distance - np.sqrt(square)) ** 2
    return total
