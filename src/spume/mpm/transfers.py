"""Transfers between points and grid: [Yue15] algorithm 6 and the sums of algorithms 8, 11 and 12.

Written once for two and three dimensions, quadratic and cubic splines: a factory closes over these integers, so each
combination is a specialised kernel. A plane scene is a space scene whose third axis has one node of weight one.

How it is made fast. Points are visited cell by cell. All points of a cell share their nodes, so their contributions are
summed in a small scratch array and leave it once per cell, for a *tile*: the nodes a block of cells can reach. The
tensor product is taken in two stages: the plane of the last axes first (16 products for cubic splines), then the
first axis, which leaves two multiply-adds per node and quantity in loops of constant length that vectorise. A tile
reaches into the following block along each axis only; blocks of one colour (the parity of their coordinates) never
meet on a node, so the threads need no atomics and the sums have one order whatever the number of threads.
"""

import numpy as np
from numba import prange

from spume.numerics.jit import compiled

BLOCK = {2: (8, 8, 1), 3: (4, 4, 4)}
"""Cells, and nodes, per side of a block, by dimension."""


@compiled(inline="always")
def _cubic_into(s, w, d, x):
    """Weights to s[w:w+4], derivatives per cell to s[d:d+4] at x [cells]; first node floor(x) − 1. [Steffen08]"""
    f = x - np.floor(x)
    g = 1.0 - f
    s[w] = g * g * g / 6.0
    s[w + 1] = 2.0 / 3.0 - f * f * (1.0 - 0.5 * f)
    s[w + 2] = 2.0 / 3.0 - g * g * (1.0 - 0.5 * g)
    s[w + 3] = f * f * f / 6.0
    s[d] = -0.5 * g * g
    s[d + 1] = f * (1.5 * f - 2.0)
    s[d + 2] = -g * (1.5 * g - 2.0)
    s[d + 3] = 0.5 * f * f
    return 1.0 + f


@compiled(inline="always")
def _quadratic_into(s, w, d, x):
    """Weights to s[w:w+3], derivatives per cell to s[d:d+3] at x [cells]; first node floor(x − 1/2)."""
    f = x - np.floor(x - 0.5) - 1.0
    s[w] = 0.5 * (0.5 - f) * (0.5 - f)
    s[w + 1] = 0.75 - f * f
    s[w + 2] = 0.5 * (0.5 + f) * (0.5 + f)
    s[d] = f - 0.5
    s[d + 1] = -2.0 * f
    s[d + 2] = f + 0.5
    return 1.0 + f


