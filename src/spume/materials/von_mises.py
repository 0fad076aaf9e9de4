"""Von Mises plasticity with Hencky elasticity, for metals, clay and other materials whose yield is
pressure-independent.

The deviatoric Kirchhoff stress is limited by the uniaxial yield stress, which may grow linearly with the equivalent
plastic strain α ([SimoHughes98] §9.3 with the logarithmic strains of its §9.2):

    ‖dev τ‖ = 2 μ ‖dev ε‖ ≤ √(2/3) (σY + H α),    α̇ = √(2/3) ‖ε̇p‖

The flow keeps the volume. [Fang19] uses ‖dev τ‖ ≤ yield instead; its values times √(3/2) are uniaxial yield stresses.
"""

import math

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
from spume.numerics.jit import compiled
from spume.numerics.tensor3 import compose_sym

IDENTITY_MAP = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)


class VonMisesParameters(HenckyParameters):
    """Hencky solid that yields in shear."""

    yield_stress: float = Describe(ge=0, description="σY, von Mises yield stress in uniaxial tension [Pa]")
    hardening: float = Describe(
        default=0.0, ge=0, description="H, growth of the yield stress with the equivalent plastic strain [Pa]"
    )


@compiled
def radial_return(mu, k, hardening, strain):
    """Strain after the flow, its derivative with respect to the trial strain, and the plastic strain ‖Δεp‖.

    δ = ‖Δεp‖ solves 2 μ (‖dev ε‖ − δ) = k + 2/3 H δ; `hardening` is 2/3 H.
    """
    trace, d, size = split(strain)
    excess = 2.0 * mu * size - k
    if excess <= 0.0:
        return strain, IDENTITY_MAP, 0.0
    stiffness = 2.0 * mu + hardening
    flowed = excess / stiffness
    ratio = 1.0 - flowed / size
    after = joined(trace, ratio, d)
    return after, flow_derivative(1.0, ratio, hardening / stiffness, 0.0, d, size), flowed


@compiled
def limit(parameters, history):
    """√(2/3) (σY + H α) [Pa]."""
    _, _, k, hardening = parameters
    return k + math.sqrt(1.5) * hardening * history[1]


@compiled
def update(f, dt, parameters, history):
    """b ← f b fᵀ, then the return to the yield surface."""
    mu, lam, _, hardening = parameters
    b, plastic, dissipation = history
    moved, strain, V = trial(f, b)
    after, _, flowed = radial_return(mu, limit(parameters, history), hardening, strain)
    if flowed > 0.0:
        _, _, size = split(strain)
        dissipation += mu * flowed * (2.0 * size - flowed)  # μ (‖dev ε‖² − ‖dev ε_new‖²)
        plastic += math.sqrt(2.0 / 3.0) * flowed
        moved = left_tensor(after, V)
    return compose_sym(hencky_stress(mu, lam, after), V), (moved, plastic, dissipation)


@compiled
def volume_ratio(history):
    """J = √det b: the flow keeps the volume."""
    return elastic_volume(history[0])


@compiled
def return_map(parameters, history, strain, dt):
    """Strain after the flow and its derivative."""
    mu, _, _, hardening = parameters
    after, derivative, _ = radial_return(mu, limit(parameters, history), hardening, strain)
    return after, derivative


def _pack(p: VonMisesParameters) -> tuple[float, ...]:
    mu, lam = lame_parameters(p.youngs_modulus, p.poisson_ratio)
    return mu, lam, math.sqrt(2.0 / 3.0) * p.yield_stress, 2.0 / 3.0 * p.hardening


PLASTIC_STRAIN = Field("plastic_strain", (), 0.0, "1", "average", description="accumulated equivalent plastic strain")

VON_MISES = Law(
    name="von-mises",
    parameters=VonMisesParameters,
    fields=(ELASTIC_STRAIN, PLASTIC_STRAIN, DISSIPATION),
    constants=("mu", "lam", "k", "hardening"),
    pack=_pack,
    update=update,
    stress=stress_of_b,
    energy=energy_of_b,
    volume_ratio=volume_ratio,
    wave_speed=hencky_wave_speed,
    branches=(Branch(kept_deformation, hencky_branch_stress, return_map, kept_left_tensor),),
    description="metal, clay: Hencky solid with a von Mises yield stress and linear hardening",
)
