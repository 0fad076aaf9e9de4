"""Signed distance to the union of spheres of radius r about the points, which defines the interior. [Yue15] algorithm 2

The distance is computed on nodes of spacing r. A node is inside if a point is nearer than r. On an edge of the grid
between an inside and an outside node, the interpolated zero of (distance to the nearest point − r) is a sample of the
surface, and the distance of a node is that to the nearest sample. Samples farther than 4r are not searched for: −4
means "deeper than 4r". The steps are designed so that the interior costs little:

- signs: a point determines only the 2^d corners of its bin;
- samples: only in blocks where the sign changes;
- distances: only around *core* nodes, those whose 3^d neighbourhood is inside. Any other node has an outside node at
  most √3 r away, hence a sample nearer than that.
"""

from dataclasses import dataclass

import numpy as np
from numba import prange
from numpy.typing import NDArray

from spume.foam.resampling.bins import PointBins
from spume.grid.blocks import BLOCK, CELLS_PER_BLOCK, cell_at
from spume.numerics.jit import compiled

FARTHEST = 4.0
"""Distance from the surface up to which distances are computed [r]."""
SHALLOW = np.inf
"""Value for nodes that are not near a core node, where the distance is never below −√3."""


@dataclass(frozen=True)
class SignedDistance:
    """Signed distance on the nodes of the listed blocks, negative inside."""

    inside: NDArray[np.uint8]
    """1 for inside nodes, shape (blocks · 64,)."""
    samples: NDArray[np.float64]
    """Samples of the surface in each block, from the block's corner [r], shape (blocks, 64 d, 3)."""
    sample_count: NDArray[np.int32]
    distance: NDArray[np.float64]
    """[r], shape (blocks · 64,)."""


def signed_distance(bins: PointBins) -> SignedDistance:
    """Signed distance to the surface of the union of spheres of radius r about the points."""
    d, count = bins.dimension, len(bins.blocks)
    inside = np.zeros(count * CELLS_PER_BLOCK, np.uint8)
    _find_signs[d](bins.neighbours, bins.start, bins.y, bins.blocks, inside)
    samples = np.empty((count, CELLS_PER_BLOCK * d, 3))
    sample_count = np.zeros(count, np.int32)
    has_core = np.zeros(count, np.uint8)
    _find_samples[d](bins.neighbours, bins.start, bins.y, bins.blocks, inside, samples, sample_count, has_core)
    distance = np.empty(count * CELLS_PER_BLOCK)
    _find_distances[d](bins.neighbours, inside, samples, sample_count, has_core, distance)
    return SignedDistance(inside, samples, sample_count, distance)


@compiled
def _load_signs(D, BX, BY, BZ, neighbours, b, inside, sign):
    """Load the signs of the nodes −1 to B of block b; return the number of inside nodes."""
    LOW, HIGH = (-1, BZ + 1) if D == 3 else (0, 1)
    n = 0
    total = 0
    for i in range(-1, BX + 1):
        for j in range(-1, BY + 1):
            for k in range(LOW, HIGH):
                here = cell_at(D, neighbours, b, i, j, k)
                sign[n] = inside[here] if here >= 0 else 0
                total += sign[n]
                n += 1
    return total


@compiled
def _has_core(D, BX, BY, BZ, sign):
    """Whether one of a block's own nodes has its whole neighbourhood inside."""
    SY, SZ = BY + 2, BZ + 2 if D == 3 else 1
    margin = 1 if D == 3 else 0
    for i in range(1, BX + 1):
        for j in range(1, BY + 1):
            for k in range(margin, BZ + margin):
                total = 0
                for a in range(i - 1, i + 2):
                    for c in range(j - 1, j + 2):
                        for e in range(k - margin, k + margin + 1):
                            total += sign[(a * SY + c) * SZ + e]
                if total == 3**D:
                    return True
    return False


@compiled
def _nearest_points(D, BX, BY, BZ, neighbours, start, y, b, corner, phi):
    """Squared distance of nodes 0 to B, the ends of the block's own edges, to the nearest point, if less than 2."""
    NX, NY, NZ = BX + 1, BY + 1, BZ + 1 if D == 3 else 1
    LOW, HIGH = (-2, BZ + 2) if D == 3 else (0, 1)
    phi[:] = np.inf
    for i in range(-2, BX + 2):
        for j in range(-2, BY + 2):
            for k in range(LOW, HIGH):
                here = cell_at(D, neighbours, b, i, j, k)
                if here < 0:
                    continue
                for n in range(start[here], start[here + 1]):
                    px, py, pz = y[n, 0] - corner[0], y[n, 1] - corner[1], y[n, 2] - corner[2]
                    for a in range(max(i - 1, 0), min(i + 3, NX)):
                        for c in range(max(j - 1, 0), min(j + 3, NY)):
                            near = (px - a) * (px - a) + (py - c) * (py - c)
                            o = (a * NY + c) * NZ
                            for e in range(max(k - 1, 0), min(k + 3, NZ)):
                                phi[o + e] = min(phi[o + e], near + (pz - e) * (pz - e))


