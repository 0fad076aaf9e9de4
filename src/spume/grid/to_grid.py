"""Sums of quantities of the points on the nodes: [Yue15] algorithm 6 and the sums of algorithm 8.

One kernel is generated for each set of quantities, dimension and spline; the explicit step takes mass, momentum and
stress divergence at once. `stencil.py` says how the kernels are made fast.

A tile reaches into the following block along each axis only, so blocks of one colour (the parity of their coordinates)
never meet on a node: the threads need no atomics, and each node adds the tiles around it in the order of their colours.
Where there are too few blocks to share those of a colour evenly, all blocks are shared at once, each colour has a copy
of the grid, and the copies are added up in the same order: the sums have the same bits.
"""

import functools
from typing import Any

from numba import prange

from spume.grid.blocks import BLOCK, NODES_PER_BLOCK
from spume.grid.cells import STENCIL_OFFSET
from spume.grid.stencil import column_at, plane_into
from spume.numerics.bspline import SPLINES
from spume.numerics.jit import compiled
from spume.numerics.scratch import zeros

QUANTITIES = ("mass", "momentum", "affine momentum", "stress divergence", "tensor divergence", "scalar")
"""What can be summed, in the order of the channels:

mass                Σ w m
momentum            Σ w m v
affine momentum     Σ w m (v + C (x_i − x_p)), [Jiang15]; instead of momentum
stress divergence   −Σ V τ ∇w with symmetric tensors τ (n, 6): the force of the Kirchhoff stress τ
tensor divergence   −Σ V T ∇w with full tensors T (n, 3, 3); instead of stress divergence
scalar              Σ w q
"""
TENSOR_ROW = ((0, 3, 4), (3, 1, 5), (4, 5, 2))
"""Where the rows of a symmetric tensor stand among its stored components xx, yy, zz, xy, xz, yz."""


def channel_count(dimension: int, quantities: tuple[str, ...]) -> int:
    """Channels of the sums of `quantities`."""
    return sum(1 if quantity in ("mass", "scalar") else dimension for quantity in quantities)


def check_quantities(quantities: tuple[str, ...], known: tuple[str, ...], instead: tuple[tuple[str, str], ...]) -> None:
    """Raise ValueError unless `quantities` is a part of `known` in its order without two that exclude each other."""
    if tuple(q for q in known if q in quantities) != quantities or not quantities:
        raise ValueError(f"quantities are {quantities}: they must be some of {known}, in this order")
    for pair in instead:
        if set(pair) <= set(quantities):
            raise ValueError(f"'{pair[0]}' and '{pair[1]}' exclude each other")


@compiled
def _clear_reached(D, block, node_block_of_corner, grid):
    """Zero the blocks of nodes that a block of cells reaches; in 2D the odd corners do not exist."""
    for corner in range(0, 8, 1 if D == 3 else 2):
        grid[node_block_of_corner[block, corner], :, :] = 0.0


@compiled(parallel=True)
def clear(grid):
    """Zero the node array `grid` (blocks, channels, nodes)."""
    for block in prange(grid.shape[0]):
        grid[block, :, :] = 0.0


@compiled(parallel=True)
def add_copies(copies, reached, grid):
    """Write the sums of all `copies` to `grid`; reached[block, copy] is negative where a block of nodes is not reached
    by a block of cells of the copy's colour."""
    for block in prange(grid.shape[0]):
        grid[block, :, :] = 0.0
        for copy in range(copies.shape[0]):
            if reached[block, copy] >= 0:
                for c in range(grid.shape[1]):
                    for node in range(NODES_PER_BLOCK):
                        grid[block, c, node] += copies[copy, block, c, node]


@functools.cache
def scatter_kernel(dimension: int, order: int, quantities: tuple[str, ...]) -> Any:
    """Kernel that sums `quantities` of all points on the nodes."""
    check_quantities(
        quantities, QUANTITIES, (("momentum", "affine momentum"), ("stress divergence", "tensor divergence"))
    )
    return _make_scatter(
        dimension,
        order,
        int("mass" in quantities),
        int("momentum" in quantities or "affine momentum" in quantities),
        int("affine momentum" in quantities),
        int("stress divergence" in quantities or "tensor divergence" in quantities),
        int("tensor divergence" in quantities),
        int("scalar" in quantities),
    )


