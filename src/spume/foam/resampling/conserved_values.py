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

from dataclasses import dataclass

import numpy as np
from numba import prange
from numpy.typing import NDArray

from spume.foam.resampling.bins import PointBins
from spume.foam.resampling.darts import Darts
from spume.foam.resampling.group_motion import CENTRE, MASS, SIZE, measure_motion, restore_motion
from spume.grid.blocks import BLOCK, cell_at
from spume.numerics.jit import compiled


@dataclass(frozen=True)
class Donors:
    """Nearest old point and donors of each new point."""

    nearest: NDArray[np.int64]
    start: NDArray[np.int64]
    """First entry of each new point in `points`, then their number."""
    points: NDArray[np.int64]


WIDEST, WIDER = 2.0, 0.5
"""Largest distance of a donor, and the increment of the search radius [r]."""
MOST = 2.0
"""Largest share of a donor relative to the paper's [1]."""


def find_donors(bins: PointBins, darts: Darts, material: NDArray[np.int32], mass: NDArray[np.float64]) -> Donors:
    """Find the donors of each new point: old points of the material of the nearest, within r or a larger radius in
    which they surround it."""
    count = len(darts)
    nearest = np.empty(count, np.int64)
    radius = np.empty(count)
    start = np.zeros(count + 1, np.int64)
    arrays = (bins.neighbours, bins.start, bins.y, bins.point, material, darts.y, darts.bin)
    entry = np.empty(len(bins.point), np.int64)
    entry[bins.point] = np.arange(len(bins.point))
    _count_donors[bins.dimension](*arrays, entry, mass, nearest, radius, start[1:])
    np.cumsum(start, out=start)
    points = np.empty(start[-1], np.int64)
    _list_donors[bins.dimension](*arrays, nearest, radius, start, points)
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


def _make_count_donors(D: int):
    _, BY, BZ = BLOCK[D]

    @compiled(parallel=True, fastmath=False)
    def count_donors(neighbours, start, y, point, material, darts, home, entry, mass, nearest, radius, count):
        for q in prange(home.size):
            nearest[q] = _nearest_point(D, BY, BZ, neighbours, start, y, point, darts[q], home[q])
            wanted = material[nearest[q]]
            nothing = np.empty(0, np.int64)
            radius[q] = 1.0
            while True:
                count[q] = _donors_within(
                    D, BY, BZ, neighbours, start, y, point, material, wanted, darts[q], home[q], radius[q], nothing
                )
                found = np.empty(count[q], np.int64)
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

    return count_donors


def _make_list_donors(D: int):
    _, BY, BZ = BLOCK[D]

    @compiled(parallel=True)
    def list_donors(neighbours, start, y, point, material, darts, home, nearest, radius, first, found):
        for q in prange(home.size):
            _donors_within(
                D, BY, BZ, neighbours, start, y, point, material, material[nearest[q]], darts[q], home[q], radius[q],
                found[first[q] : first[q + 1]],
            )  # fmt: skip

    return list_donors


_count_donors = {d: _make_count_donors(d) for d in (2, 3)}
_list_donors = {d: _make_list_donors(d) for d in (2, 3)}


@compiled(fastmath=False)
def _share_mass(start, donors, new, mass, x, v, C, moment, fraction):
    D = x.shape[1]
    before = np.empty(SIZE)
    for q in range(start.size - 1):
        first, count = start[q], start[q + 1] - start[q]
        point = new + q
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
    donors: Donors, new: int, mass: NDArray[np.float64], x: NDArray[np.float64], v: NDArray[np.float64],
    C: NDArray[np.float64], moment: float,
) -> NDArray[np.float64]:  # fmt: skip
    """Transfer mass from the donors to the new points, which start at index `new` and have no mass yet.

    Mass, centre of mass, momentum and angular momentum of each new point with its donors are conserved to rounding;
    their energy does not grow unless they rotate like a rigid body. `moment`: second moment of the spline [m²]; `C` is
    empty if points have none. Returns the fraction given by each donor, in the order of `donors.points`.
    """
    fraction = np.empty(len(donors.points))
    _share_mass(donors.start, donors.points, new, mass, x, v, C, moment, fraction)
    return fraction


@compiled(fastmath=False)
def _share(start, donors, new, fraction, values):
    for q in range(start.size - 1):
        for n in range(start[q], start[q + 1]):
            for c in range(values.shape[1]):
                given = fraction[n] * values[donors[n], c]
                values[donors[n], c] -= given
                values[new + q, c] += given


def share(donors: Donors, new: int, fraction: NDArray[np.float64], values: NDArray[np.float64]) -> None:
    """Transfer the same `fraction` of another conserved field from the donors to the new points, which start at index
    `new` and are zero; `values`, shape (n, …), are changed in place."""
    _share(donors.start, donors.points, new, fraction, values.reshape(len(values), -1))
