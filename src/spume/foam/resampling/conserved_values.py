"""Mass and volume of new points, taken from their neighbours. [Yue15] algorithm 19

A new point takes 1/(N + 1) of the mass and volume of each of the N points of its material within r. A dart lies outside
all spheres of radius αr, so there may be no such point: the radius then grows by half r at a time. 2 r always suffices:
all corners of the cell of the distance grid in which a deep dart lies have a point within r, so there is a point within
(1 + √d/2) r < 2 r of the dart.

New points take their shares one after another, in their order, each from what the earlier ones have left. They never
take from each other.
"""

from dataclasses import dataclass

import numpy as np
from numba import prange
from numpy.typing import NDArray

from spume.foam.resampling.bins import PointBins
from spume.foam.resampling.darts import Darts
from spume.mpm.blocks import BLOCK, cell_at
from spume.numerics.jit import compiled


@dataclass(frozen=True)
class Donors:
    """For each new point the nearest old one, and those it draws from."""

    nearest: NDArray[np.int64]
    start: NDArray[np.int64]
    """First entry of each new point in `points`, one past the end last."""
    points: NDArray[np.int64]


def find_donors(bins: PointBins, darts: Darts, material: NDArray[np.int32]) -> Donors:
    """The old points that give to each new one: of the material of the nearest, within r or as far as there is one."""
    count = len(darts)
    nearest = np.empty(count, np.int64)
    radius = np.empty(count)
    start = np.zeros(count + 1, np.int64)
    arrays = (bins.neighbours, bins.start, bins.y, bins.point, material, darts.y, darts.bin)
    _count_donors[bins.dimension](*arrays, nearest, radius, start[1:])
    np.cumsum(start, out=start)
    points = np.empty(start[-1], np.int64)
    _list_donors[bins.dimension](*arrays, nearest, radius, start, points)
    return Donors(nearest, start, points)


@compiled
def _nearest_point(D, BY, BZ, neighbours, start, y, point, dart, home):
    """The old point nearest to a dart; at equal distance the one that comes first."""
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
    """Points of a material within `radius` ≤ 2 of a dart, to `found` as far as it has room; returns how many."""
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


def _make_count_donors(D: int):
    _, BY, BZ = BLOCK[D]

    @compiled(parallel=True)
    def count_donors(neighbours, start, y, point, material, darts, home, nearest, radius, count):
        for q in prange(home.size):
            nearest[q] = _nearest_point(D, BY, BZ, neighbours, start, y, point, darts[q], home[q])
            wanted = material[nearest[q]]
            nothing = np.empty(0, np.int64)
            radius[q] = 1.0
            count[q] = 0
            while count[q] == 0:
                count[q] = _donors_within(
                    D, BY, BZ, neighbours, start, y, point, material, wanted, darts[q], home[q], radius[q], nothing
                )
                if count[q] == 0:
                    radius[q] += 0.5

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
def _share(start, donors, values, fresh):
    for q in range(fresh.shape[0]):
        part = 1.0 / (start[q + 1] - start[q] + 1)
        for n in range(start[q], start[q + 1]):
            for c in range(values.shape[1]):
                given = part * values[donors[n], c]
                values[donors[n], c] -= given
                fresh[q, c] += given


def share(donors: Donors, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """What new points take of a conserved field; the donors' `values`, shape (n, …), are lowered in place."""
    fresh = np.zeros((len(donors.nearest), *values.shape[1:]))
    _share(donors.start, donors.points, values.reshape(len(values), -1), fresh.reshape(len(fresh), -1))
    return fresh


@compiled(fastmath=False)
def _share_mass(start, donors, mass, v, fresh_mass, fresh_v):
    surplus = np.empty(v.shape[1])
    for q in range(fresh_mass.size):
        part = 1.0 / (start[q + 1] - start[q] + 1)
        group = 0.0
        surplus[:] = 0.0
        for n in range(start[q], start[q + 1]):
            donor = donors[n]
            given = part * mass[donor]
            group += mass[donor]
            mass[donor] -= given
            fresh_mass[q] += given
            for c in range(surplus.size):
                surplus[c] += given * (fresh_v[q, c] - v[donor, c])
        for c in range(surplus.size):
            change = surplus[c] / group
            fresh_v[q, c] -= change
            for n in range(start[q], start[q + 1]):
                v[donors[n], c] -= change


def share_mass(
    donors: Donors, mass: NDArray[np.float64], v: NDArray[np.float64], fresh_v: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Masses of new points whose velocities are `fresh_v`; lowers the donors' masses in place.

    The paper leaves it at that, and momentum is not conserved: mass given with the donors' velocities goes on with an
    interpolated one. Here the surplus, Σ given (ṽ − v_q), is taken from the new point and its donors by one and the
    same change of velocity, so the momentum of the group stays what it was to rounding, and velocities relative to each
    other stay as they were. Changes `v` and `fresh_v` in place.
    """
    fresh = np.zeros(len(fresh_v))
    _share_mass(donors.start, donors.points, mass, v, fresh, fresh_v)
    return fresh
