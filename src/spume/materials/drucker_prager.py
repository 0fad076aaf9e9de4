"""Sand: Hencky elasticity with the Drucker-Prager cone, cohesion and volume correction. [Tampubolon17], [Klar16]

Hencky's energy W = μ tr ε² + λ/2 (tr ε)² has a square that is missing in print in [Tampubolon17] section 3.1.1. With
Kirchhoff stress, ‖dev τ‖ = 2 μ ‖dev ε‖ and tr τ = (2 μ + 3 λ) tr ε. The cone and its tip are

    ‖dev τ‖ + c_F tr τ ≤ c_C,    tr τ ≤ c_C/c_F      ([Tampubolon17] eq. 6)

Strains outside are projected onto the cone at constant volume, strains beyond the tip onto the tip. The relation of c_F
and c_C to the friction angle φ and the cohesion c of Mohr and Coulomb depends on the loading to be matched:

    "compression"   c_F = √(2/3) 2 sin φ/(3 − sin φ),   c_C = √(2/3) 6 c cos φ/(3 − sin φ)    triaxial compression
    "plane-strain"  c_F = √2/3 sin φ,                   c_C = √2 c cos φ                      flow in a 2D scene

In plane-strain flow, the cone for compression has the effective friction angle sin φ_eff = 3 c_F/√2: a nominal 35° acts
like 55°. With the two-dimensional tensors of the paper (d = 2), sin φ_eff = √2 c_F, which gives 33.1° instead of 35°;
this package uses three-dimensional tensors in every scene.

Volume correction: at the tip the sand separates and gains the volume v_c (a logarithm). Later compression has no effect
up to that amount, eqs. (26) and (27), with the sign of (26) corrected. Only s = min(v_c, max(0, −tr ε)) is added to the
trial strain: adding all of v_c, as printed, would restore the tension of the tip in cohesive sand and create energy.
Therefore ln J = tr ε + v_c at all times.
"""

import math
from typing import Literal

from pydantic import Field as Describe

from spume.fields import Field
from spume.materials.hencky import (
    HenckyParameters,
    energy_of_b,
    hencky_branch_stress,
    hencky_stress,
    hencky_wave_speed,
    lame_parameters,
    stress_of_b,
)
from spume.materials.law import Branch, Law
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
from spume.materials.unilateral import cone_opening
from spume.numerics.jit import compiled
from spume.numerics.tensor3 import compose_sym

Cone = Literal["auto", "compression", "plane-strain"]


class DruckerPragerParameters(HenckyParameters):
    """Sand and soil: friction, cohesion and volume correction."""

    friction_angle: float = Describe(ge=0, lt=90, description="φ, Mohr-Coulomb angle of internal friction [°]")
    cohesion: float = Describe(default=0.0, ge=0, description="c, Mohr-Coulomb cohesion [Pa]")
    volume_correction: bool = Describe(
        default=True,
        description="whether volume gained by separation is given back when compressed, and points that crowd together "
        "in explicit steps are pushed apart, true or false [1]",
    )
    cone: Cone = Describe(
        default="auto",
        description="loading in which friction angle and cohesion hold: 'compression' (triaxial), 'plane-strain', or "
        "'auto': plane-strain in 2D scenes, compression otherwise [1]",
    )


def cone_coefficients(friction_angle: float, cohesion: float, cone: Cone) -> tuple[float, float]:
    """c_F [1] and c_C [Pa] for φ [°] and c [Pa]; "auto" means compression here."""
    sine, cosine = math.sin(math.radians(friction_angle)), math.cos(math.radians(friction_angle))
    if cone == "plane-strain":
        return math.sqrt(2.0) / 3.0 * sine, math.sqrt(2.0) * cohesion * cosine
    scale = math.sqrt(2.0 / 3.0) / (3.0 - sine)
    return 2.0 * sine * scale, 6.0 * cohesion * cosine * scale


def plane_strain_angle(c_F: float) -> float | None:
    """Effective friction angle [°] of a cone in isochoric plane-strain flow, sin φ = 3 c_F/√2; None if 3 c_F/√2 > 1."""
    sine = 3.0 * c_F / math.sqrt(2.0)
    return math.degrees(math.asin(sine)) if sine <= 1.0 else None


@compiled
def give_back(trace, gained, forgiving):
    """Trace of the trial strain after the volume correction, and its derivative with respect to the trace before."""
    if forgiving > 0.0 and trace < 0.0:
        if gained < -trace:
            return trace + gained, 1.0
        if gained > 0.0:
            return 0.0, 0.0
    return trace, 1.0


