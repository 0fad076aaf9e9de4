"""Mass and volume of new points, taken from their neighbours. [Yue15] algorithm 19

A new point takes mass and volume from each of the N points of its material within r. The paper takes the fraction
1/(N + 1) of each. That changes the centre of mass, and so the angular momentum of a moving body. Here donor d gives the
fraction

    (1 − ξ_d·a) / (N + 1),     (Σ m ξ ξᵀ) a = Σ m ξ,

where ξ_d is its position relative to the new point. Of all fractions for which the centre of the donated mass is the
new point, these are the nearest to the paper's in the mass-weighted mean square. For none to be negative, the donors
must surround the new point. A dart lies outside all spheres of radius αr, so there may be few points within r, or none:
the radius is increased by half r at a time, up to 2 r, until all fractions are between 0 and 2/(N + 1). (All corners of
the cell of the distance grid that contains a deep dart have a point within r, so there is a point within
(1 + √d/2) r < 2 r of it.) If the fractions are still out of bounds, those of the paper are used, and the donors are
displaced to keep the centre of mass.

New points take their shares in turn, each from what the earlier ones have left, but never from each other. In the
paper, mass donated with the donors' velocities then moves with an interpolated velocity; here the motion of the new
point and its donors is restored, see `group_motion.py`.
"""

import math
from dataclasses import dataclass

import numpy as np
from numba import prange
from numpy.typing import NDArray

from spume.foam.resampling.bins import PointBins
from spume.foam.resampling.group_motion import CENTRE, MASS, SIZE, measure_motion, restore_motion
from spume.foam.resampling.new_points import NewPoints
from spume.foam.resampling.sampled import Sampled, has_affine_velocity
from spume.foam.resampling.turns import find_turns, members_of
from spume.grid.blocks import BLOCK, cell_at
from spume.numerics.jit import compiled
from spume.ranks.nearby import Nearby


@dataclass(frozen=True)
class Donors:
    """Nearest old point of each new point of this rank, and donors of these and of copies of others."""

    nearest: NDArray[np.int64]
    start: NDArray[np.int64]
    """First entry of each new point in `points`, then their number."""
    points: NDArray[np.int64]
    """Those of copies may be incomplete, where this rank has no copies of the donors."""


WIDEST, WIDER = 2.0, 0.5
"""Largest distance of a donor, and the increment of the search radius [r]."""
MOST = 2.0
"""Largest share of a donor relative to the paper's [1]."""


def find_donors(
    bins: PointBins, new: NewPoints, material: NDArray[np.int32], mass: NDArray[np.float64]
) -> Donors:  # fmt: skip
    """Find the donors of each new point: old points of the material of the nearest, within r or a larger radius in
    which they surround it."""
    mine = new.mine
    count = int(np.count_nonzero(mine))
    nearest, enough = np.empty(count, np.int64), np.empty(count)
    arrays = (bins.neighbours, bins.start, bins.y, bins.point, material)
    entry = np.empty(len(bins.point), np.int64)
    entry[bins.point] = np.arange(len(bins.point))
    _find_radii[bins.dimension](*arrays, new.y[mine], new.bin[mine], entry, mass, nearest, enough)
    radius, wanted = np.empty(len(mine)), np.empty(len(mine), np.int32)
    radius[mine], wanted[mine] = enough, material[nearest]
    new.rows.fill(radius, wanted)
    start, points = np.zeros(len(mine) + 1, np.int64), np.empty(0, np.int64)
    _list_donors[bins.dimension](*arrays, new.y, new.bin, wanted, radius, start, points)
    np.cumsum(start, out=start)
    points = np.empty(start[-1], np.int64)
    _list_donors[bins.dimension](*arrays, new.y, new.bin, wanted, radius, start, points)
    return Donors(nearest, start, points)


@compiled
def _nearest_point(D, BY, BZ, neighbours, start, y, point, dart, home):
    """Old point nearest to a dart; at equal distance the first."""
    b, i, j, k = home // 64, home % 64 // (BY * BZ), home % 64 // BZ % BY, home % BZ
    reach = 2 if D == 3 else 0
    best = -1
    least = np.inf
    for a in range(i - 2, i + 3):
        for c in range(j - 2, j + 3):
            for e in range(k - reach, k + reach + 1):
                here = cell_at(D, neighbours, b, a, c, e)
                if here >= 0:
                    for n in range(start[here], start[here + 1]):
                        dx, dy, dz = y[n, 0] - dart[0], y[n, 1] - dart[1], y[n, 2] - dart[2]
                        s = dx * dx + dy * dy + dz * dz
                        if s < least or (s == least and point[n] < best):
                            least = s
                            best = point[n]
    return best


