"""New points where the interior is not covered. [Yue15] algorithm 3, [Ebeida12]

Most of the time every bin is covered: a first pass over all of them, which stops at the first dart that would land,
finds the few *open* bins. Darts are then thrown at these (`geometry.darts`) until the interior is covered. The domain
is what lies deeper than `depth`, by the distances at the nodes, interpolated.
"""

from dataclasses import dataclass
from itertools import product

import numba
import numpy as np
from numba import prange
from numpy.typing import NDArray

from spume.foam.resampling.bins import PointBins
from spume.foam.resampling.signed_distance import SignedDistance
from spume.foam.resampling.territory import REACH, Territory
from spume.geometry.darts import Domain, Thrower, cells_at
from spume.geometry.darts.coverage import keep_if_near
from spume.geometry.darts.search import make_scratch
from spume.grid.blocks import BLOCK, cell_at, cell_in_block, keys_of_cells
from spume.numerics.jit import compiled
from spume.numerics.random import mix, seed_state

LEVELS = 13
"""The smallest boxes are 4^−13 = 1.5e-8 wide [r]: what is then still undecided lies within 1e-8 of a sphere."""
DEPTH = 8
"""Place of the depth among the numbers of a bin, after the distances at its corners."""
_BLOCKS_AT_ONCE = 8


@dataclass(frozen=True)
class Darts:
    """Places of new points."""

    y: NDArray[np.float64]
    """Coordinates [r], shape (n, 3)."""
    bin: NDArray[np.int64]
    """The bin each lies in, 64 a block."""

    def __len__(self) -> int:
        return len(self.y)

    def keep(self, chosen: NDArray[np.bool_]) -> "Darts":
        """Only the chosen ones."""
        return Darts(self.y[chosen], self.bin[chosen])


def throw_darts(
    bins: PointBins, field: SignedDistance, alpha: float, depth: float, seed: tuple[int, ...], territory: Territory
) -> Darts:
    """New points deeper than `depth`, no nearer than `alpha` [r] to any point or each other, such that every place
    deeper than `depth` is within `alpha` of a point: those in the bins that this rank owns."""
    d = bins.dimension
    own = _open_bins(bins, field, alpha, depth, seed, territory)
    shared = territory.ranks.nearby(territory.cells, bins.middles(bins.coordinates_of(own)), REACH)
    known = shared.extended({"index": bins.coordinates_of(own), "bin": own})
    index, found = known["index"], known["bin"]  # the latter is used for own bins only
    # in the order of the blocks and bins, which is that of all ranks
    order = in_order(index, d)
    index, found = index[order], found[order]
    shared.reorder(order)
    arrays = (found, bins.neighbours, bins.start, bins.y, bins.blocks, field.distance, depth)
    cell, place = _THROWERS[d].throw(
        cells_at(index, d), arrays, alpha, seed_state(seed), bins.capacity, links=shared
    )  # fmt: skip
    return Darts(index[cell] + place, found[cell])


def in_order(index: NDArray[np.int64], dimension: int) -> NDArray[np.int64]:
    """Bins with the coordinates `index` (n, 3) in the order of their blocks, and of the bins in these."""
    keys, local = keys_of_cells(index, dimension)
    return np.lexsort((local, keys))


def _open_bins(
    bins: PointBins, field: SignedDistance, alpha: float, depth: float, seed: tuple[int, ...], territory: Territory
) -> NDArray[np.int64]:
    """The bins of this rank in which a dart would be accepted, 64 a block."""
    d = bins.dimension
    own = np.zeros(len(bins.blocks), np.bool_)
    width = np.array(BLOCK[d])
    for corner in product(*((0, size - 1) for size in BLOCK[d][:d])):  # a block of bins is in up to 2^d blocks
        own |= territory.ranks.owns(territory.cells, bins.middles(bins.blocks * width + (*corner, 0)[:3]))
    opened = np.zeros(len(bins.blocks) * 64, np.uint8)
    _find_open[d](
        np.flatnonzero(own), bins.neighbours, bins.start, bins.y, bins.blocks, field.distance, alpha, depth,
        seed_state(seed), 4 * numba.get_num_threads(), bins.capacity, opened,
    )  # fmt: skip
    found = np.flatnonzero(opened)
    return found[territory.ranks.owns(territory.cells, bins.middles(bins.coordinates_of(found)))]


