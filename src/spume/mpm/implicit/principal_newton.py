"""The particle step of ADMM in principal space: three equations (two in 2D) for the stretches of a branch.

    τ_i(Z(ε)) + θ s_i (s_i − r_i) = 0,    s_i = exp ε_i,

with the Kirchhoff stress τ after the flow Z, the singular values r of the right-hand side and the penalty θ [Pa]. It
is [Fang19] eq. (10) times s_i/V. Stretches stay positive because their logarithms are the unknowns, so inverted points
(r_i < 0) need no special treatment. The force of τ on the deformed grid is τ F^(−T) with the trial stretches; [Fang19]
prints the stress with the stretches after the flow, which is the same if nothing flows.
"""

import math
from typing import Any

from spume.materials.law import Branch
from spume.numerics.jit import compiled, inlined
from spume.numerics.tensor3 import multiply

MOST_ITERATIONS = 40
CLOSE = 1e-12
"""Tolerance of an equation relative to its terms."""
LONGEST = 1.0
"""Largest change of a logarithmic strain in one iteration."""
LEAST_START = 0.05
"""Initial stretch if the right-hand side is smaller."""
LAST_STEP = 1e-9
"""Newton's method ends when the strains change by less than this."""
LAST_SQUARED, SQUARED = 1e-6, 10.0
"""It ends earlier, below LAST_SQUARED, if convergence is quadratic: if a change is at most SQUARED times the square of
the previous one."""


@compiled(inline="always")
def _exp(x):
    """exp x; for small x by its series, which takes a third of the time."""
    if abs(x) > 0.0625:
        return math.exp(x)
    # the first omitted term is below 4e-17
    a = x * x
    low = 1.0 + x + a * (0.5 + x * (1.0 / 6.0))
    high = 1.0 / 24.0 + x * (1.0 / 120.0) + a * (1.0 / 720.0 + x * (1.0 / 5040.0) + a * (1.0 / 40320.0))
    return low + a * a * high


_product = inlined(multiply)


@compiled(inline="always")
def _solve_2(a, b, c, d, x, y):
    """Solution of (a b; c d) u = (x, y)."""
    i = 1.0 / (a * d - b * c)
    return (d * x - b * y) * i, (a * y - c * x) * i


@compiled(inline="always")
def _solve_3(k, x, y, z):
    """Solution of K u = (x, y, z) by cofactors."""
    c0, c1, c2 = k[4] * k[8] - k[5] * k[7], k[5] * k[6] - k[3] * k[8], k[3] * k[7] - k[4] * k[6]
    i = 1.0 / (k[0] * c0 + k[1] * c1 + k[2] * c2)
    return (
        (c0 * x + (k[2] * k[7] - k[1] * k[8]) * y + (k[1] * k[5] - k[2] * k[4]) * z) * i,
        (c1 * x + (k[0] * k[8] - k[2] * k[6]) * y + (k[2] * k[3] - k[0] * k[5]) * z) * i,
        (c2 * x + (k[1] * k[6] - k[0] * k[7]) * y + (k[0] * k[4] - k[1] * k[3]) * z) * i,
    )


@compiled(inline="always")
def _slope(theta, s, r):
    """Derivative of θ s (s − r) with respect to ln s; replaced by a positive value far from the solution."""
    return theta * s * max(2.0 * s - r, 0.5 * s)


@compiled
def without_tension(tau, K):
    """Principal stresses with positive ones set to zero, [Yue15] algorithm 8, and the derivative."""
    t0, t1, t2 = tau
    k0, k1, k2, k3, k4, k5, k6, k7, k8 = K
    if t0 > 0.0:
        t0, k0, k1, k2 = 0.0, 0.0, 0.0, 0.0
    if t1 > 0.0:
        t1, k3, k4, k5 = 0.0, 0.0, 0.0, 0.0
    if t2 > 0.0:
        t2, k6, k7, k8 = 0.0, 0.0, 0.0, 0.0
    return (t0, t1, t2), (k0, k1, k2, k3, k4, k5, k6, k7, k8)


def flowed_stress(branch: Branch) -> Any:
    """Compiled function (parameters, history, torn, strain, dt) -> τ after the flow, dτ/dε (ε: trial strain)."""
    principal_stress, return_map = branch.principal_stress, branch.return_map
    if return_map is None:

        @compiled
        def elastic(parameters, history, torn, strain, dt):
            tau, K = principal_stress(parameters, history, strain)
            if torn:
                return without_tension(tau, K)
            return tau, K

        return elastic

    @compiled
    def flowing(parameters, history, torn, strain, dt):
        after, derivative = return_map(parameters, history, strain, dt)
        tau, stiffness = principal_stress(parameters, history, after)
        K = _product(stiffness, derivative)
        if torn:
            return without_tension(tau, K)
        return tau, K

    return flowing


def principal_solver(branch: Branch, dimension: int) -> Any:
    """Compiled function (parameters, history, torn, dt, θ, r) -> s for the singular values r, 3-tuples; in 2D the third
    stretch is that of r."""
    stress = flowed_stress(branch)
    D = dimension

    @compiled
    def solve(parameters, history, torn, dt, theta, r):
        s0, s1, s2 = max(r[0], LEAST_START), max(r[1], LEAST_START), max(r[2], LEAST_START) if D == 3 else r[2]
        e0, e1, e2 = math.log(s0), math.log(s1), math.log(s2)
        before = 0.0
        for iteration in range(MOST_ITERATIONS):
            tau, K = stress(parameters, history, torn, (e0, e1, e2), dt)
            p0, p1, p2 = theta * s0 * (s0 - r[0]), theta * s1 * (s1 - r[1]), theta * s2 * (s2 - r[2])
            g0, g1, g2 = tau[0] + p0, tau[1] + p1, tau[2] + p2
            size = CLOSE * (theta * (s0 * s0 + s1 * s1) + abs(tau[0]) + abs(tau[1]))
            if D == 2:
                if abs(g0) + abs(g1) <= size:
                    break
                x0, x1 = _solve_2(K[0] + _slope(theta, s0, r[0]), K[1], K[3], K[4] + _slope(theta, s1, r[1]), g0, g1)
                x2 = 0.0
            else:
                if abs(g0) + abs(g1) + abs(g2) <= size:
                    break
                k = (
                    K[0] + _slope(theta, s0, r[0]), K[1], K[2],
                    K[3], K[4] + _slope(theta, s1, r[1]), K[5],
                    K[6], K[7], K[8] + _slope(theta, s2, r[2]),
                )  # fmt: skip
                x0, x1, x2 = _solve_3(k, g0, g1, g2)
            largest = max(abs(x0), max(abs(x1), abs(x2)))
            # At a corner of the flow the iteration may alternate between its sides; shorter steps prevent this.
            scale = 1.0 if iteration < 12 else 0.5
            if largest * scale > LONGEST:
                scale = LONGEST / largest
            e0 -= scale * x0
            e1 -= scale * x1
            s0 *= _exp(-scale * x0)
            s1 *= _exp(-scale * x1)
            if D == 3:
                e2 -= scale * x2
                s2 *= _exp(-scale * x2)
            if largest <= LAST_STEP or (largest <= LAST_SQUARED and largest <= SQUARED * before * before):
                break
            before = largest
        return s0, s1, s2

    return solve
