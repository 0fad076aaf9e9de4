"""Implicit step by Newton's method with conjugate gradients, for laws that do not flow. It minimises

    E(v) = ½ ‖v − v̂‖²_M + Σ_p V Ψ(F(v)).

The Hessian of Ψ is made positive semidefinite at each point in the space of its singular values ([Teran05]): a 3×3
block for the stretches, and for each pair of axes two numbers,

    (P_i − P_j)/(s_i − s_j)  for δF_ij + δF_ji,    (P_i + P_j)/(s_i + s_j)  for δF_ij − δF_ji,    P_i = τ_i/s_i.

It is the reference for ADMM.
"""

import math
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numba import prange
from numpy.typing import NDArray

from spume.grid.linear_system import StressSystem
from spume.materials.kinematics import load, load_sym, store
from spume.materials.law import Law
from spume.materials.loops import constants_reader, history_access
from spume.mpm.implicit.branches import Branches
from spume.mpm.implicit.contact_set import ContactSet
from spume.mpm.implicit.grid_matrix import GridMatrix
from spume.mpm.implicit.outcome import Outcome
from spume.mpm.implicit.particle_step import SINGULAR_VALUES, moved, recompose
from spume.mpm.implicit.problem import StepProblem
from spume.numerics.jit import compiled
from spume.numerics.krylov import conjugate_gradient
from spume.numerics.spectral3 import eigen_sym
from spume.numerics.sums import dot, total
from spume.numerics.tensor3 import compose_sym, multiply, multiply_transpose, transpose_multiply
from spume.scene.mpm import Implicit

NUMBERS = 30
"""Numbers per point and branch: U and V (9 each), the block of the stretches (6), the pairs (3 + 3)."""
LINE_SEARCHES = 30
CURVATURE = 1e-4
"""Fraction of the predicted decrease of the energy that a step must achieve. [Nocedal06]"""


@compiled(inline="always")
def _pair(P, s, H, i, j):
    """The two numbers of a pair of axes, at least zero; for equal stretches the quotient becomes a derivative."""
    difference = s[i] - s[j]
    if abs(difference) > 1e-6 * (abs(s[i]) + abs(s[j])):
        symmetric = (P[i] - P[j]) / difference
    else:
        symmetric = H[4 * i] - H[3 * i + j]
    return max(symmetric, 0.0), max((P[i] + P[j]) / max(s[i] + s[j], 1e-6), 0.0)


