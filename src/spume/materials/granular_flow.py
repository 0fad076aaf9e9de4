"""Dry grains that flow: friction that grows with the rate of shear, μ(I). [Jop06], return map as in [Dunatunga15]

With Kirchhoff stress, pressure P = −tr τ/3 and the inertial number I of the flow,

    ‖dev τ‖ ≤ √2 (μ(I) P + c),    μ(I) = μ_s + (μ_2 − μ_s)/(I0/I + 1),    I = γ̇ d √(ρ_s/P),

where γ̇ = √2 ‖Dp‖ is the shear rate of the plastic flow, d the diameter and ρ_s the density of a grain, μ_s = tan θ_s
and μ_2 = tan θ_2. A layer rests on slopes up to θ_s, flows steadily between θ_s and θ_2, and accelerates beyond. At
I = 0 this is the plane-strain cone of `drucker_prager.py` with sin φ = μ_s and the cohesion c/cos φ. Elasticity, volume
correction and flow at constant volume are as there.

In a step of Δt the deviator of the strain returns from ‖dev ε‖ = s to r along its direction, at γ̇ = √2 (s − r)/Δt.
With A = P/(√2 μ), the shear modulus μ, and s and r counted from c/(√2 μ), r = A μ(I) and I = k (s − r) give

    k r² − (I0 + k (s + A μ_2)) r + A (I0 μ_s + k s μ_2) = 0,    k = √2 d √(ρ_s/P)/Δt,

of which the smaller root is between A μ_s and both s and A μ_2. In tension, P < 0, there is no rate and r = A μ_s.
"""

import math

from pydantic import Field as Describe
from pydantic import model_validator

from spume.materials.granular import GAINED_VOLUME, apply_flow, give_back, volume_ratio
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
from spume.materials.traits import Granular, Traits
from spume.numerics.jit import compiled


class GranularFlowParameters(HenckyParameters):
    """Dry grains whose friction grows with the rate of shear."""

    friction_angle: float = Describe(gt=0, lt=90, description="θ_s, steepest slope on which grains at rest stay [°]")
    fast_friction_angle: float = Describe(
        gt=0, lt=90, description="θ_2, steepest slope with a steady flow; at least friction_angle [°]"
    )
    inertial_number: float = Describe(
        default=0.3, gt=0, description="I0, inertial number at which friction is halfway between the two [1]"
    )
    grain_diameter: float = Describe(gt=0, description="d, diameter of a grain [m]")
    grain_density: float = Describe(default=2650.0, gt=0, description="ρ_s, density of a grain [kg/m³]")
    cohesion: float = Describe(default=0.0, ge=0, description="c, shear stress that flow needs without pressure [Pa]")
    volume_correction: bool = Describe(
        default=True,
        description="whether volume gained by separation is given back when compressed, and points that crowd together "
        "in explicit steps are pushed apart, true or false [1]",
    )

    @model_validator(mode="after")
    def _friction_grows(self) -> "GranularFlowParameters":
        if self.fast_friction_angle < self.friction_angle:
            raise ValueError(
                f"fast_friction_angle is {self.fast_friction_angle:g}: it should be at least friction_angle, "
                f"{self.friction_angle:g}"
            )
        return self


def friction_at(p: GranularFlowParameters, inertial_number: float) -> float:
    """μ(I)."""
    slow, fast = math.tan(math.radians(p.friction_angle)), math.tan(math.radians(p.fast_friction_angle))
    return slow + (fast - slow) * inertial_number / (p.inertial_number + inertial_number)


@compiled
def project(parameters, gained, strain, dt):
    """Strain after the flow of a step, and its derivative with respect to the trial strain."""
    mu, lam, slow, fast, forgiving, cohesion, grain, I0 = parameters
    trace, d, size = split(strain)
    trace, slope = give_back(trace, gained, forgiving)
    third_of_bulk = (2.0 * mu + 3.0 * lam) / 3.0
    pressure = -third_of_bulk * trace
    scale = 1.0 / (math.sqrt(2.0) * mu)
    offset = cohesion * scale
    radius = offset + scale * slow * pressure  # of the cone at rest
    if radius <= 0.0:
        third = cohesion / (3.0 * slow * third_of_bulk)
        return (third, third, third), (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    if size <= radius:
        return joined(trace, 1.0, d), flow_derivative(slope, 1.0, 1.0, 0.0, d, size)
    along, across = 0.0, scale * slow
    if pressure > 0.0 and fast > slow:
        A, s = scale * pressure, size - offset
        k = grain / (dt * math.sqrt(pressure))
        B, C = I0 + k * (s + A * fast), A * (I0 * slow + k * s * fast)
        # B² − 4 k C as a sum, which cannot become negative by rounding
        root = math.sqrt((I0 + k * (A * fast - s)) ** 2 + 4.0 * k * I0 * (s - A * slow))
        r = 2.0 * C / (B + root)
        radius = offset + r
        along = k * (A * fast - r) / root
        # by the pressure: dA/dP = scale, dk/dP = −k/(2 P)
        dk = -0.5 * k / pressure
        dB = dk * (s + A * fast) + k * scale * fast
        dC = scale * (I0 * slow + k * s * fast) + A * dk * s * fast
        across = (dk * r * r - dB * r + dC) / root
    ratio = radius / size
    return joined(trace, ratio, d), flow_derivative(slope, ratio, along, -across * third_of_bulk * slope, d, size)


@compiled
def update(f, dt, parameters, history):
    """b ← f b fᵀ, then volume correction, flow, and the volume gained."""
    b, gained, dissipation = history
    moved, strain, V = trial(f, b)
    after, _ = project(parameters, gained, strain, dt)
    tau, moved, gained, dissipation = apply_flow(
        parameters[0], parameters[1], moved, strain, after, V, gained, dissipation
    )
    return tau, (moved, gained, dissipation)


@compiled
def return_map(parameters, history, strain, dt):
    """Strain after the flow and its derivative, which is zero at the tip."""
    return project(parameters, history[1], strain, dt)


def _pack(p: GranularFlowParameters) -> tuple[float, ...]:
    mu, lam = lame_parameters(p.youngs_modulus, p.poisson_ratio)
    slow, fast = math.tan(math.radians(p.friction_angle)), math.tan(math.radians(p.fast_friction_angle))
    grain = math.sqrt(2.0 * p.grain_density) * p.grain_diameter
    return mu, lam, slow, fast, 1.0 if p.volume_correction else 0.0, p.cohesion, grain, p.inertial_number


def _derived(p: GranularFlowParameters) -> dict[str, tuple[float, str]]:
    return {"μ_s": (friction_at(p, 0.0), "1"), "μ_2": (math.tan(math.radians(p.fast_friction_angle)), "1")}


GRANULAR_FLOW = Law(
    name="granular-flow",
    parameters=GranularFlowParameters,
    fields=(ELASTIC_STRAIN, GAINED_VOLUME, DISSIPATION),
    constants=("mu", "lam", "slow", "fast", "forgiving", "cohesion", "grain", "I0"),
    pack=_pack,
    update=update,
    stress=stress_of_b,
    energy=energy_of_b,
    volume_ratio=volume_ratio,
    wave_speed=hencky_wave_speed,
    branches=(Branch(kept_deformation, hencky_branch_stress, return_map, kept_left_tensor),),
    derived=_derived,
    description="dry grains: Hencky solid whose friction grows with the rate of shear, μ(I) ([Jop06])",
    traits=Traits(granular=Granular(GAINED_VOLUME.name, ELASTIC_STRAIN.name, "forgiving", lambda p: p.cohesion)),
)
