"""Clay: modified Cam-clay with an elastic energy, so that closed cycles of small strain return all their work.

The elastic energy in the logarithmic strain ε follows [Borja98], shifted so that the rest state has no stress:

    W = p_r κ (exp(−tr ε/κ) + tr ε/κ − 1) + μ ‖dev ε‖²

With the mean pressure p = −tr τ/3 and P = p + p_r this is P = p_r exp(−tr ε/κ): the logarithm of the volume falls by
κ for each factor e of P, the swelling line, and the bulk modulus is P/κ. The reference pressure p_r is the largest
tension the clay bears; it should be small beside the pressures of interest. Kirchhoff stresses are meant throughout.

The yield surface is the ellipse of [Roscoe68] with q = √(3/2) ‖dev τ‖,

    f = q²/M² + P (P − P_c) ≤ 0,

and the flow is normal to it. Plastic compression v raises P_c by the factor exp(v/(λ − κ)), so isotropic compression
follows ln V = −λ ln P (a line for ln V, [Butterfield79]: λ and κ are the usual indices divided by the specific volume).
At the critical state P = P_c/2 and q = M P, where shear changes neither stress nor volume. Softening ends at
P_c = 4 p_r: the state without stress stays inside the ellipse, and flow dissipates.

A step solves for v alone. P and P_c are exponentials of v, and 2 P = P_c at a known v*. Between 0 and v* the multiplier
γ = v/(2 P − P_c) grows from zero to infinity, ‖dev ε‖ = ‖dev ε_trial‖/(1 + 6 μ γ/M²) falls to zero, and f falls from
its trial value to −P²: a bracket on both sides of the critical state, in which v = v* x is found by regula falsi.
"""

import math
from typing import Self

from pydantic import Field as Describe
from pydantic import model_validator

from spume.fields import Field
from spume.materials.law import Branch, Law, Parameters
from spume.materials.principal import (
    DISSIPATION,
    ELASTIC_STRAIN,
    elastic_volume,
    flow_derivative,
    joined,
    kept_deformation,
    kept_left_tensor,
    left_tensor,
    split,
    trial,
)
from spume.numerics.jit import compiled
from spume.numerics.spectral3 import eigen_sym
from spume.numerics.tensor3 import compose_sym

FLOOR = 4.0
"""Smallest P_c, in reference pressures."""
ITERATIONS = 100
CLOSE = 4e-16
"""Relative width of the bracket, or value of f relative to P_c², at which the iterations end."""


class CamClayParameters(Parameters):
    """Clay that hardens by compression and flows at the critical state."""

    compression_index: float = Describe(gt=0, description="λ, −d ln V/d ln P of normally consolidated clay [1]")
    swelling_index: float = Describe(gt=0, description="κ, −d ln V/d ln P on unloading, less than λ [1]")
    critical_ratio: float = Describe(gt=0, description="M, deviator stress over mean stress at the critical state [1]")
    shear_modulus: float = Describe(gt=0, description="μ, resistance to change of shape [Pa]")
    preconsolidation_pressure: float = Describe(
        gt=0, description="largest pressure the clay has borne, at least three reference pressures [Pa]"
    )
    reference_pressure: float = Describe(gt=0, description="p_r, largest isotropic tension that the clay bears [Pa]")

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.swelling_index >= self.compression_index:
            raise ValueError(
                f"swelling_index is {self.swelling_index:g}: it should be less than compression_index, "
                f"{self.compression_index:g}"
            )
        if self.preconsolidation_pressure < (FLOOR - 1.0) * self.reference_pressure:
            raise ValueError(
                f"preconsolidation_pressure is {self.preconsolidation_pressure:g}: it should be at least three times "
                f"reference_pressure, {self.reference_pressure:g}"
            )
        return self


@compiled
def clay_stress(parameters, strain):
    """Principal Kirchhoff stresses τ_i = −(P − p_r) + 2 μ dev ε_i."""
    mu, kappa, reference = parameters[0], parameters[1], parameters[2]
    trace, d, _ = split(strain)
    mean = -reference * math.expm1(-trace / kappa)
    return (mean + 2.0 * mu * d[0], mean + 2.0 * mu * d[1], mean + 2.0 * mu * d[2])


@compiled
def clay_energy(parameters, strain):
    """W [J/m³]."""
    mu, kappa, reference = parameters[0], parameters[1], parameters[2]
    trace, _, size = split(strain)
    z = -trace / kappa
    return reference * kappa * (math.expm1(z) - z) + mu * size * size


