"""Solids with rate-dependent plastic flow: stress linear in the stretches [Gerszewski09], flow of [Bargteil07].

Stress, [Gerszewski09] eq. (9), from an energy of the principal stretches σ of the elastic deformation:

    P_i = 2 μ (σ_i − 1) + λ Σ(σ_j − 1),    W = μ Σ(σ_i − 1)² + λ/2 (Σ(σ_i − 1))²,    τ_i = σ_i P_i

With stretches = "squared" (the hyperelastic boxes of the paper's figure 5) σ² replaces σ in eq. (9). With the form F P
of eq. (10), this stress has the energy of a Saint Venant-Kirchhoff solid, ¼ (μ Σ(σ_i² − 1)² + λ/2 (Σ(σ_i² − 1))²). The
factor ¼ keeps Young's modulus; the stress as printed is twice as large.

Flow. In each step the fraction γ of the deviatoric logarithmic strain becomes plastic, at constant volume:

    γ = ν Δt (‖P‖ − P_Y − K α)/‖P‖, between 0 and 1,    F_p = (F/J^(1/3))^γ

Here ν is a rate; the paper prints the formula without Δt, so that the flow would depend on the time step. α is the
accumulated plastic strain Σ‖Δε_p‖. In uniaxial tension ‖P‖ is the stress itself, so P_Y is a uniaxial yield stress.
Variants of [Gerszewski09] section 4: `reference_stress` P0 multiplies the rate by P0/‖P‖ (figure 1: the material flows
easily under small stresses and resists large ones); with `volume_limit`, the part of ln J beyond the limit also flows
("relaxing the constraint"), at the rate without P0/‖P‖: it prevents collapse, which large stresses come with.

The energy is not convex in the logarithmic strain: below a stretch of one half, the stress decreases with further
compression. Flow that would increase the energy there is suppressed.
"""

import math
from typing import Literal

from pydantic import Field as Describe

from spume.fields import Field
from spume.materials.hencky import HenckyParameters, hencky_wave_speed, lame_parameters, principal_strain
from spume.materials.law import Branch, Law
from spume.materials.principal import (
    DISSIPATION,
    ELASTIC_STRAIN,
    elastic_volume,
    kept_deformation,
    kept_left_tensor,
    split,
)
from spume.materials.von_mises import IDENTITY_MAP
from spume.numerics.jit import compiled
from spume.numerics.spectral3 import eigen_sym, eigenvalues_sym
from spume.numerics.tensor3 import compose_sym, congruence


class CorotatedPlasticParameters(HenckyParameters):
    """Solid with rate-dependent plastic flow."""

    flow_rate: float = Describe(ge=0, description="ν, rate of plastic flow far above yield [1/s]")
    yield_stress: float = Describe(ge=0, description="P_Y, stress ‖P‖ above which it flows [Pa]")
    hardening: float = Describe(default=0.0, ge=0, description="K, growth of the yield stress with plastic strain [Pa]")
    reference_stress: float | None = Describe(
        default=None, gt=0, description="P0: the flow rate is multiplied by P0/‖P‖; none: constant flow rate [Pa]"
    )
    volume_limit: float | None = Describe(
        default=None, gt=0, description="limit of |ln J|, beyond which volume flows too; none: volume never flows [1]"
    )
    stretches: Literal["plain", "squared"] = Describe(
        default="plain", description="power of the stretches in the stress: 'plain' or 'squared' [1]"
    )


@compiled
def first_piola(mu, lam, squared, strain):
    """Principal first Piola-Kirchhoff stresses P, dP/dε (row-major 9-tuple) and the energy [J/m³]."""
    s0, s1, s2 = math.exp(strain[0]), math.exp(strain[1]), math.exp(strain[2])
    if squared == 0.0:
        x0, x1, x2 = math.expm1(strain[0]), math.expm1(strain[1]), math.expm1(strain[2])
        total = x0 + x1 + x2
        W = mu * (x0 * x0 + x1 * x1 + x2 * x2) + 0.5 * lam * total * total
        P = (2.0 * mu * x0 + lam * total, 2.0 * mu * x1 + lam * total, 2.0 * mu * x2 + lam * total)
        m, l0, l1, l2 = 2.0 * mu, lam * s0, lam * s1, lam * s2
        return P, (m * s0 + l0, l1, l2, l0, m * s1 + l1, l2, l0, l1, m * s2 + l2), W
    x0, x1, x2 = math.expm1(2.0 * strain[0]), math.expm1(2.0 * strain[1]), math.expm1(2.0 * strain[2])
    total = x0 + x1 + x2
    W = 0.25 * (mu * (x0 * x0 + x1 * x1 + x2 * x2) + 0.5 * lam * total * total)
    S0, S1, S2 = mu * x0 + 0.5 * lam * total, mu * x1 + 0.5 * lam * total, mu * x2 + 0.5 * lam * total
    # P_i = σ_i S_i, dS_i/dε_j = 2 μ σ_j² δ_ij + λ σ_j²
    q0, q1, q2 = s0 * s0, s1 * s1, s2 * s2
    D = (
        s0 * (S0 + (2.0 * mu + lam) * q0), s0 * lam * q1, s0 * lam * q2,
        s1 * lam * q0, s1 * (S1 + (2.0 * mu + lam) * q1), s1 * lam * q2,
        s2 * lam * q0, s2 * lam * q1, s2 * (S2 + (2.0 * mu + lam) * q2),
    )  # fmt: skip
    return (s0 * S0, s1 * S1, s2 * S2), D, W


