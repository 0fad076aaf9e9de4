"""Dart throwing: random points of a shape, no two closer than r, until hardly any room is left.

The shape is covered by square cells of diagonal r, so that each has room for one point at most. Over a few rounds each
empty cell is thrown at once, in random order; a dart lands if it is in the shape and no point is closer than r. What is
then neither taken nor covered by the ball around a point is halved along each axis and thrown at again [White07]. Cells
are kept in blocks, and only blocks that the shape reaches are made.
"""

import itertools
import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spume.geometry.filling.lattice import lattice_within
from spume.geometry.sdf.evaluation import distance
from spume.geometry.sdf.operations import ShapeProgram
from spume.numerics.array_pointers import open_arrays
from spume.numerics.jit import compiled
from spume.numerics.random import next_uniform

ROUNDS = 2
LEVELS = 3
"""Halvings after the rounds; further ones would find room for some 4 % more points."""


class Board(NamedTuple):
    """Where points are. A block is 8 x 8 x 8 cells."""

    slots: NDArray[np.int64]
    """hash table from a block's indices to its number; -1 is free"""
    blocks: NDArray[np.int64]
    """(blocks, 3): indices"""
    owner: NDArray[np.int64]
    """(blocks · 512,): number of the point in a cell, or -1"""
    points: NDArray[np.float64]
    """(cells, 3) [m]"""
    offsets: NDArray[np.int64]
    """(neighbours, 3): the cells that can hold a point within r of one in the cell at (0, 0, 0), the nearest first"""
    near: NDArray[np.int64]
    """(neighbours,): numbers of the points near the cell under way"""
    mask: int
    """length of `slots`, a power of two, less one"""
    neighbours: int


def throw_darts(
    program: ShapeProgram, lower: NDArray[np.float64], upper: NDArray[np.float64], r: float, seed: int
) -> NDArray[np.float64]:
    """Points inside the shape [m], shape (n, dimension), no two closer than `r` [m]; the same for the same seed."""
    d = len(lower)
    size = r / math.sqrt(d)
    cells = lattice_within(program, lower, upper, size, r / 2)
    blocks = _distinct(cells >> 3)
    slots = np.full(1 << (4 * len(blocks)).bit_length(), -1, dtype=np.int64)
    owner = np.full(512 * len(blocks), -1, dtype=np.int64)
    offsets = _neighbour_offsets(d)
    near = np.empty(len(offsets), dtype=np.int64)
    board = Board(slots, blocks, owner, np.empty((len(cells), 3)), offsets, near, len(slots) - 1, len(offsets))
    _enter_blocks(board)
    count = _throw(program, cells, board, size, r, np.array([seed], dtype=np.uint64))
    return board.points[:count, :d].copy()


