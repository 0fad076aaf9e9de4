"""Interpolation of node fields to the points: the sums of [Yue15] algorithms 11 and 12.

One kernel is generated for each set of quantities, dimension and spline; the explicit step takes velocity and
deformation at once. `stencil.py` describes the optimisation.
"""

import functools
from typing import Any

import numpy as np
from numba import prange

from spume.grid.blocks import BLOCK
from spume.grid.cells import STENCIL_OFFSET
from spume.grid.stencil import column_at, plane_into
from spume.grid.to_grid import check_quantities
from spume.numerics.bspline import SPLINES
from spume.numerics.jit import compiled

QUANTITIES = (
    "velocity",
    "flip velocity",
    "affine velocity",
    "gradient",
    "first-order deformation",
    "second-order deformation",
    "scalar",
)
"""Quantities interpolated from a vector field u on the nodes, with its change δ for FLIP, or from a scalar field q:

velocity                   v ← Σ w u
flip velocity              v ← (1 − α) Σ w u + α (v + Σ w δ), [Yue15] algorithm 12; α = 1 is FLIP, α = 0 PIC
affine velocity            v ← Σ w u, C ← Σ w u (x_i − x_p)ᵀ D⁻¹, [Jiang15]
gradient                   L ← Σ u ∇wᵀ
first-order deformation    f ← I + Δt L, [Yue15] eq. (12)
second-order deformation   f ← I + Δt L + ½ (Δt L)²
scalar                     q_p ← Σ w q

Tensors are written with all nine entries; in 2D L has zeros in the third row and column, and f_zz = 1.

In a rotation, the determinant of the first-order f grows by (Δt ω)² per step (9 % per second at 30 rad/s and
Δt = 1e-4 s), as if the material swelled, and the resulting tension contracts the material. To second order it grows by
(Δt ω)⁴/4 per step.
"""
_NONE, _GRADIENT, _FIRST_ORDER, _SECOND_ORDER = range(4)
_TENSORS = {"gradient": _GRADIENT, "first-order deformation": _FIRST_ORDER, "second-order deformation": _SECOND_ORDER}
_EXCLUSIVE = (
    *((a, b) for a in QUANTITIES[:3] for b in QUANTITIES[:3] if a < b),
    *((a, b) for a in QUANTITIES[3:6] for b in QUANTITIES[3:6] if a < b),
)


@compiled(inline="always")
def _finish_tensor(D, kind, dt, tensor, p):
    """Convert the d × d gradient of point p to the requested tensor with all nine entries."""
    if kind >= _FIRST_ORDER:
        a, b = dt * tensor[p, 0, 0], dt * tensor[p, 0, 1]
        d, e = dt * tensor[p, 1, 0], dt * tensor[p, 1, 1]
        c = f = g = h = i = 0.0
        if D == 3:
            c, f = dt * tensor[p, 0, 2], dt * tensor[p, 1, 2]
            g, h, i = dt * tensor[p, 2, 0], dt * tensor[p, 2, 1], dt * tensor[p, 2, 2]
        if kind == _SECOND_ORDER:
            tensor[p, 0, 0] = 1.0 + a + 0.5 * (a * a + b * d + c * g)
            tensor[p, 0, 1] = b + 0.5 * (a * b + b * e + c * h)
            tensor[p, 1, 0] = d + 0.5 * (d * a + e * d + f * g)
            tensor[p, 1, 1] = 1.0 + e + 0.5 * (d * b + e * e + f * h)
            if D == 3:
                tensor[p, 0, 2] = c + 0.5 * (a * c + b * f + c * i)
                tensor[p, 1, 2] = f + 0.5 * (d * c + e * f + f * i)
                tensor[p, 2, 0] = g + 0.5 * (g * a + h * d + i * g)
                tensor[p, 2, 1] = h + 0.5 * (g * b + h * e + i * h)
                tensor[p, 2, 2] = 1.0 + i + 0.5 * (g * c + h * f + i * i)
        else:
            tensor[p, 0, 0], tensor[p, 0, 1] = 1.0 + a, b
            tensor[p, 1, 0], tensor[p, 1, 1] = d, 1.0 + e
            if D == 3:
                tensor[p, 0, 2], tensor[p, 1, 2] = c, f
                tensor[p, 2, 0], tensor[p, 2, 1], tensor[p, 2, 2] = g, h, 1.0 + i
    if D == 2:
        tensor[p, 0, 2] = tensor[p, 1, 2] = tensor[p, 2, 0] = tensor[p, 2, 1] = 0.0
        tensor[p, 2, 2] = 1.0 if kind >= _FIRST_ORDER else 0.0