@compiled(inline="always")
def interpolate(D, corner, x, y, z):
    """The distance at (x, y, z) in the bin from its corners, z fastest (the plane has only those at z = 0)."""
    if D == 3:
        c00 = corner[0] + z * (corner[1] - corner[0])
        c01 = corner[2] + z * (corner[3] - corner[2])
        c10 = corner[4] + z * (corner[5] - corner[4])
        c11 = corner[6] + z * (corner[7] - corner[6])
    else:
        c00, c01, c10, c11 = corner[0], corner[2], corner[4], corner[6]
    c0 = c00 + y * (c01 - c00)
    c1 = c10 + y * (c11 - c10)
    return c0 + x * (c1 - c0)


@compiled
def _load_corners(D, neighbours, distance, b, i, j, k, corner):
    """Distances at the corners of a bin; returns the smallest and the largest."""
    least, most = np.inf, -np.inf
    for c in range(8):
        here = cell_at(D, neighbours, b, i + (c >> 2), j + (c >> 1 & 1), k + (c & 1 if D == 3 else 0))
        corner[c] = distance[here] if here >= 0 else np.inf
        least, most = min(least, corner[c]), max(most, corner[c])
    return least, most


@compiled
def _near_points(D, neighbours, start, y, blocks, b, i, j, k, alpha, points):
    """Points whose spheres reach into bin (i, j, k) of block b, relative to its corner; returns how many."""
    BX, BY, BZ = (4, 4, 4) if D == 3 else (8, 8, 1)
    cx, cy, cz = blocks[b, 0] * BX + i, blocks[b, 1] * BY + j, blocks[b, 2] * BZ + k
    reach = 1 if D == 3 else 0
    count = 0
    for a in range(i - 1, i + 2):
        for c in range(j - 1, j + 2):
            for e in range(k - reach, k + reach + 1):
                here = cell_at(D, neighbours, b, a, c, e)
                if here >= 0:
                    for n in range(start[here], start[here + 1]):
                        count = keep_if_near(alpha, y[n, 0] - cx, y[n, 1] - cy, y[n, 2] - cz, points, count)
    return count


@compiled(inline="always")
def _bin_state(world, blocks, b, local):
    """Random state of a bin: of its place, not of its number."""
    for axis in range(3):
        world = mix(world, blocks[b, axis])
    return mix(world, local)


@compiled
def _load_tile(D, BX, BY, BZ, neighbours, start, y, blocks, b, tile_start, tile):
    """Points of the bins −1 to B of a block, relative to its corner, z fastest: a row of bins is a run of points."""
    cx, cy, cz = blocks[b, 0] * BX, blocks[b, 1] * BY, blocks[b, 2] * BZ
    low, high = (-1, BZ + 1) if D == 3 else (0, 1)
    count = 0
    place = 0
    for i in range(-1, BX + 1):
        for j in range(-1, BY + 1):
            for k in range(low, high):
                tile_start[place] = count
                place += 1
                here = cell_at(D, neighbours, b, i, j, k)
                if here >= 0:
                    for n in range(start[here], start[here + 1]):
                        tile[0, count], tile[1, count], tile[2, count] = y[n, 0] - cx, y[n, 1] - cy, y[n, 2] - cz
                        count += 1
    tile_start[place] = count


