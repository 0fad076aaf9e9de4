"""Averaged fields of new points, interpolated via the nodes of the MPM grid. [Yue15] algorithm 20

    q_i = Σ_p w_ip m_p q_p / Σ_p w_ip m_p,    q = Σ_i w_i q_i    (eqs. 19 and 20)

Only nodes in the stencil of a new point are computed, each by one thread, from the points of the surrounding cells in
the order of the cells. Only points of the new point's material are used; nodes not reached by any of them are omitted,
and the weights of the others are normalised to a sum of one.
"""

from dataclasses import dataclass

import numpy as np
from numba import prange
from numpy.typing import NDArray

from spume.grid.blocks import BLOCK, CELLS_PER_BLOCK, cell_in_block
from spume.grid.cells import STENCIL_OFFSET, Cells
from spume.grid.nodes import Nodes
from spume.numerics.bspline import cubic_value, quadratic_value
from spume.numerics.jit import compiled

COLUMNS = 8
"""Numbers per point averaged at a time: limits memory, and the sums stay in registers."""


@dataclass(frozen=True)
class Stencils:
    """Old and new points in the cells of the MPM grid, and the nodes and old points that contribute to the new ones."""

    cells: Cells
    """Old and new points sorted by cell."""
    order: int
    """Order of the splines."""
    node_block_of_corner: NDArray[np.int32]
    """Blocks of nodes of each block of cells, see `Nodes.corner_blocks`."""
    home: NDArray[np.int64]
    """Cell of each new point, 64 per block."""
    nodes: NDArray[np.int64]
    """Nodes in the stencils of the new points, 64 per block of nodes."""
    number: NDArray[np.int32]
    """Index of each node of the grid in `nodes`."""
    holders: NDArray[np.int32]
    """Occupied blocks of cells of which each block of nodes is corner 0 to 7; −1 if there is none."""
    members: NDArray[np.int64]
    """Points, old and new, of the cells whose stencils contain one of `nodes`, in the order of the cells."""
    member_start: NDArray[np.int64]
    """First entry of each cell in `members`, then their number."""
    weights: NDArray[np.float64]
    """Splines of the members by axis, shape (members, 3, order + 1)."""
    new_x: NDArray[np.float64]
    """Positions of the new points [cells], shape (n, 3)."""


def find_stencils(x: NDArray[np.float64], new_x: NDArray[np.float64], nodes: Nodes) -> Stencils:
    """Prepare the averaging from points at `x` to new points at `new_x` [m] via nodes with the spacing and splines of
    `nodes`."""
    d, order = nodes.dimension, nodes.order
    cells = Cells(d, nodes.cell, STENCIL_OFFSET[order])
    together = np.concatenate([x, new_x])
    cells.sort(together)
    reached = Nodes(d, nodes.cell, order)
    reached.cover([cells])
    corners = reached.corner_blocks(cells)
    home = np.empty(len(new_x), np.int64)
    needed = np.zeros((len(reached), CELLS_PER_BLOCK), np.uint8)
    _mark_nodes[d, order](cells.cell_start, cells.sorted_points, corners, len(x), home, needed)
    listed = np.flatnonzero(needed)
    number = np.full(needed.size, -1, np.int32)
    number[listed] = np.arange(listed.size, dtype=np.int32)
    holders = np.full((len(reached), 8), -1, np.int32)
    for corner in range(0, 8, 1 if d == 3 else 2):
        holders[corners[:, corner], corner] = np.arange(len(cells), dtype=np.int32)
    member_start = np.zeros(cells.cell_start.size, np.int64)
    _count_members[d, order](cells.cell_start, corners, number, member_start[1:])
    np.cumsum(member_start, out=member_start)
    members = np.empty(member_start[-1], np.int64)
    _list_members(cells.cell_start, cells.sorted_points, member_start, members)
    weights = np.ones((members.size, 3, order + 1))
    _find_weights[d, order](member_start, cells.blocks, together, members, cells.inverse_size, weights)
    scaled = np.zeros((len(new_x), 3))
    scaled[:, :d] = new_x * cells.inverse_size
    return Stencils(cells, order, corners, home, listed, number, holders, members, member_start, weights, scaled)


