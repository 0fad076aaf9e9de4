"""Gaps between the material around a node and the obstacle that contains the node.

A node inside an obstacle sees material up to two cells away. If the obstacle acted on all of it, a lone point a cell
above the ground would sink at the speed g Δt/w, with its weight w on the node: millimetres a second. A body could come
to rest at any height within the stencil, and would rise where it slides, because noise moves it up and never down.

The gap is the least distance of the points that the node sees from the surface, less half their spacing: material
begins half a spacing beyond its outermost points. Near a node the surface is taken to be a plane.
"""

import math

import numpy as np
from numba import prange
from numpy.typing import NDArray

from spume.mpm.blocks import BLOCK, KEY_STEP
from spume.mpm.cells import Cells
from spume.mpm.contacts import Contacts
from spume.mpm.nodes import Nodes
from spume.numerics.jit import compiled


def measure_gaps(
    contacts: Contacts, nodes: Nodes, cells: Cells, x: NDArray[np.float64], volume: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The gap of each contact [m] to the points at `x` [m] with rest volumes `volume`: zero where they touch or
    overlap, infinite where the node sees none of them."""
    gap = np.zeros(len(contacts))
    if len(contacts):
        _measure[nodes.dimension](
            contacts.node, contacts.numbers, nodes.keys, nodes.blocks, nodes.cell, nodes.order,
            cells.keys, cells.cell_start, cells.sorted_points, x, volume, gap,
        )  # fmt: skip
    return gap


def _make_measure(D: int):
    BX, BY, BZ = BLOCK[D]
    SX, SY, SZ = BX.bit_length() - 1, BY.bit_length() - 1, BZ.bit_length() - 1
    STEP_X, STEP_Y, STEP_Z = KEY_STEP

    @compiled(fastmath=False)
    def gap_at(key, i, j, k, nx, ny, nz, offset, cell, order, cell_keys, cell_start, sorted_points, x, volume):
        """Least distance from the plane n·x = offset, less half the spacing, of the points whose stencil has node
        (i, j, k) of the block `key`; 0 as soon as one touches the plane."""
        least = np.inf
        last_key, place = np.int64(-1), np.int64(-1)
        # cells nearest to the obstacle first: there the search usually ends
        for n in range((order + 1) ** D):
            a = i - (n // ((order + 1) ** (D - 1)) if nx > 0.0 else order - n // ((order + 1) ** (D - 1)))
            m = (n // (order + 1)) % (order + 1) if D == 3 else n % (order + 1)
            b = j - (m if ny > 0.0 else order - m)
            c = 0
            if D == 3:
                c = k - (n % (order + 1) if nz > 0.0 else order - n % (order + 1))
            here = key + (a >> SX) * STEP_X + (b >> SY) * STEP_Y + (c >> SZ) * STEP_Z
            if here != last_key:
                last_key = here
                place = np.searchsorted(cell_keys, here)
                if place == cell_keys.size or cell_keys[place] != here:
                    place = np.int64(-1)
            if place < 0:
                continue
            index = place * 64 + ((a & (BX - 1)) * BY + (b & (BY - 1))) * BZ + (c & (BZ - 1))
            for entry in range(cell_start[index], cell_start[index + 1]):
                p = sorted_points[entry]
                d = nx * x[p, 0] + ny * x[p, 1] - offset
                if D == 3:
                    d += nz * x[p, 2]
                if d < least + cell:  # else even a point as large as a cell is further away
                    least = min(least, d - 0.5 * (math.sqrt(volume[p]) if D == 2 else volume[p] ** (1.0 / 3.0)))
                    if least <= 0.0:
                        return 0.0
        return least

    @compiled(parallel=True, fastmath=False)
    def measure(
        node, numbers, node_keys, node_blocks, cell, order, cell_keys, cell_start, sorted_points, x, volume, gap
    ):
        for contact in prange(node.size):
            block, local = node[contact] // 64, node[contact] % 64
            i, j, k = local // (BY * BZ), (local // BZ) % BY, local % BZ
            nx, ny, nz = numbers[contact, 0], numbers[contact, 1], numbers[contact, 2]
            # distance = distance of the node + n·(x − x_node)
            offset = (
                nx * (node_blocks[block, 0] * BX + i)
                + ny * (node_blocks[block, 1] * BY + j)
                + nz * (node_blocks[block, 2] * BZ + k)
            ) * cell - numbers[contact, 7]
            gap[contact] = gap_at(
                node_keys[block], i, j, k, nx, ny, nz, offset, cell, order,
                cell_keys, cell_start, sorted_points, x, volume,
            )  # fmt: skip

    return measure


_measure = {d: _make_measure(d) for d in (2, 3)}
