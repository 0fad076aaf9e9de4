"""The points of spray, foam and bubbles: where they begin, how they move, and when they vanish. [Ihmsen12]"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

Floats = NDArray[np.float64]
SPRAY, FOAM, BUBBLE = 0, 1, 2
NEAR = (6, 20)
"""Numbers of neighbours in the water below which a point is spray, and above which it is a bubble [Ihmsen12]."""


class Points(NamedTuple):
    """Points of all three kinds."""

    x: Floats
    """[m], (n, 3)"""
    v: Floats
    """[m/s], (n, 3)"""
    kind: NDArray[np.uint8]
    """SPRAY, FOAM or BUBBLE"""
    life: Floats
    """time that is left as foam [s]"""
    id: NDArray[np.int64]
    """never used again"""

    def take(self, chosen: NDArray[np.bool_]) -> "Points":
        """Some of the points."""
        return Points(self.x[chosen], self.v[chosen], self.kind[chosen], self.life[chosen], self.id[chosen])

    def joined(self, other: "Points") -> "Points":
        """These points, and after them others."""
        return Points(
            np.concatenate([self.x, other.x]),
            np.concatenate([self.v, other.v]),
            np.concatenate([self.kind, other.kind]),
            np.concatenate([self.life, other.life]),
            np.concatenate([self.id, other.id]),
        )

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The arrays by name."""
        return dict(zip(self._fields, (self.x, self.v, self.kind, self.life, self.id)))


def none() -> Points:
    """No points."""
    return Points(np.empty((0, 3)), np.empty((0, 3)), np.empty(0, np.uint8), np.empty(0), np.empty(0, np.int64))


def seeded(
    x: Floats, v: Floats, counts: NDArray[np.int64], life: Floats, radius: float, dt: float, first_id: int,
    random: np.random.Generator,
) -> Points:  # fmt: skip
    """New points from `counts` of each point of water: in a cylinder around its way in `dt` [s], with its velocity."""
    which = np.repeat(np.arange(len(x)), counts)
    r = radius * np.sqrt(random.uniform(size=len(which)))
    angle, along = random.uniform(0.0, 2 * np.pi, len(which)), random.uniform(size=len(which))
    speed = np.linalg.norm(v[which], axis=1)
    axis = v[which] / np.where(speed > 0, speed, 1.0)[:, None]
    axis[speed == 0] = (0.0, 1.0, 0.0)
    helper = np.eye(3)[np.argmin(np.abs(axis), axis=1)]
    one = np.cross(axis, helper)
    one /= np.linalg.norm(one, axis=1, keepdims=True)
    two = np.cross(axis, one)
    across = r[:, None] * (np.cos(angle)[:, None] * one + np.sin(angle)[:, None] * two)
    place = x[which] + across + (dt * along)[:, None] * v[which]
    ids = first_id + np.arange(len(which))
    return Points(place, v[which].copy(), np.zeros(len(which), np.uint8), life[which], ids)


class Water(NamedTuple):
    """The water of a frame."""

    tree: cKDTree
    v: Floats
    h: float
    """distance of neighbours [m]"""


class Motion(NamedTuple):
    """How points move."""

    gravity: Floats
    """[m/s²]"""
    buoyancy: float = 1.0
    """k_b: acceleration of bubbles upwards, in that of gravity [1]"""
    drag: float = 0.5
    """k_d: part of the difference to the velocity of the water that a bubble loses in a step [1]"""


def moved(
    points: Points, water: Water, motion: Motion, dt: float, inside: Callable[[Floats], NDArray[np.bool_]]
) -> Points:
    """The points after a step of `dt` [s]: spray flies, foam goes with the water, bubbles rise in it. Foam that has
    lived its time vanishes, and so does what is inside of obstacles."""
    if len(points.x) == 0:
        return points
    pairs = cKDTree(points.x).sparse_distance_matrix(water.tree, water.h, output_type="ndarray")
    count = np.bincount(pairs["i"], minlength=len(points.x))
    kind = np.where(count < NEAR[0], SPRAY, np.where(count > NEAR[1], BUBBLE, FOAM)).astype(np.uint8)
    u = _velocity(pairs, len(points.x), water)
    g = motion.gravity
    flies = points.v + dt * g
    rises = points.v - dt * motion.buoyancy * g + motion.drag * (u - points.v)
    v = np.where((kind == SPRAY)[:, None], flies, np.where((kind == FOAM)[:, None], u, rises))
    life = points.life - dt * (kind == FOAM)
    after = Points(points.x + dt * v, v, kind, life, points.id)
    return after.take((life > 0.0) & ~inside(after.x))


def _velocity(pairs: NDArray[Any], size: int, water: Water) -> Floats:
    """The velocity of the water around each of `size` points, weighted by 1 − r/h. `pairs`: i, j and r."""
    one, other, weight = pairs["i"], pairs["j"], 1.0 - pairs["v"] / water.h
    total = np.bincount(one, weight, size)
    sums = [np.bincount(one, weight * water.v[other, k], size) for k in range(3)]
    return np.stack(sums, axis=1) / np.where(total > 0, total, 1.0)[:, None]