@compiled
def at_fraction(parameters, x, end, hardening, P, Pc, size):
    """f, P, P_c, γ and ‖dev ε‖ after the plastic compression v = x v*, from trial values; `end` is v*."""
    mu, kappa, M = parameters[0], parameters[1], parameters[3]
    v, slope = x * end, 1.0 / kappa + hardening
    P, Pc = P * math.exp(-v / kappa), Pc * math.exp(v * hardening)
    left = (end - v) * slope  # 2 P − P_c = P_c (exp(left) − 1)
    gamma = x / (Pc * slope * (1.0 - x)) if abs(left) < 1e-300 else v / (Pc * math.expm1(left))
    size = size / (1.0 + 6.0 * mu * gamma / (M * M))
    return 6.0 * (mu * size / M) ** 2 + P * (P - Pc), P, Pc, gamma, size


@compiled
def yielding(parameters, log_Pc, strain):
    """v, γ, ‖dev ε‖, P, P_c, and the slope of ln P_c with v; γ = 0 if the strain is elastic. `log_Pc` is relative to
    the initial P_c."""
    mu, kappa, reference, M, plastic, initial = parameters
    trace, _, size = split(strain)
    P, Pc = reference * math.exp(-trace / kappa), initial * math.exp(log_Pc)
    hardening = 1.0 / plastic
    if 6.0 * (mu * size / M) ** 2 + P * (P - Pc) <= 0.0:
        return 0.0, 0.0, size, P, Pc, hardening
    if 2.0 * P < Pc <= FLOOR * reference:
        hardening = 0.0
    end = math.log(2.0 * P / Pc) / (1.0 / kappa + hardening)
    low, high = 0.0, 1.0
    f_low = at_fraction(parameters, 0.0, end, hardening, P, Pc, size)[0]
    f_high = -((0.5 * Pc * math.exp(end * hardening)) ** 2)
    x, f, side = 0.5, 0.0, 0
    for k in range(ITERATIONS):
        x = low + (high - low) * f_low / (f_low - f_high) if k % 4 else 0.5 * (low + high)
        if not low < x < high:
            break
        f = at_fraction(parameters, x, end, hardening, P, Pc, size)[0]
        if abs(f) <= CLOSE * Pc * Pc or high - low <= CLOSE * high:
            break
        if f > 0.0:
            low, f_low = x, f
            f_high = 0.5 * f_high if side == 1 else f_high  # Illinois: the end that stays counts half
            side = 1
        else:
            high, f_high = x, f
            f_low = 0.5 * f_low if side == -1 else f_low
            side = -1
    _, P, Pc, gamma, size = at_fraction(parameters, x, end, hardening, P, Pc, size)
    return x * end, gamma, size, P, Pc, hardening


@compiled
def update(f, dt, parameters, history):
    """b ← f b fᵀ, then the return to the ellipse."""
    b, gained, log_Pc, dissipation = history
    moved, strain, V = trial(f, b)
    v, gamma, size_after, _, _, hardening = yielding(parameters, log_Pc, strain)
    after = strain
    if gamma > 0.0:
        trace, d, size = split(strain)
        after = joined(trace + v, size_after / size if size > 0.0 else 0.0, d)
        dissipation += max(
            clay_energy(parameters, strain) - clay_energy(parameters, after), 0.0
        )  # < 0 by rounding only
        gained -= v
        log_Pc = max(log_Pc + v * hardening, math.log(FLOOR * parameters[2] / parameters[5]))
        moved = left_tensor(after, V)
    return compose_sym(clay_stress(parameters, after), V), (moved, gained, log_Pc, dissipation)


@compiled
def stress(parameters, history):
    """τ of the elastic strain."""
    squares, V = eigen_sym(history[0])
    strain = (0.5 * math.log(squares[0]), 0.5 * math.log(squares[1]), 0.5 * math.log(squares[2]))
    return compose_sym(clay_stress(parameters, strain), V)


@compiled
def energy(parameters, history):
    """W of the elastic strain."""
    squares, _ = eigen_sym(history[0])
    strain = (0.5 * math.log(squares[0]), 0.5 * math.log(squares[1]), 0.5 * math.log(squares[2]))
    return clay_energy(parameters, strain)


@compiled
def volume_ratio(history):
    """J = det Fe times the plastic change of volume."""
    return elastic_volume(history[0]) * math.exp(history[1])


@compiled
def principal_stress(parameters, history, strain):
    """Principal Kirchhoff stresses and their derivative P/κ + 2 μ (δ_ij − 1/3)."""
    mu, kappa, reference = parameters[0], parameters[1], parameters[2]
    bulk = reference * math.exp(-(strain[0] + strain[1] + strain[2]) / kappa) / kappa
    other = bulk - 2.0 * mu / 3.0
    own = other + 2.0 * mu
    return clay_stress(parameters, strain), (own, other, other, other, own, other, other, other, own)


