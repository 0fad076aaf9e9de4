"""Transfers between points and grid: [Yue15] algorithm 6 and the sums of algorithms 8, 11 and 12.

Written once for two and three dimensions, quadratic and cubic splines: a factory closes over these integers, so each
combination is a specialised kernel.

How it is made fast. Points are visited column by column, a column being the cells of a block in a row along the last
axis. The tensor product is taken in two stages: first the *plane* of the other axes (16 products for cubic splines),
then the last axis, one or two multiply-adds per node and quantity. All cells of a column have the same nodes in the
plane, so their sums share one scratch array, in loops of constant length over the plane that vectorise; the scratch
leaves once per column for a *tile*: the nodes a block of cells can reach. A tile reaches into the following block along
each axis only; blocks of one colour (the parity of their coordinates) never meet on a node, so the threads need no
atomics and the sums have one order whatever the number of threads. Where there are too few blocks to share those of a
colour evenly, the blocks are dealt to a fixed number of copies of the grid instead, which are then added up.
"""

import numpy as np
from numba import prange

from spume.numerics.bspline import cubic, quadratic
from spume.numerics.jit import compiled

BLOCK = {2: (8, 8, 1), 3: (4, 4, 4)}
"""Cells, and nodes, per side of a block, by dimension."""
TENSOR_ROW = ((0, 3, 4), (3, 1, 5), (4, 5, 2))
"""Where the rows of a symmetric tensor stand among its stored components xx, yy, zz, xy, xz, yz."""


