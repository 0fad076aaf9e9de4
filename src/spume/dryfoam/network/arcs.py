"""Circular films: length and enclosed area of an arc, and their derivatives.

A film from a to b has the chord d = b - a of length c and the half angle θ in (-π, π): it turns left by 2θ from a to b.
Its tangent at a is the chord rotated by -θ, its tangent at b the chord rotated by +θ. A film with θ > 0 bulges to the
right, out of the cell on its left. Then

    length           ℓ = c L(θ),    L = θ / sin θ
    circular segment s = c² S(θ),   S = (θ - sin θ cos θ) / (4 sin² θ)
    curvature        κ = 2 sin θ / c = ∂ℓ/∂s at a fixed chord

so half circles (θ = π/2) and larger arcs need no special treatment, and a straight film has θ = 0.
"""

import math

from spume.numerics.jit import compiled

# Taylor coefficients of L and of S/θ in θ². The radius of convergence is π, so nine terms are exact to rounding below
# SERIES; above it, the closed forms lose at most two digits.
SERIES = 0.3
_L1, _L2, _L3, _L4 = 1 / 6, 7 / 360, 31 / 15120, 127 / 604800
_L5, _L6, _L7, _L8 = 73 / 3421440, 1414477 / 653837184000, 8191 / 37362124800, 16931177 / 762187345920000
_S0, _S1, _S2, _S3, _S4 = 1 / 6, 1 / 45, 1 / 315, 2 / 4725, 1 / 18711
_S5, _S6, _S7, _S8 = 1382 / 212837625, 2 / 2606175, 14468 / 162820783125, 43867 / 4331032831125


@compiled
def arc_factors(theta):
    """(L, L', L'', S, S', S'') at the half angle θ."""
    if abs(theta) < SERIES:
        q = theta * theta
        L = 1 + q * (_L1 + q * (_L2 + q * (_L3 + q * (_L4 + q * (_L5 + q * (_L6 + q * (_L7 + q * _L8)))))))
        dL = 2 * _L1 + q * (
            4 * _L2 + q * (6 * _L3 + q * (8 * _L4 + q * (10 * _L5 + q * (12 * _L6 + q * (14 * _L7 + q * 16 * _L8)))))
        )
        ddL = 2 * _L1 + q * (
            12 * _L2
            + q * (30 * _L3 + q * (56 * _L4 + q * (90 * _L5 + q * (132 * _L6 + q * (182 * _L7 + q * 240 * _L8)))))
        )
        S = _S0 + q * (_S1 + q * (_S2 + q * (_S3 + q * (_S4 + q * (_S5 + q * (_S6 + q * (_S7 + q * _S8)))))))
        dS = _S0 + q * (
            3 * _S1
            + q
            * (
                5 * _S2
                + q * (7 * _S3 + q * (9 * _S4 + q * (11 * _S5 + q * (13 * _S6 + q * (15 * _S7 + q * 17 * _S8)))))
            )
        )
        ddS = 6 * _S1 + q * (
            20 * _S2
            + q * (42 * _S3 + q * (72 * _S4 + q * (110 * _S5 + q * (156 * _S6 + q * (210 * _S7 + q * 272 * _S8)))))
        )
        return L, theta * dL, ddL, theta * S, dS, theta * ddS
    s, k = math.sin(theta), math.cos(theta)
    bow = s - theta * k
    s2 = s * s
    L = theta / s
    dL = bow / s2
    ddL = (theta * s2 - 2 * k * bow) / (s2 * s)
    S = (theta - s * k) / (4 * s2)
    dS = bow / (2 * s2 * s)
    ddS = (theta * s2 - 3 * k * bow) / (2 * s2 * s2)
    return L, dL, ddL, S, dS, ddS


@compiled
def film_energy(c, factors, tension, dp):
    """Energy T ℓ - Δp s of a film and all its first and second derivatives, from its chord and its `arc_factors`; Δp is
    the pressure on its left minus that on its right.

    Returns (value, g, f_θ, H_cc, h, f_θθ), where the gradient with respect to the chord vector d is g d, the Hessian
    g I + H_cc d dᵀ, and the mixed derivative with respect to d and θ is h d.
    """
    L, dL, ddL, S, dS, ddS = factors
    cc = c * c
    value = tension * c * L - dp * cc * S
    g = tension * L / c - 2 * dp * S
    f_theta = tension * c * dL - dp * cc * dS
    h_cc = -tension * L / (c * cc)
    h = tension * dL / c - 2 * dp * dS
    f_theta_theta = tension * c * ddL - dp * cc * ddS
    return value, g, f_theta, h_cc, h, f_theta_theta
