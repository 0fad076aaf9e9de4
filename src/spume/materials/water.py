"""Water: a nearly incompressible fluid whose only history is its volume ratio J. [Tampubolon17] section 3.2

    p = k (J^−γ − 1),  k = K/γ      eq. (11), so that K is the bulk modulus at rest and √(K/ρ) the speed of sound
    τ = −p J I + 2 η J dev d        with the rate of deformation d = (f fᵀ − I)/(2 Δt), zero for rotations

J is multiplied by det f in each step; the paper discretises eq. (12) as 1 + Δt tr ∇v, which is det f to first order.

Tension (J > 1). At free surfaces and in spray, points move apart; the pressure as printed is then negative and holds
the spray together. With tension = "none", the default, the pressure is zero for J > 1 while J still follows the motion:
stretched water resists again exactly when it has regained its rest volume, and no energy is created. In spray, however,
J follows the mean motion of separate drops and stays above one when they land, so their volume is lost. A method that
computes the density around a point should then reset J, at free surfaces only. With tension = "full" the printed
pressure holds at every J.
"""

import math
from typing import Literal

from pydantic import Field as Describe

from spume.fields import Field
from spume.materials.law import Branch, Law, Parameters
from spume.materials.principal import DISSIPATION
from spume.materials.traits import Failure, Fluid, Traits
from spume.numerics.jit import compiled
from spume.numerics.roots import inverse_cube_root
from spume.numerics.tensor3 import det, deviator_sym, gram


class WaterParameters(Parameters):
    """Nearly incompressible fluid."""

    bulk_modulus: float = Describe(gt=0, description="K, resistance to change of volume at rest [Pa]")
    exponent: float = Describe(default=7.0, ge=1, description="γ, stiffening of the pressure under compression [1]")
    viscosity: float = Describe(default=0.0, ge=0, description="η, shear viscosity [Pa s]")
    tension: Literal["none", "full"] = Describe(
        default="none", description="what happens beyond the rest volume: 'none' (no pressure) or 'full' [1]"
    )


@compiled
def pressure(parameters, J):
    """p = k (J^−γ − 1) [Pa], and J dp/dJ; both are zero for J > 1 if tension is "none"."""
    k, gamma, _, full = parameters
    if J > 1.0 and full == 0.0:
        return 0.0, 0.0
    power = math.exp(-gamma * math.log(J))
    return k * (power - 1.0), -k * gamma * power


@compiled
def pressure_energy(parameters, J):
    """ψ with −dψ/dJ = p and ψ(1) = 0 [J/m³]."""
    k, gamma, _, full = parameters
    if J > 1.0 and full == 0.0:
        return 0.0
    log_J = math.log(J)
    # ∫ J^−γ dJ = (J^(1−γ) − 1)/(1 − γ), with expm1 for accuracy near J = 1
    work = log_J if gamma == 1.0 else math.expm1((1.0 - gamma) * log_J) / (1.0 - gamma)
    return k * (J - 1.0 - work)


@compiled
def total_stress(parameters, J, viscous):
    """−p J I plus the viscous stress."""
    p, _ = pressure(parameters, J)
    xx, yy, zz, xy, xz, yz = viscous
    return (xx - p * J, yy - p * J, zz - p * J, xy, xz, yz)


@compiled
def stress(parameters, history):
    """Stress from J and the rate of deformation of the last step."""
    return total_stress(parameters, history[0], history[1])


@compiled
def energy(parameters, history):
    """ψ(J)."""
    return pressure_energy(parameters, history[0])


@compiled
def update(f, dt, parameters, history):
    """J ← det(f) J; viscous stress of the step."""
    eta = parameters[2]
    J, _, dissipation = history
    J *= det(f)
    if eta == 0.0:
        viscous = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    else:
        # 2 η J dev d; d is objective: zero if the step is a rotation
        s = eta * J / dt
        xx, yy, zz, xy, xz, yz = deviator_sym(gram(f))
        viscous = (s * xx, s * yy, s * zz, s * xy, s * xz, s * yz)
        dissipation += 0.5 * s * (xx * xx + yy * yy + zz * zz + 2.0 * (xy * xy + xz * xz + yz * yz))
    return total_stress(parameters, J, viscous), (J, viscous, dissipation)


@compiled
def volume_ratio(history):
    """J."""
    return history[0]


@compiled
def volume_deformation(parameters, history):
    """J^(1/3) I."""
    a = 1.0 / inverse_cube_root(history[0])
    return (a, 0.0, 0.0, 0.0, a, 0.0, 0.0, 0.0, a)