@compiled
def _column_at(D, BX, BY, BZ, margin, corners, block, column):
    """Where the points of a column begin along the first, second and last axis [cells].

    Taken from the cell a point was sorted into, not from its position again: so both cannot differ by rounding.
    """
    i, j = (column // BY, column % BY) if D == 3 else (column, 0)
    last = corners[block, 2] * BZ if D == 3 else corners[block, 1] * BY
    return corners[block, 0] * BX + i + margin, corners[block, 1] * BY + j + margin, last + margin


@compiled(inline="always")
def _plane_into(s, D, K, affine, w0, d0, reach0, w1, d1, reach1):
    """Products over the plane to the start of s, one part after the other: w w, dw w, w dw and, for the affine part,
    the first with the distances of the nodes from the point [cells] along either axis. In 2D the plane is one axis."""
    P = K * K if D == 3 else K
    if D == 3:
        for i in range(K):
            for j in range(K):
                n = i * K + j
                s[n] = w0[i] * w1[j]
                s[P + n] = d0[i] * w1[j]
                s[2 * P + n] = w0[i] * d1[j]
                if affine == 1:
                    s[3 * P + n] = w0[i] * w1[j] * (i - reach0)
                    s[4 * P + n] = w0[i] * w1[j] * (j - reach1)
    else:
        for i in range(K):
            s[i] = w0[i]
            s[P + i] = d0[i]
            if affine == 1:
                s[3 * P + i] = w0[i] * (i - reach0)


@compiled
def _clear_reached(first, last, blocks, slots, grid, reached):
    """Zeroes the blocks of nodes that the given blocks of cells reach, and marks them."""
    reached[:] = False
    for listed in range(first, last):
        for corner in range(slots.shape[1]):
            slot = slots[blocks[listed], corner]
            if not reached[slot]:
                reached[slot] = True
                grid[slot, :, :] = 0.0


def make_particles_to_grid(dimension: int, order: int, affine: int):
    """Kernel adding mass, momentum and internal force of all points of the given blocks to the grid.

    `affine` = 1 adds the affine part of [Jiang15] to the momentum.
    """
    D = dimension
    LAST = D - 1
    BX, BY, BZ = BLOCK[D]
    K = order + 1
    KY = K if D == 3 else 1
    P = K * KY  # nodes of a plane
    TX, TY, TZ = BX + order, BY + order, BZ + (order if D == 3 else 0)
    TT = TX * TY * TZ
    MARGIN = 1.0 if order == 3 else 0.5  # from the first node of a stencil to where its points begin [cells]
    B, T = (BZ, TZ) if D == 3 else (BY, TY)  # cells and nodes of a column
    C = 1 + 2 * D  # mass, momentum, force
    CELLS = BX * BY * BZ
    PA, PX, PY = 0, P, 2 * P  # over the plane: w w, dw w, w dw
    PE, PF = 3 * P, 4 * P  # w (x_i − x_p) in place of dw, for the affine part
    SUM = 5 * P  # sums of each quantity over the nodes of a column
    NN = T * P
    SIZE = SUM + C * NN

    @compiled(parallel=True)
    def particles_to_grid(
        tasks, blocks, corners, cell_start, order_of, slots, inverse_cell, x, v, m, volume, stress, affine_v, grid,
        copies, copied,
    ):  # fmt: skip
        """Each row of `tasks` are the boundaries of a colour; or there is one row, and task t adds to copies[t]."""
        number = copies.shape[0]
        if number == 0:
            for slot in prange(grid.shape[0]):
                grid[slot, :, :] = 0.0
        for colour in range(tasks.shape[0]):
            for task in prange(tasks.shape[1] - 1):
                target = copies[task] if number > 0 else grid
                if number > 0:
                    _clear_reached(tasks[0, task], tasks[0, task + 1], blocks, slots, target, copied[task])
                s = np.zeros(SIZE)
                tile = np.zeros(C * TT)
                for listed in range(tasks[colour, task], tasks[colour, task + 1]):
                    block = blocks[listed]
                    tile[:] = 0.0
                    for column in range(CELLS // B):
                        lowest = block * CELLS + column * B
                        if cell_start[lowest] == cell_start[lowest + B]:
                            continue
                        for n in range(C * NN):
                            s[SUM + n] = 0.0
                        first_0, first_1, first_l = _column_at(D, BX, BY, BZ, MARGIN, corners, block, column)
                        for cell in range(B):
                            o = SUM + cell * P
                            for entry in range(cell_start[lowest + cell], cell_start[lowest + cell + 1]):
                                p = order_of[entry]
                                t0 = inverse_cell * x[p, 0] - first_0
                                t1 = inverse_cell * x[p, 1] - first_1
                                tl = inverse_cell * x[p, LAST] - (first_l + cell)
                                if order == 3:
                                    w0, d0 = cubic(t0)
                                    w1, d1 = cubic(t1)
                                    w, d = cubic(tl)
                                else:
                                    w0, d0 = quadratic(t0)
                                    w1, d1 = quadratic(t1)
                                    w, d = quadratic(tl)
                                _plane_into(s, D, K, affine, w0, d0, t0 + MARGIN, w1, d1, t1 + MARGIN)
                                mp = m[p]
                                mh = mp / inverse_cell
                                for n in range(P):
                                    a = mp * s[PA + n]
                                    for i in range(K):
                                        s[o + i * P + n] += w[i] * a
                                for q in range(D):
                                    mv = mp * v[p, q]
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
                                                s[o + (1 + q) * NN + i * P + n] += w[i] * (b + away * a)
                                    else:
                                        for n in range(P):
                                            a = mv * s[PA + n]
                                            for i in range(K):
                                                s[o + (1 + q) * NN + i * P + n] += w[i] * a
                                # force f_i = −Σ V τ ∇w, [Yue15] algorithm 8
                                vh = -volume[p] * inverse_cell
                                for q in range(D):
                                    f0 = vh * stress[p, TENSOR_ROW[q][0]]
                                    f1 = vh * stress[p, TENSOR_ROW[q][1]]
                                    fl = vh * stress[p, TENSOR_ROW[q][LAST]]
                                    for n in range(P):
                                        a = fl * s[PA + n]
                                        b = f0 * s[PX + n]
                                        if D == 3:
                                            b += f1 * s[PY + n]
                                        for i in range(K):
                                            s[o + (1 + D + q) * NN + i * P + n] += w[i] * b + d[i] * a
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
                                near = slots[block, corner]
                                for k in range(BZ):
                                    target[near, c, node + k] += tile[o + k]
                                if D == 3:
                                    far = slots[block, corner + 1]
                                    for k in range(TZ - BZ):
                                        target[far, c, node + k] += tile[o + BZ + k]
        if number > 0:
            for slot in prange(grid.shape[0]):
                grid[slot, :, :] = 0.0
                for copy in range(number):
                    if copied[copy, slot]:
                        grid[slot] += copies[copy, slot]

    return particles_to_grid


def make_grid_to_particles(dimension: int, order: int, affine: int):
    """Kernel gathering, for all points of the given blocks, velocity and velocity gradient from the grid.

    affine = 0: v ← (1 − α) Σ w v* + α (v + Σ w (v* − v)), [Yue15] algorithm 12; α = 1 is FLIP, α = 0 PIC.
    affine = 1: v ← Σ w v*, C ← Σ w v* (x_i − x_p)ᵀ D⁻¹, [Jiang15].
    Always: ∇v = Σ v* ∇wᵀ with the collided velocities v*.
    """
    D = dimension
    LAST = D - 1
    BX, BY, BZ = BLOCK[D]
    K = order + 1
    KY = K if D == 3 else 1
    P = K * KY
    TX, TY, TZ = BX + order, BY + order, BZ + (order if D == 3 else 0)
    TT = TX * TY * TZ
    MARGIN = 1.0 if order == 3 else 0.5  # from the first node of a stencil to where its points begin [cells]
    B, T = (BZ, TZ) if D == 3 else (BY, TY)
    R = D if affine == 1 else 2 * D  # quantities read: v*, and v* − v unless affine
    CELLS = BX * BY * BZ
    PA, PX, PY = 0, P, 2 * P
    PE, PF = 3 * P, 4 * P
    READ = 5 * P  # values of each quantity at the nodes of a column
    NN = T * P
    SIZE = READ + R * NN
    # D⁻¹ of [Jiang15] in units of 1/h²: the second moment of the spline is h²/4 (quadratic), h²/3 (cubic)
    INERTIA = 4 if order == 2 else 3

    @compiled(parallel=True)
    def grid_to_particles(
        tasks, corners, cell_start, order_of, slots, inverse_cell, x, grid, flip, v, gradient, affine_v
    ):
        for task in prange(tasks.size - 1):
            s = np.zeros(SIZE)
            tile = np.zeros(R * TT)
            for block in range(tasks[task], tasks[task + 1]):
                for c in range(R):
                    for i in range(TX):
                        for j in range(TY):
                            o = c * TT + (i * TY + j) * TZ
                            corner = (4 if i >= BX else 0) + (2 if j >= BY else 0)
                            node = ((i % BX) * BY + (j % BY)) * BZ
                            near = slots[block, corner]
                            for k in range(BZ):
                                tile[o + k] = grid[near, 1 + c, node + k]
                            if D == 3:
                                far = slots[block, corner + 1]
                                for k in range(TZ - BZ):
                                    tile[o + BZ + k] = grid[far, 1 + c, node + k]
                for column in range(CELLS // B):
                    lowest = block * CELLS + column * B
                    if cell_start[lowest] == cell_start[lowest + B]:
                        continue
                    first_0, first_1, first_l = _column_at(D, BX, BY, BZ, MARGIN, corners, block, column)
                    for c in range(R):
                        for k in range(T):
                            for i in range(K):
                                for j in range(KY):
                                    if D == 3:
                                        o = ((column // BY + i) * TY + column % BY + j) * TZ + k
                                    else:
                                        o = (column + i) * TY + k
                                    s[READ + c * NN + k * P + i * KY + j] = tile[c * TT + o]
                    for cell in range(B):
                        for entry in range(cell_start[lowest + cell], cell_start[lowest + cell + 1]):
                            p = order_of[entry]
                            t0 = inverse_cell * x[p, 0] - first_0
                            t1 = inverse_cell * x[p, 1] - first_1
                            tl = inverse_cell * x[p, LAST] - (first_l + cell)
                            if order == 3:
                                w0, d0 = cubic(t0)
                                w1, d1 = cubic(t1)
                                w, d = cubic(tl)
                            else:
                                w0, d0 = quadratic(t0)
                                w1, d1 = quadratic(t1)
                                w, d = quadratic(tl)
                            _plane_into(s, D, K, affine, w0, d0, t0 + MARGIN, w1, d1, t1 + MARGIN)
                            for q in range(D):
                                o = READ + q * NN + cell * P
                                pic = 0.0
                                g0 = 0.0
                                g1 = 0.0
                                gl = 0.0
                                change = 0.0
                                b0 = 0.0
                                b1 = 0.0
                                bl = 0.0
                                for n in range(P):
                                    u = 0.0
                                    ul = 0.0
                                    um = 0.0
                                    t = 0.0
                                    for i in range(K):
                                        value = s[o + i * P + n]
                                        u += w[i] * value
                                        ul += d[i] * value
                                        if affine == 1:
                                            um += w[i] * (i - MARGIN - tl) * value
                                        else:
                                            t += w[i] * s[o + D * NN + i * P + n]
                                    a = s[PA + n]
                                    pic += u * a
                                    g0 += u * s[PX + n]
                                    gl += ul * a
                                    if D == 3:
                                        g1 += u * s[PY + n]
                                    if affine == 1:
                                        b0 += u * s[PE + n]
                                        bl += um * a
                                        if D == 3:
                                            b1 += u * s[PF + n]
                                    else:
                                        change += t * a
                                gradient[p, q, 0] = g0 * inverse_cell
                                gradient[p, q, LAST] = gl * inverse_cell
                                if D == 3:
                                    gradient[p, q, 1] = g1 * inverse_cell
                                if affine == 1:
                                    v[p, q] = pic
                                    affine_v[p, q, 0] = INERTIA * inverse_cell * b0
                                    affine_v[p, q, LAST] = INERTIA * inverse_cell * bl
                                    if D == 3:
                                        affine_v[p, q, 1] = INERTIA * inverse_cell * b1
                                else:
                                    v[p, q] = (1.0 - flip) * pic + flip * (v[p, q] + change)

    return grid_to_particles
