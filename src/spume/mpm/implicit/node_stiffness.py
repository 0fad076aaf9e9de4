"""The diagonal of the stiffness: for each node and component q

    k_q = Σ_p V ∇w · C_q ∇w

with the symmetric tensor C_q of the point's tangent T (`tangent.py`), so that e_q · T(e_q ⊗ ∇w) ∇w = ∇w · C_q ∇w. In
the principal axes U of a point, for h = Uᵀ f⁻ᵀ ∇w, with the block B and the pairs A, q of T, it is

    h · C_q h = Σ_i U_qi² B_ii h_i² + Σ_{i≠j} (U_qi² A_ij h_j² + U_qi U_qj (B_ij + q_ij) h_i h_j)

and need not be positive.
"""

from functools import cache
from typing import Any

import numpy as np
from numba import prange
from numpy.typing import NDArray

from spume.grid.blocks import BLOCK
from spume.grid.node_gradients import node_gradients
from spume.grid.surroundings import Surroundings
from spume.grid.transfers import Transfers
from spume.mpm.implicit.grid_matrix import colours
from spume.numerics.jit import compiled
from spume.numerics.tensor3 import multiply

Floats = NDArray[np.float64]


def node_stiffness(transfers: Transfers, around: Surroundings, x: Floats, weight: Floats, numbers: Floats) -> Floats:
    """k of the active nodes [N/m], shape (nodes, d). `weight` is V of the points [m³], `numbers` those of `tangent.py`.
    The sums have one order for any number of threads."""
    cells = around.cells
    k = np.zeros((around.node.size, transfers.dimension))
    by_colour, start = colours(cells.blocks)
    _kernel(transfers.dimension, transfers.order)(
        by_colour, start, cells.blocks, cells.cell_start, cells.sorted_points, around.corners, cells.inverse_size,
        around.points(x), around.points(weight), around.points(transfers.pulled_back_tangent(numbers)), around.number,
        k,
    )  # fmt: skip
    return k


@compiled
def _form(numbers, p, weight, q):
    """V C_q of point p in the axes of the grid: xx, yy, zz and twice xy, xz, yz."""
    u = (numbers[p, 3 * q], numbers[p, 3 * q + 1], numbers[p, 3 * q + 2])
    s0, s1, s2 = weight * u[0] * u[0], weight * u[1] * u[1], weight * u[2] * u[2]
    c00 = s0 * numbers[p, 9] + s1 * numbers[p, 16] + s2 * numbers[p, 19]
    c11 = s1 * numbers[p, 10] + s0 * numbers[p, 15] + s2 * numbers[p, 22]
    c22 = s2 * numbers[p, 11] + s0 * numbers[p, 18] + s1 * numbers[p, 21]
    c01 = weight * u[0] * u[1] * (numbers[p, 12] + numbers[p, 17])
    c02 = weight * u[0] * u[2] * (numbers[p, 13] + numbers[p, 20])
    c12 = weight * u[1] * u[2] * (numbers[p, 14] + numbers[p, 23])
    U = (numbers[p, 0], numbers[p, 1], numbers[p, 2], numbers[p, 3], numbers[p, 4], numbers[p, 5],
         numbers[p, 6], numbers[p, 7], numbers[p, 8])  # fmt: skip
    g = (numbers[p, 24], numbers[p, 25], numbers[p, 26], numbers[p, 27], numbers[p, 28], numbers[p, 29],
         numbers[p, 30], numbers[p, 31], numbers[p, 32])  # fmt: skip
    R = multiply(g, U)  # h = Rᵀ ∇w
    M = multiply(R, (c00, c01, c02, c01, c11, c12, c02, c12, c22))
    return (
        M[0] * R[0] + M[1] * R[1] + M[2] * R[2],
        M[3] * R[3] + M[4] * R[4] + M[5] * R[5],
        M[6] * R[6] + M[7] * R[7] + M[8] * R[8],
        2.0 * (M[0] * R[3] + M[1] * R[4] + M[2] * R[5]),
        2.0 * (M[0] * R[6] + M[1] * R[7] + M[2] * R[8]),
        2.0 * (M[3] * R[6] + M[4] * R[7] + M[5] * R[8]),
    )


@cache
def _kernel(D: int, order: int) -> Any:
    BX, BY, BZ = BLOCK[D]
    N, numbers_of_nodes, gradients_at = node_gradients(D, order)
    CELLS = BX * BY * BZ

    @compiled(parallel=True)
    def sums(
        by_colour, colour_start, blocks, cell_start, sorted_points, node_block_of_corner, inverse_cell, x, weight,
        numbers, number, k,
    ):  # fmt: skip
        for colour in range(8):
            for listed in prange(colour_start[colour], colour_start[colour + 1]):
                block = by_colour[listed]
                local, rows = np.empty((D, N)), np.empty(N, np.int64)
                gx, gy, gz = np.zeros(N), np.zeros(N), np.zeros(N)
                for cell in range(CELLS):
                    first, last = cell_start[block * CELLS + cell], cell_start[block * CELLS + cell + 1]
                    if first == last:
                        continue
                    ci, cj, ck = cell // (BY * BZ), (cell // BZ) % BY, cell % BZ
                    numbers_of_nodes(block, ci, cj, ck, node_block_of_corner, number, rows)
                    local[:, :] = 0.0
                    for entry in range(first, last):
                        p = sorted_points[entry]
                        gradients_at(blocks, block, ci, cj, ck, inverse_cell, x, p, gx, gy, gz)
                        for q in range(D):
                            xx, yy, zz, xy, xz, yz = _form(numbers, p, weight[p], q)
                            for n in range(N):
                                a, b = gx[n], gy[n]
                                if D == 3:
                                    c = gz[n]
                                    local[q, n] += a * (xx * a + xy * b + xz * c) + b * (yy * b + yz * c) + c * zz * c
                                else:
                                    local[q, n] += a * (xx * a + xy * b) + b * yy * b
                    for n in range(N):
                        if 0 <= rows[n] < k.shape[0]:  # others belong to other ranks
                            for q in range(D):
                                k[rows[n], q] += local[q, n]

    return sums
