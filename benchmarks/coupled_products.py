"""Products with the matrix of the semi-implicit step: by transfers and stored. `python -m benchmarks.coupled_products`

The matrix is that of two overlapping blocks of sand and water (`benchmarks/sand.py`), linearised at rest. Stored, it
has a d×d block for each pair of nodes of a species that share points, (2 order + 1)^d in a row, in SciPy's BSR format;
the drag, one number for each node, is applied as by transfers. CPU time of one thread.
"""

import time
from functools import cache
from typing import Any

import numba
import numpy as np
import scipy.sparse as sparse
from numba import prange
from numpy.typing import NDArray

from benchmarks.sand import blocks, system_of
from benchmarks.timing import best_of, machine
from spume.grid.blocks import BLOCK
from spume.grid.node_gradients import node_gradients
from spume.mpm.implicit.coupled_system import CoupledSystem, Part
from spume.mpm.implicit.grid_matrix import GridMatrix, colours
from spume.mpm.implicit.tangent import answer
from spume.numerics.jit import compiled

SIZES = {2: 90, 3: 20}
"""Cells along a side of each block, by dimension: about 65,000 and 128,000 points."""


class Stored:
    """The stored matrix of a system without pore pressure."""

    def __init__(self, system: CoupledSystem) -> None:
        self.system = system
        # the columns of a matrix do not depend on its contacts
        nodes, alone = system.world.nodes, system.world.ranks.surroundings
        self.rows = []
        for part in system.parts:
            p = part.species.particles
            around = alone(part.species.transfers, nodes, part.dofs, p.x, p.id)
            self.rows.append(GridMatrix(nodes, part.dofs, None, around).columns)  # type: ignore[arg-type]  # columns need no contacts
        self.matrices: list[sparse.bsr_matrix] = []

    def assemble(self) -> None:
        """Sum the blocks of the points at the last call of `residual`; the columns are given."""
        self.matrices.clear()
        for part, columns in zip(self.system.parts, self.rows):
            self.matrices.append(self._assemble(part, columns))

    def _assemble(self, part: Part, columns: NDArray[np.int32]) -> sparse.bsr_matrix:
        d, order = self.system.world.dimension, self.system.world.nodes.order
        p, transfers = part.species.particles, part.species.transfers
        C = np.zeros((len(p), d, d, d, d))  # ∂T_qa/∂L_rb
        unit, T = np.zeros((len(p), 3, 3)), np.zeros((len(p), 3, 3))
        for r, b in np.ndindex(d, d):
            unit[:], unit[:, r, b] = 0.0, 1.0
            for use in part.species.model.laws:
                answer(p.material, use.belongs, part.numbers, unit, T)
            C[..., r, b] = T[:, :d, :d]
        C *= (self.system.dt**2 * p.volume)[:, None, None, None, None]
        values = np.zeros((*columns.shape, d, d))
        cells = transfers.cells
        by_colour, start = colours(cells.blocks)
        _assembly(d, order)(
            by_colour, start, cells.blocks, cells.cell_start, cells.sorted_points, transfers.node_block_of_corner,
            cells.inverse_size, p.x, C, part.dofs.number, values,
        )  # fmt: skip
        values[:, columns.shape[1] // 2] += part.mass[:, None, None] * np.eye(d)
        n, width = columns.shape
        starts = np.arange(0, n * width + 1, width)
        return sparse.bsr_matrix((values.reshape(-1, d, d), columns.ravel(), starts), (n * d, n * d))

    def multiply(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """A x."""
        result = self.system._dragged(x)
        for part, matrix in zip(self.system.parts, self.matrices):
            result[part.rows] += (matrix @ x[part.rows].ravel()).reshape(-1, x.shape[1])
        return result


@cache
def _assembly(D: int, order: int) -> Any:
    BX, BY, BZ = BLOCK[D]
    N, numbers_of_nodes, gradients_at = node_gradients(D, order)
    SIDE = 2 * order + 1
    RZ, SIDEZ = (order, SIDE) if D == 3 else (0, 1)
    CENTRE = (order * SIDE + order) * SIDEZ + RZ
    CELLS = BX * BY * BZ
    K, KZ = order + 1, RZ + 1

    @compiled(parallel=True)
    def assemble(
        by_colour, colour_start, blocks, cell_start, sorted_points, node_block_of_corner, inverse_cell, x, C, number, A
    ):
        for colour in range(8):
            for listed in prange(colour_start[colour], colour_start[colour + 1]):
                block = by_colour[listed]
                pairs, half = np.empty((N, D, D, N)), np.empty(D)
                rows, g = np.empty(N, np.int64), np.zeros((3, N))
                for cell in range(CELLS):
                    first, last = cell_start[block * CELLS + cell], cell_start[block * CELLS + cell + 1]
                    if first == last:
                        continue
                    ci, cj, ck = cell // (BY * BZ), (cell // BZ) % BY, cell % BZ
                    numbers_of_nodes(block, ci, cj, ck, node_block_of_corner, number, rows)
                    pairs[:] = 0.0
                    for entry in range(first, last):
                        p = sorted_points[entry]
                        gradients_at(blocks, block, ci, cj, ck, inverse_cell, x, p, g[0], g[1], g[2])
                        for n in range(N):
                            for q in range(D):
                                for r in range(D):
                                    for b in range(D):
                                        half[b] = 0.0
                                        for a in range(D):
                                            half[b] += C[p, q, a, r, b] * g[a, n]
                                    for b in range(D):
                                        h = half[b]
                                        for o in range(N):
                                            pairs[n, q, r, o] += h * g[b, o]
                    for n in range(N):
                        if rows[n] >= 0:
                            base = CENTRE - (n // (K * KZ) * SIDE + n // KZ % K) * SIDEZ - n % KZ
                            for o in range(N):
                                if rows[o] >= 0:
                                    place = base + (o // (K * KZ) * SIDE + o // KZ % K) * SIDEZ + o % KZ
                                    for q in range(D):
                                        for r in range(D):
                                            A[rows[n], place, q, r] += pairs[n, q, r, o]

    return assemble


def measure(dimension: int, size: int) -> dict[str, float]:
    """Milliseconds of a product by transfers, of a stored one and of storing, and megabytes stored."""
    numba.set_num_threads(1)
    system = system_of(blocks(1e6, 1e4, size, dimension))
    stored = Stored(system)
    stored.assemble()
    x = np.random.default_rng(0).normal(size=(system.count, dimension))
    theirs, ours = stored.multiply(x), system.multiply(x)
    if np.abs(theirs - ours).max() > 1e-9 * np.abs(ours).max():
        raise ArithmeticError(f"{dimension}D: the stored matrix and the transfers do not agree")
    taken = best_of(
        {
            "transfers": lambda: system.multiply(x), "stored": lambda: stored.multiply(x),
            "storing": stored.assemble, "diagonal": system.prepare_preconditioner,
        },
        rounds=4, clock=time.process_time,
    )  # fmt: skip
    size_in_memory = sum(matrix.data.nbytes + matrix.indices.nbytes for matrix in stored.matrices) / 1e6
    found = {name: 1e3 * seconds for name, seconds in taken.items()}
    return {"points": system.world.count, "nodes": system.count, "memory": size_in_memory} | found


def main() -> None:
    """Measure and print."""
    print(f"products of the semi-implicit step on {machine()}")
    for dimension, size in SIZES.items():
        row = measure(dimension, size)
        print(
            f"{dimension}D, {row['points']:,} points, {row['nodes']:,} nodes: by transfers {row['transfers']:.1f} ms; "
            f"stored {row['stored']:.1f} ms, storing {row['storing']:.0f} ms, {row['memory']:.0f} MB; diagonal "
            f"{row['diagonal']:.1f} ms"
        )


if __name__ == "__main__":
    main()