def _distinct(rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """The different rows, sorted."""
    ordered = rows[np.lexsort(rows.T[::-1])]
    new = np.ones(len(rows), dtype=np.bool_)
    new[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    return np.ascontiguousarray(ordered[new])


def _neighbour_offsets(d: int) -> NDArray[np.int64]:
    reach = (-2, -1, 0, 1, 2)
    offsets = [(*offset, 0)[:3] for offset in itertools.product(*[reach] * d)]
    near = [offset for offset in offsets if sum(max(abs(k) - 1, 0) ** 2 for k in offset) < d]
    return np.array(sorted(near, key=lambda offset: sum(k * k for k in offset)), dtype=np.int64)


@compiled
def _hash(i, j, k, mask):
    """All bits of the indices stirred into the low ones: neighbours must not end up side by side."""
    h = np.uint64(i) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(j) * np.uint64(0xC2B2AE3D27D4EB4F)
    h = (h + np.uint64(k) * np.uint64(0x165667B19E3779F9)) * np.uint64(0xFF51AFD7ED558CCD)
    return np.int64((h ^ (h >> np.uint64(32))) & np.uint64(mask))


@compiled
def _enter_blocks(board):
    for n in range(len(board.blocks)):
        at = _hash(board.blocks[n, 0], board.blocks[n, 1], board.blocks[n, 2], board.mask)
        while board.slots[at] >= 0:
            at = (at + 1) & board.mask
        board.slots[at] = n


@compiled
def _address(b, i, j, k):
    """Where in `owner` a cell stands, or -1 if its block was not made; b: the opened board."""
    slots, blocks, mask = b[0], b[1], b[6]
    bi, bj, bk = i >> 3, j >> 3, k >> 3
    at = _hash(bi, bj, bk, mask)
    while slots[at] >= 0:
        n = slots[at]
        if blocks[3 * n] == bi and blocks[3 * n + 1] == bj and blocks[3 * n + 2] == bk:
            return 512 * n + ((i & 7) << 6) + ((j & 7) << 3) + (k & 7)
        at = (at + 1) & mask
    return -1


@compiled
def _free(b, i, j, k, x, y, z, r):
    """Whether no point is closer than r to a place in cell (i, j, k)."""
    owner, points, offsets = b[2], b[3], b[4]
    for m in range(b[7]):
        at = _address(b, i + offsets[3 * m], j + offsets[3 * m + 1], k + offsets[3 * m + 2])
        if at >= 0 and owner[at] >= 0:
            p = 3 * owner[at]
            u, v, w = x - points[p], y - points[p + 1], z - points[p + 2]
            if u * u + v * v + w * w < r * r:
                return False
    return True


@compiled
def _gather(b, i, j, k):
    """Writes the points around cell (i, j, k) to `near` and returns their number."""
    owner, offsets, near = b[2], b[4], b[5]
    count = 0
    for m in range(b[7]):
        at = _address(b, i + offsets[3 * m], j + offsets[3 * m + 1], k + offsets[3 * m + 2])
        if at >= 0 and owner[at] >= 0:
            near[count] = owner[at]
            count += 1
    return count


@compiled
def _covered(b, count, x, y, z, hx, hz, r):
    """Whether the box of half sides (hx, hx, hz) around a place lies within r of one of the gathered points."""
    points, near = b[3], b[5]
    for m in range(count):
        p = 3 * near[m]
        u, v, w = abs(x - points[p]) + hx, abs(y - points[p + 1]) + hx, abs(z - points[p + 2]) + hz
        if u * u + v * v + w * w < r * r:
            return True
    return False


@compiled
def _shuffled(count, state):
    order = np.arange(count)
    for n in range(count - 1, 0, -1):
        other = int(next_uniform(state) * (n + 1))
        order[n], order[other] = order[other], order[n]
    return order


@compiled
def _put(b, i, j, k, x, y, z, count):
    """Puts point number `count` into cell (i, j, k)."""
    owner, points = b[2], b[3]
    points[3 * count], points[3 * count + 1], points[3 * count + 2] = x, y, z
    owner[_address(b, i, j, k)] = count


@compiled
def _throw(program, cells, board, size, r, state):
    """Fills the board and returns the number of points."""
    b = open_arrays(board)
    flat = program.dimension == 2
    count = 0
    for _ in range(ROUNDS):
        for n in _shuffled(len(cells), state):
            i, j, k = cells[n, 0], cells[n, 1], cells[n, 2]
            if board.owner[_address(b, i, j, k)] < 0:
                x, y = (i + next_uniform(state)) * size, (j + next_uniform(state)) * size
                z = 0.0 if flat else (k + next_uniform(state)) * size
                if _free(b, i, j, k, x, y, z, r) and distance(program, x, y, z) < 0.0:
                    _put(b, i, j, k, x, y, z, count)
                    count += 1
    active = np.empty((len(cells), 4))
    for n in range(len(cells)):
        active[n, 0] = n
        active[n, 1:] = (cells[n] + 0.5) * size
    half = 0.5 * size
    for _ in range(LEVELS):
        half *= 0.5
        count, active = _throw_at_parts(program, cells, board, active, half, r, state, count)
    return count


@compiled
def _throw_at_parts(program, cells, board, active, half, r, state, count):
    """One dart at each uncovered part of the active boxes (number of the cell, centre), a part being half as wide.
    Returns the number of points and the parts that remain."""
    b = open_arrays(board)
    flat = program.dimension == 2
    hz = 0.0 if flat else half
    reach = math.sqrt(2.0 * half * half + hz * hz)
    children = 4 if flat else 8
    remain = np.empty((children * len(active), 4))
    kept = 0
    last, near = -1, 0
    for a in range(len(active)):
        n = int(active[a, 0])
        i, j, k = cells[n, 0], cells[n, 1], cells[n, 2]
        if board.owner[_address(b, i, j, k)] >= 0:
            continue
        x, y, z = active[a, 1], active[a, 2], 0.0 if flat else active[a, 3]
        if n != last:  # parts of one cell stand together in the list
            last, near = n, _gather(b, i, j, k)
        if _covered(b, near, x, y, z, 2.0 * half, 2.0 * hz, r):
            continue
        for child in range(children):
            u = x + (half if child & 1 else -half)
            v = y + (half if child & 2 else -half)
            w = z + (hz if child & 4 else -hz)
            if distance(program, u, v, w) > reach or _covered(b, near, u, v, w, half, hz, r):
                continue
            p = u + half * (2.0 * next_uniform(state) - 1.0)
            q = v + half * (2.0 * next_uniform(state) - 1.0)
            s = w + hz * (2.0 * next_uniform(state) - 1.0)
            if not _covered(b, near, p, q, s, 0.0, 0.0, r) and distance(program, p, q, s) < 0.0:
                _put(b, i, j, k, p, q, s, count)
                count += 1
                break
            remain[kept, 0], remain[kept, 1], remain[kept, 2], remain[kept, 3] = n, u, v, w
            kept += 1
    return count, remain[:kept].copy()