@compiled
def kirchhoff(mu, lam, squared, strain):
    """Principal Kirchhoff stresses τ_i = σ_i P_i and their derivative."""
    (P0, P1, P2), D, _ = first_piola(mu, lam, squared, strain)
    s0, s1, s2 = math.exp(strain[0]), math.exp(strain[1]), math.exp(strain[2])
    t0, t1, t2 = s0 * P0, s1 * P1, s2 * P2
    return (t0, t1, t2), (
        s0 * D[0] + t0, s0 * D[1], s0 * D[2],
        s1 * D[3], s1 * D[4] + t1, s1 * D[5],
        s2 * D[6], s2 * D[7], s2 * D[8] + t2,
    )  # fmt: skip


@compiled
def piola_of_stretches(mu, lam, squared, s):
    """P and the energy [J/m³] as functions of the principal stretches σ: `first_piola` without exponentials."""
    s0, s1, s2 = s
    if squared == 0.0:
        x0, x1, x2 = s0 - 1.0, s1 - 1.0, s2 - 1.0
        total = x0 + x1 + x2
        W = mu * (x0 * x0 + x1 * x1 + x2 * x2) + 0.5 * lam * total * total
        return (2.0 * mu * x0 + lam * total, 2.0 * mu * x1 + lam * total, 2.0 * mu * x2 + lam * total), W
    x0, x1, x2 = s0 * s0 - 1.0, s1 * s1 - 1.0, s2 * s2 - 1.0
    total = x0 + x1 + x2
    W = 0.25 * (mu * (x0 * x0 + x1 * x1 + x2 * x2) + 0.5 * lam * total * total)
    half = 0.5 * lam * total
    return (s0 * (mu * x0 + half), s1 * (mu * x1 + half), s2 * (mu * x2 + half)), W


@compiled
def flowing_part(nu, PY, K, P0, hardened, size, dt):
    """γ and dγ/d‖P‖ for ‖P‖ = size."""
    excess = size - PY - K * hardened
    if excess <= 0.0:
        return 0.0, 0.0
    rate = nu * dt
    if P0 > 0.0:
        rate *= P0 / size
    gamma = rate * excess / size
    if gamma >= 1.0:
        return 1.0, 0.0
    return gamma, (rate - (2.0 * gamma if P0 > 0.0 else gamma)) / size


@compiled
def volume_beyond(limit, strain):
    """A third of the part of ln J beyond its limit, and whether there is one, 0 or 1."""
    trace = strain[0] + strain[1] + strain[2]
    if limit > 0.0 and abs(trace) > limit:
        return (trace - math.copysign(limit, trace)) / 3.0, 1.0
    return 0.0, 0.0


@compiled
def flow(parameters, hardened, strain, dt):
    """Strain after the flow, its derivative with respect to the trial strain, γ, and the dissipated energy."""
    mu, lam, nu, PY, K, P0, limit, squared = parameters
    P, D, before = first_piola(mu, lam, squared, strain)
    size = math.sqrt(P[0] * P[0] + P[1] * P[1] + P[2] * P[2])
    gamma, slope = flowing_part(nu, PY, K, P0, hardened, size, dt)
    if gamma <= 0.0:
        return strain, IDENTITY_MAP, 0.0, 0.0
    beyond, moving = volume_beyond(limit, strain)
    volume_part, volume_slope = flowing_part(nu, PY, K, 0.0, hardened, size, dt)
    _, (d0, d1, d2), _ = split(strain)
    flowed = volume_part * beyond
    after = (strain[0] - gamma * d0 - flowed, strain[1] - gamma * d1 - flowed, strain[2] - gamma * d2 - flowed)
    dissipated = before - first_piola(mu, lam, squared, after)[2]
    if dissipated < 0.0:
        return strain, IDENTITY_MAP, 0.0, 0.0
    # dε' = dε − γ dd − d dγ − γv dβ − β dγv with d the deviator and β the volume beyond its limit, dβ = dtr/3
    n0, n1, n2 = P[0] / size, P[1] / size, P[2] / size
    g0 = n0 * D[0] + n1 * D[3] + n2 * D[6]  # d‖P‖/dε
    g1 = n0 * D[1] + n1 * D[4] + n2 * D[7]
    g2 = n0 * D[2] + n1 * D[5] + n2 * D[8]
    a, c = 1.0 - gamma, (gamma - volume_part * moving) / 3.0
    v = volume_slope * beyond
    y0, y1, y2 = slope * d0 + v, slope * d1 + v, slope * d2 + v
    derivative = (
        a + c - y0 * g0, c - y0 * g1, c - y0 * g2,
        c - y1 * g0, a + c - y1 * g1, c - y1 * g2,
        c - y2 * g0, c - y2 * g1, a + c - y2 * g2,
    )  # fmt: skip
    return after, derivative, gamma, dissipated


