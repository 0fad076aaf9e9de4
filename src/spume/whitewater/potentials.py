"""Where water makes spray, foam and bubbles: the potentials of [Ihmsen12].

Sums over neighbours are weighted by W = 1 − r/h and divided by Σ W, so that thresholds do not depend on the number of
neighbours; the kinetic energy is that of a unit of mass. Thresholds are thus in m/s, 1 and J/kg.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

Floats = NDArray[np.float64]
FORWARD = 0.6
"""Least cosine of the angle between velocity and normal on a crest that breaks [Ihmsen12]."""
SURFACE = 0.05
"""Length of the mean weighted direction to the neighbours, in h, above which a point is at the surface [1]."""


class Range(NamedTuple):
    """A potential grows from 0 at `low` to 1 at `high`."""

    low: float
    high: float

    def of(self, values: Floats) -> Floats:
        """Φ of [Ihmsen12]: clamped and linear."""
        return np.asarray((np.clip(values, self.low, self.high) - self.low) / (self.high - self.low))


class Thresholds(NamedTuple):
    """Between which values the potentials grow."""

    trapped_air: Range = Range(0.25, 1.5)
    """mean speed at which neighbours approach each other [m/s]"""
    crest: Range = Range(0.1, 0.4)
    """mean difference of the normals on convex parts of the surface [1]"""
    energy: Range = Range(0.3, 3.0)
    """kinetic energy per mass [J/kg]"""


class Pairs(NamedTuple):
    """Points and their neighbours within h, without the points themselves."""

    one: NDArray[np.int64]
    other: NDArray[np.int64]
    weight: Floats
    """1 − r/h"""
    direction: Floats
    """unit vector from `other` to `one`"""
    size: int
    """number of points"""

    def mean(self, values: Floats) -> Floats:
        """For each point the weighted mean of values of pairs, (p,) or (p, 3); 0 without neighbours."""
        total = np.bincount(self.one, self.weight, self.size)
        safe = np.where(total > 0, total, 1.0)
        if values.ndim == 1:
            return np.asarray(np.bincount(self.one, self.weight * values, self.size) / safe)
        sums = [np.bincount(self.one, self.weight * values[:, k], self.size) / safe for k in range(values.shape[1])]
        return np.stack(sums, axis=1)


def neighbours(x: Floats, h: float) -> Pairs:
    """The pairs of points at `x` [m] nearer than `h` [m], each twice."""
    found = cKDTree(x).query_pairs(h, output_type="ndarray")
    one, other = np.concatenate([found[:, 0], found[:, 1]]), np.concatenate([found[:, 1], found[:, 0]])
    apart = x[one] - x[other]
    r = np.linalg.norm(apart, axis=1)
    return Pairs(one, other, 1.0 - r / h, apart / np.where(r > 0, r, 1.0)[:, None], len(x))


def trapped_air(pairs: Pairs, v: Floats) -> Floats:
    """Mean of |v_ij| (1 − v̂_ij · x̂_ij): large where points approach, zero where they part. [m/s]."""
    relative = v[pairs.one] - v[pairs.other]
    return pairs.mean(np.linalg.norm(relative, axis=1) - np.einsum("ij,ij->i", relative, pairs.direction))


def normals(pairs: Pairs) -> Floats:
    """Unit normals out of the water at the surface; zero inside, where the neighbours are all around."""
    out = pairs.mean(pairs.direction * (1.0 - pairs.weight)[:, None])
    length = np.linalg.norm(out, axis=1)
    return np.where(length[:, None] > SURFACE, out / np.where(length > 0, length, 1.0)[:, None], 0.0)


def crests(pairs: Pairs, v: Floats, n: Floats) -> Floats:
    """Mean of 1 − n̂_i · n̂_j over the neighbours behind the surface, where it is convex and moves outwards [1]."""
    behind = np.einsum("ij,ij->i", pairs.direction, n[pairs.one]) > 0.0
    both = behind & (n[pairs.one] != 0).any(axis=1) & (n[pairs.other] != 0).any(axis=1)
    bent = np.where(both, 1.0 - np.einsum("ij,ij->i", n[pairs.one], n[pairs.other]), 0.0)
    speed = np.linalg.norm(v, axis=1)
    forward = np.einsum("ij,ij->i", v, n) >= FORWARD * np.where(speed > 0, speed, np.inf)
    return np.where(forward, pairs.mean(bent), 0.0)


class Potentials(NamedTuple):
    """The three potentials of each point, 0 to 1."""

    trapped_air: Floats
    crest: Floats
    energy: Floats


def potentials(x: Floats, v: Floats, h: float, thresholds: Thresholds) -> Potentials:
    """The potentials of water at `x` [m] with velocities `v` [m/s]."""
    pairs = neighbours(x, h)
    energy = 0.5 * np.einsum("ij,ij->i", v, v)
    return Potentials(
        thresholds.trapped_air.of(trapped_air(pairs, v)),
        thresholds.crest.of(crests(pairs, v, normals(pairs))),
        thresholds.energy.of(energy),
    )