@functools.cache
def gather_kernel(dimension: int, order: int, quantities: tuple[str, ...]) -> Any:
    """Kernel that interpolates `quantities` to all points.

    It reads consecutive channels of a node array, starting from a given one: the vector field (d channels) if any
    quantity needs it, its change (d channels) for FLIP, the scalar field (one channel).
    """
    check_quantities(quantities, QUANTITIES, _EXCLUSIVE)
    tensor = next((_TENSORS[quantity] for quantity in quantities if quantity in _TENSORS), _NONE)
    return _make_gather(
        dimension,
        order,
        int(any(quantity in quantities for quantity in QUANTITIES[:3])),
        int("flip velocity" in quantities),
        int("affine velocity" in quantities),
        tensor,
        int("scalar" in quantities),
    )


def _make_gather(D: int, order: int, velocity: int, flip: int, affine: int, tensor: int, scalar: int) -> Any:
    LAST = D - 1
    BX, BY, BZ = BLOCK[D]
    K = order + 1
    KY = K if D == 3 else 1
    P = K * KY
    TX, TY, TZ = BX + order, BY + order, BZ + (order if D == 3 else 0)
    TT = TX * TY * TZ
    MARGIN = STENCIL_OFFSET[order]
    spline = SPLINES[order]
    B, T = (BZ, TZ) if D == 3 else (BY, TY)
    VECTOR = 1 if velocity + tensor > 0 else 0
    SLOPES = 1 if tensor > 0 else 0
    CHANGE = VECTOR * D
    SCALAR = CHANGE + flip * D
    R = SCALAR + scalar  # channels read
    CELLS = BX * BY * BZ
    PA, PX, PY = 0, P, 2 * P
    PE, PF = 3 * P, 4 * P
    READ = 5 * P  # values of each channel at the nodes of a column
    NN = T * P
    SIZE = READ + R * NN
    # D⁻¹ of [Jiang15] in units of 1/h²: the second moment of the spline is h²/4 (quadratic), h²/3 (cubic)
    INERTIA = 4 if order == 2 else 3

    @compiled(parallel=True)
    def gather(
        tasks, blocks, cell_start, sorted_points, node_block_of_corner, inverse_cell,
        x, grid, first_channel, blend, dt, v, deformation, affine_v, q_p,
    ):  # fmt: skip
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
                            near = node_block_of_corner[block, corner]
                            for k in range(BZ):
                                tile[o + k] = grid[near, first_channel + c, node + k]
                            if D == 3:
                                far = node_block_of_corner[block, corner + 1]
                                for k in range(TZ - BZ):
                                    tile[o + BZ + k] = grid[far, first_channel + c, node + k]
                for column in range(CELLS // B):
                    lowest = block * CELLS + column * B
                    if cell_start[lowest] == cell_start[lowest + B]:
                        continue
                    first_0, first_1, first_l = column_at(D, BX, BY, BZ, MARGIN, blocks, block, column)
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
                            p = sorted_points[entry]
                            t0 = inverse_cell * x[p, 0] - first_0
                            t1 = inverse_cell * x[p, 1] - first_1
                            tl = inverse_cell * x[p, LAST] - (first_l + cell)
                            w0, d0 = spline(t0)
                            w1, d1 = spline(t1)
                            w, d = spline(tl)
                            plane_into(s, D, K, SLOPES, affine, w0, d0, t0 + MARGIN, w1, d1, t1 + MARGIN)
                            if VECTOR == 1:
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
                                            if SLOPES == 1:
                                                ul += d[i] * value
                                            if affine == 1:
                                                um += w[i] * (i - MARGIN - tl) * value
                                            if flip == 1:
                                                t += w[i] * s[o + CHANGE * NN + i * P + n]
                                        a = s[PA + n]
                                        pic += u * a
                                        if SLOPES == 1:
                                            g0 += u * s[PX + n]
                                            gl += ul * a
                                            if D == 3:
                                                g1 += u * s[PY + n]
                                        if affine == 1:
                                            b0 += u * s[PE + n]
                                            bl += um * a
                                            if D == 3:
                                                b1 += u * s[PF + n]
                                        if flip == 1:
                                            change += t * a
                                    if SLOPES == 1:
                                        deformation[p, q, 0] = g0 * inverse_cell
                                        deformation[p, q, LAST] = gl * inverse_cell
                                        if D == 3:
                                            deformation[p, q, 1] = g1 * inverse_cell
                                    if affine == 1:
                                        affine_v[p, q, 0] = INERTIA * inverse_cell * b0
                                        affine_v[p, q, LAST] = INERTIA * inverse_cell * bl
                                        if D == 3:
                                            affine_v[p, q, 1] = INERTIA * inverse_cell * b1
                                    if flip == 1:
                                        v[p, q] = (1.0 - blend) * pic + blend * (v[p, q] + change)
                                    elif velocity == 1:
                                        v[p, q] = pic
                            if tensor > 0:
                                _finish_tensor(D, tensor, dt, deformation, p)
                            if scalar == 1:
                                total = 0.0
                                for n in range(P):
                                    u = 0.0
                                    for i in range(K):
                                        u += w[i] * s[READ + SCALAR * NN + cell * P + i * P + n]
                                    total += u * s[PA + n]
                                q_p[p] = total

    return gather