@compiled
def stress(parameters, history):
    """τ = V diag(σ P) Vᵀ."""
    squares, V = eigen_sym(history[0])
    tau, _ = kirchhoff(parameters[0], parameters[1], parameters[7], principal_strain(squares))
    return compose_sym(tau, V)


@compiled
def energy(parameters, history):
    """W of the elastic stretches."""
    strain = principal_strain(eigenvalues_sym(history[0]))
    return first_piola(parameters[0], parameters[1], parameters[7], strain)[2]


@compiled
def update(f, dt, parameters, history):
    """b ← f b fᵀ, then the flow."""
    mu, lam, nu, PY, K, P0, limit, squared = parameters
    b, hardened, flowed_volume, dissipation = history
    moved = congruence(f, b)
    squares, V = eigen_sym(moved)
    s = (math.sqrt(squares[0]), math.sqrt(squares[1]), math.sqrt(squares[2]))
    P, before = piola_of_stretches(mu, lam, squared, s)
    size = math.sqrt(P[0] * P[0] + P[1] * P[1] + P[2] * P[2])
    gamma, _ = flowing_part(nu, PY, K, P0, hardened, size, dt)
    if gamma > 0.0:
        strain = principal_strain(squares)
        beyond, _ = volume_beyond(limit, strain)
        volume_part, _ = flowing_part(nu, PY, K, 0.0, hardened, size, dt)
        _, d, _ = split(strain)
        flowed = volume_part * beyond
        y = (gamma * d[0] + flowed, gamma * d[1] + flowed, gamma * d[2] + flowed)
        after = (s[0] * math.exp(-y[0]), s[1] * math.exp(-y[1]), s[2] * math.exp(-y[2]))
        Pa, Wa = piola_of_stretches(mu, lam, squared, after)
        if before >= Wa:
            s, P = after, Pa
            hardened += math.sqrt(y[0] * y[0] + y[1] * y[1] + y[2] * y[2])
            if limit > 0.0:
                flowed_volume += y[0] + y[1] + y[2]
            dissipation += before - Wa
            moved = compose_sym((s[0] * s[0], s[1] * s[1], s[2] * s[2]), V)
    return compose_sym((s[0] * P[0], s[1] * P[1], s[2] * P[2]), V), (moved, hardened, flowed_volume, dissipation)


@compiled
def volume_ratio(history):
    """J = det Fe exp(flowed volume)."""
    return elastic_volume(history[0]) * math.exp(history[2])


@compiled
def principal_stress(parameters, history, strain):
    """Principal Kirchhoff stresses and their derivative."""
    return kirchhoff(parameters[0], parameters[1], parameters[7], strain)


@compiled
def return_map(parameters, history, strain, dt):
    """Strain after the flow and its derivative."""
    after, derivative, _, _ = flow(parameters, history[1], strain, dt)
    return after, derivative


def _pack(p: CorotatedPlasticParameters) -> tuple[float, ...]:
    mu, lam = lame_parameters(p.youngs_modulus, p.poisson_ratio)
    squared = 1.0 if p.stretches == "squared" else 0.0
    # 0 encodes "none": given values are positive
    return mu, lam, p.flow_rate, p.yield_stress, p.hardening, p.reference_stress or 0.0, p.volume_limit or 0.0, squared


HARDENED = Field("hardened", (), 0.0, "1", "average", description="α, accumulated plastic strain")
FLOWED_VOLUME = Field(
    "flowed_volume", (), 0.0, "1", "average", description="logarithm of the volume ratio that has flowed"
)

COROTATED_PLASTIC = Law(
    name="corotated-plastic",
    parameters=CorotatedPlasticParameters,
    fields=(ELASTIC_STRAIN, HARDENED, FLOWED_VOLUME, DISSIPATION),
    constants=("mu", "lam", "nu", "PY", "K", "P0", "limit", "squared"),
    pack=_pack,
    update=update,
    stress=stress,
    energy=energy,
    volume_ratio=volume_ratio,
    wave_speed=hencky_wave_speed,
    branches=(Branch(kept_deformation, principal_stress, return_map, kept_left_tensor),),
    description="modelling clay, dough: linear in the stretches, rate-dependent flow ([Gerszewski09], [Bargteil07])",
)
