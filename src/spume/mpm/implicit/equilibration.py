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

from spume.grid.blocks import CELLS_PER_BLOCK, cell_in_block
from spume.grid.cells import Cells
from spume.grid.node_gradients import node_gradients
from spume.mpm.implicit.grid_matrix import colours
from spume.mpm.implicit.problem import StepProblem
from spume.numerics.jit import compiled

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
    sizes = problem.world.ranks.totals([p.volume * h for h in stiffness] + [x * x for x in e])
    size = sum(sizes[: len(stiffness)]) / sum(sizes[len(stiffness) :])
    return [size * x * x / p.volume for x in e]


def _product(a: Numbers, b: Numbers) -> Numbers:
    """A : B of symmetric tensors (n, 6)."""
    return np.asarray((a[:, :3] * b[:, :3]).sum(axis=1) + 2.0 * (a[:, 3:] * b[:, 3:]).sum(axis=1))


class _Sums:
    """Sums over the pairs of points and active nodes of a step."""

    def __init__(self, problem: StepProblem) -> None:
        species, nodes = problem.species, problem.world.nodes
        self._transfers, self._around = species.transfers, problem.surroundings
        self._points, self._nodes = len(species.particles), len(problem.dofs)
        self._kernels = _kernels(nodes.dimension, nodes.order)
        own = species.transfers
        self._of_points = _stencils(own.cells, own.node_block_of_corner, species.weighted_at, problem.dofs.number)
        around = problem.surroundings
        self._of_nodes = _stencils(around.cells, around.corners, around.points(species.weighted_at), around.number)

    def to_nodes(self, B: Numbers) -> Numbers:
        """Σ_p ∇w · B_p ∇w at each active node, for symmetric tensors B (n, 6)."""
        result = np.zeros(self._nodes)
        self._kernels[0](*self._of_nodes, self._around.points(self._transfers.pulled_back(B)), result)
        return result

    def to_points(self, a: Numbers) -> Numbers:
        """Σ_i a_i ∇w ∇wᵀ at each point, symmetric (n, 6), for numbers a of the active nodes."""
        result = np.zeros((self._points, 6))
        self._kernels[1](*self._of_points, a, result)
        return self._transfers.pushed_forward(result)


def _stencils(cells: Cells, corners: NDArray[np.int32], x: Numbers, number: NDArray[np.int32]) -> tuple[Any, ...]:
    """What kernels need to visit the nodes of points at x."""
    return (
        *colours(cells.blocks), cells.blocks, cells.cell_start, cells.sorted_points, corners, cells.inverse_size, x,
        number,
    )  # fmt: skip


@cache
def _kernels(D: int, order: int) -> tuple[Any, Any]:
    N, numbers_of_nodes, gradients_at = node_gradients(D, order)

    def make(scatter: bool) -> Any:
        @compiled(parallel=True)
        def walk(
            by_colour, colour_start, blocks, cell_start, sorted_points, node_block_of_corner, inverse_cell, x, number,
            given, result,
        ):  # fmt: skip
            for colour in range(8):
                for listed in prange(colour_start[colour], colour_start[colour + 1]):
                    block = by_colour[listed]
                    rows = np.empty(N, np.int64)
                    gx, gy, gz = np.zeros(N), np.zeros(N), np.zeros(N)
                    for cell in range(block * CELLS_PER_BLOCK, (block + 1) * CELLS_PER_BLOCK):
                        if cell_start[cell] == cell_start[cell + 1]:
                            continue
                        _, ci, cj, ck = cell_in_block(D, cell)
                        numbers_of_nodes(block, ci, cj, ck, node_block_of_corner, number, rows)
                        for entry in range(cell_start[cell], cell_start[cell + 1]):
                            p = sorted_points[entry]
                            gradients_at(blocks, block, ci, cj, ck, inverse_cell, x, p, gx, gy, gz)
                            for n in range(N):
                                if rows[n] < 0 or (scatter and rows[n] >= result.shape[0]):
                                    continue
                                a, b, c = gx[n], gy[n], gz[n]
                                if scatter:
                                    xx, yy, zz = a * given[p, 0], b * given[p, 1], c * given[p, 2]
                                    xy, xz, yz = b * given[p, 3], c * given[p, 4], c * given[p, 5]
                                    result[rows[n]] += a * (xx + 2.0 * (xy + xz)) + b * (yy + 2.0 * yz) + c * zz
                                else:
                                    factor = given[rows[n]]
                                    result[p, 0] += factor * a * a
                                    result[p, 1] += factor * b * b
                                    result[p, 2] += factor * c * c
                                    result[p, 3] += factor * a * b
                                    result[p, 4] += factor * a * c
                                    result[p, 5] += factor * b * c

        return walk

    return make(True), make(False)
