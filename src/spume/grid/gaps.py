"""Gaps between the material around a node and the obstacle that contains the node.

The stencil of a node inside an obstacle reaches material up to two cells away. If the obstacle acted on all of it, a
single point one cell above the ground, with the weight w on the node, would sink only at the speed g Δt/w: millimetres
per second. A body could come to rest at any height within the stencil, and would rise while it slides, because noise
moves it up but never down.

The gap is the smallest distance from the surface of the points in the node's stencil, minus half their spacing, because
material extends half a spacing beyond its outermost points. Near a node the surface is approximated by a plane.
"""

import math
from typing import Any

import numpy as np
from numba import prange

from spume.grid.blocks import BLOCK
from spume.numerics.jit import compiled


def _make_measure(D: int) -> Any:
    BX, BY, BZ = BLOCK[D]

    @compiled(fastmath=False)
    def gap_at(cell_blocks, i, j, k, nx, ny, nz, offset, cell, order, cell_start, sorted_points, x, volume):
        """Smallest distance from the plane n·x = offset, minus half the spacing, of the points whose stencil contains
        node (i, j, k) of a block; 0 if one touches the plane. `cell_blocks` are the blocks of cells of which the block
        of nodes is a corner, see `Transfers.cell_block_of_corner`."""
        least = np.inf
        # cells nearest to the obstacle first, where the search usually ends
        for da in range(order + 1):
            a = i - (order - da if nx > 0.0 else da)
            for db in range(order + 1):
                b = j - (order - db if ny > 0.0 else db)
                for dc in range(order + 1 if D == 3 else 1):
                    c = k - (order - dc if nz > 0.0 else dc) if D == 3 else 0
                    block = cell_blocks[(4 if a < 0 else 0) + (2 if b < 0 else 0) + (1 if c < 0 else 0)]
                    if block < 0:
                        continue
                    index = block * 64 + ((a & (BX - 1)) * BY + (b & (BY - 1))) * BZ + (c & (BZ - 1))
                    for entry in range(cell_start[index], cell_start[index + 1]):
                        p = sorted_points[entry]
                        d = nx * x[p, 0] + ny * x[p, 1] - offset
                        if D == 3:
                            d += nz * x[p, 2]
                        if d <= 0.0:
                            return 0.0
                        if d < least + 0.5 * cell:  # else even a point as large as a cell is further away
                            size = math.sqrt(volume[p]) if D == 2 else volume[p] ** (1.0 / 3.0)
                            least = min(least, d - 0.5 * size)
                            if least <= 0.0:
                                return 0.0
        return least

    @compiled(parallel=True, fastmath=False)
    def measure(
        count,
        node,
        numbers,
        node_blocks,
        cell,
        moved,
        order,
        cell_block_of_corner,
        cell_start,
        sorted_points,
        x,
        volume,
        gap,
    ):
        for task in prange(count.size):
            for c in range(count[task]):
                block, local = node[task, c] // 64, node[task, c] % 64
                i, j, k = local // (BY * BZ), (local // BZ) % BY, local % BZ
                nx, ny, nz = numbers[task, c, 0], numbers[task, c, 1], numbers[task, c, 2]
                # distance = distance of the node + n·(x − x_node)
                if moved.shape[0] > 0:
                    offset = nx * moved[block, local, 0] + ny * moved[block, local, 1]
                    if D == 3:
                        offset += nz * moved[block, local, 2]
                else:
                    offset = (
                        nx * (node_blocks[block, 0] * BX + i)
                        + ny * (node_blocks[block, 1] * BY + j)
                        + nz * (node_blocks[block, 2] * BZ + k)
                    ) * cell
                offset -= numbers[task, c, 7]
                gap[task, c] = gap_at(
                    cell_block_of_corner[block], i, j, k, nx, ny, nz, offset, cell, order,
                    cell_start, sorted_points, x, volume,
                )  # fmt: skip

    return measure


measure_gaps = {d: _make_measure(d) for d in (2, 3)}
"""By dimension: kernel that computes the gap [m] of each contact, zero where material touches or overlaps the obstacle,
infinite where no points are in the node's stencil."""