def make_particles_to_grid(dimension: int, order: int, affine: int):
    """Kernel adding mass, momentum and internal force of all points of the given blocks to the grid.

    `affine` = 1 adds the affine part of [Jiang15] to the momentum.
    """
    D = dimension
    BX, BY, BZ = BLOCK[D]
    K = order + 1
    KZ = K if D == 3 else 1
    P = K * KZ  # nodes of a plane
    NN = K * P
    TX, TY, TZ = BX + order, BY + order, BZ + (order if D == 3 else 0)
    TT = TX * TY * TZ
    C = 1 + 2 * D  # mass, momentum, force
    FX, FY, FZ = 1 + D, 2 + D, 3 + D
    CELLS = BX * BY * BZ
    W, DW = 0, 3 * K  # weights and derivatives, K per axis
    PA, PY, PZ = 6 * K, 6 * K + P, 6 * K + 2 * P  # w w, dw w, w dw over the plane
    PE, PF = 6 * K + 3 * P, 6 * K + 4 * P  # the same with w (x_i − x_p) instead of dw, for the affine part
    Q0 = 6 * K + 5 * P  # per quantity: what is multiplied by the weight of the first axis ...
    Q1 = Q0 + C * P  # ... and what is multiplied by its derivative (force) or its moment (momentum)
    ACC = Q1 + C * P
    SIZE = ACC + C * NN

    @compiled(parallel=True)
    def particles_to_grid(
        tasks, blocks, cell_start, order_of, slots, inverse_cell, x, v, m, volume, stress, affine_v, grid
    ):
        for slot in prange(grid.shape[0]):
            grid[slot, :, :] = 0.0
        for colour in range(tasks.shape[0]):
            for task in prange(tasks.shape[1] - 1):
                s = np.zeros(SIZE)
                tile = np.zeros(C * TT)
                for listed in range(tasks[colour, task], tasks[colour, task + 1]):
                    block = blocks[listed]
                    tile[:] = 0.0
                    for cell in range(CELLS):
                        first = cell_start[block * CELLS + cell]
                        last = cell_start[block * CELLS + cell + 1]
                        if first == last:
                            continue
                        for n in range(C * NN):
                            s[ACC + n] = 0.0
                        for entry in range(first, last):
                            p = order_of[entry]
                            reach_x = _weights_into(order, s, W, DW, x[p, 0] * inverse_cell)
                            reach_y = _weights_into(order, s, W + K, DW + K, x[p, 1] * inverse_cell)
                            if D == 3:
                                reach_z = _weights_into(order, s, W + 2 * K, DW + 2 * K, x[p, 2] * inverse_cell)
                            else:
                                reach_z = 0.0
                                s[W + 2 * K] = 1.0
                                s[DW + 2 * K] = 0.0
                            for j in range(K):
                                for k in range(KZ):
                                    n = j * KZ + k
                                    ww = s[W + K + j] * s[W + 2 * K + k]
                                    s[PA + n] = ww
                                    s[PY + n] = s[DW + K + j] * s[W + 2 * K + k]
                                    s[PZ + n] = s[W + K + j] * s[DW + 2 * K + k]
                                    if affine == 1:
                                        s[PE + n] = ww * (j - reach_y)
                                        s[PF + n] = ww * (k - reach_z)
                            mp = m[p]
                            mv0, mv1 = mp * v[p, 0], mp * v[p, 1]
                            mv2 = mp * v[p, D - 1]
                            scale = -volume[p] * inverse_cell
                            txx, tyy, tzz = scale * stress[p, 0], scale * stress[p, 1], scale * stress[p, 2]
                            txy, txz, tyz = scale * stress[p, 3], scale * stress[p, 4], scale * stress[p, 5]
                            for n in range(P):  # force f_i = −Σ V τ ∇w, [Yue15] algorithm 8
                                a, y, z = s[PA + n], s[PY + n], s[PZ + n]
                                s[Q0 + n] = mp * a
                                s[Q0 + P + n] = mv0 * a
                                s[Q0 + 2 * P + n] = mv1 * a
                                s[Q0 + FX * P + n] = txy * y + txz * z
                                s[Q0 + FY * P + n] = tyy * y + tyz * z
                                s[Q1 + FX * P + n] = txx * a
                                s[Q1 + FY * P + n] = txy * a
                                if D == 3:
                                    s[Q0 + 3 * P + n] = mv2 * a
                                    s[Q0 + FZ * P + n] = tyz * y + tzz * z
                                    s[Q1 + FZ * P + n] = txz * a
                            if affine == 1:
                                scale = mp / inverse_cell
                                for q in range(D):
                                    c0, c1 = scale * affine_v[p, q, 0], scale * affine_v[p, q, 1]
                                    c2 = scale * affine_v[p, q, 2] if D == 3 else 0.0
                                    for n in range(P):
                                        s[Q0 + (1 + q) * P + n] += c1 * s[PE + n] + c2 * s[PF + n]
                                        s[Q1 + (1 + q) * P + n] = c0 * s[PA + n]
                            # Spelled out: a loop over the quantities would keep the loop over nodes from vectorising.
                            for i in range(K):
                                w = s[W + i]
                                d = s[DW + i]
                                e = w * (i - reach_x)
                                for n in range(P):
                                    o = ACC + i * P + n
                                    s[o] += w * s[Q0 + n]
                                    if affine == 1:
                                        s[o + NN] += w * s[Q0 + P + n] + e * s[Q1 + P + n]
                                        s[o + 2 * NN] += w * s[Q0 + 2 * P + n] + e * s[Q1 + 2 * P + n]
                                        if D == 3:
                                            s[o + 3 * NN] += w * s[Q0 + 3 * P + n] + e * s[Q1 + 3 * P + n]
                                    else:
                                        s[o + NN] += w * s[Q0 + P + n]
                                        s[o + 2 * NN] += w * s[Q0 + 2 * P + n]
                                        if D == 3:
                                            s[o + 3 * NN] += w * s[Q0 + 3 * P + n]
                                    s[o + FX * NN] += w * s[Q0 + FX * P + n] + d * s[Q1 + FX * P + n]
                                    s[o + FY * NN] += w * s[Q0 + FY * P + n] + d * s[Q1 + FY * P + n]
                                    if D == 3:
                                        s[o + FZ * NN] += w * s[Q0 + FZ * P + n] + d * s[Q1 + FZ * P + n]
                        ci = cell // (BY * BZ)
                        cj = (cell // BZ) % BY
                        ck = cell % BZ
                        for c in range(C):
                            for i in range(K):
                                for j in range(K):
                                    o = c * TT + ((ci + i) * TY + cj + j) * TZ + ck
                                    for k in range(KZ):
                                        tile[o + k] += s[ACC + c * NN + i * P + j * KZ + k]
                    for c in range(C):
                        for i in range(TX):
                            for j in range(TY):
                                o = c * TT + (i * TY + j) * TZ
                                corner = (4 if i >= BX else 0) + (2 if j >= BY else 0)
                                node = ((i % BX) * BY + (j % BY)) * BZ
                                near = slots[block, corner]
                                for k in range(BZ):
                                    grid[near, c, node + k] += tile[o + k]
                                if D == 3:
                                    far = slots[block, corner + 1]
                                    for k in range(TZ - BZ):
                                        grid[far, c, node + k] += tile[o + BZ + k]

    return particles_to_grid


def make_grid_to_particles(dimension: int, order: int, affine: int):
    """Kernel gathering, for all points of the given blocks, velocity and velocity gradient from the grid.

    affine = 0: v ← (1 − α) Σ w v* + α (v + Σ w (v* − v)), [Yue15] algorithm 12; α = 1 is FLIP, α = 0 PIC.
    affine = 1: v ← Σ w v*, C ← Σ w v* (x_i − x_p)ᵀ D⁻¹, [Jiang15].
    Always: ∇v = Σ v* ∇wᵀ with the collided velocities v*.
    """
    D = dimension
    BX, BY, BZ = BLOCK[D]
    K = order + 1
    KZ = K if D == 3 else 1
    P = K * KZ
    NN = K * P
    TX, TY, TZ = BX + order, BY + order, BZ + (order if D == 3 else 0)
    TT = TX * TY * TZ
    R = D if affine == 1 else 2 * D  # quantities read: v*, and v* − v unless affine
    CELLS = BX * BY * BZ
    W, DW = 0, 3 * K
    PA, PY, PZ = 6 * K, 6 * K + P, 6 * K + 2 * P
    PE, PF = 6 * K + 3 * P, 6 * K + 4 * P
    VAL = 6 * K + 5 * P
    SIZE = VAL + R * NN
    # D⁻¹ of [Jiang15] in units of 1/h²: the second moment of the spline is h²/4 (quadratic), h²/3 (cubic)
    INERTIA = 4 if order == 2 else 3

    @compiled(parallel=True)
    def grid_to_particles(tasks, cell_start, order_of, slots, inverse_cell, x, grid, flip, v, gradient, affine_v):
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
                for cell in range(CELLS):
                    first = cell_start[block * CELLS + cell]
                    last = cell_start[block * CELLS + cell + 1]
                    if first == last:
                        continue
                    ci = cell // (BY * BZ)
                    cj = (cell // BZ) % BY
                    ck = cell % BZ
                    for c in range(R):
                        for i in range(K):
                            for j in range(K):
                                o = c * TT + ((ci + i) * TY + cj + j) * TZ + ck
                                for k in range(KZ):
                                    s[VAL + c * NN + i * P + j * KZ + k] = tile[o + k]
                    for entry in range(first, last):
                        p = order_of[entry]
                        reach_x = _weights_into(order, s, W, DW, x[p, 0] * inverse_cell)
                        reach_y = _weights_into(order, s, W + K, DW + K, x[p, 1] * inverse_cell)
                        if D == 3:
                            reach_z = _weights_into(order, s, W + 2 * K, DW + 2 * K, x[p, 2] * inverse_cell)
                        else:
                            reach_z = 0.0
                            s[W + 2 * K] = 1.0
                            s[DW + 2 * K] = 0.0
                        for j in range(K):
                            for k in range(KZ):
                                n = j * KZ + k
                                ww = s[W + K + j] * s[W + 2 * K + k]
                                s[PA + n] = ww
                                s[PY + n] = s[DW + K + j] * s[W + 2 * K + k]
                                s[PZ + n] = s[W + K + j] * s[DW + 2 * K + k]
                                if affine == 1:
                                    s[PE + n] = ww * (j - reach_y)
                                    s[PF + n] = ww * (k - reach_z)
                        w0, w1, w2 = s[W], s[W + 1], s[W + 2]
                        d0, d1, d2 = s[DW], s[DW + 1], s[DW + 2]
                        w3 = s[W + 3] if K == 4 else 0.0
                        d3 = s[DW + 3] if K == 4 else 0.0
                        last_plane = 3 * P if K == 4 else 0
                        for q in range(D):
                            o = VAL + q * NN
                            o2 = VAL + (q if affine == 1 else D + q) * NN
                            pic = 0.0
                            gx = 0.0
                            gy = 0.0
                            gz = 0.0
                            change = 0.0
                            bx = 0.0
                            by = 0.0
                            bz = 0.0
                            for n in range(P):
                                u0 = s[o + n]
                                u1 = s[o + P + n]
                                u2 = s[o + 2 * P + n]
                                u3 = s[o + last_plane + n]
                                a = s[PA + n]
                                r = w0 * u0 + w1 * u1 + w2 * u2 + w3 * u3
                                rx = d0 * u0 + d1 * u1 + d2 * u2 + d3 * u3
                                pic += r * a
                                gx += rx * a
                                gy += r * s[PY + n]
                                gz += r * s[PZ + n]
                                if affine == 1:
                                    re = (
                                        w0 * (0.0 - reach_x) * u0
                                        + w1 * (1.0 - reach_x) * u1
                                        + w2 * (2.0 - reach_x) * u2
                                        + w3 * (3.0 - reach_x) * u3
                                    )
                                    bx += re * a
                                    by += r * s[PE + n]
                                    bz += r * s[PF + n]
                                else:
                                    t = w0 * s[o2 + n] + w1 * s[o2 + P + n] + w2 * s[o2 + 2 * P + n]
                                    t += w3 * s[o2 + last_plane + n]
                                    change += t * a
                            gradient[p, q, 0] = gx * inverse_cell
                            gradient[p, q, 1] = gy * inverse_cell
                            if D == 3:
                                gradient[p, q, 2] = gz * inverse_cell
                            if affine == 1:
                                v[p, q] = pic
                                affine_v[p, q, 0] = INERTIA * inverse_cell * bx
                                affine_v[p, q, 1] = INERTIA * inverse_cell * by
                                if D == 3:
                                    affine_v[p, q, D - 1] = INERTIA * inverse_cell * bz
                            else:
                                v[p, q] = (1.0 - flip) * pic + flip * (v[p, q] + change)

    return grid_to_particles


@compiled(inline="always")
def _weights_into(order, s, w, d, x):
    """Weights and derivatives of one axis; returns x − (first node) [cells]."""
    if order == 3:
        return _cubic_into(s, w, d, x)
    return _quadratic_into(s, w, d, x)
