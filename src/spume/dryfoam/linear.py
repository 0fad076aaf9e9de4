"""Solution of the Newton systems of one equilibrium; order of elimination and factors are reused while they serve."""

import numpy as np
from scipy.sparse.linalg import LinearOperator, gmres, splu

from spume.dryfoam.multifrontal import Elimination, Factor
from spume.dryfoam.network import Floats, Network
from spume.dryfoam.system import NewtonSystem

SMALL = 1500
"""Unknowns up to which a general pivoting solver is quickest."""
ENOUGH = 1e-3
"""Linear residual, relative, that an old factor must reach for a Newton step."""
KRYLOV = 14
"""Substitutions with an old factor that cost less than a new one."""


class Solver:
    """Remembers the pattern's elimination and the last factors. It holds nothing from one equilibrium to the next, so
    that a resumed run repeats an uninterrupted one."""

    def __init__(self) -> None:
        self.elimination: Elimination | None = None
        self.factor: Factor | None = None
        self.pattern: tuple[np.ndarray, np.ndarray] | None = None
        self.factorizations = 0

    def solve(self, system: NewtonSystem, near: bool) -> Floats:
        """Solution of `system`; when `near` equilibrium an old factor as a preconditioner may do."""
        if system.size <= SMALL:
            self.factorizations += 1
            return splu(system.matrix).solve(system.right)
        matrix = system.matrix
        same = self.pattern is not None and all(
            np.array_equal(old, new) for old, new in zip(self.pattern, (matrix.indptr, matrix.indices), strict=True)
        )
        if near and same and self.factor is not None:
            operator = LinearOperator(matrix.shape, matvec=self.factor.solve)
            solution, _ = gmres(matrix, system.right, M=operator, rtol=ENOUGH, restart=KRYLOV, maxiter=1)
            if np.linalg.norm(matrix @ solution - system.right) < 3.0 * ENOUGH * np.linalg.norm(system.right):
                return solution
        if not same or self.elimination is None:
            self.elimination = _elimination(system)
            self.pattern = (matrix.indptr, matrix.indices)
        self.factor = self.elimination.factorize(matrix)
        self.factorizations += 1
        solution = _refined(system, self.factor, 3, 1e-7)
        if solution is None:  # a pivot was too small for elimination without exchange
            self.factor = None
            return splu(matrix).solve(system.right)
        return solution


def _refined(system: NewtonSystem, factor: Factor, sweeps: int, enough: float) -> Floats | None:
    """Solution by iterative refinement with `factor`; None when it does not reach `enough`."""
    solution = factor.solve(system.right)
    scale, before = float(np.linalg.norm(system.right)), np.inf
    for _ in range(sweeps):
        left = system.right - system.matrix @ solution
        size = float(np.linalg.norm(left)) / scale
        if size < enough:
            return solution
        if not size < 0.5 * before:
            return None
        before = size
        solution += factor.solve(left)
    return None


def _elimination(system: NewtonSystem) -> Elimination:
    """Order of elimination by the places of vertices and cells; half angles that are unknowns come last."""
    n: Network = system.network
    nodes = system.size - n.vertices
    places = np.zeros((nodes, 2))
    places[: n.vertices] = n.positions
    places[n.vertices : n.vertices + n.cells] = n.positions[n.origin[n.first_half_edges()]]
    if n.boundary == "periodic":
        parts = np.linalg.solve(n.lattice, places.T).T
        places = parts - np.floor(parts)
    last = np.zeros(nodes, dtype=np.bool_)
    last[n.vertices + n.cells :] = True
    return Elimination(system.matrix, n.vertices, places, last)