@compiled
def return_map(parameters, history, strain, dt):
    """Strain after the flow and its derivative, from the linearised equations for v and γ:

    v = γ (2 P − P_c),    6 μ² s²/M² + P (P − P_c) = 0,    s = s_trial/a,    a = 1 + 6 μ γ/M².
    """
    mu, kappa, _, M, _, _ = parameters
    trace, d, size = split(strain)
    v, gamma, s, P, Pc, hardening = yielding(parameters, history[2], strain)
    if gamma <= 0.0:
        return strain, (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
    c = 6.0 * mu / (M * M)
    a, normal = 1.0 + c * gamma, 2.0 * P - Pc
    # rows of the equations: (dv, dγ) = (b1, b2)
    a11, a12 = 1.0 + gamma * (2.0 * P / kappa + Pc * hardening), -normal
    a21, a22 = -normal * P / kappa - P * Pc * hardening, -2.0 * mu * c * s * s * c / a
    det = a11 * a22 - a12 * a21
    b1, b2 = -2.0 * gamma * P / kappa, normal * P / kappa  # for a change of the trial trace
    v_trace, g_trace = (b1 * a22 - a12 * b2) / det, (a11 * b2 - a21 * b1) / det
    b2 = -2.0 * mu * c * s / a  # for a change of the trial size
    v_size, g_size = -a12 * b2 / det, a11 * b2 / det
    turn = 1.0 / a
    length, coupling = turn - s * c / a * g_size, -s * c / a * g_trace
    m = flow_derivative(1.0 + v_trace, turn, length, coupling, d, size)
    w = v_size / (3.0 * size) if size > 0.0 else 0.0
    w0, w1, w2 = w * d[0], w * d[1], w * d[2]
    derivative = (
        m[0] + w0, m[1] + w1, m[2] + w2, m[3] + w0, m[4] + w1, m[5] + w2, m[6] + w0, m[7] + w1, m[8] + w2,
    )  # fmt: skip
    return joined(trace + v, turn, d), derivative


def wave_speed(p: CamClayParameters) -> float:
    """√((p_r/κ + 4/3 μ)/ρ) [m/s]."""
    return math.sqrt((p.reference_pressure / p.swelling_index + 4.0 / 3.0 * p.shear_modulus) / p.density)


def _pack(p: CamClayParameters) -> tuple[float, ...]:
    return (
        p.shear_modulus,
        p.swelling_index,
        p.reference_pressure,
        p.critical_ratio,
        p.compression_index - p.swelling_index,
        p.preconsolidation_pressure + p.reference_pressure,
    )


def undrained_ratio(p: CamClayParameters) -> float:
    """Fraction of its mean stress that normally consolidated clay keeps in undrained shear, 2^−(1 − κ/λ)."""
    return float(2.0 ** -(1.0 - p.swelling_index / p.compression_index))


def _derived(p: CamClayParameters) -> dict[str, tuple[float, str]]:
    sine = 3.0 * p.critical_ratio / (6.0 + p.critical_ratio)
    found = {
        "undrained strength over consolidation pressure": (0.5 * p.critical_ratio * undrained_ratio(p), "1"),
        "wave speed at the preconsolidation pressure": (
            wave_speed(p.model_copy(update={"reference_pressure": p.preconsolidation_pressure + p.reference_pressure})),
            "m/s",
        ),
    }
    if sine < 1.0:
        found["friction angle in triaxial compression"] = (math.degrees(math.asin(sine)), "°")
    return found


PLASTIC_VOLUME = Field(
    "plastic_volume", (), 0.0, "1", "average", description="logarithm of the plastic change of volume"
)
PRECONSOLIDATION = Field(
    "hardening", (), 0.0, "1", "average", description="logarithm of P_c relative to its initial value"
)

CAM_CLAY = Law(
    name="cam-clay",
    parameters=CamClayParameters,
    fields=(ELASTIC_STRAIN, PLASTIC_VOLUME, PRECONSOLIDATION, DISSIPATION),
    constants=("mu", "kappa", "reference", "M", "plastic", "initial"),
    pack=_pack,
    update=update,
    stress=stress,
    energy=energy,
    volume_ratio=volume_ratio,
    wave_speed=wave_speed,
    branches=(Branch(kept_deformation, principal_stress, return_map, kept_left_tensor),),
    derived=_derived,
    description="clay: modified Cam-clay with an elastic energy ([Borja98], [Roscoe68])",
)
