"""Loops over points for ADMM, generated for each branch of each law from its functions in principal space.

For each branch a point stores its elastic deformation Fe at the start of the step, the weight w [Pa] and one tensor
q = X + u: the deformation X of the particle step plus the scaled dual u = y/(ρ W), with W² = V w. With the deformation
of the grid, F = (I + Δt L) Fe, one pass over the points does the dual step u ← q − F of the previous iteration and the
particle step of the present one, and computes the stress for the grid step.
"""

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numba import prange

from spume.materials.kinematics import load, store
from spume.materials.law import Law
from spume.materials.loops import constants_reader, history_access
from spume.mpm.implicit.principal_newton import ACTIVE, ROWS, THETA, principal_solver, without_tension
from spume.mpm.implicit.weights import point_weight
from spume.numerics.jit import compiled
from spume.numerics.lanes import LANES
from spume.numerics.scratch import zeros
from spume.numerics.spectral3 import svd
from spume.numerics.svd_lanes import LEFT, RIGHT, VALUES, plane_svd, plane_svd_of_eight, svd_of_eight
from spume.numerics.tensor3 import multiply, multiply_transpose

SINGULAR_VALUES = {2: plane_svd, 3: svd}
SINGULAR_VALUES_OF_EIGHT = {2: plane_svd_of_eight, 3: svd_of_eight}
POINTS_PER_TASK = 128
"""A multiple of LANES, so that the groups of points do not depend on the number of threads."""
NOT_DEFORMED = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)


@compiled(inline="always")
def recompose(U, s, V):
    """U diag(s) Vᵀ."""
    a = (
        U[0] * s[0], U[1] * s[1], U[2] * s[2],
        U[3] * s[0], U[4] * s[1], U[5] * s[2],
        U[6] * s[0], U[7] * s[1], U[8] * s[2],
    )  # fmt: skip
    return multiply_transpose(a, V)


@compiled(inline="always")
def moved(dt, L, F):
    """(I + Δt L) F."""
    a = multiply(L, F)
    return (
        F[0] + dt * a[0], F[1] + dt * a[1], F[2] + dt * a[2],
        F[3] + dt * a[3], F[4] + dt * a[4], F[5] + dt * a[5],
        F[6] + dt * a[6], F[7] + dt * a[7], F[8] + dt * a[8],
    )  # fmt: skip


@compiled(inline="always")
def combined(a, x, b, y):
    """a X + b Y."""
    return (
        a * x[0] + b * y[0], a * x[1] + b * y[1], a * x[2] + b * y[2],
        a * x[3] + b * y[3], a * x[4] + b * y[4], a * x[5] + b * y[5],
        a * x[6] + b * y[6], a * x[7] + b * y[7], a * x[8] + b * y[8],
    )  # fmt: skip


@compiled(inline="always")
def square(a):
    """‖A‖²."""
    return (
        (a[0] * a[0] + a[1] * a[1] + a[2] * a[2])
        + (a[3] * a[3] + a[4] * a[4] + a[5] * a[5])
        + (a[6] * a[6] + a[7] * a[7] + a[8] * a[8])
    )


@compiled(inline="always")
def _column(memory, first, k):
    """Tensor of lane k in the rows from `first`."""
    return (
        memory[first, k], memory[first + 1, k], memory[first + 2, k],
        memory[first + 3, k], memory[first + 4, k], memory[first + 5, k],
        memory[first + 6, k], memory[first + 7, k], memory[first + 8, k],
    )  # fmt: skip


@dataclass(frozen=True)
class BranchLoops:
    """The loops of one branch of a law.

    start(material, belongs, constants, history, torn, weighting, dt, rho, L, Fe, weight, q)
        Computes Fe, weights and the first q = F − P/(ρ w) with the stress P at the start of the step.
    step(material, belongs, constants, history, torn, dt, rho, relaxation, rescale, L, change, volume, Fe, weight, q,
         result, difference, S, residuals)
        Dual and particle step from q to `result`, which may be the same array; the `difference` of the two is written
        unless it is empty. The duals are multiplied by `rescale`, the old penalty over the new one. `change` is the
        last change of L, which the first branch adds to L; the stress of the branch is written to S by the first branch
        and added by the others; `residuals` (n, 3) receives V w times the squares of X − F, of the last change of F,
        and of u.

    Points that are `torn` (n,), an array that may be empty, carry no tension.
    """

    start: Any
    step: Any


