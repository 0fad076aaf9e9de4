"""Stress and stiffness of points for semi-implicit steps, [Tampubolon17] section 4.2, and for Newton's method.

A step deforms a point by f = I + Δt L to b = f bⁿ fᵀ. The forces on the nodes are those of S = τ(b) f⁻ᵀ, because the
gradients of the weights are those at the start of the step. A change δL of the velocity gradient changes S by Δt T(δL),

    T(δL) = (δτ − τ ℓᵀ) f⁻ᵀ,    ℓ = δL f⁻¹,

and in the principal axes of b, with its eigenvalues β_i, ε_i = ½ ln β_i and K = dτ/dε,

    δτ_ii = Σ_j K_ij ℓ_jj,    δτ_ij = P (ℓ_ij β_j + ℓ_ji β_i),    P = (τ_i − τ_j)/(β_i − β_j).

So δτ − τ ℓᵀ consists of a 3×3 block K − diag τ for the ℓ_ii and a 2×2 block for each pair of axes,

    ( A_ij  q  )   ( ℓ_ij )
    (  q  A_ji ) · ( ℓ_ji ),    A_ij = P β_j,    q = P β_i − τ_i = P β_j − τ_j.

With "lagged" plasticity τ is elastic, as in the paper, and flow is applied at the end of the step. T is symmetric
(A : T(B) = B : T(A)) because S is the derivative of an energy, which need not be convex: on request negative
eigenvalues of the blocks are replaced by zero. The stress removed by the flow at the end of the step has resisted the
motion during the step, like a viscosity of about E Δt.

With plasticity "in-step" τ is the stress after the return map, so the step is backward Euler including flow. The
derivative of the return map of sand is not symmetric: the width of its cone depends on the pressure, but the pressure
does not depend on the shear. T omits that coupling (and takes the symmetric part of the remainder), which makes it
symmetric and positive for sand; Newton's method is then a fixed-point iteration in the width of the cone, and its
solution is exact.
"""

import math
from collections.abc import Callable
from functools import cache
from typing import Any, Literal

import numpy as np
from numba import prange

from spume.materials.granular import give_back
from spume.materials.kinematics import load
from spume.materials.law import Law
from spume.materials.loops import constants_reader, history_access
from spume.materials.principal import joined, split
from spume.materials.traits import Granular
from spume.materials.unilateral import at_tip, unilateral_stress
from spume.mpm.implicit.principal_newton import without_tension
from spume.numerics.jit import compiled
from spume.numerics.spectral3 import eigen_sym
from spume.numerics.tensor3 import compose_sym, congruence, gram, inverse, multiply, multiply_transpose

NONE_TORN = np.zeros(0, np.uint8)
Plasticity = Literal["in-step", "lagged"]
NUMBERS = 33
"""Numbers per point: eigenvectors (9), the block (6: 00, 11, 22, 01, 02, 12), A_ij, A_ji and q of the pairs 01, 02 and
12 (9), f⁻¹ (9)."""


def correction(law: Law, granular: Granular) -> Callable[..., Any]:
    """Compiled function (parameters, history, strain) -> trial strain after the volume correction, and the derivative
    of its trace."""
    gained, forgiving = law.position(granular.gained_volume), law.constants.index(granular.corrects_volume)

    @compiled
    def forgiven(parameters, history, strain):
        trace, d, _ = split(strain)
        left, slope = give_back(trace, history[gained], parameters[forgiving])
        return joined(left, 1.0, d), slope

    return forgiven


@compiled(inline="always")
def deformation_of_step(l, dt):
    """f = I + Δt L."""
    return (
        1.0 + dt * l[0], dt * l[1], dt * l[2],
        dt * l[3], 1.0 + dt * l[4], dt * l[5],
        dt * l[6], dt * l[7], 1.0 + dt * l[8],
    )  # fmt: skip


@compiled(inline="always")
def _along_trace(slope, tau, K):
    """Q τ and Q K Q with Q = I + (slope − 1)/3 1 1ᵀ: stress and stiffness of an energy of the corrected strain."""
    c = (slope - 1.0) / 3.0
    s = c * (tau[0] + tau[1] + tau[2])
    r0, r1, r2 = c * (K[0] + K[3] + K[6]), c * (K[1] + K[4] + K[7]), c * (K[2] + K[5] + K[8])
    t = c * (r0 + r1 + r2)
    return (tau[0] + s, tau[1] + s, tau[2] + s), (
        K[0] + 2.0 * r0 + t, K[1] + r0 + r1 + t, K[2] + r0 + r2 + t,
        K[3] + r0 + r1 + t, K[4] + 2.0 * r1 + t, K[5] + r1 + r2 + t,
        K[6] + r0 + r2 + t, K[7] + r1 + r2 + t, K[8] + 2.0 * r2 + t,
    )  # fmt: skip


