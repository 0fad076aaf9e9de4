"""Weights of ADMM by Ruiz equilibration. [Fang19] section 7.3, [Ruiz01]

The step, linearised at its start, minimises ½ vᵀM v + ½ Σ V h ‖X‖² with X = D v + b, where h is the stiffness of a
branch. Its optimality conditions have the symmetric matrix

    M   0    −Dᵀ        v   nodes
    0   V h   1         X   points, one number for each branch
    −D  1     0         y   the same

Ruiz's iteration divides rows and columns by the square roots of the norms of the rows until all norms are one. Scaling
v and X does not change the iterates of ADMM; the scaling e of the constraints does: it is their weight, W² = V w = e².
All weights together are given the size of the stiffnesses, so that ρ keeps its meaning.
"""

from functools import cache
from typing import Any

import numpy as np
from numba import prange
from numpy.typing import NDArray

from spume.mpm.blocks import BLOCK
from spume.mpm.cells import STENCIL_OFFSET
from spume.mpm.implicit.grid_matrix import colours
from spume.mpm.implicit.problem import StepProblem
from spume.numerics.bspline import cubic, quadratic
from spume.numerics.jit import compiled
from spume.numerics.sums import total

SWEEPS = 10
"""Iterations; norms are then equal to a few per cent. [Stellato18] takes as many."""

Numbers = NDArray[np.float64]


def equilibrated(problem: StepProblem, tensors: list[Numbers], stiffness: list[Numbers]) -> list[Numbers]:
    """Weights w [Pa] (n,) of each branch, for tensors Δt² Fe Feᵀ (n, 6) and stiffnesses h [Pa] (n,) of the branches.

    A point without a branch has the stiffness 0 there, and the weight 0.
    """
    p, mass = problem.species.particles, problem.mass
    sums = _Sums(problem)
    used = [h > 0.0 for h in stiffness]
    d = np.ones(len(mass))
    c = [np.ones(len(p)) for _ in stiffness]
    e = [np.where(mask, 1.0, 0.0) for mask in used]
    for _ in range(SWEEPS):
        at_nodes = sums.to_nodes(sum(G * (x * x)[:, None] for G, x in zip(tensors, e)))
        gathered = sums.to_points(d * d)
        of_nodes = np.sqrt((mass * d * d) ** 2 + d * d * at_nodes)
        for k, (G, h, mask) in enumerate(zip(tensors, stiffness, used)):
            of_points = np.hypot(p.volume * h * c[k] ** 2, c[k] * e[k])
            of_constraints = e[k] * np.sqrt(_product(G, gathered) + c[k] ** 2)
            c[k][mask] /= np.sqrt(of_points[mask])
            e[k][mask] /= np.sqrt(of_constraints[mask])
        d /= np.sqrt(of_nodes)
    size = sum(total(p.volume * h) for h in stiffness) / sum(total(x * x) for x in e)
    return [size * x * x / p.volume for x in e]


def _product(a: Numbers, b: Numbers) -> Numbers:
    """A : B of symmetric tensors (n, 6)."""
    return (a[:, :3] * b[:, :3]).sum(axis=1) + 2.0 * (a[:, 3:] * b[:, 3:]).sum(axis=1)


class _Sums:
    """Sums over the pairs of points and active nodes of a step."""

    def __init__(self, problem: StepProblem) -> None:
        species, nodes = problem.species, problem.state.nodes
        self._x, self._transfers, self._number = species.particles.x, species.transfers, problem.dofs.number
        self._nodes = len(problem.dofs)
        self._kernels = _kernels(nodes.dimension, nodes.order)
        self._colours = colours(species.transfers.cells.blocks)

    def _stencils(self) -> tuple[Any, ...]:
        cells = self._transfers.cells
        return (
            *self._colours, cells.blocks, cells.cell_start, cells.sorted_points, self._transfers.node_block_of_corner,
            cells.inverse_size, self._x, self._number,
        )  # fmt: skip

    def to_nodes(self, B: Numbers) -> Numbers:
        """Σ_p ∇w · B_p ∇w at each active node, for symmetric tensors B (n, 6)."""
        result = np.zeros(self._nodes)
        self._kernels[0](*self._stencils(), B, result)
        return result

    def to_points(self, a: Numbers) -> Numbers:
        """Σ_i a_i ∇w ∇wᵀ at each point, symmetric (n, 6), for numbers a of the active nodes."""
        result = np.zeros((len(self._x), 6))
        self._kernels[1](*self._stencils(), a, result)
        return result


@cache
def _kernels(D: int, order: int) -> tuple[Any, Any]:
    BX, BY, BZ = BLOCK[D]
    K = order + 1
    KZ = K if D == 3 else 1
    CELLS = BX * BY * BZ
    MARGIN = STENCIL_OFFSET[order]

    def make(scatter: bool) -> Any:
        @compiled(parallel=True)
        def walk(
            by_colour, colour_start, blocks, cell_start, sorted_points, node_block_of_corner, inverse_cell, x, number,
            given, result,
        ):  # fmt: skip
            for colour in range(8):
                for listed in prange(colour_start[colour], colour_start[colour + 1]):
                    block = by_colour[listed]
                    for cell in range(CELLS):
                        ci, cj, ck = cell // (BY * BZ), (cell // BZ) % BY, cell % BZ
                        o0 = blocks[block, 0] * BX + ci + MARGIN
                        o1 = blocks[block, 1] * BY + cj + MARGIN
                        o2 = blocks[block, 2] * BZ + ck + MARGIN
                        for entry in range(cell_start[block * CELLS + cell], cell_start[block * CELLS + cell + 1]):
                            p = sorted_points[entry]
                            t0, t1 = inverse_cell * x[p, 0] - o0, inverse_cell * x[p, 1] - o1
                            t2 = inverse_cell * x[p, 2] - o2 if D == 3 else 0.0
                            if order == 3:
                                w0, d0 = cubic(t0)
                                w1, d1 = cubic(t1)
                                w2, d2 = cubic(t2)
                            else:
                                w0, d0 = quadratic(t0)
                                w1, d1 = quadratic(t1)
                                w2, d2 = quadratic(t2)
                            for a in range(K):
                                for b in range(K):
                                    for c in range(KZ):
                                        i, j, k = ci + a, cj + b, ck + c
                                        corner = (4 if i >= BX else 0) + (2 if j >= BY else 0) + (1 if k >= BZ else 0)
                                        local = ((i % BX) * BY + j % BY) * BZ + k % BZ
                                        n = number[node_block_of_corner[block, corner], local]
                                        if n < 0:
                                            continue
                                        w, dw = (w2[c], d2[c]) if D == 3 else (1.0, 0.0)
                                        gx = d0[a] * w1[b] * w * inverse_cell
                                        gy = w0[a] * d1[b] * w * inverse_cell
                                        gz = w0[a] * w1[b] * dw * inverse_cell
                                        if scatter:
                                            xx, yy, zz = gx * given[p, 0], gy * given[p, 1], gz * given[p, 2]
                                            xy, xz, yz = gy * given[p, 3], gz * given[p, 4], gz * given[p, 5]
                                            result[n] += gx * (xx + 2.0 * (xy + xz)) + gy * (yy + 2.0 * yz) + gz * zz
                                        else:
                                            result[p, 0] += given[n] * gx * gx
                                            result[p, 1] += given[n] * gy * gy
                                            result[p, 2] += given[n] * gz * gz
                                            result[p, 3] += given[n] * gx * gy
                                            result[p, 4] += given[n] * gx * gz
                                            result[p, 5] += given[n] * gy * gz

        return walk

    return make(True), make(False)
