"""Dart throwing: random points of a shape, no two closer than r, until no room is left.

The shape is covered by square cells of diagonal r, so that each has room for one point at most, and only cells that the
shape reaches are ever made. Over a few rounds each empty cell is thrown at once, in random order; a dart lands if it is
in the shape and no point is closer than r. What is then neither taken nor covered by the ball around a point is halved
along each axis and thrown at again, as in [White07].
"""

import itertools
import math

import numpy as np
from numpy.typing import NDArray

from spume.geometry.codes import ShapeProgram
from spume.geometry.program import distance
from spume.geometry.tree import lattice_within
from spume.numerics.jit import compiled

ROUNDS = 4
LEVELS = 6
"""Halvings; what remains uncovered then is too small to be found by a dart."""


def throw_darts(
    program: ShapeProgram, lower: NDArray[np.float64], upper: NDArray[np.float64], r: float, seed: int
) -> NDArray[np.float64]:
    """Points inside the shape [m], shape (n, dimension), no two closer than `r` [m]; the same for the same seed."""
    d = len(lower)
    size = r / math.sqrt(d)
    cells = lattice_within(program, lower, upper, size, r / 2)
    state = np.array([seed], dtype=np.uint64)
    points = np.empty((len(cells), 3))
    count = _throw(program, cells, _slots(cells), _neighbours(d), size, r, state, points)
    return points[:count, :d].copy()


def _neighbours(d: int) -> NDArray[np.int64]:
    """Offsets of the cells that can hold a point within r of one in the cell at (0, 0, 0), the nearest first."""
    reach = (-2, -1, 0, 1, 2)
    offsets = [(*offset, 0)[:3] for offset in itertools.product(*[reach] * d)]
    gaps = [sum(max(abs(k) - 1, 0) ** 2 for k in offset) for offset in offsets]
    near = [offset for offset, gap in zip(offsets, gaps) if gap < d]
    return np.array(sorted(near, key=lambda offset: sum(k * k for k in offset)), dtype=np.int64)


def _slots(cells: NDArray[np.int64]) -> NDArray[np.int64]:
    """A hash table from the indices of a cell to its number."""
    slots = np.full(1 << (2 * len(cells) + 1).bit_length(), -1, dtype=np.int64)
    _enter(cells, slots)
    return slots


@compiled
def _hash(i, j, k, slots):
    return (i * 73856093 ^ j * 19349663 ^ k * 83492791) & (len(slots) - 1)


@compiled
def _enter(cells, slots):
    for n in range(len(cells)):
        at = _hash(cells[n, 0], cells[n, 1], cells[n, 2], slots)
        while slots[at] >= 0:
            at = (at + 1) & (len(slots) - 1)
        slots[at] = n


@compiled
def _find(cells, slots, i, j, k):
    """The number of a cell, or -1."""
    at = _hash(i, j, k, slots)
    while slots[at] >= 0:
        n = slots[at]
        if cells[n, 0] == i and cells[n, 1] == j and cells[n, 2] == k:
            return n
        at = (at + 1) & (len(slots) - 1)
    return -1


@compiled
def _random(state):
    """The next number in [0, 1) of the generator SplitMix64."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return (z >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@compiled
def _shuffled(count, state):
    order = np.arange(count)
    for n in range(count - 1, 0, -1):
        other = int(_random(state) * (n + 1))
        order[n], order[other] = order[other], order[n]
    return order


@compiled
def _within(cells, slots, offsets, owner, points, n, x, y, z, half, r):
    """Whether the cube of half side `half` around a place in cell n lies within r of one point. A place has no size."""
    for m in range(len(offsets)):
        other = _find(cells, slots, cells[n, 0] + offsets[m, 0], cells[n, 1] + offsets[m, 1], cells[n, 2] + offsets[m, 2])
        if other >= 0 and owner[other] >= 0:
            p = owner[other]
            u, v, w = abs(x - points[p, 0]) + half, abs(y - points[p, 1]) + half, abs(z - points[p, 2])
            if offsets.shape[0] > 25:
                w += half
            if u * u + v * v + w * w < r * r:
                return True
    return False


@compiled
def _throw(program, cells, slots, offsets, size, r, state, points):
    """Fills `points` and returns their number."""
    flat = program.dimension == 2
    owner = np.full(len(cells), -1, dtype=np.int64)
    count = 0
    for _ in range(ROUNDS):
        order = _shuffled(len(cells), state)
        for n in order:
            if owner[n] < 0:
                x = (cells[n, 0] + _random(state)) * size
                y = (cells[n, 1] + _random(state)) * size
                z = 0.0 if flat else (cells[n, 2] + _random(state)) * size
                if not _within(cells, slots, offsets, owner, points, n, x, y, z, 0.0, r):
                    if distance(program, x, y, z) < 0.0:
                        points[count, 0], points[count, 1], points[count, 2] = x, y, z
                        owner[n] = count
                        count += 1
    active = np.empty((len(cells), 4))
    remaining = 0
    for n in range(len(cells)):
        if owner[n] < 0:
            x, y, z = (cells[n, 0] + 0.5) * size, (cells[n, 1] + 0.5) * size, (cells[n, 2] + 0.5) * size
            if not _within(cells, slots, offsets, owner, points, n, x, y, 0.0 if flat else z, 0.5 * size, r):
                active[remaining, 0], active[remaining, 1], active[remaining, 2], active[remaining, 3] = n, x, y, z
                remaining += 1
    half = 0.5 * size
    for _ in range(LEVELS):
        half *= 0.5
        count, active, remaining = _throw_smaller(
            program, cells, slots, offsets, owner, points, count, active, remaining, half, r, state
        )
    return count


@compiled
def _throw_smaller(program, cells, slots, offsets, owner, points, count, active, remaining, half, r, state):
    """One dart into each uncovered part, of half side `half`, of the active cells. Returns the parts still uncovered."""
    flat = program.dimension == 2
    children = 4 if flat else 8
    smaller = np.empty((children * remaining, 4))
    kept = 0
    for a in _shuffled(remaining, state):
        n = int(active[a, 0])
        for child in range(children):
            x = active[a, 1] + (half if child & 1 else -half)
            y = active[a, 2] + (half if child & 2 else -half)
            z = 0.0 if flat else active[a, 3] + (half if child & 4 else -half)
            reach = half * math.sqrt(2.0 if flat else 3.0)
            if owner[n] >= 0 or distance(program, x, y, z) > reach:
                continue
            if _within(cells, slots, offsets, owner, points, n, x, y, z, half, r):
                continue
            u, v = x + half * (2.0 * _random(state) - 1.0), y + half * (2.0 * _random(state) - 1.0)
            w = 0.0 if flat else z + half * (2.0 * _random(state) - 1.0)
            free = not _within(cells, slots, offsets, owner, points, n, u, v, w, 0.0, r)
            if free and distance(program, u, v, w) < 0.0:
                points[count, 0], points[count, 1], points[count, 2] = u, v, w
                owner[n] = count
                count += 1
            else:
                smaller[kept, 0], smaller[kept, 1], smaller[kept, 2], smaller[kept, 3] = n, x, y, z
                kept += 1
    return count, smaller, kept