@compiled(inline="always")
def _symmetric_stiffness(K, D):
    """Symmetric part of K D, without the dependence of the deviator on the trace in D.

    Row i of D sums to t + 3 c n_i and its columns to t, where c n_i is the derivative of the deviator by the trace.
    """
    t = D[0] + D[3] + D[6]
    c0, c1, c2 = (D[0] + D[1] + D[2] - t) / 3.0, (D[3] + D[4] + D[5] - t) / 3.0, (D[6] + D[7] + D[8] - t) / 3.0
    M = multiply(K, (D[0] - c0, D[1] - c0, D[2] - c0, D[3] - c1, D[4] - c1, D[5] - c1, D[6] - c2, D[7] - c2, D[8] - c2))
    m01, m02, m12 = 0.5 * (M[1] + M[3]), 0.5 * (M[2] + M[6]), 0.5 * (M[5] + M[7])
    return (M[0], m01, m02, m01, M[4], m12, m02, m12, M[8])


@cache
def stress_in_step(law: Law, branch: int = 0) -> Callable[..., Any]:
    """Compiled function (parameters, history, strain, dt, shape) -> τ, dτ/dε of a branch after its flow."""
    principal_stress, return_map = law.branches[branch].principal_stress, law.branches[branch].return_map

    if return_map is None:
        return lagged_stress(law, "hencky")

    @compiled
    def flowed(parameters, history, strain, dt, shape):
        after, D = return_map(parameters, history, strain, dt)
        tau, K = principal_stress(parameters, history, after)
        return tau, _symmetric_stiffness(K, D)

    return flowed


@cache
def lagged_stress(law: Law, energy: Literal["hencky", "unilateral"]) -> Callable[..., Any]:
    """Compiled function (parameters, history, strain, dt, shape) -> τ, dτ/dε of the first branch of `law` without flow.

    Granular laws include their volume correction; those that know the tip of their yield surface can have the
    unilateral energy of a `shape` returned by `Unilateral.packed`, moved to the tip of each point.
    """
    principal_stress, granular = law.branches[0].principal_stress, law.traits.granular
    if granular is None:

        @compiled
        def elastic(parameters, history, strain, dt, shape):
            return principal_stress(parameters, history, strain)

        return elastic
    forgiven = correction(law, granular)
    tip_of = granular.tip
    if energy == "hencky" or tip_of is None:

        @compiled
        def hencky(parameters, history, strain, dt, shape):
            left, slope = forgiven(parameters, history, strain)
            tau, K = principal_stress(parameters, history, left)
            return _along_trace(slope, tau, K)

        return hencky

    @compiled
    def faded(parameters, history, strain, dt, shape):
        left, slope = forgiven(parameters, history, strain)
        tip = tip_of(parameters, history)
        if tip == math.inf:
            tau, K = principal_stress(parameters, history, left)
        else:
            tau, K = unilateral_stress(parameters[0], parameters[1], at_tip(shape, tip), left)
        return _along_trace(slope, tau, K)

    return faded


@compiled(inline="always")
def _pair(tau, K, beta, i, j):
    """A_ij, A_ji and q of a pair of axes."""
    difference = beta[i] - beta[j]
    if abs(difference) > 1e-7 * (beta[i] + beta[j]):
        P = (tau[i] - tau[j]) / difference
    else:
        P = 0.25 * (K[4 * i] + K[4 * j] - 2.0 * K[3 * i + j]) / beta[i]
    return P * beta[j], P * beta[i], 0.5 * (P * (beta[i] + beta[j]) - tau[i] - tau[j])


@compiled
def _slack(tau, K):
    """Stress and stiffness without tension; the stiffness without what couples directions in tension to others."""
    left, K = without_tension(tau, K)
    _, K = without_tension(tau, (K[0], K[3], K[6], K[1], K[4], K[7], K[2], K[5], K[8]))
    return left, K


@compiled
def _definite_pair(pair):
    """The pair without its negative eigenvalue."""
    a, b, q = pair
    mean, half = 0.5 * (a + b), math.sqrt(0.25 * (a - b) ** 2 + q * q)
    if mean - half >= 0.0:
        return pair
    if mean + half <= 0.0:
        return 0.0, 0.0, 0.0
    factor = 0.5 * (mean + half) / half
    return factor * (a - mean + half), factor * (b - mean + half), factor * q


@compiled
def _definite_block(block):
    """The block without its negative eigenvalues."""
    values, E = eigen_sym(block)
    if min(values) >= 0.0:
        return block
    return compose_sym((max(values[0], 0.0), max(values[1], 0.0), max(values[2], 0.0)), E)


