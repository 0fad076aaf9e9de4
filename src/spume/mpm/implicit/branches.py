"""Arrays of the branches of all laws in an implicit step, and the loops over points that fill them."""

import math
from functools import cache
from typing import Any

import numpy as np
from numba import prange
from numpy.typing import NDArray

from spume.materials.kinematics import load
from spume.materials.law import Law
from spume.materials.loops import constants_reader, history_access
from spume.mpm.implicit.anderson import Memory
from spume.mpm.implicit.concavity import CONCAVITY
from spume.mpm.implicit.equilibration import equilibrated
from spume.mpm.implicit.particle_step import SINGULAR_VALUES, branch_loops, moved
from spume.mpm.implicit.principal_newton import flowed_stress
from spume.mpm.implicit.problem import StepProblem
from spume.mpm.implicit.tangent import NONE_TORN
from spume.mpm.implicit.weights import WEIGHTS
from spume.numerics.jit import compiled

NOT_KEPT = np.zeros((0, 3, 3))
NO_STRAIN = 1e-10
"""Smallest scale of residuals, which are relative to ‖W u‖: elastic strains over ρ if weights are stiffnesses [1]."""
LEAST_STRETCH = 0.1
"""Stretches of points that the grid would squeeze further, or invert, are taken as this."""


class Branches:
    """Arrays of all branches of all laws of a species."""

    def __init__(self, problem: StepProblem) -> None:
        p = problem.species.particles
        self.problem, self.count = problem, len(p)
        most = max(len(use.law.branches) for use in problem.species.model.laws)
        self.Fe = [np.zeros((self.count, 3, 3)) for _ in range(most)]
        self.q = [np.zeros((self.count, 3, 3)) for _ in range(most)]
        self.weight = [np.zeros(self.count) for _ in range(most)]
        self.S = np.zeros((self.count, 3, 3))
        self.residuals = np.zeros((self.count, 3))

    def _each(self, made: Any = branch_loops) -> Any:
        problem = self.problem
        p = problem.species.particles
        torn = p.weak if "weak" in p else NONE_TORN
        for use in problem.species.model.laws:
            for b in range(len(use.law.branches)):
                loops = made(use.law, b, problem.world.dimension)
                yield b, loops, (p.material, use.belongs, use.constants, problem.history(use), torn)

    def start(self, weighting: str, rho: float, L: NDArray[np.float64]) -> None:
        """Set elastic deformations, weights and duals at the start of a step."""
        kind = WEIGHTS[weighting]
        for b, loops, of_law in self._each():
            loops.start(*of_law, kind, self.problem.dt, rho, L, self.Fe[b], self.weight[b], self.q[b])
        if weighting == "ruiz":
            self._equilibrate(L)

    def _equilibrate(self, L: NDArray[np.float64]) -> None:
        """Replace the weights by equilibrated ones."""
        dt = self.problem.dt
        tensors = []
        for Fe in self.Fe:
            tensors.append(np.zeros((self.count, 6)))
            _add_metric(dt * dt, np.ones(self.count), np.ones(self.count), Fe, tensors[-1])
        for b, weight in enumerate(equilibrated(self.problem, tensors, self.weight)):
            self._set_weight(b, weight, L)

    def step(
        self,
        rho: float,
        relaxation: float,
        rescale: float,
        L: NDArray[np.float64],
        change: NDArray[np.float64],
        memory: Memory | None,
    ) -> None:
        """Add `change` to the gradients L, multiply the duals by `rescale`, and do the dual and particle steps: from q
        to the present iteration of `memory`, or in place without one."""
        volume = self.problem.species.particles.volume
        for b, loops, of_law in self._each():
            result, difference = memory.present(b) if memory is not None else (self.q[b], NOT_KEPT)
            loops.step(
                *of_law, self.problem.dt, rho, relaxation, rescale, L, change, volume, self.Fe[b], self.weight[b],
                self.q[b], result, difference, self.S, self.residuals,
            )  # fmt: skip

    def needed(self, rho: float, L: NDArray[np.float64]) -> list[NDArray[np.float64]]:
        """Concavity at the gradients L relative to the penalties, of each branch (n,) [1]; see `concavity`."""
        found = [np.zeros(self.count) for _ in self.weight]
        for b, loop, of_law in self._each(concavity_loop):
            loop(*of_law, self.problem.dt, L, self.Fe[b], found[b])
        for c, weight in zip(found, self.weight):
            c /= np.where(weight > 0.0, rho * weight, 1.0)
        return found

    def raise_weights(self, factors: list[NDArray[np.float64]], L: NDArray[np.float64]) -> None:
        """Multiply the weights of each branch by `factors` (n,), and keep the duals of an iteration that ends at L."""
        for b, factor in enumerate(factors):
            self._set_weight(b, factor * self.weight[b], L)

    def _set_weight(self, b: int, weight: NDArray[np.float64], L: NDArray[np.float64]) -> None:
        """Change the weights of a branch and its scaled duals u, which are −P/(ρ w)."""
        F = self.Fe[b] + self.problem.dt * L @ self.Fe[b]
        ratio = np.divide(self.weight[b], weight, out=np.ones(self.count), where=weight > 0.0)
        self.q[b] = F + ratio[:, None, None] * (self.q[b] - F)
        self.weight[b] = weight

    def metric(self, rho: float) -> NDArray[np.float64]:
        """B = ρ Δt² V Σ w Fe Feᵀ of each point, symmetric (n, 6)."""
        B = np.zeros((self.count, 6))
        volume = self.problem.species.particles.volume
        for Fe, weight in zip(self.Fe, self.weight):
            _add_metric(rho * self.problem.dt**2, volume, weight, Fe, B)
        return B

    def norms(self) -> tuple[float, float, float]:
        """‖W (X − F)‖, ‖W D (change of v)‖ and ‖W u‖, all divided by ‖W‖; the last is at least NO_STRAIN."""
        volume = self.problem.species.particles.volume
        arrays = [volume * weight for weight in self.weight] + [self.residuals[:, k] for k in range(3)]
        *squares, primal, dual, strain = self.problem.world.ranks.totals(arrays)
        weights = math.sqrt(sum(squares))
        primal, dual, strain = (math.sqrt(square) / weights for square in (primal, dual, strain))
        return primal, dual, max(strain, NO_STRAIN)