@cache
def _loops(law: Law, index: int, dimension: int) -> tuple[Any, Any, Any]:
    branch = law.branches[index]
    load_history, _ = history_access(law.fields)
    read_constants = constants_reader(len(law.constants))
    deformation, principal_stress, decompose = branch.deformation, branch.principal_stress, SINGULAR_VALUES[dimension]
    update_point, energy_of = law.update, law.energy

    @compiled(parallel=True)
    def linearize(material, belongs, constants, history, dt, L, Fe, S, numbers):
        """Add Δt P Feᵀ to S, and write Fe and the numbers of the Hessian."""
        for p in prange(material.size):
            m = material[p]
            if belongs[m]:
                parameters, own = read_constants(constants[m]), load_history(history, p)
                start = deformation(parameters, own)
                U, s, V = decompose(moved(dt, load(L, p), start))
                tau, K = principal_stress(parameters, own, (np.log(s[0]), np.log(s[1]), np.log(s[2])))
                P = (tau[0] / s[0], tau[1] / s[1], tau[2] / s[2])
                H = (
                    (K[0] - tau[0]) / (s[0] * s[0]), K[1] / (s[0] * s[1]), K[2] / (s[0] * s[2]),
                    K[3] / (s[1] * s[0]), (K[4] - tau[1]) / (s[1] * s[1]), K[5] / (s[1] * s[2]),
                    K[6] / (s[2] * s[0]), K[7] / (s[2] * s[1]), (K[8] - tau[2]) / (s[2] * s[2]),
                )  # fmt: skip
                values, E = eigen_sym((H[0], H[4], H[8], H[1], H[2], H[5]))
                block = compose_sym((max(values[0], 0.0), max(values[1], 0.0), max(values[2], 0.0)), E)
                a01, b01 = _pair(P, s, H, 0, 1)
                a02, b02 = _pair(P, s, H, 0, 2)
                a12, b12 = _pair(P, s, H, 1, 2)
                for k in range(9):
                    numbers[p, k], numbers[p, 9 + k] = U[k], V[k]
                for k in range(6):
                    numbers[p, 18 + k] = block[k]
                numbers[p, 24], numbers[p, 25], numbers[p, 26] = a01, a02, a12
                numbers[p, 27], numbers[p, 28], numbers[p, 29] = b01, b02, b12
                store(Fe, p, start)
                T = multiply_transpose(recompose(U, P, V), start)
                for i in range(3):
                    for j in range(3):
                        S[p, i, j] += dt * T[3 * i + j]

    @compiled(parallel=True)
    def answer(material, belongs, Fe, numbers, L, T):
        """Add K(L Fe) Feᵀ to T, where K is the Hessian."""
        for p in prange(material.size):
            if belongs[material[p]]:
                start = load(Fe, p)
                U = (numbers[p, 0], numbers[p, 1], numbers[p, 2], numbers[p, 3], numbers[p, 4], numbers[p, 5],
                     numbers[p, 6], numbers[p, 7], numbers[p, 8])  # fmt: skip
                V = (numbers[p, 9], numbers[p, 10], numbers[p, 11], numbers[p, 12], numbers[p, 13], numbers[p, 14],
                     numbers[p, 15], numbers[p, 16], numbers[p, 17])  # fmt: skip
                d = multiply(transpose_multiply(U, multiply(load(L, p), start)), V)
                h = load_sym(numbers[:, 18:24], p)
                a01, a02, a12 = 0.5 * numbers[p, 24], 0.5 * numbers[p, 25], 0.5 * numbers[p, 26]
                b01, b02, b12 = 0.5 * numbers[p, 27], 0.5 * numbers[p, 28], 0.5 * numbers[p, 29]
                x01, y01 = a01 * (d[1] + d[3]), b01 * (d[1] - d[3])
                x02, y02 = a02 * (d[2] + d[6]), b02 * (d[2] - d[6])
                x12, y12 = a12 * (d[5] + d[7]), b12 * (d[5] - d[7])
                k = (
                    h[0] * d[0] + h[3] * d[4] + h[4] * d[8], x01 + y01, x02 + y02,
                    x01 - y01, h[3] * d[0] + h[1] * d[4] + h[5] * d[8], x12 + y12,
                    x02 - y02, x12 - y12, h[4] * d[0] + h[5] * d[4] + h[2] * d[8],
                )  # fmt: skip
                result = multiply_transpose(multiply_transpose(multiply(U, k), V), start)
                for i in range(3):
                    for j in range(3):
                        T[p, i, j] += result[3 * i + j]

    @compiled(parallel=True)
    def energy(material, belongs, constants, history, dt, L, result):
        """Energy per volume after the step, infinite for inverted points."""
        for p in prange(material.size):
            m = material[p]
            if belongs[m]:
                parameters = read_constants(constants[m])
                f = moved(dt, load(L, p), (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0))
                J = (
                    f[0] * (f[4] * f[8] - f[5] * f[7])
                    - f[1] * (f[3] * f[8] - f[5] * f[6])
                    + f[2] * (f[3] * f[7] - f[4] * f[6])
                )
                if J > 0.0:
                    _, after = update_point(f, dt, parameters, load_history(history, p))
                    result[p] = energy_of(parameters, after)
                else:
                    result[p] = np.inf

    return linearize, answer, energy