def _make_scatter(
    D: int, order: int, mass: int, momentum: int, affine: int, divergence: int, full: int, scalar: int
) -> Any:
    LAST = D - 1
    BX, BY, BZ = BLOCK[D]
    K = order + 1
    KY = K if D == 3 else 1
    P = K * KY  # nodes of a plane
    TX, TY, TZ = BX + order, BY + order, BZ + (order if D == 3 else 0)
    TT = TX * TY * TZ
    MARGIN = STENCIL_OFFSET[order]
    spline = SPLINES[order]
    B, T = (BZ, TZ) if D == 3 else (BY, TY)  # cells and nodes of a column
    # first channel of each quantity, and their number
    MOMENTUM = mass
    FORCE = MOMENTUM + momentum * D
    SCALAR = FORCE + divergence * D
    C = SCALAR + scalar
    CELLS = BX * BY * BZ
    PA, PX, PY = 0, P, 2 * P  # over the plane: w w, dw w, w dw
    PE, PF = 3 * P, 4 * P  # w (x_i − x_p) in place of dw, for the affine part
    SUM = 5 * P  # sums of each quantity over the nodes of a column
    NN = T * P
    SIZE = SUM + C * NN

    @compiled(parallel=True)
    def scatter(
        tasks, listed_blocks, blocks, cell_start, sorted_points, node_block_of_corner, inverse_cell,
        x, v, m, volume, stress, tensor, affine_v, q_p, grid, copies, copy_of_block,
    ):  # fmt: skip
        """Each row of `tasks` holds the boundaries of a colour, and all sums are added to `grid`; or there is one row,
        and each block writes to the copy of its colour."""
        number = copies.shape[0]
        for colour in range(tasks.shape[0]):
            for task in prange(tasks.shape[1] - 1):
                s = zeros(SIZE)
                tile = zeros(C * TT)
                for listed in range(tasks[colour, task], tasks[colour, task + 1]):
                    block = listed_blocks[listed]
                    target = copies[copy_of_block[block]] if number > 0 else grid
                    if number > 0:
                        _clear_reached(D, block, node_block_of_corner, target)
                    tile[:] = 0.0
                    for column in range(CELLS // B):
                        lowest = block * CELLS + column * B
                        if cell_start[lowest] == cell_start[lowest + B]:
                            continue
                        for n in range(C * NN):
                            s[SUM + n] = 0.0
                        first_0, first_1, first_l = column_at(D, BX, BY, BZ, MARGIN, blocks, block, column)
                        for cell in range(B):
                            o = SUM + cell * P
                            for entry in range(cell_start[lowest + cell], cell_start[lowest + cell + 1]):
                                p = sorted_points[entry]
                                t0 = inverse_cell * x[p, 0] - first_0
                                t1 = inverse_cell * x[p, 1] - first_1
                                tl = inverse_cell * x[p, LAST] - (first_l + cell)
                                w0, d0 = spline(t0)
                                w1, d1 = spline(t1)
                                w, d = spline(tl)
                                plane_into(s, D, K, divergence, affine, w0, d0, t0 + MARGIN, w1, d1, t1 + MARGIN)
                                if mass == 1:
                                    mp = m[p]
                                    for n in range(P):
                                        a = mp * s[PA + n]
                                        for i in range(K):
                                            s[o + i * P + n] += w[i] * a
                                if momentum == 1:
                                    mh = m[p] / inverse_cell
                                    for q in range(D):
                                        mv = m[p] * v[p, q]
                                        if affine == 1:
                                            c0 = mh * affine_v[p, q, 0]
                                            c1 = mh * affine_v[p, q, 1]
                                            cl = mh * affine_v[p, q, LAST]
                                            for n in range(P):
                                                a = cl * s[PA + n]
                                                b = mv * s[PA + n] + c0 * s[PE + n]
                                                if D == 3:
                                                    b += c1 * s[PF + n]
                                                for i in range(K):
                                                    away = i - MARGIN - tl
                                                    s[o + (MOMENTUM + q) * NN + i * P + n] += w[i] * (b + away * a)
                                        else:
                                            for n in range(P):
                                                a = mv * s[PA + n]
                                                for i in range(K):
                                                    s[o + (MOMENTUM + q) * NN + i * P + n] += w[i] * a
                                if divergence == 1:
                                    # force f_i = −Σ V τ ∇w, [Yue15] algorithm 8
                                    vh = -volume[p] * inverse_cell
                                    for q in range(D):
                                        if full == 1:
                                            f0 = vh * tensor[p, q, 0]
                                            f1 = vh * tensor[p, q, 1]
                                            fl = vh * tensor[p, q, LAST]
                                        else:
                                            f0 = vh * stress[p, TENSOR_ROW[q][0]]
                                            f1 = vh * stress[p, TENSOR_ROW[q][1]]
                                            fl = vh * stress[p, TENSOR_ROW[q][LAST]]
                                        for n in range(P):
                                            a = fl * s[PA + n]
                                            b = f0 * s[PX + n]
                                            if D == 3:
                                                b += f1 * s[PY + n]
                                            for i in range(K):
                                                s[o + (FORCE + q) * NN + i * P + n] += w[i] * b + d[i] * a
                                if scalar == 1:
                                    for n in range(P):
                                        a = q_p[p] * s[PA + n]
                                        for i in range(K):
                                            s[o + SCALAR * NN + i * P + n] += w[i] * a
                        for c in range(C):
                            for k in range(T):
                                for i in range(K):
                                    for j in range(KY):
                                        if D == 3:
                                            o = ((column // BY + i) * TY + column % BY + j) * TZ + k
                                        else:
                                            o = (column + i) * TY + k
                                        tile[c * TT + o] += s[SUM + c * NN + k * P + i * KY + j]
                    for c in range(C):
                        for i in range(TX):
                            for j in range(TY):
                                o = c * TT + (i * TY + j) * TZ
                                corner = (4 if i >= BX else 0) + (2 if j >= BY else 0)
                                node = ((i % BX) * BY + (j % BY)) * BZ
                                near = node_block_of_corner[block, corner]
                                for k in range(BZ):
                                    target[near, c, node + k] += tile[o + k]
                                if D == 3:
                                    far = node_block_of_corner[block, corner + 1]
                                    for k in range(TZ - BZ):
                                        target[far, c, node + k] += tile[o + BZ + k]

    return scatter
