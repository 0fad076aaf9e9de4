"""New points where the interior is not covered: dart throwing, coarse to fine. [Yue15] algorithm 3, [Ebeida12]

Bins of width r are the roots of the trees. Most of the time every bin is covered; a first pass over all of them, which
stops at the first dart that would be accepted, finds the few *open* bins. Only those are then searched to the end, one
level of the tree after the other over all of them, so that coarse cells come before fine ones as in the paper.

A dart excludes others within αr < r. Bins whose indices have the same parities are at least r apart, so all open bins
of one parity are searched at once, and what comes out does not depend on the number of threads.

`geometry/darts.py` solves another problem: it fills a shape that is given by a distance function with the first points,
in one thread. The two share their random numbers (`numerics/random.py`).
"""

from dataclasses import dataclass

import numba
import numpy as np
from numba import prange
from numpy.typing import NDArray

from spume.foam.resampling.bins import PointBins
from spume.foam.resampling.signed_distance import SignedDistance
from spume.foam.resampling.void_search import LEVELS, make_scratch, search_bin
from spume.mpm.blocks import BLOCK, cell_at
from spume.numerics.jit import compiled
from spume.numerics.random import mix, seed_state

STAGES = ((0, 0), (1, 1), (2, 2), (3, LEVELS))
"""Levels of the tree searched in all open bins before the next; below 1/16 of a bin the order hardly matters."""
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


def throw_darts(bins: PointBins, field: SignedDistance, alpha: float, depth: float, seed: tuple[int, ...]) -> Darts:
    """New points deeper than `depth`, no nearer than `alpha` [r] to any point or each other, such that every place
    deeper than `depth` is within `alpha` of a point."""
    d = bins.dimension
    opened = np.zeros(len(bins.blocks) * 64, np.uint8)
    state = seed_state(seed)
    tasks = 4 * numba.get_num_threads()
    _find_open[d](
        bins.neighbours, bins.start, bins.y, bins.blocks, field.distance, alpha, depth, state, tasks,
        bins.capacity, opened,
    )  # fmt: skip
    cells = np.flatnonzero(opened)
    if cells.size == 0:
        return Darts(np.empty((0, 3)), cells)
    index = np.full(opened.size, -1, np.int32)
    index[cells] = np.arange(cells.size, dtype=np.int32)
    # 2^d darts at most fit into a bin: 2^d + 1 points of the unit cube are somewhere within √d/2 < α of each other
    darts = np.empty((cells.size, 2**d, 3))
    count = np.zeros(cells.size, np.int64)
    unfinished = np.ones(cells.size, np.uint8)
    colour = _colour(cells, d)
    room = bins.capacity + 3**d * 2**d
    for first, last in STAGES:
        for c in range(2**d):
            turn = np.flatnonzero((colour == c) & (unfinished == 1))
            _search_open[d](
                turn, cells, bins.neighbours, bins.start, bins.y, bins.blocks, field.distance, alpha, depth, state,
                min(tasks, turn.size), room, first, last, index, darts, count, unfinished,
            )  # fmt: skip
    taken = np.arange(2**d) < count[:, None]
    return Darts(darts[taken], np.repeat(cells, count))


def _colour(cells: NDArray[np.int64], dimension: int) -> NDArray[np.int64]:
    """Parities of the bins' indices, one bit an axis; blocks have even sides."""
    _, BY, BZ = BLOCK[dimension]
    local = cells % 64
    i, j, k = local // (BY * BZ), local // BZ % BY, local % BZ
    return (i & 1) + 2 * (j & 1) + 4 * (k & 1)


@compiled
def _load_corners(D, neighbours, distance, b, i, j, k, corner):
    """Distances at the corners of a bin; returns the smallest."""
    least = np.inf
    for c in range(8):
        here = cell_at(D, neighbours, b, i + (c >> 2), j + (c >> 1 & 1), k + (c & 1 if D == 3 else 0))
        corner[c] = distance[here] if here >= 0 else np.inf
        least = min(least, corner[c])
    return least


@compiled(inline="always")
def _keep_if_near(alpha, x, y, z, points, count):
    """Append a point to `points` when its sphere touches the unit cube; returns the new count."""
    dx, dy, dz = max(-x, 0.0, x - 1.0), max(-y, 0.0, y - 1.0), max(-z, 0.0, z - 1.0)
    points[0, count], points[1, count], points[2, count] = x, y, z
    return count + (dx * dx + dy * dy + dz * dz < alpha * alpha)


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
                        count = _keep_if_near(alpha, y[n, 0] - cx, y[n, 1] - cy, y[n, 2] - cz, points, count)
    return count


