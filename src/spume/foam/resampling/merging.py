"""Merging of points that are too close. [Yue15] section 6.2, algorithm 21

The closest pairs are merged first; each point is in at most one pair, and both points have the same material. Conserved
fields are added; the others, including the position, are averaged by mass, so mass, momentum, volume and the centre of
mass are conserved. The angular momentum of the pair about its centre is added to the affine velocity of the new point
or, if points have none, to a rotation of the new point and those within a cell of it. If there are none, it is lost.
"""

import numpy as np
from numba import prange
from numpy.typing import NDArray

from spume.foam.resampling.bins import OFFSET, PointBins
from spume.foam.resampling.determinants import determinants, restore_determinant
from spume.foam.resampling.group_motion import ENERGY, SIZE, SPIN, measure_motion, restore_motion
from spume.foam.resampling.sampled import Sampled
from spume.foam.resampling.stress import recompute_stress
from spume.grid.blocks import BLOCK, cell_at
from spume.grid.cells import Cells
from spume.grid.neighbour_search import all_within
from spume.numerics.jit import compiled


def close_pairs(bins: PointBins, material: NDArray[np.int32], distance: float) -> NDArray[np.int64]:
    """Disjoint pairs of points of one material closer than `distance` ≤ 1 [r], shape (n, 2), chosen greedily: the
    closest first, equally close ones in the order of the points. The lower index comes first."""
    count = np.zeros(len(bins.y) + 1, np.int64)
    pairs, square = np.empty((0, 2), np.int64), np.empty(0)
    arrays = (bins.neighbours, bins.start, bins.y, bins.point, material, distance)
    _find_pairs[bins.dimension](*arrays, count, pairs, square)
    total = int(count[1:].sum())
    if total == 0:
        return pairs
    np.cumsum(count, out=count)
    pairs, square = np.empty((total, 2), np.int64), np.empty(total)
    _find_pairs[bins.dimension](*arrays, count, pairs, square)
    pairs = pairs[np.lexsort((pairs[:, 1], pairs[:, 0], square))]
    return pairs[_choose(pairs, np.zeros(len(bins.y), np.bool_))]


def merge(world: Sampled, pairs: NDArray[np.int64]) -> int:
    """Replace each pair by one point at the index of its first. Returns the number of tensors whose average was
    degenerate and was replaced by that of the heavier point."""
    particles, moment = world.particles, world.nodes.second_moment
    p, q = pairs.T
    motions = np.empty((len(pairs), SIZE))
    _measure_pairs(pairs, particles.mass, particles.x, particles.v, world.affine_velocity, moment, motions)
    mass = particles.mass
    share_p = mass[p] / (mass[p] + mass[q])
    heavier = np.where(mass[p] >= mass[q], p, q)
    degenerate = 0
    merged = {}
    for field in particles.fields:
        values = particles.arrays()[field.name]
        if field.resample == "share":
            merged[field.name] = values[p] + values[q]
        elif field.resample in ("nearest", "new"):  # the centre of mass is nearer to the heavier point
            merged[field.name] = values[heavier]
        else:
            w = share_p.reshape(-1, *(1,) * (values.ndim - 1))
            averaged = w * values[p] + (1.0 - w) * values[q]
            determinant = None
            if field.resample == "average-keep-determinant":
                determinant = share_p * determinants(values[p]) + (1.0 - share_p) * determinants(values[q])
            merged[field.name], count = restore_determinant(field, averaged, determinant, values[heavier])
            degenerate += count
    for name, values in merged.items():
        particles.arrays()[name][p] = values
    recompute_stress(world, p)
    keep = np.ones(len(particles), np.bool_)
    keep[q] = False
    particles.take(keep)
    _restore_spins(world, (np.cumsum(keep) - 1)[p], motions)
    return degenerate


