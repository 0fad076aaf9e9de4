"""Smoothed fraction of space filled by points, on the nodes of sparse blocks.

Each point spreads its volume over a kernel K(q) ∝ (1 − q²)³ (1 + β q²), q = r/h, whose second moment is zero. A kernel
that is positive everywhere moves the level ½ of a ball of radius R inwards by about σ²/R, where σ² is its second moment
along an axis, so that thin ropes lose volume. With β = −I₄/I₆, Iₙ = ∫ qⁿ (1 − q²)³ dq, that term vanishes; a flat
surface does not move, as with any symmetric kernel.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numba import prange
from numpy.typing import NDArray

from spume.numerics.jit import compiled

Floats = NDArray[np.float64]
SIDE = 8
"""Number of nodes along the edge of a block."""
ABSENT = -0.5
"""Value of a field where there is no block, outside of all points."""


def _moment(n: int) -> float:
    """∫₀¹ qⁿ (1 − q²)³ dq."""
    return 1 / (n + 1) - 3 / (n + 3) + 3 / (n + 5) - 1 / (n + 7)


BETA = -_moment(4) / _moment(6)
NORMALIZATION = 1.0 / (4.0 * np.pi * (_moment(2) + BETA * _moment(4)))
"""K h³ at the centre."""


@dataclass(frozen=True)
class Blocks:
    """Blocks of nodes that cover the kernels of points, and the points sorted by block."""

    size: float
    """spacing of the nodes [m], which are at integer multiples of it"""
    keys: NDArray[np.int64]
    """packed coordinates of each block, increasing"""
    places: NDArray[np.int64]
    """integer coordinates of each block, shape (b, 3)"""
    order: NDArray[np.int64]
    """the points in the order of their blocks"""
    start: NDArray[np.int64]
    """first point of each block in that order, then the number of points"""

    @cached_property
    def near(self) -> NDArray[np.int32]:
        """The 27 blocks around each block, −1 if there is none; x slowest, z fastest."""
        steps = np.stack(np.meshgrid(*[(-1, 0, 1)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
        return self.find(pack((self.places[:, None, :] + steps).reshape(-1, 3))).reshape(-1, 27)

    def find(self, keys: NDArray[np.int64]) -> NDArray[np.int32]:
        """Indices of blocks with the given keys, −1 for those that are not listed."""
        place = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return np.where(self.keys[place] == keys, place, -1).astype(np.int32)


def cover(x: Floats, reach: Floats, size: float) -> Blocks:
    """Blocks that overlap the kernels of points at `x`; `reach` is the radius of each kernel [m]."""
    edge = SIDE * size
    home = pack(np.floor(x / edge).astype(np.int64))
    order = np.argsort(home, kind="stable")
    occupied, first = np.unique(home[order], return_index=True)
    lower = np.minimum.reduceat((x - reach[:, None])[order], first, axis=0)
    upper = np.maximum.reduceat((x + reach[:, None])[order], first, axis=0)
    begin, end = np.floor(lower / edge).astype(np.int64), np.floor(upper / edge).astype(np.int64)
    steps = np.stack(np.meshgrid(*[range(int((end - begin).max()) + 1)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
    touched = begin[:, None, :] + steps
    touched = touched[(touched <= end[:, None, :]).all(axis=2)]
    keys = np.unique(pack(touched))
    counts = np.zeros(len(keys), np.int64)
    counts[np.searchsorted(keys, occupied)] = np.diff(np.append(first, len(x)))
    return Blocks(size, keys, unpack(keys), order, np.concatenate([[0], np.cumsum(counts)]))


def volume_fraction(blocks: Blocks, x: Floats, volumes: Floats, reach: Floats) -> NDArray[np.float32]:
    """Smoothed fraction of space filled by points, at the nodes of each block, shape (b, 8, 8, 8).

    volumes: of each point [m³]; points with zero volume contribute nothing.
    """
    field = np.zeros((len(blocks.keys), SIDE, SIDE, SIDE), np.float32)
    order = blocks.order
    weights = NORMALIZATION * volumes[order] / reach[order] ** 3
    _spread(blocks.places, blocks.near, blocks.start, x[order], weights, reach[order], blocks.size, field)
    return field


@compiled(parallel=True)
def _spread(places, near, start, x, weights, reach, size, field):
    inverse = 1.0 / size
    for b in prange(len(places)):
        ox = places[b, 0] * SIDE
        oy = places[b, 1] * SIDE
        oz = places[b, 2] * SIDE
        for n in range(27):
            other = near[b, n]
            if other < 0:
                continue
            for p in range(start[other], start[other + 1]):
                w = weights[p]
                if w == 0.0:
                    continue
                # from here on in units of the node spacing
                h = reach[p] * inverse
                cx, cy, cz = x[p, 0] * inverse - ox, x[p, 1] * inverse - oy, x[p, 2] * inverse - oz
                i0, i1 = max(0, int(np.ceil(cx - h))), min(SIDE - 1, int(np.floor(cx + h)))
                j0, j1 = max(0, int(np.ceil(cy - h))), min(SIDE - 1, int(np.floor(cy + h)))
                k0, k1 = max(0, int(np.ceil(cz - h))), min(SIDE - 1, int(np.floor(cz + h)))
                if i0 > i1 or j0 > j1 or k0 > k1:
                    continue
                s = 1.0 / (h * h)
                for i in range(i0, i1 + 1):
                    qi = (i - cx) * (i - cx) * s
                    for j in range(j0, j1 + 1):
                        qj = qi + (j - cy) * (j - cy) * s
                        if qj >= 1.0:
                            continue
                        for k in range(k0, k1 + 1):
                            q = qj + (k - cz) * (k - cz) * s
                            u = max(0.0, 1.0 - q)
                            field[b, i, j, k] += np.float32(w * u * u * u * (1.0 + BETA * q))


def at_points(blocks: Blocks, field: NDArray[np.float32], x: Floats) -> Floats:
    """Trilinear interpolation of a field to the points covered by the blocks."""
    found = np.empty(len(x))
    found[blocks.order] = _gather(blocks.places, blocks.near, blocks.start, x[blocks.order], blocks.size, field)
    return found


@compiled
def node_value(near, field, b, i, j, k):
    """Field at a node that may lie in the next block along any axis; the outside value if there is none."""
    n = 13
    if i >= SIDE:
        n, i = n + 9, i - SIDE
    if j >= SIDE:
        n, j = n + 3, j - SIDE
    if k >= SIDE:
        n, k = n + 1, k - SIDE
    other = near[b, n]
    return field[other, i, j, k] if other >= 0 else np.float32(ABSENT)


@compiled(parallel=True)
def _gather(places, near, start, x, size, field):
    values = np.empty(len(x))
    for b in prange(len(places)):
        for p in range(start[b], start[b + 1]):
            cx, cy, cz = (
                x[p, 0] / size - places[b, 0] * SIDE,
                x[p, 1] / size - places[b, 1] * SIDE,
                x[p, 2] / size - places[b, 2] * SIDE,
            )
            i, j, k = min(int(cx), SIDE - 1), min(int(cy), SIDE - 1), min(int(cz), SIDE - 1)
            fx, fy, fz = cx - i, cy - j, cz - k
            total = 0.0
            for a in range(2):
                wa = fx if a else 1.0 - fx
                for c in range(2):
                    wc = fy if c else 1.0 - fy
                    for e in range(2):
                        total += wa * wc * (fz if e else 1.0 - fz) * node_value(near, field, b, i + a, j + c, k + e)
            values[p] = total
    return values


def pack(places: NDArray[np.int64]) -> NDArray[np.int64]:
    """Pack three integers of 21 bits each into one."""
    if len(places) and np.abs(places).max() >= 1 << 20:
        raise ValueError("points are too far apart for their distance: 2^20 blocks along an axis is the most")
    shifted = places + (1 << 20)
    return np.asarray((shifted[:, 0] << 42) | (shifted[:, 1] << 21) | shifted[:, 2])


def unpack(keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """Inverse of `pack`."""
    low = (1 << 21) - 1
    return np.stack([keys >> 42, (keys >> 21) & low, keys & low], axis=1) - (1 << 20)