@compiled
def _near_darts(D, neighbours, index, darts, dart_count, blocks, b, i, j, k, alpha, points, count):
    """Darts whose spheres reach into bin (i, j, k) of block b, appended to `points`; returns the new count."""
    BX, BY, BZ = (4, 4, 4) if D == 3 else (8, 8, 1)
    cx, cy, cz = blocks[b, 0] * BX + i, blocks[b, 1] * BY + j, blocks[b, 2] * BZ + k
    reach = 1 if D == 3 else 0
    for a in range(i - 1, i + 2):
        for c in range(j - 1, j + 2):
            for e in range(k - reach, k + reach + 1):
                here = cell_at(D, neighbours, b, a, c, e)
                if here >= 0 and index[here] >= 0:
                    n = index[here]
                    for q in range(dart_count[n]):
                        x, y, z = darts[n, q, 0] - cx, darts[n, q, 1] - cy, darts[n, q, 2] - cz
                        count = _keep_if_near(alpha, x, y, z, points, count)
    return count


@compiled(inline="always")
def _bin_state(state, blocks, b, local):
    """Random state of a bin: of its place, not of its number."""
    for axis in range(3):
        state = mix(state, blocks[b, axis])
    return mix(state, local)


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
                count = _keep_if_near(alpha, tile[0, n] - i, tile[1, n] - j, tile[2, n] - k, points, count)
    return count


def _make_find_open(D: int):
    BX, BY, BZ = BLOCK[D]
    TILE = (BX + 2) * (BY + 2) * (BZ + 2 if D == 3 else 1)

    @compiled(parallel=True)
    def find_open(neighbours, start, y, blocks, distance, alpha, depth, state, tasks, capacity, opened):
        """Mark the bins in which a dart would be accepted."""
        chunks = (blocks.shape[0] + _BLOCKS_AT_ONCE - 1) // _BLOCKS_AT_ONCE
        for task in prange(tasks):
            scratch = make_scratch(capacity)
            tile_start = np.empty(TILE + 1, np.int64)
            tile = np.empty((3, capacity))
            corner = np.empty(8)
            found = np.empty((1, 3))
            # one version of `search_bin` serves both passes, since these numbers are not literals in either
            first, last, one = np.int64(1), np.int64(LEVELS), np.int64(1)
            for chunk in range(task, chunks, tasks):
                for b in range(chunk * _BLOCKS_AT_ONCE, min(blocks.shape[0], (chunk + 1) * _BLOCKS_AT_ONCE)):
                    loaded = False
                    for local in range(64):
                        i, j, k = local // (BY * BZ), local // BZ % BY, local % BZ
                        if _load_corners(D, neighbours, distance, b, i, j, k, corner) >= -depth:
                            continue
                        if not loaded:
                            _load_tile(D, BX, BY, BZ, neighbours, start, y, blocks, b, tile_start, tile)
                            loaded = True
                        count = _near_in_tile(D, BY, BZ, tile_start, tile, i, j, k, alpha, scratch[0][0])
                        own = _bin_state(state, blocks, b, local)
                        hits, _ = search_bin(D, count, corner, depth, alpha, own, first, last, one, one, scratch, found)
                        opened[b * 64 + local] = hits

    return find_open


def _make_search_open(D: int):
    BX, BY, BZ = BLOCK[D]
    DARTS = 1 + 2**D

    @compiled(parallel=True)
    def search_open(
        turn, cells, neighbours, start, y, blocks, distance, alpha, depth, state, tasks, room, first, last,
        index, darts, dart_count, unfinished,
    ):  # fmt: skip
        """Throw darts into the open bins `turn`, of one parity, at the levels `first` to `last` of their trees."""
        for task in prange(tasks):
            scratch = make_scratch(room)
            corner = np.empty(8)
            found = np.empty((2**D + 1, 3))
            for t in range(task, turn.size, tasks):
                n = turn[t]
                b, local = cells[n] // 64, cells[n] % 64
                i, j, k = local // (BY * BZ), local // BZ % BY, local % BZ
                _load_corners(D, neighbours, distance, b, i, j, k, corner)
                count = _near_points(D, neighbours, start, y, blocks, b, i, j, k, alpha, scratch[0][0])
                count = _near_darts(
                    D, neighbours, index, darts, dart_count, blocks, b, i, j, k, alpha, scratch[0][0], count
                )
                own = _bin_state(state, blocks, b, local)
                hits, more = search_bin(
                    D,
                    count,
                    corner,
                    depth,
                    alpha,
                    own,
                    first,
                    last,
                    np.int64(DARTS),
                    np.int64(2**D + 1),
                    scratch,
                    found,
                )
                unfinished[n] = more
                for q in range(hits):
                    darts[n, dart_count[n], 0] = found[q, 0] + blocks[b, 0] * BX + i
                    darts[n, dart_count[n], 1] = found[q, 1] + blocks[b, 1] * BY + j
                    darts[n, dart_count[n], 2] = found[q, 2] + blocks[b, 2] * BZ + k
                    dart_count[n] += 1

    return search_open


_find_open = {d: _make_find_open(d) for d in (2, 3)}
_search_open = {d: _make_search_open(d) for d in (2, 3)}
