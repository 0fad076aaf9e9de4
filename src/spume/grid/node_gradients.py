"""Nodes that a cell of points reaches and the gradients of their weights at a point, for sums over pairs of the two."""

from functools import cache
from typing import Any

from spume.grid.blocks import BLOCK
from spume.grid.cells import STENCIL_OFFSET
from spume.numerics.bspline import SPLINES
from spume.numerics.jit import compiled


@cache
def node_gradients(D: int, order: int) -> tuple[int, Any, Any]:
    """How many nodes a cell reaches, N, and two compiled functions that write arrays of as many: `numbers_of_nodes`
    their numbers among the unknowns and `gradients_at` the gradients of their weights at a point."""
    BX, BY, BZ = BLOCK[D]
    K = order + 1
    KZ = K if D == 3 else 1
    MARGIN = STENCIL_OFFSET[order]
    spline = SPLINES[order]

    @compiled(inline="always")
    def numbers_of_nodes(block, ci, cj, ck, node_block_of_corner, number, rows):
        """Numbers of the nodes of cell (ci, cj, ck) of a block, the last axis fastest; −1 where a node has no mass."""
        for a in range(K):
            for b in range(K):
                for c in range(KZ):
                    i, j, k = ci + a, cj + b, ck + c
                    corner = (4 if i >= BX else 0) + (2 if j >= BY else 0) + (1 if k >= BZ else 0)
                    local = ((i % BX) * BY + j % BY) * BZ + k % BZ
                    rows[(a * K + b) * KZ + c] = number[node_block_of_corner[block, corner], local]

    @compiled(inline="always")
    def gradients_at(blocks, block, ci, cj, ck, inverse_cell, x, p, gx, gy, gz):
        """∇w [1/m] of the nodes at point p of cell (ci, cj, ck) of a block; gz is not written in 2D."""
        w0, d0 = spline(inverse_cell * x[p, 0] - (blocks[block, 0] * BX + ci + MARGIN))
        w1, d1 = spline(inverse_cell * x[p, 1] - (blocks[block, 1] * BY + cj + MARGIN))
        w2, d2 = spline(inverse_cell * x[p, 2] - (blocks[block, 2] * BZ + ck + MARGIN) if D == 3 else 0.0)
        for a in range(K):
            for b in range(K):
                u, ux, uy = w0[a] * w1[b], d0[a] * w1[b] * inverse_cell, w0[a] * d1[b] * inverse_cell
                if D == 3:
                    for c in range(K):
                        n = (a * K + b) * K + c
                        gx[n], gy[n], gz[n] = ux * w2[c], uy * w2[c], u * d2[c] * inverse_cell
                else:
                    gx[a * K + b], gy[a * K + b] = ux, uy

    return K * K * KZ, numbers_of_nodes, gradients_at
