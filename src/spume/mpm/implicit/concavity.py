"""Penalties that ADMM needs where the energy is concave.

An isotropic energy Ψ(X) is not convex: that of a compressed point falls when the point turns, and that of a Hencky
solid is concave beyond a stretch of e. Linearised at its fixed point, ADMM with relaxation α is

    T = 1 − α/2 + α/2 (1 − a)(1 − b)/((1 + a)(1 + b))

in each mode, with the curvatures a of Ψ and b ≥ 0 of the grid's equations in units of the penalty ρ w. For a ≥ 0
|T| ≤ 1. For a = −m the worst b, a grid that does not give way, has T = 1 − α/(1 − m), so |T| ≤ 1 requires

    ρ w ≥ (concavity −∂²Ψ)/(1 − α/2):

twice the concavity with α = 1, five times with 1.6. With less, the iterations end in a cycle. The concavity is the
largest of those of the principal stretches and, for each pair of axes, of the two numbers of the Hessian ([Teran05]):

    −(P_i + P_j)/(s_i + s_j)  for rotations,    −(P_i − P_j)/(s_i − s_j)  for shear,    P_i = τ_i/s_i.
"""

import numpy as np

from spume.numerics.jit import compiled
from spume.numerics.spectral3 import eigen_sym

MARGIN = 1.5
"""Ratio of a penalty that is raised to the least one with which ADMM converges."""


@compiled(inline="always")
def _pair(P, s, H, i, j):
    """Concavity of rotations and shear of two axes; for equal stretches the quotient becomes a derivative."""
    difference = s[i] - s[j]
    apart = abs(difference) > 1e-6 * (s[i] + s[j])
    shear = (P[i] - P[j]) / difference if apart else H[4 * i] - H[3 * i + j]
    return max(-shear, -(P[i] + P[j]) / (s[i] + s[j]))


@compiled
def concavity_2(tau, K, s):
    """Concavity −∂²Ψ/∂X² [Pa] for deformations in the plane of the first two axes, with K = dτ/dε; negative if Ψ is
    convex."""
    P = (tau[0] / s[0], tau[1] / s[1])
    a, b = (K[0] - tau[0]) / (s[0] * s[0]), (K[4] - tau[1]) / (s[1] * s[1])
    c = 0.5 * (K[1] + K[3]) / (s[0] * s[1])
    lowest = 0.5 * (a + b) - np.sqrt(0.25 * (a - b) * (a - b) + c * c)
    return max(-lowest, _pair(P, s, (a, c, 0.0, c, b), 0, 1))


@compiled
def concavity_3(tau, K, s):
    """As `concavity_2`, for all deformations."""
    P = (tau[0] / s[0], tau[1] / s[1], tau[2] / s[2])
    H = (
        (K[0] - tau[0]) / (s[0] * s[0]), 0.5 * (K[1] + K[3]) / (s[0] * s[1]), 0.5 * (K[2] + K[6]) / (s[0] * s[2]),
        0.5 * (K[1] + K[3]) / (s[0] * s[1]), (K[4] - tau[1]) / (s[1] * s[1]), 0.5 * (K[5] + K[7]) / (s[1] * s[2]),
        0.5 * (K[2] + K[6]) / (s[0] * s[2]), 0.5 * (K[5] + K[7]) / (s[1] * s[2]), (K[8] - tau[2]) / (s[2] * s[2]),
    )  # fmt: skip
    values, _ = eigen_sym((H[0], H[4], H[8], H[1], H[2], H[5]))
    lowest = min(values[0], min(values[1], values[2]))
    pairs = max(_pair(P, s, H, 0, 1), max(_pair(P, s, H, 0, 2), _pair(P, s, H, 1, 2)))
    return max(-lowest, pairs)


CONCAVITY = {2: concavity_2, 3: concavity_3}