@compiled
def _donors_within(D, BY, BZ, neighbours, start, y, point, material, wanted, dart, home, radius, found):
    """Write the points of a material within `radius` ≤ 2 of a dart to `found`, up to its capacity; return their
    number."""
    b, i, j, k = home // 64, home % 64 // (BY * BZ), home % 64 // BZ % BY, home % BZ
    reach = 2 if D == 3 else 0
    count = 0
    for a in range(i - 2, i + 3):
        for c in range(j - 2, j + 3):
            for e in range(k - reach, k + reach + 1):
                here = cell_at(D, neighbours, b, a, c, e)
                if here >= 0:
                    for n in range(start[here], start[here + 1]):
                        dx, dy, dz = y[n, 0] - dart[0], y[n, 1] - dart[1], y[n, 2] - dart[2]
                        if dx * dx + dy * dy + dz * dz < radius * radius and material[point[n]] == wanted:
                            if count < found.size:
                                found[count] = point[n]
                            count += 1
    return count


@compiled(fastmath=False)
def relative_parts(D, xi, mass, parts):
    """Compute the share of each donor relative to the paper's, 1 − ξ·a, from the positions `xi` of the donors relative
    to the new point; return whether all are between 0 and MOST."""
    moment, first = np.zeros((D, D)), np.zeros(D)
    for n in range(mass.size):
        for i in range(D):
            first[i] += mass[n] * xi[n, i]
            for j in range(D):
                moment[i, j] += mass[n] * xi[n, i] * xi[n, j]
    # Gaussian elimination without pivots: the matrix is symmetric and positive
    for i in range(D):
        if not moment[i, i] > 0.0:
            return False
        for k in range(i + 1, D):
            factor = moment[k, i] / moment[i, i]
            for j in range(i, D):
                moment[k, j] -= factor * moment[i, j]
            first[k] -= factor * first[i]
    for i in range(D - 1, -1, -1):
        for j in range(i + 1, D):
            first[i] -= moment[i, j] * first[j]
        first[i] /= moment[i, i]
    for n in range(mass.size):
        parts[n] = 1.0
        for i in range(D):
            parts[n] -= xi[n, i] * first[i]
        if not 0.0 <= parts[n] <= MOST:
            return False
    return True


def _make_find_radii(D: int):
    _, BY, BZ = BLOCK[D]

    @compiled(parallel=True, fastmath=False)
    def find_radii(neighbours, start, y, point, material, darts, home, entry, mass, nearest, radius):
        """Find the nearest point of each new point, and the radius in which its donors surround it."""
        for q in prange(home.size):
            nearest[q] = _nearest_point(D, BY, BZ, neighbours, start, y, point, darts[q], home[q])
            wanted = material[nearest[q]]
            nothing = np.empty(0, np.int64)
            radius[q] = 1.0
            while True:
                count = _donors_within(
                    D, BY, BZ, neighbours, start, y, point, material, wanted, darts[q], home[q], radius[q], nothing
                )
                found = np.empty(count, np.int64)
                _donors_within(
                    D, BY, BZ, neighbours, start, y, point, material, wanted, darts[q], home[q], radius[q], found
                )
                xi, donor_mass = np.empty((found.size, D)), np.empty(found.size)
                for n in range(found.size):
                    donor_mass[n] = mass[found[n]]
                    for i in range(D):
                        xi[n, i] = y[entry[found[n]], i] - darts[q, i]
                surrounded = found.size > D and relative_parts(D, xi, donor_mass, np.empty(found.size))
                if surrounded or radius[q] >= WIDEST:
                    break
                radius[q] += WIDER

    return find_radii


def _make_list_donors(D: int):
    _, BY, BZ = BLOCK[D]

    @compiled(parallel=True)
    def list_donors(neighbours, start, y, point, material, darts, home, wanted, radius, first, found):
        """Count the donors of each new point q in first[q + 1], or, if `found` has space, list them."""
        for q in prange(home.size):
            if home[q] >= 0:
                space = found[first[q] : first[q + 1]] if found.size > 0 else found
                count = _donors_within(
                    D, BY, BZ, neighbours, start, y, point, material, wanted[q], darts[q], home[q], radius[q], space
                )
                if found.size == 0:
                    first[q + 1] = count

    return list_donors


_find_radii = {d: _make_find_radii(d) for d in (2, 3)}
_list_donors = {d: _make_list_donors(d) for d in (2, 3)}