@compiled(inline="always")
def _tangent_product(numbers, L, p):
    """T(L) of one point."""
    V = (numbers[p, 0], numbers[p, 1], numbers[p, 2], numbers[p, 3], numbers[p, 4], numbers[p, 5],
         numbers[p, 6], numbers[p, 7], numbers[p, 8])  # fmt: skip
    k00, k11, k22 = numbers[p, 9], numbers[p, 10], numbers[p, 11]
    k01, k02, k12 = numbers[p, 12], numbers[p, 13], numbers[p, 14]
    a01, a10, q01 = numbers[p, 15], numbers[p, 16], numbers[p, 17]
    a02, a20, q02 = numbers[p, 18], numbers[p, 19], numbers[p, 20]
    a12, a21, q12 = numbers[p, 21], numbers[p, 22], numbers[p, 23]
    g = (numbers[p, 24], numbers[p, 25], numbers[p, 26], numbers[p, 27], numbers[p, 28], numbers[p, 29],
         numbers[p, 30], numbers[p, 31], numbers[p, 32])  # fmt: skip
    l = multiply(load(L, p), g)
    # in the principal axes: Vᵀ l V
    Vt = (V[0], V[3], V[6], V[1], V[4], V[7], V[2], V[5], V[8])
    e = multiply(multiply(Vt, l), V)
    d = (
        k00 * e[0] + k01 * e[4] + k02 * e[8], a01 * e[1] + q01 * e[3], a02 * e[2] + q02 * e[6],
        q01 * e[1] + a10 * e[3], k01 * e[0] + k11 * e[4] + k12 * e[8], a12 * e[5] + q12 * e[7],
        q02 * e[2] + a20 * e[6], q12 * e[5] + a21 * e[7], k02 * e[0] + k12 * e[4] + k22 * e[8],
    )  # fmt: skip
    return multiply_transpose(multiply_transpose(multiply(V, d), V), g)


@cache
def tangent_loops(
    law: Law, plasticity: Plasticity, energy: Literal["hencky", "unilateral"], branch: int = 0
) -> tuple[Any, Any]:
    """Loops `linearize` and `answer` over the points of a law; `energy` is that of granular laws if lagged.

    Those of the first branch write their results, those of another one add to them. Only the first one can be lagged.
    """
    load_history, _ = history_access(law.fields)
    read_constants = constants_reader(len(law.constants))
    deformation = law.branches[branch].deformation
    in_step = plasticity == "in-step" or branch > 0
    stress_of = stress_in_step(law, branch) if in_step else lagged_stress(law, energy)
    adds = branch > 0

    @compiled(parallel=True)
    def linearize(material, belongs, constants, history, torn, dt, shape, definite, L, S, numbers, smallest):
        """Write S and the numbers used by `answer`, on request those of a `definite` T; `smallest` receives det f,
        which must be positive. Points that are `torn` (n,), an array that may be empty, carry no tension."""
        for p in prange(material.size):
            m = material[p]
            if not belongs[m]:
                continue
            parameters, own = read_constants(constants[m]), load_history(history, p)
            f = deformation_of_step(load(L, p), dt)
            det = (
                f[0] * (f[4] * f[8] - f[5] * f[7])
                - f[1] * (f[3] * f[8] - f[5] * f[6])
                + f[2] * (f[3] * f[7] - f[4] * f[6])
            )
            smallest[p] = det
            if det <= 0.0:
                continue
            beta, V = eigen_sym(congruence(f, gram(deformation(parameters, own))))
            if beta[0] <= 0.0 or beta[1] <= 0.0 or beta[2] <= 0.0:
                smallest[p] = 0.0
                continue
            strain = (0.5 * math.log(beta[0]), 0.5 * math.log(beta[1]), 0.5 * math.log(beta[2]))
            tau, K = stress_of(parameters, own, strain, dt, shape)
            if torn.size > 0 and torn[p] != 0:
                tau, K = _slack(tau, K)
            g = inverse(f)
            for k in range(9):
                numbers[p, k], numbers[p, 24 + k] = V[k], g[k]
            block = (K[0] - tau[0], K[4] - tau[1], K[8] - tau[2], K[1], K[2], K[5])
            first, second = _pair(tau, K, beta, 0, 1), _pair(tau, K, beta, 0, 2)
            third = _pair(tau, K, beta, 1, 2)
            if definite:
                block, first = _definite_block(block), _definite_pair(first)
                second, third = _definite_pair(second), _definite_pair(third)
            for k in range(6):
                numbers[p, 9 + k] = block[k]
            for k in range(3):
                numbers[p, 15 + k], numbers[p, 18 + k], numbers[p, 21 + k] = first[k], second[k], third[k]
            s = compose_sym(tau, V)
            result = multiply_transpose((s[0], s[3], s[4], s[3], s[1], s[5], s[4], s[5], s[2]), g)
            for i in range(3):
                for j in range(3):
                    S[p, i, j] = result[3 * i + j] + (S[p, i, j] if adds else 0.0)

    return linearize, further_answer if adds else answer


@compiled(parallel=True)
def answer(material, belongs, numbers, L, T):
    """Write T(L) for the points whose materials belong to the law."""
    for p in prange(material.size):
        if belongs[material[p]]:
            result = _tangent_product(numbers, L, p)
            for i in range(3):
                for j in range(3):
                    T[p, i, j] = result[3 * i + j]


@compiled(parallel=True)
def further_answer(material, belongs, numbers, L, T):
    """Add T(L) of a further branch."""
    for p in prange(material.size):
        if belongs[material[p]]:
            result = _tangent_product(numbers, L, p)
            for i in range(3):
                for j in range(3):
                    T[p, i, j] += result[3 * i + j]