@compiled
def _near_in_tile(D, BY, BZ, tile_start, tile, i, j, k, alpha, points):
    """Points of a tile whose spheres reach into bin (i, j, k), relative to its corner; returns how many."""
    TY, TZ = BY + 2, BZ + 2 if D == 3 else 1
    count = 0
    for a in range(i, i + 3):
        for c in range(j, j + 3):
            row = (a * TY + c) * TZ + k
            for n in range(tile_start[row], tile_start[row + (3 if D == 3 else 1)]):
                count = keep_if_near(alpha, tile[0, n] - i, tile[1, n] - j, tile[2, n] - k, points, count)
    return count


def _make_domain(D: int) -> Domain:
    @compiled
    def near_points(arrays, cell, alpha, points):
        cells, neighbours, start, y, blocks, _, _ = arrays
        b, i, j, k = cell_in_block(D, cells[cell])
        return _near_points(D, neighbours, start, y, blocks, b, i, j, k, alpha, points)

    @compiled
    def prepare(arrays, cell, numbers):
        cells, neighbours, _, _, _, distance, depth = arrays
        b, i, j, k = cell_in_block(D, cells[cell])
        _, most = _load_corners(D, neighbours, distance, b, i, j, k, numbers)
        numbers[DEPTH] = depth
        return most < -depth

    @compiled
    def contains(arrays, numbers, x, y, z):
        return interpolate(D, numbers, x, y, z) < -numbers[DEPTH]

    @compiled
    def reaches(arrays, numbers, x, y, z, w):
        # an interpolant is smallest at a corner
        for c in range(8 if D == 3 else 4):
            if D == 3:
                d = interpolate(D, numbers, x + w * (c >> 2), y + w * (c >> 1 & 1), z + w * (c & 1))
            else:
                d = interpolate(D, numbers, x + w * (c >> 1), y + w * (c & 1), z)
            if d < -numbers[DEPTH]:
                return True
        return False

    return Domain(near_points, prepare, contains, reaches)


_THROWERS = {d: Thrower(d, _make_domain(d), LEVELS, rounds=2) for d in (2, 3)}


def _make_find_open(D: int):
    BX, BY, BZ = BLOCK[D]
    TILE = (BX + 2) * (BY + 2) * (BZ + 2 if D == 3 else 1)
    search = _THROWERS[D].search

    @compiled(parallel=True)
    def find_open(listed, neighbours, start, y, blocks, distance, alpha, depth, world, tasks, capacity, opened):
        """Mark the bins in the `listed` blocks in which a dart would be accepted."""
        chunks = (listed.size + _BLOCKS_AT_ONCE - 1) // _BLOCKS_AT_ONCE
        for task in prange(tasks):
            scratch = make_scratch(LEVELS, capacity)
            tile_start = np.empty(TILE + 1, np.int64)
            tile = np.empty((3, capacity))
            corner = np.empty(DEPTH + 1)
            corner[DEPTH] = depth
            dart = np.empty(3)
            one, last = np.int64(1), np.int64(LEVELS)  # not literals, for which `search` would be compiled once more
            for chunk in range(task, chunks, tasks):
                for b in listed[chunk * _BLOCKS_AT_ONCE : (chunk + 1) * _BLOCKS_AT_ONCE]:
                    loaded = False
                    for local in range(64):
                        i, j, k = local // (BY * BZ), local // BZ % BY, local % BZ
                        least, most = _load_corners(D, neighbours, distance, b, i, j, k, corner)
                        if least >= -depth:
                            continue
                        if not loaded:
                            _load_tile(D, BX, BY, BZ, neighbours, start, y, blocks, b, tile_start, tile)
                            loaded = True
                        count = _near_in_tile(D, BY, BZ, tile_start, tile, i, j, k, alpha, scratch[0][0])
                        own = _bin_state(world, blocks, b, local)
                        opened[b * 64 + local], _ = search(
                            (), corner, most < -depth, count, alpha, own, one, last, one, one, scratch, dart
                        )

    return find_open


_find_open = {d: _make_find_open(d) for d in (2, 3)}