@compiled(parallel=True)
def _add_metric(scale, volume, weight, Fe, B):
    for p in prange(volume.size):
        a = scale * volume[p] * weight[p]
        for i in range(3):
            for j in range(i, 3):
                s = 0.0
                for k in range(3):
                    s += Fe[p, i, k] * Fe[p, j, k]
                B[p, i if i == j else 2 + i + j] += a * s


@cache
def concavity_loop(law: Law, index: int, dimension: int) -> Any:
    """Loop over points (material, belongs, constants, history, torn, dt, L, Fe, result): concavity of branch `index` of
    `law` [Pa] after a step with the gradients L."""
    load_history, _ = history_access(law.fields)
    read_constants = constants_reader(len(law.constants))
    flowed, decompose, concavity = flowed_stress(law.branches[index]), SINGULAR_VALUES[dimension], CONCAVITY[dimension]
    D = dimension

    @compiled(parallel=True)
    def find(material, belongs, constants, history, torn, dt, L, Fe, result):
        for p in prange(material.size):
            m = material[p]
            if belongs[m]:
                parameters, own = read_constants(constants[m]), load_history(history, p)
                weak = torn.size > 0 and torn[p] != 0
                _, r, _ = decompose(moved(dt, load(L, p), load(Fe, p)))
                s0, s1 = max(r[0], LEAST_STRETCH), max(r[1], LEAST_STRETCH)
                s2 = max(r[2], LEAST_STRETCH) if D == 3 else r[2]
                tau, K = flowed(parameters, own, weak, (np.log(s0), np.log(s1), np.log(s2)), dt)
                result[p] = concavity(tau, K, (s0, s1, s2))

    return find
