"""Transfers between the points of one species and the shared nodes."""

import copy
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from spume.grid.blocks import CELLS_PER_BLOCK
from spume.grid.border import NO_BORDER, Border
from spume.grid.cells import STENCIL_OFFSET, Cells
from spume.grid.nodes import Nodes
from spume.grid.to_grid import add_copies, channel_count, clear, scatter_kernel
from spume.grid.to_points import gather_kernel
from spume.numerics.jit import compiled

FEW_BLOCKS = 64
"""Number of occupied blocks per thread up to which each colour of blocks has a copy of the grid; with more blocks, they
are added colour by colour, and with one thread in an order with the same sums. No result depends on it."""
LOOKS = 5
"""Number of times that a process looks at its messages while it adds the blocks that no other process waits for. Most
MPI libraries move a long message only while both processes call them, so a process that looks only at the end makes the
other wait. The first looks are early, because the other process may have few such blocks."""

_NO_NUMBERS, _NO_VECTORS, _NO_TENSORS = np.zeros(0), np.zeros((0, 1)), np.zeros((0, 1, 1))


class Transfers:
    """Transfers of one species, with the work distributed over threads.

    Use: `transfers.cells.sort(x)`, `nodes.cover([transfers.cells, …])`, `transfers.connect(nodes)`; then `to_grid` and
    `to_points` as often as needed until the points move.
    """

    def __init__(self, dimension: int, cell: float, order: int) -> None:
        self.dimension = dimension
        self.order = order
        self.cells = Cells(dimension, cell, STENCIL_OFFSET[order])
        self.node_block_of_corner = np.empty((0, 8), np.int32)
        """Blocks of nodes at the corners of each occupied block of cells, see `Nodes.corner_blocks`."""
        self.cell_block_of_corner = np.empty((0, 8), np.int32)
        """The inverse: for each block of nodes and corner, the block of cells that has it, −1 if there is none."""
        self._border: Border = NO_BORDER
        self._sums_at = self.node_block_of_corner
        """Where the sums at the corners are written, see `Border.corners`."""
        self.tasks = np.zeros(1, np.int64)
        """Boundaries that divide the occupied blocks among the threads, evenly by points."""
        self._connected = (0, 0, 0)
        self._all_blocks = np.empty(0, np.int64)
        self._orders = [_Order(self._all_blocks, np.zeros(2, np.int64))]
        """In which blocks are added: first those that other processes wait for, if any, then the rest in parts."""
        self._copy_of_block = np.empty(0, np.int64)
        self._copies: dict[int, NDArray[np.float64]] = {}
        self._reached = np.empty((0, 0), np.int32)

    def connect(self, nodes: Nodes) -> None:
        """Find the nodes of the sorted cells; `nodes` must cover them."""
        threads = numba.get_num_threads()
        connected = (self.cells.generation, nodes.generation, threads)
        changed = self._connected != connected or self._border is not nodes.border
        if changed:
            self._connected = connected
            self.node_block_of_corner = nodes.corner_blocks(self.cells)
            self._border = nodes.border
            self._sums_at = self._border.corners(self.node_block_of_corner)
            self.cell_block_of_corner = np.full((len(nodes), 8), -1, np.int32)
            for corner in range(0, 8, 1 if self.dimension == 3 else 2):
                self.cell_block_of_corner[self.node_block_of_corner[:, corner], corner] = np.arange(len(self.cells))
            self._colour_blocks()
            self._copies.clear()
        self.cells.find_order()
        if self.tasks.size != threads + 1:
            self.tasks = np.empty(threads + 1, np.int64)
        for order in self._orders if changed or threads > 1 else ():  # one thread has all blocks, however full
            order.divide(threads)
            _split_all(self.cells.cell_start, self._all_blocks, order.blocks, order.starts, self.tasks, order.tasks)

    def chosen(self, mask: NDArray[np.bool_]) -> "Transfers":
        """Transfers of the points in `mask` only, between the same cells and nodes, valid until the next sort."""
        found = copy.copy(self)
        found.cells = self.cells.chosen(mask)
        return found

    def _colour_blocks(self) -> None:
        """Find the order in which blocks are added: at each node in that of their colours.

        With one thread, blocks are taken nearly as they are in memory: of two that meet on a node, the one that is even
        along the first axis along which their parities differ must come first, and it does if each odd plane of blocks
        comes after the even one that follows it."""
        self._all_blocks = np.arange(len(self.cells))
        parity = self.cells.blocks & 1
        colour = 4 * parity[:, 0] + 2 * parity[:, 1] + parity[:, 2]
        threads = numba.get_num_threads()
        self._reached = np.empty((0, 0), np.int32)
        if threads == 1:  # one row of tasks; the planes across each axis in the order 0, 2, 1, 4, 3, 6, ...
            x, y, z = (self.cells.blocks + 2 * parity).T
            self._orders = self._awaited_first(_Order(np.lexsort((z, y, x)), np.array([0, len(self.cells)])))
        elif len(self.cells) <= FEW_BLOCKS * threads:
            self._orders = [_Order(self._all_blocks, np.array([0, len(self.cells)]))]
            colours, self._copy_of_block = np.unique(colour, return_inverse=True)
            blocks = self._border.blocks(len(self.cell_block_of_corner))
            self._reached = np.full((blocks, len(colours)), -1, np.int32)
            for corner in range(0, 8, 1 if self.dimension == 3 else 2):
                self._reached[self._sums_at[:, corner], self._copy_of_block] = self._all_blocks
        else:
            by_colour = np.argsort(colour, kind="stable")
            starts = np.searchsorted(colour[by_colour], np.arange(9))
            self._orders = self._awaited_first(_Order(by_colour, starts))

    def _awaited_first(self, order: "_Order") -> list["_Order"]:
        """Divide `order` into that of the blocks that other processes wait for and those of parts of the others."""
        awaited = self._border.awaited(self.cells.keys)[order.blocks]
        return [order.of(awaited), *order.of(~awaited).parts(LOOKS)] if awaited.any() else [order]

    def to_grid(
        self, quantities: tuple[str, ...], x: NDArray[np.float64], target: NDArray[np.float64], *,
        room: NDArray[np.float64] | None = None, v: Any = _NO_VECTORS, mass: Any = _NO_NUMBERS,
        volume: Any = _NO_NUMBERS, stress: Any = _NO_VECTORS, tensor: Any = _NO_TENSORS,
        affine_velocity: Any = _NO_TENSORS, scalar: Any = _NO_NUMBERS,
    ) -> None:  # fmt: skip
        """Write the sums of `quantities` (see `to_grid.QUANTITIES`) over all points to the node array `target`, shape
        (blocks, channels, 64), overwriting its contents. `room`: see `NodeFields.room`; with it the sums need not be
        copied."""
        kernel = scatter_kernel(self.dimension, self.order, quantities)
        channels = channel_count(self.dimension, quantities)
        if target.shape[1] != channels:
            raise ValueError(f"the sums of {quantities} have {channels} channels, their target {target.shape[1]}")
        sums = self._border.room(target, room)
        if channels not in self._copies:
            self._copies[channels] = np.empty((self._reached.shape[1], len(self._reached), channels, CELLS_PER_BLOCK))
        copies = self._copies[channels]
        if len(copies) == 0:
            clear(sums)

        def add(order: _Order) -> None:
            kernel(
                order.tasks, order.blocks, self.cells.blocks, self.cells.cell_start, self.cells.sorted_points,
                self._sums_at, self.cells.inverse_size, x, v, mass, volume, stress, tensor, affine_velocity,
                scalar, sums, copies, self._copy_of_block,
            )  # fmt: skip

        first, *others = self._orders
        add(first)
        if len(copies) > 0:
            add_copies(copies, self._reached, sums)
        self._border.send(sums)
        for order in others:
            add(order)
            self._border.look()
        self._border.complete(sums, target)

    def pulled_back(self, metric: NDArray[np.float64]) -> NDArray[np.float64]:
        """Symmetric tensors B (n, 6) of points for sums of ∇w · B ∇w with the gradients used here."""
        return metric

    def pushed_forward(self, metric: NDArray[np.float64]) -> NDArray[np.float64]:
        """Sums of ∇w ∇wᵀ (n, 6), with the gradients in the present configuration."""
        return metric

    def pulled_back_tangent(self, numbers: NDArray[np.float64]) -> NDArray[np.float64]:
        """Numbers of tangents (`mpm/implicit/tangent.py`) for the gradients of the weights used here."""
        return numbers

    def to_points(
        self, quantities: tuple[str, ...], x: NDArray[np.float64], source: NDArray[np.float64], *,
        first_channel: int = 0, blend: float = 0.0, dt: float = 0.0, v: Any = _NO_VECTORS, tensor: Any = _NO_TENSORS,
        affine_velocity: Any = _NO_TENSORS, scalar: Any = _NO_NUMBERS,
    ) -> None:  # fmt: skip
        """Interpolate `quantities` (see `to_points.QUANTITIES`) from the node array `source`, shape
        (blocks, channels, 64), to all points. `tensor`, shape (n, 3, 3), receives the gradient or the deformation."""
        kernel = gather_kernel(self.dimension, self.order, quantities)
        kernel(
            self.tasks, self.cells.blocks, self.cells.cell_start, self.cells.sorted_points, self.node_block_of_corner,
            self.cells.inverse_size, x, source, first_channel, blend, dt, v, tensor, affine_velocity, scalar,
        )  # fmt: skip


