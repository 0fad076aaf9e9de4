"""The sparse grid: blocks of nodes where there are points, and the points in the order of their cells.

Nodes stand at integer multiples of the cell size, over an unbounded domain. The *base* of a point is the first node of
its stencil; points with one base share all their nodes and form a cell. A block is 4×4×4 cells (8×8 in the plane)
and owns as many nodes. The stencils of its points reach into the next block along each axis, so a block needs 2^d
blocks of nodes, its `slots`. Memory and time follow the occupied blocks.
"""

import numba
import numpy as np
from numba import prange
from numpy.typing import NDArray

from spume.mpm.transfers import BLOCK, make_grid_to_particles, make_particles_to_grid
from spume.numerics.jit import compiled

_BITS = 21
_OFFSET = 1 << (_BITS - 1)
_MASK = (1 << _BITS) - 1
CELLS_PER_BLOCK = 64
MOST_SORTERS = 8
"""Threads that sort: each needs a count for every cell, and these are added up by one."""
FEW_BLOCKS, COPIES = 512, 8
"""Up to so many occupied blocks, points are added to so many copies of the grid; from there on, colour by colour."""
REACH_IN_BLOCKS = _OFFSET - 2
"""How far from the origin a point may be, in blocks: the block coordinates are packed into 21 bits each."""


@compiled(fastmath=False)
def pack(i, j, k):
    """Block coordinates as one number, the key of the block; keys are ordered like the coordinates."""
    return ((i + _OFFSET) << (2 * _BITS)) | ((j + _OFFSET) << _BITS) | (k + _OFFSET)


def _make_locate(dimension: int, order: int):
    BX, BY, BZ = BLOCK[dimension]
    SX, SY, SZ = BX.bit_length() - 1, BY.bit_length() - 1, BZ.bit_length() - 1

    @compiled(parallel=True, fastmath=False)
    def locate(x, inverse_cell, key, local):
        """Packed block coordinates and cell within the block of each point."""
        # the first node of the stencil: floor(x) − 1 for cubic, floor(x − 1/2) for quadratic splines
        shift = 1.0 if order == 3 else 0.5
        for p in prange(x.shape[0]):
            i = np.int64(np.floor(x[p, 0] * inverse_cell - shift))
            j = np.int64(np.floor(x[p, 1] * inverse_cell - shift))
            k = np.int64(np.floor(x[p, 2] * inverse_cell - shift)) if dimension == 3 else np.int64(0)
            key[p] = pack(i >> SX, j >> SY, k >> SZ)
            local[p] = ((i & (BX - 1)) * BY + (j & (BY - 1))) * BZ + (k & (BZ - 1))

    return locate


@compiled(fastmath=False)
def _find_runs(key, run_start):
    """Starts of the runs of equal keys in the order of the points; returns how many there are."""
    count = 0
    for p in range(key.size):
        if p == 0 or key[p] != key[p - 1]:
            run_start[count] = p
            count += 1
    return count


@compiled(parallel=True, fastmath=False)
def _sort_by_cell(local, run_start, run_block, run_share, place, cell_start, order):
    """Counting sort of the points by (block, cell); stable, so the order is unique, whoever places which points.

    Thread t has the runs from run_share[t] on, and counts in place[t].
    """
    points = local.size
    for t in prange(place.shape[0]):
        place[t, :] = 0
        for run in range(run_share[t], run_share[t + 1]):
            stop = run_start[run + 1] if run + 1 < run_block.size else points
            for p in range(run_start[run], stop):
                place[t, run_block[run] * CELLS_PER_BLOCK + local[p]] += 1
    total = 0
    for c in range(cell_start.size - 1):
        cell_start[c] = total
        for t in range(place.shape[0]):
            count = place[t, c]
            place[t, c] = total
            total += count
    cell_start[cell_start.size - 1] = total
    for t in prange(place.shape[0]):
        for run in range(run_share[t], run_share[t + 1]):
            stop = run_start[run + 1] if run + 1 < run_block.size else points
            for p in range(run_start[run], stop):
                c = run_block[run] * CELLS_PER_BLOCK + local[p]
                order[place[t, c]] = p
                place[t, c] += 1


