"""Implicit step by the alternating direction method of multipliers: [Fang19] section 7, in scaled form.

    particle step   X = argmin Ξ(X) + ρ/2 W² ‖X − F(v) + u‖²          each point and branch separately
    grid step       (M + ρ DᵀW²D) v = M v̂ + ρ DᵀW² (X + u − Fe)       one linear system, constant during the step
    dual step       u ← u + X − F(v)

with F(v) = (I + Δt L(v)) Fe = Fe + D v. At the solution −ρ W² u = V P, so u represents the stress; its initial value is
that of the stress at the start of the step. Over-relaxation replaces X by α X + (1 − α) F(v) in the last two. Anderson
acceleration combines the results of several iterations (`anderson`).
"""

import math
from typing import Any

import numpy as np
from numba import prange
from numpy.typing import NDArray

from spume.mpm.implicit.anderson import Memory
from spume.mpm.implicit.concavity import concavity_loop
from spume.mpm.implicit.equilibration import equilibrated
from spume.mpm.implicit.grid_matrix import GridMatrix
from spume.mpm.implicit.outcome import Outcome
from spume.mpm.implicit.particle_step import WEIGHTS, branch_loops
from spume.mpm.implicit.problem import StepProblem
from spume.numerics.jit import compiled
from spume.numerics.krylov import conjugate_gradient
from spume.numerics.sums import total

NONE_TORN = np.zeros(0, np.uint8)
NOT_KEPT = np.zeros((0, 3, 3))
NO_STRAIN = 1e-10
"""Smallest scale of residuals, which are relative to ‖W u‖: elastic strains over ρ if weights are stiffnesses [1]."""
UNBALANCED, BALANCE = 10.0, 2.0
"""The penalty changes by a factor of BALANCE when primal and dual residual differ by more than UNBALANCED. [Boyd11]
section 3.4.1"""
PATIENCE, PROGRESS = 8, 0.9
"""The weights are examined when the primal residual has not fallen by the factor PROGRESS in PATIENCE iterations."""

MARGIN = 1.5
"""Ratio of a raised penalty to the least one with which ADMM converges."""
LARGEST_RAISE = 4.0
"""Factor by which a weight grows at once: deformations in a cycle may be far from the solution."""


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
                loops = made(use.law, b, problem.state.dimension)
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
        weights = math.sqrt(sum(total(volume * weight) for weight in self.weight))
        primal, dual, strain = (math.sqrt(total(self.residuals[:, k])) / weights for k in range(3))
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


