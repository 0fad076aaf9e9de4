"""The matrix of the grid step, A = M + ρ DᵀW²D, stored: one number for each pair of nodes that share points.

With scalar weights no components are coupled: (DᵀW²D)_ij = Σ_p ∇w_ip · B_p ∇w_jp with B_p = Δt² V w Fe Feᵀ summed over
the branches ([Fang19] section 7.1), for x, y and z alike. A row has (2 order + 1)^d entries, one for each node that a
spline can share points with; those of nodes without mass are zero and refer to the row's own node.
"""

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from numba import prange
from numpy.typing import NDArray

from spume.grid.blocks import BLOCK, cell_at, cell_in_block, neighbour_table
from spume.grid.node_gradients import node_gradients
from spume.grid.nodes import DegreesOfFreedom, Nodes
from spume.grid.surroundings import Surroundings
from spume.mpm.implicit.contact_set import ContactSet
from spume.numerics.jit import compiled

ROWS = 512
"""Rows that one thread multiplies at a time."""


class GridMatrix:
    """A symmetric positive definite system for `numerics.krylov`; vectors have the shape (active nodes, d)."""

    def __init__(self, nodes: Nodes, dofs: DegreesOfFreedom, contacts: ContactSet, surroundings: Surroundings) -> None:
        self._dofs, self._contacts, self._around = dofs, contacts, surroundings
        self._kernels = _kernels(nodes.dimension, nodes.order)
        width = (2 * nodes.order + 1) ** nodes.dimension
        self.columns = np.empty((len(dofs), width), np.int32)
        self.values = np.empty((len(dofs), width))
        around = surroundings
        self._kernels[0](neighbour_table(around.keys), around.node, around.number, self.columns)

    def assemble(
        self,
        x: NDArray[np.float64],
        B: NDArray[np.float64],
        mass: NDArray[np.float64],
    ) -> None:
        """Sum the tensors B (n, 6) of the points at x, for the gradients of the weights, and add the `mass` of the
        active nodes [kg]."""
        self.values[:] = 0.0
        around, cells = self._around, self._around.cells
        by_colour, start = colours(cells.blocks)
        self._kernels[1](
            by_colour, start, cells.blocks, cells.cell_start, cells.sorted_points, around.corners,
            cells.inverse_size, around.points(x), around.points(B), around.number, self.values,
        )  # fmt: skip
        self.values[:, self.values.shape[1] // 2] += mass
        self.diagonal = self.values[:, self.values.shape[1] // 2].copy()

    def scale_stiffness(self, factor: float, mass: NDArray[np.float64]) -> None:
        """Multiply all but the `mass` of the active nodes [kg] by `factor`."""
        self.values *= factor
        self.values[:, self.values.shape[1] // 2] += (1.0 - factor) * mass
        self.diagonal = self.values[:, self.values.shape[1] // 2].copy()

    def multiply(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """A x."""
        result = np.empty_like(x)
        rows, x = len(x), self._around.unknowns(x)
        if rows <= 4 * ROWS:  # waking the threads would take longer
            self._kernels[3](0, rows, self.values, self.columns, x, result)
        else:
            self._kernels[2](self.values, self.columns, x, result)
        return result

    def precondition(self, r: NDArray[np.float64]) -> NDArray[np.float64]:
        """r divided by the diagonal."""
        return r / self.diagonal[:, None]

    def project(self, x: NDArray[np.float64]) -> None:
        """Remove what the contacts forbid."""
        self._contacts.project(x)

    def dots(self, pairs: Sequence[tuple[NDArray[np.float64], NDArray[np.float64]]]) -> list[float]:
        """Inner products."""
        return self._dofs.dots(pairs)


def colours(blocks: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Blocks by the parity of their coordinates, and where each colour starts: blocks of one colour share no nodes."""
    parity = blocks & 1
    colour = 4 * parity[:, 0] + 2 * parity[:, 1] + parity[:, 2]
    order = np.argsort(colour, kind="stable")
    return order, np.searchsorted(colour[order], np.arange(9))


@cache
def _kernels(D: int, order: int) -> tuple[Any, Any, Any, Any]:
    BX, BY, BZ = BLOCK[D]
    N, numbers_of_nodes, gradients_at = node_gradients(D, order)
    R = order
    SIDE = 2 * R + 1
    RZ, SIDEZ = (R, SIDE) if D == 3 else (0, 1)
    CENTRE = (R * SIDE + R) * SIDEZ + RZ
    CELLS = BX * BY * BZ
    K, KZ = R + 1, RZ + 1

    @compiled(parallel=True)
    def find_columns(neighbours, node, number, columns):
        flat = number.reshape(-1)
        for n in prange(node.size):
            block, i, j, k = cell_in_block(D, node[n])
            for a in range(SIDE):
                for b in range(SIDE):
                    for c in range(SIDEZ):
                        other = cell_at(D, neighbours, block, i + a - R, j + b - R, k + c - RZ)
                        column = flat[other] if other >= 0 else -1
                        columns[n, (a * SIDE + b) * SIDEZ + c] = column if column >= 0 else n

    @compiled(parallel=True)
    def assemble(
        by_colour, colour_start, blocks, cell_start, sorted_points, node_block_of_corner, inverse_cell, x, B, number, A
    ):
        for colour in range(8):
            for listed in prange(colour_start[colour], colour_start[colour + 1]):
                block = by_colour[listed]
                pairs = np.empty((N, N))
                rows, place = np.empty(N, np.int64), np.empty(N, np.int64)
                for n in range(N):  # where the nodes of a cell stand in the row of its first one
                    place[n] = (n // (K * KZ) * SIDE + n // KZ % K) * SIDEZ + n % KZ
                gx, gy, gz = np.zeros(N), np.zeros(N), np.zeros(N)
                hx, hy, hz = np.zeros(N), np.zeros(N), np.zeros(N)
                for cell in range(CELLS):
                    first, last = cell_start[block * CELLS + cell], cell_start[block * CELLS + cell + 1]
                    if first == last:
                        continue
                    ci, cj, ck = cell // (BY * BZ), (cell // BZ) % BY, cell % BZ
                    numbers_of_nodes(block, ci, cj, ck, node_block_of_corner, number, rows)
                    pairs[:, :] = 0.0
                    for entry in range(first, last):
                        p = sorted_points[entry]
                        gradients_at(blocks, block, ci, cj, ck, inverse_cell, x, p, gx, gy, gz)
                        xx, yy, zz, xy, xz, yz = B[p, 0], B[p, 1], B[p, 2], B[p, 3], B[p, 4], B[p, 5]
                        for n in range(N):
                            hx[n] = xx * gx[n] + xy * gy[n] + xz * gz[n]
                            hy[n] = xy * gx[n] + yy * gy[n] + yz * gz[n]
                            if D == 3:
                                hz[n] = xz * gx[n] + yz * gy[n] + zz * gz[n]
                        for n in range(N):
                            ax, ay, az = hx[n], hy[n], hz[n]
                            if D == 3:
                                for o in range(N):
                                    pairs[n, o] += ax * gx[o] + ay * gy[o] + az * gz[o]
                            else:
                                for o in range(N):
                                    pairs[n, o] += ax * gx[o] + ay * gy[o]
                    for n in range(N):
                        if 0 <= rows[n] < A.shape[0]:  # others belong to other ranks
                            base = CENTRE - place[n]
                            for o in range(N):
                                if rows[o] >= 0:
                                    A[rows[n], base + place[o]] += pairs[n, o]

    # Without reassociation: vectors of entries would have to be gathered, which takes a fifth more time.
    @compiled(fastmath={"contract"})
    def product_of_rows(first, last, values, columns, x, result):
        for n in range(first, last):
            a0, a1, a2 = 0.0, 0.0, 0.0
            for s in range(values.shape[1]):
                c, w = columns[n, s], values[n, s]
                a0 += w * x[c, 0]
                a1 += w * x[c, 1]
                if D == 3:
                    a2 += w * x[c, 2]
            result[n, 0], result[n, 1] = a0, a1
            if D == 3:
                result[n, 2] = a2

    @compiled(parallel=True)
    def product(values, columns, x, result):
        for chunk in prange((values.shape[0] + ROWS - 1) // ROWS):
            first = chunk * ROWS
            product_of_rows(first, min(first + ROWS, values.shape[0]), values, columns, x, result)

    return find_columns, assemble, product, product_of_rows