def _restore_spins(world: Sampled, merged: NDArray[np.int64], motions: NDArray[np.float64]) -> None:
    """Give the points `merged`, or their neighbourhoods, the angular momentum of the pairs, and no more energy.

    motions: those of the pairs, see `group_motion.py`."""
    particles, C = world.particles, world.affine_velocity
    x = particles.x
    if len(C):
        start, members = np.arange(len(merged) + 1), merged
    else:
        cells = Cells(world.dimension, world.cell, OFFSET)
        cells.sort(x)
        start, found = all_within(cells, x, x[merged], world.cell)
        members = found.astype(np.int64)
    _restore_spins_of(merged, start, members, particles.mass, x, particles.v, C, world.nodes.second_moment, motions)


@compiled(fastmath=False)
def _measure_pairs(pairs, mass, x, v, C, moment, motions):
    for n in range(pairs.shape[0]):
        measure_motion(pairs[n], mass, x, v, C, moment, motions[n])


@compiled(fastmath=False)
def _restore_spins_of(merged, start, members, mass, x, v, C, moment, motions):
    own, wanted = np.empty(SIZE), np.empty(SIZE)
    for n in range(merged.size):
        group = members[start[n] : start[n + 1]]
        if C.shape[0] == 0 and group.size == 1:
            continue
        measure_motion(merged[n : n + 1], mass, x, v, C, moment, own)
        measure_motion(group, mass, x, v, C, moment, wanted)
        for c in range(SPIN, SPIN + 3):
            wanted[c] += motions[n, c] - own[c]
        wanted[ENERGY] += motions[n, ENERGY] - own[ENERGY]
        restore_motion(group, mass, x, v, C, moment, wanted)


def _make_find_pairs(D: int):
    _, BY, BZ = BLOCK[D]

    @compiled(parallel=True, fastmath=False)
    def find_pairs(neighbours, start, y, point, material, distance, count, pairs, square):
        """Count the pairs (p, q) with p < q of the point p of each entry n of the bins in count[n + 1], or, if `pairs`
        has space, list them from count[n] on."""
        for cell in prange(start.size - 1):
            b, i, j, k = cell // 64, cell % 64 // (BY * BZ), cell // BZ % BY, cell % BZ
            for n in range(start[cell], start[cell + 1]):
                fx, fy, fz = y[n, 0] - np.floor(y[n, 0]), y[n, 1] - np.floor(y[n, 1]), y[n, 2] - np.floor(y[n, 2])
                found = 0
                for a in range(-1 if fx < distance else 0, 2 if fx > 1.0 - distance else 1):
                    for c in range(-1 if fy < distance else 0, 2 if fy > 1.0 - distance else 1):
                        for e in range(-1 if D == 3 and fz < distance else 0, 2 if fz > 1.0 - distance else 1):
                            here = cell_at(D, neighbours, b, i + a, j + c, k + e)
                            if here < 0:
                                continue
                            for m in range(start[here], start[here + 1]):
                                p, q = point[n], point[m]
                                dx, dy, dz = y[n, 0] - y[m, 0], y[n, 1] - y[m, 1], y[n, 2] - y[m, 2]
                                s = dx * dx + dy * dy + dz * dz
                                if p < q and s < distance * distance and material[p] == material[q]:
                                    if square.size > 0:
                                        pairs[count[n] + found, 0], pairs[count[n] + found, 1] = p, q
                                        square[count[n] + found] = s
                                    found += 1
                if square.size == 0:
                    count[n + 1] = found

    return find_pairs


@compiled
def _choose(pairs, taken):
    """Mask of the pairs, in their order, that have no point in common with an earlier chosen pair."""
    chosen = np.zeros(pairs.shape[0], np.bool_)
    for n in range(pairs.shape[0]):
        p, q = pairs[n, 0], pairs[n, 1]
        if not taken[p] and not taken[q]:
            chosen[n] = taken[p] = taken[q] = True
    return chosen


_find_pairs = {d: _make_find_pairs(d) for d in (2, 3)}
