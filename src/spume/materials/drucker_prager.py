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

At the tip the sand separates; the volume it gains is given back later (`granular.py`).
"""

import math
from typing import Literal

from pydantic import Field as Describe

from spume.materials.granular import COHESION_FACTOR, GAINED_VOLUME, apply_flow, give_back, volume_ratio
from spume.materials.hencky import (
    HenckyParameters,
    energy_of_b,
    hencky_branch_stress,
    hencky_wave_speed,
    lame_parameters,
    stress_of_b,
)
from spume.materials.law import Branch, Law
from spume.materials.principal import (
    DISSIPATION,
    ELASTIC_STRAIN,
    flow_derivative,
    joined,
    kept_deformation,
    kept_left_tensor,
    split,
    trial,
)
from spume.materials.traits import Failure, Granular, Traits
from spume.materials.unilateral import cone_opening
from spume.numerics.jit import compiled

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
def update(f, dt, parameters, history):
    """b ← f b fᵀ, then volume correction, return to the cone, and the volume gained."""
    mu, lam, _, _, _ = parameters
    b, gained, cohesion_factor, dissipation = history
    moved, strain, V = trial(f, b)
    after, _ = project(parameters, gained, cohesion_factor, strain)
    tau, moved, gained, dissipation = apply_flow(mu, lam, moved, strain, after, V, gained, dissipation)
    return tau, (moved, gained, cohesion_factor, dissipation)


@compiled
def return_map(parameters, history, strain, dt):
    """Strain after the flow and its derivative, which is zero at the tip."""
    return project(parameters, history[1], history[2], strain)


@compiled
def tip(parameters, history):
    """Strain tr ε/√3 at the tip of the cone with the present cohesion of a point; infinite without friction."""
    mu, lam, c_F, c_C, _ = parameters
    if c_F <= 0.0:
        return math.inf
    return c_C * history[2] / (c_F * (2.0 * mu + 3.0 * lam) * math.sqrt(3.0))


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


def _advice(p: DruckerPragerParameters, failure: Failure, speed: float) -> str | None:
    c_F, c_C = cone_coefficients(p.friction_angle, p.cohesion, p.cone)
    mu, lam = lame_parameters(p.youngs_modulus, p.poisson_ratio)
    tip = math.inf if c_F == 0.0 else c_C / (c_F * (2.0 * mu + 3.0 * lam))
    if failure == "crushed" or tip <= 0.1:
        return None
    return (
        f"its cohesion holds it up to a strain of {tip:.3g}, the tip of its cone; lower the cohesion, or raise "
        "friction_angle or youngs_modulus"
    )


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
    traits=Traits(
        granular=Granular(
            GAINED_VOLUME.name,
            ELASTIC_STRAIN.name,
            "forgiving",
            lambda p: p.cohesion,
            COHESION_FACTOR.name,
            tip=tip,
        ),
        advice=_advice,
    ),
)