def solve_by_admm(problem: StepProblem, settings: Any) -> Outcome:
    """Solve the equations of a step; `settings` is the scene's table [implicit]."""
    p, dofs, mass = problem.species.particles, problem.dofs, problem.mass[:, None]
    rho, relaxation = settings.rho, settings.over_relaxation
    v = problem.start()
    problem.close_contacts(v)
    outcome = Outcome(v, np.zeros((len(p), 3, 3)))
    problem.gradient(v, outcome.L)
    branches = Branches(problem)
    branches.start(settings.weights, rho, outcome.L)
    matrix = GridMatrix(problem.state.nodes, dofs, problem.contacts)
    matrix.assemble(problem.species.transfers, p.x, branches.metric(rho), problem.mass)
    # about ρ (c Δt/h)²: distance [cells] that nodes move in a step with a strain of one
    response = total(matrix.diagonal - problem.mass) / total(problem.mass)
    change = np.zeros((len(p), 3, 3))
    memory = _memory(branches, v, settings)
    rescale, examined = 1.0, 0
    for iteration in range(settings.iterations):
        branches.step(rho, relaxation, rescale, outcome.L, change, memory)
        rescale = 1.0
        residual = mass * (problem.free - v) + problem.impulse(branches.S)
        before = v.copy()
        problem.contacts.update(v, residual)
        if iteration > 0:
            primal, dual, strain = branches.norms()
            outcome.primal.append(primal / strain)
            outcome.dual.append(dual / strain)
            outcome.displacement_error = response * max(primal, dual)
            small = outcome.residual <= settings.tolerance and _drift(problem, v, residual) <= settings.tolerance
            if small and np.array_equal(v, before):
                outcome.converged = True
                break
        last = iteration + 1 == settings.iterations
        if memory is not None and memory.assess(p.volume, branches.weight) and not last:
            _move(problem, v, memory.go_back(branches.q))
            problem.gradient(v - before, change)
            continue
        try:
            solution = conjugate_gradient(
                matrix, residual, tolerance=settings.linear_tolerance, limit=settings.linear_iterations
            )
        except ArithmeticError:  # overflow
            v[:] = np.nan
            return outcome
        outcome.linear_iterations += solution.iterations
        v += solution.x
        problem.close_contacts(v)
        if memory is not None:
            memory.keep(v)
            if not last:  # no iteration would assess the combination
                _move(problem, v, memory.combine(branches.q))
        problem.gradient(v - before, change)
        if settings.balancing == "residual" and iteration > 0:
            factor = _balance(outcome.primal[-1], outcome.dual[-1])
            if factor != 1.0:
                rho, rescale = factor * rho, 1.0 / factor
                matrix.scale_stiffness(factor, problem.mass)
                if memory is not None:
                    memory.forget()
        since = len(outcome.primal) - examined
        if since > PATIENCE and outcome.primal[-1] > PROGRESS * outcome.primal[-1 - PATIENCE]:
            examined = len(outcome.primal)
            needed = branches.needed(rho, outcome.L + change)
            if any((c > 1.0 - 0.5 * relaxation).any() for c in needed):
                relaxation = 1.0
                branches.raise_weights([_raise(c) for c in needed], outcome.L + change)
                matrix.assemble(problem.species.transfers, p.x, branches.metric(rho), problem.mass)
                if memory is not None:
                    memory.forget()
    else:
        outcome.L += change
    outcome.reaction = mass * (v - problem.free) - problem.impulse(branches.S)
    return outcome


def _memory(branches: Branches, v: NDArray[np.float64], settings: Any) -> Memory | None:
    size = settings.anderson_memory
    return Memory(size, len(branches.q), branches.count, v.shape) if size else None


def _move(problem: StepProblem, v: NDArray[np.float64], other: NDArray[np.float64]) -> None:
    """Change v to the `other` velocities, except for the components that closed contacts prescribe: these contacts may
    have been open, or have slid, in earlier iterations. Contacts that stop the new velocities are closed."""
    move = other - v
    problem.contacts.project(move)
    v += move
    problem.close_contacts(v)


def _raise(concavity: NDArray[np.float64]) -> NDArray[np.float64]:
    """Factors for the weights of points with a `concavity` relative to their penalty, without over-relaxation."""
    return np.where(concavity > 0.5, np.clip(2.0 * MARGIN * concavity, 1.0, LARGEST_RAISE), 1.0)


def _drift(problem: StepProblem, v: NDArray[np.float64], residual: NDArray[np.float64]) -> float:
    """Total unbalanced impulse, relative to the impulses of gravity and of the change of velocity. The other residuals
    measure only deformation, and linear systems solved incompletely are least accurate in translations."""
    left = residual.copy()
    problem.contacts.project(left)
    fall = problem.free - problem.before
    size = total(problem.mass * np.linalg.norm(fall, axis=1)) + total(
        problem.mass * np.linalg.norm(v - problem.before, axis=1)
    )
    return math.hypot(*(total(left[:, k]) for k in range(left.shape[1]))) / size if size > 0.0 else 0.0


def _balance(primal: float, dual: float) -> float:
    """Factor for the penalty: a larger penalty reduces the primal residual and increases the dual residual."""
    if primal > UNBALANCED * dual:
        return BALANCE
    return 1.0 / BALANCE if dual > UNBALANCED * primal else 1.0