def share_all(world: Sampled, donors: Donors, new: NewPoints, first: int, rows: Nearby) -> None:
    """Transfer the conserved fields from the donors to the new points of this rank, which start at index `first` and
    have nothing yet. A new point waits for those before it that have a donor in common with it."""
    particles = world.particles
    names = [f.name for f in particles.fields if f.resample == "share" and f.name != "mass"]
    mine, done = new.mine, np.zeros(len(new.mine), np.bool_)
    index = np.full(len(mine), -1, np.int64)
    index[mine] = first + np.arange(np.count_nonzero(mine))
    affine_velocity, moment = world.affine_velocity, world.nodes.second_moment
    changing = {name: particles.arrays()[name] for name in ("mass", "x", "v", *names)}
    if has_affine_velocity(world):
        changing["C"] = affine_velocity
    while True:
        turn = find_turns(donors.start, donors.points, mine, done)
        fraction = share_mass(
            donors, turn, index, particles.mass, particles.x, particles.v, affine_velocity, moment
        )  # fmt: skip
        for name in names:
            share(donors, turn, index, fraction, particles.arrays()[name])
        done[turn] = True
        changed = np.zeros(len(particles), np.bool_)
        changed[members_of(turn, donors.start, donors.points)] = True
        rows.publish(changing, changed)
        if not rows.any(bool((mine & ~done).any())):
            break
        new.rows.fill(done)


@compiled(fastmath=False)
def _share_mass(chosen, start, donors, index, mass, x, v, C, moment, fraction):
    D = x.shape[1]
    before = np.empty(SIZE)
    for q in chosen:
        first, count = start[q], start[q + 1] - start[q]
        point = index[q]
        group = np.empty(count + 1, np.int64)
        for n in range(count):
            group[n] = donors[first + n]
        group[count] = point
        measure_motion(group[:count], mass, x, v, C, moment, before)
        xi, donor_mass, parts = np.empty((count, D)), np.empty(count), np.empty(count)
        for n in range(count):
            donor_mass[n] = mass[group[n]]
            for i in range(D):
                xi[n, i] = x[group[n], i] - x[point, i]
        surrounded = count > D and relative_parts(D, xi, donor_mass, parts)
        for n in range(count):
            fraction[first + n] = (parts[n] if surrounded else 1.0) / (count + 1)
            given = fraction[first + n] * mass[group[n]]
            mass[group[n]] -= given
            mass[point] += given
        if not surrounded:
            for i in range(D):
                # M X = Σ (m − given) (x + shift) + given x_new
                left, sum_left = 0.0, 0.0
                for n in range(count):
                    left += mass[group[n]]
                    sum_left += mass[group[n]] * x[group[n], i]
                shift = (before[MASS] * before[CENTRE + i] - mass[point] * x[point, i] - sum_left) / left
                for n in range(count):
                    x[group[n], i] += shift
        restore_motion(group, mass, x, v, C, moment, before)


def share_mass(
    donors: Donors, chosen: NDArray[np.int64], index: NDArray[np.int64], mass: NDArray[np.float64],
    x: NDArray[np.float64], v: NDArray[np.float64], C: NDArray[np.float64], moment: float,
) -> NDArray[np.float64]:  # fmt: skip
    """Transfer mass from the donors to the `chosen` ones of the new points, which are at `index` among all points and
    have no mass yet.

    Mass, centre of mass, momentum and angular momentum of each new point with its donors are conserved to rounding;
    their energy does not grow unless they rotate like a rigid body. `moment`: second moment of the spline [m²]; `C` is
    empty if points have none. Returns the fraction given by each donor, in the order of `donors.points`.
    """
    fraction = np.empty(len(donors.points))
    _share_mass(chosen, donors.start, donors.points, index, mass, x, v, C, moment, fraction)
    return fraction


@compiled(fastmath=False)
def _share(chosen, start, donors, index, fraction, values):
    for q in chosen:
        for n in range(start[q], start[q + 1]):
            for c in range(values.shape[1]):
                given = fraction[n] * values[donors[n], c]
                values[donors[n], c] -= given
                values[index[q], c] += given


def share(
    donors: Donors, chosen: NDArray[np.int64], index: NDArray[np.int64], fraction: NDArray[np.float64],
    values: NDArray[np.float64],
) -> None:  # fmt: skip
    """Transfer the same `fraction` of another conserved field from the donors to the `chosen` ones of the new points,
    which are at `index` and have nothing yet; `values`, shape (n, …), are changed in place."""
    flat = values.reshape(len(values), math.prod(values.shape[1:]))
    _share(chosen, donors.start, donors.points, index, fraction, flat)