@compiled
def volume_stress(parameters, history, strain):
    """τ_i = −p J with J = exp(tr ε), and the derivative."""
    J = math.exp(strain[0] + strain[1] + strain[2])
    p, slope = pressure(parameters, J)
    t, d = -p * J, -(p + slope) * J
    return (t, t, t), (d, d, d, d, d, d, d, d, d)


@compiled
def volume_return_map(parameters, history, strain, dt):
    """Strain with its deviator removed, and the derivative."""
    e = (strain[0] + strain[1] + strain[2]) / 3.0
    t = 1.0 / 3.0
    return (e, e, e), (t, t, t, t, t, t, t, t, t)


@compiled
def viscous_deformation(parameters, history):
    """I, because the viscous stress depends only on the deformation of the step."""
    return (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)


@compiled
def viscous_return_map(parameters, history, strain, dt):
    """J dev d = J/Δt dev (exp(2 ε) − 1)/2, where J is that of the history times exp(tr ε).

    The "strain after the flow" of this branch is a rate [1/s], which `viscous_stress` multiplies by 2 η.
    """
    e0, e1, e2 = strain
    s = history[0] * math.exp(e0 + e1 + e2) / dt
    x0, x1, x2 = math.exp(2.0 * e0), math.exp(2.0 * e1), math.exp(2.0 * e2)
    m = (x0 + x1 + x2) / 3.0
    r0, r1, r2 = 0.5 * s * (x0 - m), 0.5 * s * (x1 - m), 0.5 * s * (x2 - m)
    # d/dε_j: r_i from the factor J, s (δ_ij − 1/3) x_j from the other factor
    y0, y1, y2 = s * x0, s * x1, s * x2
    t0, t1, t2 = y0 / 3.0, y1 / 3.0, y2 / 3.0
    return (r0, r1, r2), (
        r0 + y0 - t0, r0 - t1, r0 - t2,
        r1 - t0, r1 + y1 - t1, r1 - t2,
        r2 - t0, r2 - t1, r2 + y2 - t2,
    )  # fmt: skip


@compiled
def viscous_stress(parameters, history, strain):
    """2 η times the rate of deformation."""
    d = 2.0 * parameters[2]
    return (d * strain[0], d * strain[1], d * strain[2]), (d, 0.0, 0.0, 0.0, d, 0.0, 0.0, 0.0, d)


# Not "J", the name in frames for the volume ratio of all points, whatever their law.
WATER_VOLUME = Field(
    "Jw", (), 1.0, "1", "average", description="volume ratio of water: present volume over rest volume", in_frames=False
)
VISCOUS_STRESS = Field(
    "viscous_stress", (6,), (0.0, 0.0, 0.0, 0.0, 0.0, 0.0), "Pa", "average",
    description="viscous Kirchhoff stress of the last step", in_frames=False,
)  # fmt: skip


def _wave_speed(p: WaterParameters) -> float:
    return math.sqrt(p.bulk_modulus / p.density)


def _advice(p: WaterParameters, failure: Failure, speed: float) -> str:
    return (
        f"water keeps its volume at speeds up to about a tenth of its speed of sound, {_wave_speed(p):.3g} m/s, and "
        f"moves at {speed:.3g} m/s here; raise its bulk_modulus, or reduce [time] courant or dt"
    )


WATER = Law(
    name="water",
    parameters=WaterParameters,
    fields=(WATER_VOLUME, VISCOUS_STRESS, DISSIPATION),
    constants=("k", "gamma", "eta", "full"),
    pack=lambda p: (p.bulk_modulus / p.exponent, p.exponent, p.viscosity, 1.0 if p.tension == "full" else 0.0),
    update=update,
    stress=stress,
    energy=energy,
    volume_ratio=volume_ratio,
    wave_speed=_wave_speed,
    branches=(
        Branch(volume_deformation, volume_stress, volume_return_map),
        Branch(viscous_deformation, viscous_stress, viscous_return_map),
    ),
    derived=lambda p: {"k": (p.bulk_modulus / p.exponent, "Pa")},
    description="water and slurry: pressure from the volume ratio, optional viscosity ([Tampubolon17])",
    traits=Traits(
        fluid=Fluid(WATER_VOLUME.name, lambda p: p.bulk_modulus, lambda p: p.tension == "none"),
        viscosity=lambda p: p.viscosity,
        advice=_advice,
    ),
)