class _Order:
    """Blocks of cells in the order in which they are added, colour by colour, or as if they had one colour."""

    def __init__(self, blocks: NDArray[np.int64], starts: NDArray[np.int64]) -> None:
        self.blocks = blocks
        self.starts = starts
        """First block of each colour in `blocks`, then their number."""
        self.tasks = np.empty((0, 0), np.int64)
        """Boundaries that divide each colour among the threads, evenly by points."""

    def of(self, chosen: NDArray[np.bool_]) -> "_Order":
        """The chosen ones of `blocks`."""
        return _Order(self.blocks[chosen], np.concatenate([[0], np.cumsum(chosen)])[self.starts])

    def parts(self, count: int) -> list["_Order"]:
        """At most `count` orders to be taken one after the other: each of some of the colours or, where there is
        one colour only, of some of its blocks, the first of the fewest."""
        rows = self.starts.size - 1
        if rows > 1:
            some = -(-rows // count)
            return [_Order(self.blocks, self.starts[k : k + some + 1]) for k in range(0, rows, some)]
        first, last = self.starts
        bounds = first + (last - first) * np.arange(count + 1) ** 2 // count**2
        return [_Order(self.blocks, bounds[k : k + 2]) for k in range(count) if bounds[k] < bounds[k + 1]]

    def divide(self, threads: int) -> None:
        """Make room for the tasks of so many threads."""
        if self.tasks.shape != (self.starts.size - 1, threads + 1):
            self.tasks = np.empty((self.starts.size - 1, threads + 1), np.int64)


@compiled(fastmath=False)
def _split(cell_start, blocks, first, last, tasks):
    """Boundaries in blocks[first:last] that divide its points evenly among the tasks."""
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
def _split_all(cell_start, all_blocks, by_colour, colour_start, tasks, tasks_by_colour):
    _split(cell_start, all_blocks, np.int64(0), all_blocks.size, tasks)
    for colour in range(colour_start.size - 1):
        _split(cell_start, by_colour, colour_start[colour], colour_start[colour + 1], tasks_by_colour[colour])
