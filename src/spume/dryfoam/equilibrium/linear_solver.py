"""Solution of the Newton systems of one equilibrium, reusing elimination order and factors as long as possible."""

import threading
from typing import Literal

import numpy as np
from scipy.sparse import csc_matrix
from scipy.sparse.linalg import SuperLU, splu

from spume.dryfoam.equilibrium.multifrontal import Elimination, Factor, Memory
from spume.dryfoam.equilibrium.pattern import Pattern
from spume.dryfoam.equilibrium.system import NewtonSystem
from spume.dryfoam.network.half_edges import Floats
from spume.dryfoam.network.numbering import unit_places
from spume.errors import RunFailed

SMALL = 150
"""Number of unknowns up to which a general pivoting solver is fastest."""


class _Memories(threading.local):
    """Memory of each thread, for the factor of a whole foam and for that of its spots."""

    def __init__(self) -> None:
        self.whole, self.spots = Memory(), Memory()


_memories = _Memories()


class Solver:
    """Keeps the elimination order of a pattern and the last factor. Only allocated memory is kept between equilibria,
    so that a resumed run gives the same results as an uninterrupted one.

    Solvers for the same `part` in the same thread share their memory: a new solver invalidates the factors of the last.
    """

    def __init__(self, part: Literal["whole", "spots"]) -> None:
        self.memory = _memories.whole if part == "whole" else _memories.spots
        self.elimination: Elimination | None = None
        self.factor: Factor | SuperLU | None = None
        self.pattern: Pattern | None = None
        self.matrix: csc_matrix | None = None
        self._negative: int | None = None
        self.factorizations = 0

    def solve(self, system: NewtonSystem, right: Floats) -> Floats:
        """Solution of `system` for the right-hand side, with a new factor."""
        self.factorizations += 1
        matrix = self.matrix = system.matrix
        self._negative = None
        if system.size > SMALL:
            if self.elimination is None or self.pattern is not system.pattern:
                self.elimination = _elimination(system)
                self.pattern = system.pattern
            self.factor = self.elimination.factorize(matrix, self.memory)
            self._negative = self.factor.negative
            solution = _refined(matrix, right, self.factor, 3, 1e-7)
            if solution is not None:  # None: a pivot was too small for elimination without pivoting
                return solution
        try:
            self.factor = splu(matrix.copy())  # splu sorts the columns in place, and the pattern is shared
        except RuntimeError as error:
            raise RunFailed("the equations of an equilibrium step are singular") from error
        return self.factor.solve(right)

    def negative(self) -> int:
        """Number of negative eigenvalues of the last matrix solved."""
        if self._negative is None:
            assert self.matrix is not None
            self._negative = int(np.sum(np.linalg.eigvalsh(self.matrix.toarray()) < 0.0))
        return self._negative

    def again(self, right: Floats) -> Floats:
        """Solution for another right-hand side, with the last factor."""
        assert self.factor is not None
        return self.factor.solve(right)


def _length(vector: Floats) -> float:
    return float(np.sqrt(np.sum(vector * vector)))


def _refined(matrix: csc_matrix, right: Floats, factor: Factor, sweeps: int, enough: float) -> Floats | None:
    """Solution by iterative refinement with `factor`; None if its residual does not fall below `enough`."""
    solution = factor.solve(right)
    scale, before = _length(right), np.inf
    for _ in range(sweeps):
        left = right - matrix @ solution
        size = _length(left) / scale
        if size < enough:
            return solution
        if not size < 0.5 * before:
            return None
        before = size
        solution += factor.solve(left)
    return None


def _elimination(system: NewtonSystem) -> Elimination:
    """Elimination order from the positions of vertices and cells; half angles that are unknowns come last."""
    n, r = system.network, system.region
    vertices, cells = len(r.vertices), len(r.cells)
    nodes = system.pattern.nodes
    places = np.zeros((nodes, 2))
    places[:vertices] = n.positions[r.vertices]
    places[vertices : vertices + cells] = n.positions[n.origin[r.first]]
    if np.any(n.lattice):
        places = unit_places(places, n.lattice)
    last = np.zeros(nodes, dtype=np.bool_)
    last[vertices + cells :] = True
    return Elimination(system.pattern, places, last)