@compiled(fastmath=False)
def _split(cell_start, blocks, first, last, tasks):
    """Boundaries in blocks[first:last] that share its points evenly among the tasks."""
    total = 0
    for n in range(first, last):
        b = blocks[n] * CELLS_PER_BLOCK
        total += cell_start[b + CELLS_PER_BLOCK] - cell_start[b]
    parts = tasks.size - 1
    tasks[0] = first
    n = first
    done = 0
    for part in range(1, parts):
        while n < last and done * parts < total * part:
            b = blocks[n] * CELLS_PER_BLOCK
            done += cell_start[b + CELLS_PER_BLOCK] - cell_start[b]
            n += 1
        tasks[part] = n
    tasks[parts] = last


@compiled(fastmath=False)
def _split_all(cell_start, everyone, by_colour, colour_start, tasks_all, tasks_by_colour):
    _split(cell_start, everyone, 0, everyone.size, tasks_all)
    for colour in range(colour_start.size - 1):
        _split(cell_start, by_colour, colour_start[colour], colour_start[colour + 1], tasks_by_colour[colour])


def unpack(keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """Block coordinates, shape (n, 3)."""
    return np.stack([((keys >> (2 * _BITS)) & _MASK), ((keys >> _BITS) & _MASK), keys & _MASK], axis=1) - _OFFSET


_locate = {(d, o): _make_locate(d, o) for d in (2, 3) for o in (2, 3)}
_particles_to_grid = {(d, o, a): make_particles_to_grid(d, o, a) for d in (2, 3) for o in (2, 3) for a in (0, 1)}
_grid_to_particles = {(d, o, a): make_grid_to_particles(d, o, a) for d in (2, 3) for o in (2, 3) for a in (0, 1)}


class SparseGrid:
    """Occupied blocks, their nodes' values, and the order of the points by cell."""

    def __init__(self, dimension: int, cell: float, order: int, affine: bool) -> None:
        self.dimension = dimension
        self.cell = cell
        self.order = order
        self.affine = affine
        self.inverse_cell = 1.0 / cell
        self.channels = 1 + 2 * dimension
        self._locate = _locate[dimension, order]
        self._to_grid = _particles_to_grid[dimension, order, int(affine)]
        self._to_points = _grid_to_particles[dimension, order, int(affine)]
        self._key = np.empty(0, np.int64)
        self._local = np.empty(0, np.uint8)
        self._run_start = np.empty(0, np.int32)
        self._place = np.empty((0, 0), np.int32)
        self.order_of = np.empty(0, np.int32)
        """Points sorted by cell."""
        self.cell_start = np.zeros(1, np.int64)
        """First entry of each cell in `order_of`, 64 cells a block, one past the end last."""
        self.keys = np.empty(0, np.int64)
        self.blocks = np.empty((0, 3), np.int64)
        """Coordinates of the occupied blocks."""
        self.slots = np.empty((0, 8), np.int32)
        self.tasks = np.empty(0, np.int64)
        """Boundaries that share the occupied blocks among the threads, evenly by points."""
        self.node_keys = np.empty(0, np.int64)
        """Keys of the blocks of nodes, in ascending order."""
        self.node_blocks = np.empty((0, 3), np.int64)
        """Coordinates of the blocks of nodes."""
        self._storage = np.empty((0, self.channels, CELLS_PER_BLOCK))
        self._copies = np.empty((0, 0, self.channels, CELLS_PER_BLOCK))
        self._copied = np.empty((0, 0), np.bool_)
        self._occupy(self.keys)

    @property
    def values(self) -> NDArray[np.float64]:
        """Node values (blocks, channels, 64): mass, momentum, force; after the grid update mass, v*, v* − v."""
        return self._storage[: len(self.node_blocks)]

    @property
    def block_count(self) -> int:
        """Occupied blocks."""
        return int(self.keys.size)

    def find_cells(self, x: NDArray[np.float64]) -> bool:
        """Order the points by cell. True when the state arrays have become so disordered that they should be re-sorted
        by `order_of`; a function of the positions and the order of the points alone, so a resumed run decides alike."""
        count = len(x)
        if len(self._key) != count:
            self._key = np.empty(count, np.int64)
            self._local = np.empty(count, np.uint8)
            self._run_start = np.empty(count, np.int32)
            self.order_of = np.empty(count, np.int32)
        self._locate(x, self.inverse_cell, self._key, self._local)
        runs = _find_runs(self._key, self._run_start)
        keys, run_block = np.unique(self._key[self._run_start[:runs]], return_inverse=True)
        if not np.array_equal(keys, self.keys):
            self._occupy(keys)
        threads = numba.get_num_threads()
        sorters = min(threads, MOST_SORTERS)
        share = np.searchsorted(self._run_start[:runs], count * np.arange(sorters + 1) // sorters)
        if self._place.shape != (sorters, self.cell_start.size - 1):
            self._place = np.empty((sorters, self.cell_start.size - 1), np.int32)
        _sort_by_cell(
            self._local, self._run_start[:runs], run_block, share, self._place, self.cell_start, self.order_of
        )
        if self.tasks.size != threads + 1:
            self.tasks = np.empty(threads + 1, np.int64)
            shares = len(self._copies) or threads
            self._colour_tasks = np.empty((len(self._colour_start) - 1, shares + 1), np.int64)
        _split_all(self.cell_start, self._everyone, self._by_colour, self._colour_start, self.tasks, self._colour_tasks)
        return bool(runs > 2 * keys.size + count // 16)

    def _occupy(self, keys: NDArray[np.int64]) -> None:
        """Take `keys` as the occupied blocks: find their slots and colours."""
        self.keys = keys
        last = 2 if self.dimension == 3 else 1
        corners = [(i << 2 * _BITS) + (j << _BITS) + k for i in (0, 1) for j in (0, 1) for k in range(last)]
        reached = keys[:, None] + np.array(corners, np.int64)
        nodes, inverse = np.unique(reached, return_inverse=True)
        self.slots = np.zeros((keys.size, 8), np.int32)
        self.slots[:, :: 3 - last] = inverse.reshape(reached.shape)
        self.node_keys, self.node_blocks = nodes, unpack(nodes)
        self.blocks = unpack(keys)
        self._everyone = np.arange(keys.size)
        copies = COPIES if keys.size <= FEW_BLOCKS else 0
        if copies:
            self._by_colour, self._colour_start = self._everyone, np.array([0, keys.size])
        else:
            parity = self.blocks & 1
            colour = 4 * parity[:, 0] + 2 * parity[:, 1] + parity[:, 2]
            self._by_colour = np.argsort(colour, kind="stable")
            self._colour_start = np.searchsorted(colour[self._by_colour], np.arange(9))
        if self._copies.shape[:2] != (copies, nodes.size):
            self._copies = np.empty((copies, nodes.size, self.channels, CELLS_PER_BLOCK))
            self._copied = np.empty((copies, nodes.size), np.bool_)
        self.tasks = np.empty(0, np.int64)
        self.cell_start = np.zeros(keys.size * CELLS_PER_BLOCK + 1, np.int64)
        if len(self._storage) < nodes.size:
            self._storage = np.empty((nodes.size + nodes.size // 4, self.channels, CELLS_PER_BLOCK))

    def add_points(self, x, v, mass, volume, stress, affine_v) -> None:
        """Mass, momentum and internal force of all points on the nodes. [Yue15] algorithms 6 and 8"""
        self._to_grid(
            self._colour_tasks, self._by_colour, self.blocks, self.cell_start, self.order_of, self.slots,
            self.inverse_cell, x, v, mass, volume, stress, affine_v, self.values, self._copies, self._copied,
        )  # fmt: skip

    def gather(self, x, flip, v, gradient, affine_v) -> None:
        """Velocity and velocity gradient of all points from v* and v* − v. [Yue15] algorithms 11 and 12"""
        self._to_points(
            self.tasks, self.blocks, self.cell_start, self.order_of, self.slots, self.inverse_cell,
            x, self.values, flip, v, gradient, affine_v,
        )  # fmt: skip
