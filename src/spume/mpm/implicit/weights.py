"""Weights w of the points in ADMM, whose penalty is ρ w: [Fang19] section 7.3.

The iterations converge fastest if the penalty of a point is about a third of its stiffness. A point that flows is
softer than at the start of the step, and one that yields has no stiffness left along the deviator of its strain, while
it remains as stiff as before against changes of volume: their weights are reduced. The factors were chosen on scenes
of docs/methods/implicit.md. Where the energy is concave, the weight is large enough for the iterations
to converge without over-relaxation.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from spume.materials.law import Branch
from spume.mpm.implicit.concavity import CONCAVITY, MARGIN
from spume.mpm.implicit.principal_newton import flowed_stress
from spume.numerics.jit import compiled

STIFFNESS, BULK_MODULUS, UNIT, WHOLE_STIFFNESS = range(4)
WEIGHTS = {
    "stiffness": STIFFNESS, "plain-stiffness": WHOLE_STIFFNESS, "bulk-modulus": BULK_MODULUS, "unit": UNIT,
    "ruiz": WHOLE_STIFFNESS,
}  # fmt: skip
"""Equilibration ("ruiz") starts from the stiffness itself."""
FLOWING = 0.5
"""Weight of a point whose law can flow, relative to its stiffness."""
YIELDING = 0.25
"""Further factor for a point that yields."""
PROBE = 0.05
"""Growth of the deviator of the strain that shows whether a point yields."""


@compiled(inline="always")
def hessian_norm(tau, K, s, D):
    """‖∂²Ψ/∂s²‖_F of the first D stretches: H_ij = (K_ij − δ_ij τ_i)/(s_i s_j), with K = dτ/dε."""
    total = 0.0
    for i in range(D):
        for j in range(D):
            h = K[3 * i + j] / (s[i] * s[j])
            if i == j:
                h -= tau[i] / (s[i] * s[i])
            total += h * h
    return np.sqrt(total)


@compiled(inline="always")
def along(d, K):
    """d · K d."""
    total = 0.0
    for i in range(3):
        for j in range(3):
            total += d[i] * K[3 * i + j] * d[j]
    return total


@compiled(inline="always")
def follows_potential(K):
    """Whether the stress is the derivative of an energy: K is symmetric."""
    difference = max(abs(K[1] - K[3]), max(abs(K[2] - K[6]), abs(K[5] - K[7])))
    return difference <= 1e-6 * max(abs(K[0]), max(abs(K[4]), abs(K[8])))


@cache
def point_weight(branch: Branch, dimension: int) -> Callable[..., Any]:
    """weight(kind, parameters, history, s, strain, dt, rho) -> w [Pa] of a point with the elastic stretches s and the
    strain log s at the start of the step; `kind` is one of WEIGHTS."""
    D, flows, concavity = dimension, branch.return_map is not None, CONCAVITY[dimension]
    principal_stress, flowed = branch.principal_stress, flowed_stress(branch)

    @compiled
    def weight(kind, parameters, history, s, strain, dt, rho):
        if kind == UNIT:
            return 1.0
        if kind == BULK_MODULUS:
            _, C = principal_stress(parameters, history, (0.0, 0.0, 0.0))
            return (C[0] + C[1] + C[2] + C[3] + C[4] + C[5] + C[6] + C[7] + C[8]) / 9.0
        tau, C = principal_stress(parameters, history, strain)
        elastic = hessian_norm(tau, C, s, D)
        mean = (strain[0] + strain[1] + strain[2]) / 3.0
        d = (strain[0] - mean, strain[1] - mean, strain[2] - mean)
        w, grown, rest, concave = elastic, 1.0, 1.0, 0.0
        reduced = kind == STIFFNESS and flows
        for state in range(3 if reduced else 1):  # a loop, so that the flow is compiled once
            e, a = (mean, 1.0) if state == 0 else (mean, 1.0 + PROBE) if state == 1 else (0.0, 0.0)
            tau, K = flowed(parameters, history, False, (e + a * d[0], e + a * d[1], e + a * d[2]), dt)
            if state == 0:
                w = hessian_norm(tau, K, s, D)
                concave = concavity(tau, K, s) if follows_potential(K) else 0.0
            elif state == 1:
                grown = along(d, K)
            else:
                rest = along(d, K)
        if not w > 1e-6 * elastic:  # no stiffness at the tip of a cone: use the elastic one, section 7.3
            w = elastic
        if reduced:
            if not rest > 1e-6 * along(d, C):  # at the tip of a cone
                rest = along(d, C)
            # stiffness left along the deviator: nothing where a point yields; a point that relaxes keeps its share
            w *= FLOWING * (min(1.0, max(YIELDING, grown / rest)) if rest > 0.0 else 1.0)
        return max(w, 2.0 * MARGIN * concave / rho) if kind == STIFFNESS else w

    return weight