@compiled(parallel=True, fastmath=False)
def pack(source, index, component, columns, column, width):
    """Copy `width` components of the points `index`, starting at `component`, to `columns`, starting at `column`."""
    for n in prange(index.size):
        for c in range(width):
            columns[n, column + c] = source[index[n], component + c]


def average(
    stencils: Stencils, mass: NDArray[np.float64], columns: NDArray[np.float64], chosen: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Averages of `columns`, shape (members, COLUMNS), weighted by `mass`, at the new points `chosen`."""
    s = stencils
    key = s.cells.dimension, s.order
    values = np.zeros((s.nodes.size, COLUMNS))
    weight = np.zeros(s.nodes.size)
    _average_on_nodes[key](s.nodes, s.holders, s.member_start, s.weights, mass, columns, values, weight)
    result = np.zeros((chosen.size, COLUMNS))
    _average_at_points[key](
        chosen, s.home, s.node_block_of_corner, s.cells.blocks, s.number, s.new_x, values, weight, result
    )
    return result


@compiled(inline="always")
def _spline(order, d):
    """B-spline at distance d from its node [cells]."""
    return cubic_value(d) if order == 3 else quadratic_value(d)


@compiled(inline="always")
def _node_of(D, BX, BY, BZ, corners, block, i, j, k):
    """Flat index of node (i, j, k), counted from the corner of an occupied block; it may lie in the next blocks."""
    corner = (4 if i >= BX else 0) + (2 if j >= BY else 0) + (1 if D == 3 and k >= BZ else 0)
    return corners[block, corner] * 64 + ((i % BX) * BY + (j % BY)) * BZ + k % BZ


def _make_mark_nodes(D: int, order: int):
    BX, BY, BZ = BLOCK[D]
    K, KZ = order + 1, order + 1 if D == 3 else 1

    @compiled(fastmath=False)
    def mark_nodes(cell_start, sorted_points, corners, old, home, needed):
        """Find the cells of the new points, which start at index `old`, and mark the nodes of their stencils."""
        flat = needed.reshape(-1)
        for cell in range(cell_start.size - 1):
            found = False
            for entry in range(cell_start[cell], cell_start[cell + 1]):
                if sorted_points[entry] >= old:
                    home[sorted_points[entry] - old] = cell
                    found = True
            if found:
                b, ci, cj, ck = cell_in_block(D, cell)
                for i in range(ci, ci + K):
                    for j in range(cj, cj + K):
                        for k in range(ck, ck + KZ):
                            flat[_node_of(D, BX, BY, BZ, corners, b, i, j, k)] = 1

    return mark_nodes


def _make_count_members(D: int, order: int):
    BX, BY, BZ = BLOCK[D]
    K, KZ = order + 1, order + 1 if D == 3 else 1

    @compiled(parallel=True, fastmath=False)
    def count_members(cell_start, corners, number, count):
        """Count the points of the cells whose stencils contain a needed node."""
        for cell in prange(count.size):
            points = cell_start[cell + 1] - cell_start[cell]
            if points > 0:
                b, ci, cj, ck = cell_in_block(D, cell)
                reaches = False
                for i in range(ci, ci + K):
                    for j in range(cj, cj + K):
                        for k in range(ck, ck + KZ):
                            reaches = reaches or number[_node_of(D, BX, BY, BZ, corners, b, i, j, k)] >= 0
                if reaches:
                    count[cell] = points

    return count_members


@compiled(fastmath=False)
def _list_members(cell_start, sorted_points, member_start, members):
    for cell in range(member_start.size - 1):
        for n in range(member_start[cell + 1] - member_start[cell]):
            members[member_start[cell] + n] = sorted_points[cell_start[cell] + n]


def _make_find_weights(D: int, order: int):
    BX, BY, BZ = BLOCK[D]
    K = order + 1

    @compiled(parallel=True)
    def find_weights(member_start, blocks, x, members, inverse_cell, weights):
        """Compute the splines of the nodes of each member's stencil, from the first on; in 2D the third axis has 1."""
        for cell in prange(member_start.size - 1):
            b = cell // 64
            base = (
                blocks[b, 0] * BX + cell % 64 // (BY * BZ),
                blocks[b, 1] * BY + cell // BZ % BY,
                blocks[b, 2] * BZ + cell % BZ,
            )
            for p in range(member_start[cell], member_start[cell + 1]):
                for axis in range(D):
                    for a in range(K):
                        weights[p, axis, a] = _spline(order, x[members[p], axis] * inverse_cell - base[axis] - a)

    return find_weights


def _make_average_on_nodes(D: int, order: int):
    BX, BY, BZ = BLOCK[D]
    K, KZ = order + 1, order + 1 if D == 3 else 1

    @compiled(parallel=True)
    def average_on_nodes(nodes, holders, member_start, weights, mass, columns, values, weight):
        for n in prange(nodes.size):
            node_block, ni, nj, nk = cell_in_block(D, nodes[n])
            total = 0.0
            # Written out, because sums in an array would go through memory and not be vectorised.
            q0 = q1 = q2 = q3 = q4 = q5 = q6 = q7 = 0.0
            for a in range(K):
                for c in range(K):
                    for e in range(KZ):  # the cells whose stencil starts (a, c, e) before the node
                        i, j, k = ni - a, nj - c, nk - e
                        b = holders[node_block, (4 if i < 0 else 0) + (2 if j < 0 else 0) + (1 if k < 0 else 0)]
                        if b < 0:
                            continue
                        cell = b * 64 + ((i % BX) * BY + (j % BY)) * BZ + k % BZ
                        for p in range(member_start[cell], member_start[cell + 1]):
                            w = mass[p] * weights[p, 0, a] * weights[p, 1, c] * weights[p, 2, e]
                            total += w
                            q0, q1 = q0 + w * columns[p, 0], q1 + w * columns[p, 1]
                            q2, q3 = q2 + w * columns[p, 2], q3 + w * columns[p, 3]
                            q4, q5 = q4 + w * columns[p, 4], q5 + w * columns[p, 5]
                            q6, q7 = q6 + w * columns[p, 6], q7 + w * columns[p, 7]
            weight[n] = total
            if total > 0.0:
                values[n, 0], values[n, 1], values[n, 2], values[n, 3] = q0 / total, q1 / total, q2 / total, q3 / total
                values[n, 4], values[n, 5], values[n, 6], values[n, 7] = q4 / total, q5 / total, q6 / total, q7 / total

    return average_on_nodes


def _make_average_at_points(D: int, order: int):
    BX, BY, BZ = BLOCK[D]
    K, KZ = order + 1, order + 1 if D == 3 else 1

    @compiled(parallel=True)
    def average_at_points(chosen, home, corners, blocks, number, x, values, weight, result):
        for n in prange(chosen.size):
            p = chosen[n]
            cell = home[p]
            b, ci, cj, ck = cell_in_block(D, cell)
            gx, gy, gz = blocks[b, 0] * BX, blocks[b, 1] * BY, blocks[b, 2] * BZ
            total = 0.0
            for i in range(ci, ci + K):
                for j in range(cj, cj + K):
                    for k in range(ck, ck + KZ):
                        node = number[_node_of(D, BX, BY, BZ, corners, b, i, j, k)]
                        if weight[node] == 0.0:
                            continue
                        w = _spline(order, x[p, 0] - gx - i) * _spline(order, x[p, 1] - gy - j)
                        if D == 3:
                            w *= _spline(order, x[p, 2] - gz - k)
                        total += w
                        for q in range(COLUMNS):
                            result[n, q] += w * values[node, q]
            for q in range(COLUMNS):
                result[n, q] /= total

    return average_at_points


_KEYS = [(d, order) for d in (2, 3) for order in (2, 3)]
_mark_nodes = {key: _make_mark_nodes(*key) for key in _KEYS}
_count_members = {key: _make_count_members(*key) for key in _KEYS}
_find_weights = {key: _make_find_weights(*key) for key in _KEYS}
_average_on_nodes = {key: _make_average_on_nodes(*key) for key in _KEYS}
_average_at_points = {key: _make_average_at_points(*key) for key in _KEYS}