class _Energy:
    """The minimised function and its derivatives."""

    def __init__(self, problem: StepProblem) -> None:
        self.problem = problem
        p = problem.species.particles
        self.uses = [
            (use, b, _loops(use.law, b, problem.world.dimension))
            for use in problem.species.model.laws
            for b in range(len(use.law.branches))
        ]
        self.material, self.volume = p.material, p.volume
        self.L = np.zeros((len(p), 3, 3))
        self.S = np.zeros((len(p), 3, 3))
        self.Fe = [np.zeros((len(p), 3, 3)) for _ in self.uses]
        self.numbers = [np.zeros((len(p), NUMBERS)) for _ in self.uses]

    def value(self, v: NDArray[np.float64]) -> float:
        """E(v)."""
        problem = self.problem
        problem.gradient(v, self.L)
        density = np.zeros(len(self.L))
        for use, branch, (_, _, energy) in self.uses:
            if branch == 0:  # the energy of a law is that of all its branches
                energy(
                    self.material, use.belongs, use.constants, problem.history(use), problem.dt, self.L, density
                )  # fmt: skip
        if not np.isfinite(density).all():
            return math.inf
        d = v - problem.free
        return 0.5 * dot(problem.mass[:, None] * d, d) + dot(self.volume, density)

    def slope(self, v: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the gradient of E at v, and store the Hessian there for `answer`."""
        problem = self.problem
        problem.gradient(v, self.L)
        self.S[:] = 0.0
        for (use, _, (linearize, _, _)), Fe, numbers in zip(self.uses, self.Fe, self.numbers):
            linearize(
                self.material, use.belongs, use.constants, problem.history(use), problem.dt, self.L, Fe, self.S, numbers
            )
        return problem.mass[:, None] * (v - problem.free) + problem.impulse(self.S)

    def answer(self, L: NDArray[np.float64], T: NDArray[np.float64]) -> None:
        """Hessian of the stored energy applied to velocity gradients, for `StressSystem`."""
        T[:] = 0.0
        for (use, _, (_, answer, _)), Fe, numbers in zip(self.uses, self.Fe, self.numbers):
            answer(self.material, use.belongs, Fe, numbers, L, T)


@dataclass(frozen=True)
class _Constrained:
    """A linear system with the contacts of the step."""

    stress: StressSystem
    diagonal: NDArray[np.float64]
    """Diagonal of M + Δt² Σ V ‖H‖ Fe Feᵀ, the matrix of ADMM, which reflects mass and stiffness of each node."""
    contacts: ContactSet

    def multiply(self, v: NDArray[np.float64]) -> NDArray[np.float64]:
        """A v."""
        return self.stress.multiply(v)

    def precondition(self, r: NDArray[np.float64]) -> NDArray[np.float64]:
        """r divided by the diagonal."""
        return r / self.diagonal[:, None]

    def project(self, v: NDArray[np.float64]) -> None:
        """Remove the components constrained by contacts."""
        self.contacts.project(v)

    def dot(self, a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
        """Inner product."""
        return self.stress.dot(a, b)


def solve_by_newton(problem: StepProblem, settings: Implicit) -> Outcome:
    """Solve the equations of a step; `settings` is the scene's table [implicit]."""
    p, world = problem.species.particles, problem.world
    energy = _Energy(problem)
    v = problem.before.copy()
    problem.close_contacts(v)
    if math.isinf(energy.value(v)):  # the initial velocities would invert a point
        v[:] = 0.0
        problem.close_contacts(v)
    outcome = Outcome(v, energy.L)
    stress = StressSystem(
        problem.species.transfers, world.nodes, problem.dofs, problem.mass, p.x, p.volume, energy.answer, problem.dt**2
    )
    branches = Branches(problem)
    branches.start("stiffness", math.inf, energy.L)  # an infinite penalty needs no larger weights for concave energies
    matrix = GridMatrix(world.nodes, problem.dofs, problem.contacts)
    matrix.assemble(problem.species.transfers, p.x, branches.metric(1.0), problem.mass)
    system = _Constrained(stress, matrix.diagonal, problem.contacts)
    first = 0.0
    for _ in range(settings.iterations):
        residual = -energy.slope(v)
        problem.contacts.update(v, residual)
        free = residual.copy()
        problem.contacts.project(free)
        size = math.sqrt(system.dot(free, free))
        scale = math.sqrt(total((problem.mass[:, None] * (v - problem.before)) ** 2))
        first = max(first, size, scale)
        outcome.primal.append(size / first if first > 0.0 else 0.0)
        outcome.dual.append(0.0)
        if outcome.residual <= settings.tolerance:
            outcome.converged = True
            break
        # A tolerance that decreases with the residual gives superlinear convergence. [Nocedal06] section 7.1
        tolerance = max(min(0.5, math.sqrt(outcome.primal[-1])) * outcome.primal[-1], 1e-12)
        solution = conjugate_gradient(system, residual, tolerance=min(tolerance, 0.1), limit=settings.linear_iterations)
        outcome.linear_iterations += solution.iterations
        here, decrease = energy.value(v), system.dot(free, solution.x)
        step, best = 1.0, v
        for _ in range(LINE_SEARCHES):
            trial = v + step * solution.x
            # Decreases below 1e-13 of the energy are hidden by rounding: the step is then accepted.
            if energy.value(trial) <= here - CURVATURE * step * decrease + 1e-13 * abs(here):
                best = trial
                break
            step *= 0.5
        if best is v:
            break
        v[:] = best
        problem.close_contacts(v)
    outcome.reaction = energy.slope(v)
    problem.gradient(v, outcome.L)
    return outcome