@compiled
def _collect_zeros(D, BX, BY, BZ, phi, found):
    """Write the interpolated zeros of √φ − 1 on the block's own edges to `found`; return their number."""
    NY, NZ = BY + 1, BZ + 1 if D == 3 else 1
    count = 0
    for a in range(BX):
        for c in range(BY):
            for e in range(BZ):
                p = (a * NY + c) * NZ + e
                for axis in range(D):
                    q = p + (NY * NZ if axis == 0 else (NZ if axis == 1 else 1))
                    if (phi[p] < 1.0) != (phi[q] < 1.0):
                        d, f = np.sqrt(phi[p]) - 1.0, np.sqrt(phi[q]) - 1.0
                        t = d / (d - f)
                        found[count, 0] = a + (t if axis == 0 else 0.0)
                        found[count, 1] = c + (t if axis == 1 else 0.0)
                        found[count, 2] = e + (t if axis == 2 else 0.0)
                        count += 1
    return count


@compiled
def _bring_near(BX, BY, BZ, samples, count, ox, oy, oz, square):
    """Reduce the squared distances of a block's nodes to those from the samples of the block at (ox, oy, oz)."""
    for s in range(count):
        x, y, z = samples[s, 0] + ox, samples[s, 1] + oy, samples[s, 2] + oz
        i0, i1 = max(0, int(np.ceil(x - FARTHEST))), min(BX, int(np.floor(x + FARTHEST)) + 1)
        j0, j1 = max(0, int(np.ceil(y - FARTHEST))), min(BY, int(np.floor(y + FARTHEST)) + 1)
        for i in range(i0, i1):
            for j in range(j0, j1):
                near = (x - i) * (x - i) + (y - j) * (y - j)
                o = (i * BY + j) * BZ
                for k in range(BZ):
                    square[o + k] = min(square[o + k], near + (z - k) * (z - k))


def _make_find_signs(D: int):
    BX, BY, BZ = BLOCK[D]
    LOW = -1 if D == 3 else 0

    @compiled(parallel=True)
    def find_signs(neighbours, start, y, blocks, inside):
        """Mark the nodes of each block that are nearer than r to a point. Only the corners of a point's bin can be."""
        for b in prange(blocks.shape[0]):
            cx, cy, cz = blocks[b, 0] * BX, blocks[b, 1] * BY, blocks[b, 2] * BZ
            for i in range(-1, BX):
                for j in range(-1, BY):
                    for k in range(LOW, BZ):
                        here = cell_at(D, neighbours, b, i, j, k)
                        if here < 0:
                            continue
                        for n in range(start[here], start[here + 1]):
                            for a in range(max(i, 0), min(i + 2, BX)):
                                dx = y[n, 0] - (cx + a)
                                for c in range(max(j, 0), min(j + 2, BY)):
                                    dy = y[n, 1] - (cy + c)
                                    for e in range(max(k, 0), min(k + 2, BZ)):
                                        dz = y[n, 2] - (cz + e)
                                        if dx * dx + dy * dy + dz * dz < 1.0:
                                            inside[b * 64 + (a * BY + c) * BZ + e] = 1

    return find_signs


def _make_find_samples(D: int):
    BX, BY, BZ = BLOCK[D]
    SIGNS = (BX + 2) * (BY + 2) * (BZ + 2 if D == 3 else 1)
    NODES = (BX + 1) * (BY + 1) * (BZ + 1 if D == 3 else 1)

    @compiled(parallel=True)
    def find_samples(neighbours, start, y, blocks, inside, samples, sample_count, has_core):
        """Find the samples of the surface on each block's own edges, and whether it has a core node."""
        for n in prange(blocks.shape[0]):
            b = np.int64(n)  # n is unsigned inside the loop: what it is passed to would be compiled for both types
            sign = np.empty(SIGNS, np.uint8)
            total = _load_signs(D, BX, BY, BZ, neighbours, b, inside, sign)
            has_core[b] = _has_core(D, BX, BY, BZ, sign)
            if 0 < total < SIGNS:
                phi = np.empty(NODES)
                corner = (blocks[b, 0] * BX, blocks[b, 1] * BY, blocks[b, 2] * BZ)
                _nearest_points(D, BX, BY, BZ, neighbours, start, y, b, corner, phi)
                sample_count[b] = _collect_zeros(D, BX, BY, BZ, phi, samples[b])

    return find_samples


def _make_find_distances(D: int):
    BX, BY, BZ = BLOCK[D]

    @compiled(parallel=True)
    def find_distances(neighbours, inside, samples, sample_count, has_core, distance):
        """Compute the distance of the nodes of all blocks adjacent to a block with a core node."""
        for b in prange(has_core.size):
            wanted = False
            for code in range(27):
                other = neighbours[b, code]
                wanted = wanted or (other >= 0 and has_core[other] == 1)
            if not wanted:
                distance[b * 64 : b * 64 + 64] = SHALLOW
                continue
            square = np.full(64, FARTHEST * FARTHEST)
            for code in range(27):
                other = neighbours[b, code]
                if other >= 0 and sample_count[other] > 0:
                    ox, oy, oz = (code // 9 - 1) * BX, (code // 3 % 3 - 1) * BY, (code % 3 - 1) * BZ
                    _bring_near(BX, BY, BZ, samples[other], sample_count[other], ox, oy, oz, square)
            for n in range(64):
                d = np.sqrt(square[n])
                distance[b * 64 + n] = -d if inside[b * 64 + n] == 1 else d

    return find_distances


_find_signs = {d: _make_find_signs(d) for d in (2, 3)}
_find_samples = {d: _make_find_samples(d) for d in (2, 3)}
_find_distances = {d: _make_find_distances(d) for d in (2, 3)}
