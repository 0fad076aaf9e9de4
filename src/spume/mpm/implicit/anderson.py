"""Anderson acceleration of the iterations of ADMM: [Walker11], [Zhang19], [Ouyang20].

ADMM is a fixed-point iteration for the tensors q = X + u of all points and branches: if contacts do not change and the
linear solve of the grid step is exact, q determines the velocities v, and they are linear in q. (The friction of
hesitant contacts changes, too, and is not combined.) Let g_k be the result of the iteration that starts from q_k. Its
difference f_k = g_k − q_k is the primal residual α (X − F). The next iteration starts from the combination of the last
results whose combined difference is smallest, and from the same combination of the velocities:

    q = Σ c_k g_k,    v = Σ c_k v_k    with  c = argmin ‖W Σ c_k f_k‖,  Σ c_k = 1.

If the residual of an iteration is much larger than the smallest one so far, the combination that it started from was a
poor one: the iterations go back to the latest result and forget those before.
"""

import numpy as np
from numba import prange
from numpy.typing import NDArray

from spume.grid.blocks import CELLS_PER_BLOCK
from spume.grid.cells import Cells
from spume.numerics.jit import compiled
from spume.ranks.ranks import Ranks

GROWTH = 2.0
"""An iteration is discarded when its residual exceeds the smallest one so far by this factor."""
REGULARIZATION = 1e-10
"""Added to the diagonal of the normal equations, relative to their trace: differences may be parallel."""

Tensors = NDArray[np.float64]


class Memory:
    """Results, differences and velocities of the last iterations, in ring buffers."""

    def __init__(self, size: int, branches: int, points: int, velocities: tuple[int, ...]) -> None:
        """Remember `size` iterations besides the latest; `velocities` is the shape of v."""
        self._places = size + 1
        self._g = np.zeros((branches, self._places, points, 9))
        self._f = np.zeros((branches, self._places, points, 9))
        self._v = np.zeros((self._places, *velocities))
        self._products = np.zeros((self._places, self._places))
        """Scalar products of the differences."""
        self.forget()

    def forget(self) -> None:
        """Forget all iterations."""
        self._count = 0
        self._least = np.inf

    def _recent(self, most: int) -> list[int]:
        """Places of the latest iterations in memory, the latest first."""
        return [k % self._places for k in range(self._count - 1, max(self._count - most, 0) - 1, -1)]

    def present(self, branch: int) -> tuple[Tensors, Tensors]:
        """Arrays (points, 3, 3) to which the present iteration writes the results and differences of a branch."""
        place = self._count % self._places
        return self._g[branch, place].reshape(-1, 3, 3), self._f[branch, place].reshape(-1, 3, 3)

    def assess(
        self, ranks: Ranks, cells: Cells, volume: NDArray[np.float64], weights: list[NDArray[np.float64]]
    ) -> bool:
        """Compute the scalar products of the present differences with all in memory, and return whether the present
        iteration started from a poor combination. W² of a branch is volume · weight; `cells` are those of the
        points."""
        place = self._count % self._places
        places = np.array([place, *self._recent(self._places - 1)])
        of_blocks = np.zeros((len(places), len(cells)))
        for f, weight in zip(self._f, weights):
            _add_products(cells.cell_start, cells.sorted_points, volume, weight, f, places, of_blocks)
        for product, other in zip(ranks.totals(list(of_blocks)), places):
            self._products[place, other] = self._products[other, place] = product
        size = float(np.sqrt(self._products[place, place]))
        if self._count > 1 and not size <= GROWTH * self._least:
            return True
        self._least = min(self._least, size)
        return False

    def keep(self, v: NDArray[np.float64]) -> None:
        """Add the present iteration, which ends at the velocities v, to the memory."""
        self._v[self._count % self._places] = v
        self._count += 1

    def combine(self, q: list[Tensors]) -> NDArray[np.float64]:
        """Write the best combination of results to q of each branch, and return that of the velocities."""
        places = np.array(self._recent(self._places))
        c = _coefficients(self._products[np.ix_(places, places)])
        for g, of_branch in zip(self._g, q):
            _combine(g, places, c, of_branch.reshape(-1, 9))
        v = np.zeros(self._v.shape[1:])
        for factor, place in zip(c, places):
            v += factor * self._v[place]
        return v

    def go_back(self, q: list[Tensors]) -> NDArray[np.float64]:
        """Write the latest result to q of each branch, return its velocities, and forget all iterations."""
        (place,) = self._recent(1)
        for g, of_branch in zip(self._g, q):
            of_branch[:] = g[place].reshape(-1, 3, 3)
        self.forget()
        return np.array(self._v[place])


def _coefficients(products: NDArray[np.float64]) -> NDArray[np.float64]:
    """Coefficients c with the sum 1 that minimise Σ c_i c_j P_ij, from scalar products P whose first row is that of the
    latest difference.

    >>> _coefficients(np.array([[1.0, 0.0], [0.0, 4.0]])).round(6).tolist()
    [0.8, 0.2]
    """
    reduced = products[0, 0] - products[0, 1:, None] - products[0, None, 1:] + products[1:, 1:]
    trace = float(np.trace(reduced))
    if not trace > 0.0:
        return np.eye(1, len(products)).reshape(-1)
    reduced += REGULARIZATION * trace * np.eye(len(reduced))
    c = np.linalg.solve(reduced, products[0, 0] - products[0, 1:])
    return np.concatenate([[1.0 - c.sum()], c])


@compiled(parallel=True)
def _add_products(cell_start, sorted_points, volume, weight, f, places, of_blocks):
    """Add V w f·f', summed over the points of each block of cells, of the tensors f in the first of the `places` and f'
    in each of them."""
    first = places[0]
    for block in prange(of_blocks.shape[1]):
        for entry in range(cell_start[block * CELLS_PER_BLOCK], cell_start[(block + 1) * CELLS_PER_BLOCK]):
            p = sorted_points[entry]
            a = volume[p] * weight[p]
            for k in range(places.size):
                s = 0.0
                for i in range(9):
                    s += f[first, p, i] * f[places[k], p, i]
                of_blocks[k, block] += a * s


@compiled(parallel=True)
def _combine(g, places, c, q):
    for p in prange(q.shape[0]):
        for i in range(9):
            s = 0.0
            for k in range(places.size):
                s += c[k] * g[places[k], p, i]
            q[p, i] = s
