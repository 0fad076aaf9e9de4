"""The particle step of ADMM in principal space: three equations (two in 2D) for the stretches of a branch.

    τ_i(Z(ε)) + θ s_i (s_i − r_i) = 0,    s_i = exp ε_i,

with the Kirchhoff stress τ after the flow Z, the singular values r of the right-hand side and the penalty θ [Pa]. It
is [Fang19] eq. (10) times s_i/V. Stretches stay positive because their logarithms are the unknowns, so inverted points
(r_i < 0) need no special treatment. The force of τ on the deformed grid is τ F^(−T) with the trial stretches; [Fang19]
prints the stress with the stretches after the flow, which is the same if nothing flows.
"""

from typing import Any

from spume.materials.law import Branch, Law
from spume.materials.loops import constants_reader, history_access
from spume.numerics.jit import compiled, inlined
from spume.numerics.lane_functions import exp_of_lanes, log_of_lanes
from spume.numerics.lanes import LANES, abs_of_lanes, all_less, where_at_most, where_less, zero_lanes
from spume.numerics.svd_lanes import SVD_ROWS, VALUES, put, row
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
THETA, ACTIVE, STRAIN, STRESS, STIFFNESS, ROWS = SVD_ROWS, *(SVD_ROWS + k for k in (1, 2, 5, 8, 17))
"""Rows of the memory of a group of points after those of `svd_of_eight`, and the number of all rows."""


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
    return theta * s * _larger(2.0 * s - r, 0.5 * s)


@compiled(inline="always")
def _larger(a, b):
    return where_less(a, b, b, a)


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


def principal_solver(law: Law, index: int, dimension: int) -> Any:
    """Compiled function that solves for the stretches of eight points at once.

    solve(material, constants, history, torn, dt, first, memory)
        memory: shape (ROWS, LANES), contiguous. Its rows from VALUES contain the singular values r of the points from
        `first`, and receive the stretches s; in 2D the third one is not changed. Rows THETA and ACTIVE contain θ and 1,
        or 0 for lanes to leave out. The stresses are computed point by point, all else for eight points together.
    """
    branch = law.branches[index]
    stress = flowed_stress(branch)
    load_history, _ = history_access(law.fields)
    read_constants = constants_reader(len(law.constants))
    D = dimension

    @compiled(inline="always")
    def evaluate(material, constants, history, torn, dt, first, memory):
        """Write τ and dτ/dε of the active lanes."""
        for k in range(LANES):
            if memory[ACTIVE, k] > 0.0:
                p = first + k
                parameters, own = read_constants(constants[material[p]]), load_history(history, p)
                strain = (memory[STRAIN, k], memory[STRAIN + 1, k], memory[STRAIN + 2, k])
                tau, K = stress(parameters, own, torn.size > 0 and torn[p] != 0, strain, dt)
                for i in range(D):
                    memory[STRESS + i, k] = tau[i]
                    for j in range(D):
                        memory[STIFFNESS + 3 * i + j, k] = K[3 * i + j]

    @compiled
    def solve(material, constants, history, torn, dt, first, memory):
        r0, r1, r2 = row(memory, VALUES), row(memory, VALUES + 1), row(memory, VALUES + 2)
        theta = row(memory, THETA)
        s0, s1, s2 = _larger(r0, LEAST_START), _larger(r1, LEAST_START), _larger(r2, LEAST_START) if D == 3 else r2
        e0, e1, e2 = log_of_lanes(s0), log_of_lanes(s1), log_of_lanes(s2)
        before = zero_lanes()
        for iteration in range(MOST_ITERATIONS):
            active = row(memory, ACTIVE)
            if all_less(active, 0.5):
                break
            put(memory, STRAIN, e0)
            put(memory, STRAIN + 1, e1)
            put(memory, STRAIN + 2, e2)
            evaluate(material, constants, history, torn, dt, first, memory)
            t0, t1 = row(memory, STRESS), row(memory, STRESS + 1)
            g0, g1 = t0 + theta * s0 * (s0 - r0), t1 + theta * s1 * (s1 - r1)
            k0, k1 = row(memory, STIFFNESS) + _slope(theta, s0, r0), row(memory, STIFFNESS + 1)
            k3, k4 = row(memory, STIFFNESS + 3), row(memory, STIFFNESS + 4) + _slope(theta, s1, r1)
            error = abs_of_lanes(g0) + abs_of_lanes(g1)
            size = CLOSE * (theta * (s0 * s0 + s1 * s1) + abs_of_lanes(t0) + abs_of_lanes(t1))
            if D == 2:
                x0, x1 = _solve_2(k0, k1, k3, k4, g0, g1)
                x2 = zero_lanes()
            else:
                g2 = row(memory, STRESS + 2) + theta * s2 * (s2 - r2)
                error += abs_of_lanes(g2)
                k2, k5 = row(memory, STIFFNESS + 2), row(memory, STIFFNESS + 5)
                k6, k7 = row(memory, STIFFNESS + 6), row(memory, STIFFNESS + 7)
                k8 = row(memory, STIFFNESS + 8) + _slope(theta, s2, r2)
                x0, x1, x2 = _solve_3((k0, k1, k2, k3, k4, k5, k6, k7, k8), g0, g1, g2)
            active = where_at_most(error, size, 0.0, active)
            x0, x1, x2 = (
                where_less(0.5, active, x0, 0.0), where_less(0.5, active, x1, 0.0), where_less(0.5, active, x2, 0.0)
            )  # fmt: skip
            largest = _larger(abs_of_lanes(x0), _larger(abs_of_lanes(x1), abs_of_lanes(x2)))
            # At a corner of the flow the iteration may alternate between its sides; shorter steps prevent this.
            longest = 1.0 if iteration < 12 else 0.5
            scale = where_less(LONGEST, largest * longest, LONGEST / largest, longest)
            x0, x1, x2 = scale * x0, scale * x1, scale * x2
            e0 -= x0
            e1 -= x1
            s0 *= exp_of_lanes(0.0 - x0)
            s1 *= exp_of_lanes(0.0 - x1)
            if D == 3:
                e2 -= x2
                s2 *= exp_of_lanes(0.0 - x2)
            last = where_at_most(largest, LAST_SQUARED, SQUARED * before * before, 0.0)
            put(memory, ACTIVE, where_at_most(largest, _larger(last, LAST_STEP), 0.0, active))
            before = largest
        put(memory, VALUES, s0)
        put(memory, VALUES + 1, s1)
        put(memory, VALUES + 2, s2)

    return solve