@cache
def branch_loops(law: Law, index: int, dimension: int) -> BranchLoops:
    """Loops of branch `index` of `law`, compiled on their first call."""
    branch = law.branches[index]
    load_history, _ = history_access(law.fields)
    read_constants = constants_reader(len(law.constants))
    deformation, principal_stress = branch.deformation, branch.principal_stress
    weight_of, solve = point_weight(branch, dimension), principal_solver(law, index, dimension)
    decompose, decompose_eight = SINGULAR_VALUES[dimension], SINGULAR_VALUES_OF_EIGHT[dimension]
    D = dimension

    @compiled(parallel=True)
    def start(material, belongs, constants, history, torn, weighting, dt, rho, L, Fe, weight, q):
        for p in prange(material.size):
            m = material[p]
            if belongs[m]:
                parameters, own = read_constants(constants[m]), load_history(history, p)
                F = deformation(parameters, own)
                U, s, V = decompose(F)
                strain = (np.log(s[0]), np.log(s[1]), np.log(s[2]))
                tau, C = principal_stress(parameters, own, strain)
                w = weight_of(weighting, parameters, own, s, strain, dt, rho)
                if torn.size > 0 and torn[p] != 0:
                    tau, C = without_tension(tau, C)
                P = recompose(U, (tau[0] / s[0], tau[1] / s[1], tau[2] / s[2] if D == 3 else 0.0), V)
                store(Fe, p, F)
                weight[p] = w
                store(q, p, combined(1.0, moved(dt, load(L, p), F), -1.0 / (rho * w), P))

    @compiled(forceinline=True)
    def prepare(material, belongs, dt, rho, rescale, L, change, Fe, weight, q, first, memory):
        """Write F − u and θ of eight points, with the dual u = rescale (q − F)."""
        for k in range(LANES):
            p = first + k
            A, theta, active = NOT_DEFORMED, 1.0, 0.0
            if p < material.size and belongs[material[p]]:
                if index == 0:
                    store(L, p, combined(1.0, load(L, p), 1.0, load(change, p)))
                F = moved(dt, load(L, p), load(Fe, p))
                A, theta, active = combined(1.0 + rescale, F, -rescale, load(q, p)), rho * weight[p], 1.0
            for i in range(9):
                memory[i, k] = A[i]
            memory[THETA, k], memory[ACTIVE, k] = theta, active

    @compiled(forceinline=True)
    def finish(
        material, belongs, dt, rho, relaxation, rescale, L, change, volume, Fe, weight, q, result, difference, S,
        residuals, first, memory,
    ):  # fmt: skip
        """Compute results, S and residuals of eight points from their stretches."""
        for k in range(min(LANES, material.size - first)):
            p = first + k
            if belongs[material[p]]:
                stretches = (memory[VALUES, k], memory[VALUES + 1, k], memory[VALUES + 2, k])
                X = recompose(_column(memory, LEFT, k), stretches, _column(memory, RIGHT, k))
                start_F, w = load(Fe, p), weight[p]
                F = moved(dt, load(L, p), start_F)
                u = combined(rescale, load(q, p), -rescale, F)
                a = dt * dt * volume[p] * w
                away = volume[p] * w * square(combined(1.0, X, -1.0, F))
                turned = a * square(multiply(load(change, p), start_F))
                held = volume[p] * w * square(u)
                X = combined(relaxation, X, 1.0 - relaxation, F)
                store(result, p, combined(1.0, u, 1.0, X))
                if difference.size > 0:
                    store(difference, p, combined(1.0, X, -1.0, F))
                T = multiply_transpose(combined(1.0, X, 1.0, combined(1.0, u, -1.0, F)), start_F)
                if index == 0:
                    store(S, p, combined(rho * w * dt, T, 0.0, T))
                    residuals[p, 0], residuals[p, 1], residuals[p, 2] = away, turned, held
                else:
                    store(S, p, combined(1.0, load(S, p), rho * w * dt, T))
                    residuals[p, 0] += away
                    residuals[p, 1] += turned
                    residuals[p, 2] += held

    @compiled(parallel=True)
    def step(
        material, belongs, constants, history, torn, dt, rho, relaxation, rescale, L, change, volume, Fe, weight, q,
        result, difference, S, residuals,
    ):  # fmt: skip
        n = material.size
        for task in prange((n + POINTS_PER_TASK - 1) // POINTS_PER_TASK):
            memory = zeros(ROWS * LANES).reshape((ROWS, LANES))
            for first in range(POINTS_PER_TASK * task, min(n, POINTS_PER_TASK * (task + 1)), LANES):
                prepare(material, belongs, dt, rho, rescale, L, change, Fe, weight, q, first, memory)
                decompose_eight(memory)
                solve(material, constants, history, torn, dt, first, memory)
                finish(
                    material, belongs, dt, rho, relaxation, rescale, L, change, volume, Fe, weight, q, result,
                    difference, S, residuals, first, memory,
                )  # fmt: skip

    return BranchLoops(start, step)