@compiled
def project(parameters, gained, cohesion_factor, strain):
    """Strain after the return to the cone, and its derivative with respect to the trial strain."""
    mu, lam, c_F, c_C, forgiving = parameters
    trace, d, size = split(strain)
    trace, slope = give_back(trace, gained, forgiving)
    bulk = 2.0 * mu + 3.0 * lam
    c = c_C * cohesion_factor
    radius = (c - c_F * bulk * trace) / (2.0 * mu)
    if radius <= 0.0 and c_F > 0.0:
        third = c / (c_F * bulk) / 3.0
        return (third, third, third), (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    if size <= radius:
        return joined(trace, 1.0, d), flow_derivative(slope, 1.0, 1.0, 0.0, d, size)
    ratio = radius / size
    return joined(trace, ratio, d), flow_derivative(slope, ratio, 0.0, -c_F * bulk / (2.0 * mu) * slope, d, size)


@compiled
def apply_flow(mu, lam, moved, strain, after, V, gained, dissipation):
    """Stress, b, volume gained and energy dissipated when flow takes the principal strains from `strain` to `after`."""
    e0, e1, e2 = strain
    a0, a1, a2 = after
    if a0 != e0 or a1 != e1 or a2 != e2:
        trace, _, size = split(strain)
        trace_after, _, size_after = split(after)
        shear = mu * (size - size_after) * (size + size_after)
        volume = (0.5 * lam + mu / 3.0) * (trace - trace_after) * (trace + trace_after)
        dissipation += max(shear + volume, 0.0)  # negative only by rounding
        gained = max(gained + trace - trace_after, 0.0)
        moved = left_tensor(after, V)
    return compose_sym(hencky_stress(mu, lam, after), V), moved, gained, dissipation


@compiled
def update(f, dt, parameters, history):
    """b ← f b fᵀ, then volume correction, return to the cone, and the volume gained."""
    mu, lam, _, _, _ = parameters
    b, gained, cohesion_factor, dissipation = history
    moved, strain, V = trial(f, b)
    after, _ = project(parameters, gained, cohesion_factor, strain)
    tau, moved, gained, dissipation = apply_flow(mu, lam, moved, strain, after, V, gained, dissipation)
    return tau, (moved, gained, cohesion_factor, dissipation)


@compiled
def volume_ratio(history):
    """J = det Fe exp(v_c)."""
    return elastic_volume(history[0]) * math.exp(history[1])


@compiled
def return_map(parameters, history, strain, dt):
    """Strain after the flow and its derivative, which is zero at the tip."""
    return project(parameters, history[1], history[2], strain)


def _pack(p: DruckerPragerParameters) -> tuple[float, ...]:
    mu, lam = lame_parameters(p.youngs_modulus, p.poisson_ratio)
    c_F, c_C = cone_coefficients(p.friction_angle, p.cohesion, p.cone)
    return mu, lam, c_F, c_C, 1.0 if p.volume_correction else 0.0


def _in_dimension(p: DruckerPragerParameters, dimension: int) -> DruckerPragerParameters:
    if p.cone != "auto":
        return p
    return p.model_copy(update={"cone": "plane-strain" if dimension == 2 else "compression"})


def _derived(p: DruckerPragerParameters) -> dict[str, tuple[float, str]]:
    compression = cone_coefficients(p.friction_angle, p.cohesion, "compression")
    plane = cone_coefficients(p.friction_angle, p.cohesion, "plane-strain")
    found = {
        "c_F (compression)": (compression[0], "1"),
        "c_C (compression)": (compression[1], "Pa"),
        "c_F (plane strain)": (plane[0], "1"),
        "c_C (plane strain)": (plane[1], "Pa"),
    }
    if p.friction_angle > 0.0:
        mu, lam = lame_parameters(p.youngs_modulus, p.poisson_ratio)
        found["c0 of the cone (compression)"] = (cone_opening(mu, lam, compression[0]), "1")
        found["c0 of the cone (plane strain)"] = (cone_opening(mu, lam, plane[0]), "1")
    if (angle := plane_strain_angle(compression[0])) is not None:
        found["friction angle of the compression cone in plane strain"] = (angle, "°")
    return found


GAINED_VOLUME = Field(
    "gained_volume", (), 0.0, "1", "average", description="v_c, logarithm of the volume gained by separation"
)
COHESION_FACTOR = Field(
    "cohesion_factor", (), 1.0, "1", "average",
    description="active fraction of the material's cohesion; water in the pores changes it",
)  # fmt: skip

DRUCKER_PRAGER = Law(
    name="drucker-prager",
    parameters=DruckerPragerParameters,
    fields=(ELASTIC_STRAIN, GAINED_VOLUME, COHESION_FACTOR, DISSIPATION),
    constants=("mu", "lam", "c_F", "c_C", "forgiving"),
    pack=_pack,
    update=update,
    stress=stress_of_b,
    energy=energy_of_b,
    volume_ratio=volume_ratio,
    wave_speed=hencky_wave_speed,
    branches=(Branch(kept_deformation, hencky_branch_stress, return_map, kept_left_tensor),),
    in_dimension=_in_dimension,
    derived=_derived,
    description="sand and soil: Hencky solid with friction, cohesion and volume correction ([Tampubolon17])",
)
