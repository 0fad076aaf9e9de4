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
from spume.foam.resampling.sampled import Sampled, has_affine_velocity
from spume.foam.resampling.stress import recompute_stress
from spume.foam.resampling.territory import Territory
from spume.foam.resampling.turns import find_turns, members_of
from spume.grid.blocks import BLOCK, cell_at
from spume.grid.cells import Cells
from spume.grid.neighbour_search import all_within
from spume.numerics.jit import compiled
from spume.ranks.nearby import Nearby


def close_pairs(
    bins: PointBins, material: NDArray[np.int32], distance: float, ids: NDArray[np.int64], rows: Nearby
) -> NDArray[np.int64]:
    """Disjoint pairs of points of one material closer than `distance` ≤ 1 [r], shape (n, 2), chosen greedily: the
    closest first, equally close ones in the order of the points. The lower index comes first.

    rows: those of the points, of which each rank chooses the pairs whose first point is in its blocks. It waits for
    pairs that come earlier and have a point in common with one of its own; the pairs of others are returned, too.
    """
    pairs = _all_pairs(bins, material, distance)
    if not rows.any(len(pairs) > 0):
        return pairs
    mine, mate = rows.here[pairs[:, 0]], np.full(len(bins.y), -1, np.int64)
    while True:
        changed = np.zeros(len(mate), np.bool_)
        waiting = _choose(pairs, mine, ids, mate, changed)
        rows.publish({"mate": mate}, changed)
        if not rows.any(waiting > 0):
            break
    p, q = pairs.T
    return np.asarray(pairs[(mate[p] == ids[q]) & (mate[q] == ids[p])])


def _all_pairs(bins: PointBins, material: NDArray[np.int32], distance: float) -> NDArray[np.int64]:
    """All pairs of points of one material closer than `distance`, in the order in which they are chosen."""
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
    return pairs[np.lexsort((pairs[:, 1], pairs[:, 0], square))]


def merge(world: Sampled, pairs: NDArray[np.int64], mine: NDArray[np.bool_], territory: Territory) -> int:
    """Replace each pair by one point at the index of its first: those that are `mine` are computed, others are
    received. All fields of the former are known. Returns the number of tensors whose average was degenerate and was
    replaced by that of the heavier point."""
    particles, rows = world.particles, territory.rows
    own = pairs[mine]
    motions = np.empty((len(pairs), SIZE))
    moment = world.nodes.second_moment
    _measure_pairs(
        np.flatnonzero(mine), pairs, particles.mass, particles.x, particles.v, world.affine_velocity, moment, motions
    )
    degenerate = _merge_fields(world, own) if len(own) else 0
    if has_affine_velocity(world):  # the new point alone can have the angular momentum
        every, heavier = np.arange(len(own)), own[:, 0].copy()  # contiguous, as in `_restore_spins_around`
        _restore_spins(world, heavier, np.arange(len(own) + 1), heavier, every, motions[mine])
    rows.publish(particles.arrays(), _marked(len(particles), own[:, 0]))
    gone = _marked(len(particles), own[:, 1])
    rows.publish({"gone": gone}, gone.copy())
    others = gone[pairs[:, 1]]  # of the pairs of other ranks, those that are merged
    particles.take(~gone)
    rows.reorder(~gone)
    if not has_affine_velocity(world):
        merged = (np.cumsum(~gone) - 1)[pairs[others, 0]]
        _restore_spins_around(world, merged, mine[others], motions[others], territory)
    return degenerate


def _marked(count: int, index: NDArray[np.int64]) -> NDArray[np.bool_]:
    mask = np.zeros(count, np.bool_)
    mask[index] = True
    return mask


def _merge_fields(world: Sampled, pairs: NDArray[np.int64]) -> int:
    """Give the first point of each pair the values of both. Returns the number of degenerate averages."""
    particles = world.particles
    p, q = pairs.T
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
    return degenerate


def _restore_spins_around(
    world: Sampled, merged: NDArray[np.int64], mine: NDArray[np.bool_], motions: NDArray[np.float64],
    territory: Territory,
) -> None:  # fmt: skip
    """Give the neighbourhoods of the points `merged` the angular momentum of the pairs, and no more energy. Each waits
    for those before it that have a point in common with it."""
    particles, rows = world.particles, territory.rows
    x, v = particles.x, particles.v
    cells = Cells(world.dimension, world.cell, OFFSET)
    cells.sort(x)
    start, found = all_within(cells, x, x[merged], world.cell)
    members = found.astype(np.int64)
    needed = _marked(len(x), members_of(np.flatnonzero(mine), start, members))
    rows.fetch({"mass": particles.mass, "v": v}, needed & ~rows.own)
    settled = np.zeros(len(x), np.bool_)
    while True:
        turn = find_turns(start, members, mine, settled[merged])
        _restore_spins(world, merged, start, members, turn, motions)
        settled[merged[turn]] = True
        changed = _marked(len(x), members_of(turn, start, members))
        rows.publish({"v": v, "settled": settled}, changed)
        if not rows.any(bool((mine & ~settled[merged]).any())):
            break


def _restore_spins(
    world: Sampled, merged: NDArray[np.int64], start: NDArray[np.int64], members: NDArray[np.int64],
    chosen: NDArray[np.int64], motions: NDArray[np.float64],
) -> None:  # fmt: skip
    """Give the groups of the `chosen` ones of the points `merged` the angular momentum of the pairs, see
    `group_motion.py`."""
    particles, C = world.particles, world.affine_velocity
    _restore_spins_of(
        chosen, merged, start, members, particles.mass, particles.x, particles.v, C,
        world.nodes.second_moment, motions,
    )  # fmt: skip


@compiled(fastmath=False)
def _measure_pairs(chosen, pairs, mass, x, v, C, moment, motions):
    for n in chosen:
        measure_motion(pairs[n], mass, x, v, C, moment, motions[n])


@compiled(fastmath=False)
def _restore_spins_of(chosen, merged, start, members, mass, x, v, C, moment, motions):
    own, wanted = np.empty(SIZE), np.empty(SIZE)
    for n in chosen:
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
def _choose(pairs, mine, ids, mate, changed):
    """Give the points of chosen pairs the ids of each other as their mates. Returns how many pairs have to wait."""
    blocked = np.zeros(mate.size, np.bool_)
    waiting = 0
    for n in range(pairs.shape[0]):
        p, q = pairs[n, 0], pairs[n, 1]
        if mate[p] >= 0 or mate[q] >= 0:
            continue
        if mine[n] and not blocked[p] and not blocked[q]:
            mate[p], mate[q] = ids[q], ids[p]
            changed[p] = changed[q] = True
        else:
            waiting += mine[n]
            blocked[p] = blocked[q] = True
    return waiting


_find_pairs = {d: _make_find_pairs(d) for d in (2, 3)}
