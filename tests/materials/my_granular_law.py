"""Rockfill, whose angle of friction falls with the pressure: the granular law of the tutorial."""

import math

from pydantic import Field as Describe

from spume.laws import Branch, Granular, Law, Traits, compiled, granular, hencky, principal

REFERENCE = 1e5
"""Pressure at which `strength` holds [Pa]"""


class RockfillParameters(hencky.HenckyParameters):
    strength: float = Describe(gt=0, description="A, shear strength over pressure at 100 kPa [1]")
    exponent: float = Describe(default=0.75, gt=0, le=1, description="b, exponent of the pressure in the strength [1]")


def pack(p):
    mu, lam = hencky.lame_parameters(p.youngs_modulus, p.poisson_ratio)
    bulk = (2.0 * mu + 3.0 * lam) / 3.0
    scale = p.strength * REFERENCE * (bulk / REFERENCE) ** p.exponent / (math.sqrt(2.0) * mu)
    return mu, lam, scale, p.exponent, 1.0


@compiled
def return_map(parameters, history, strain, dt):
    _, _, scale, exponent, gives_back = parameters
    trace, d, size = principal.split(strain)
    trace, slope = granular.give_back(trace, history[1], gives_back)
    if trace >= 0.0:  # the stones separate
        return (0.0, 0.0, 0.0), principal.flow_derivative(0.0, 0.0, 0.0, 0.0, d, size)
    radius = scale * (-trace) ** exponent
    if size <= radius:
        return principal.joined(trace, 1.0, d), principal.flow_derivative(slope, 1.0, 1.0, 0.0, d, size)
    ratio, along = radius / size, exponent * radius / trace * slope
    return principal.joined(trace, ratio, d), principal.flow_derivative(slope, ratio, 0.0, along, d, size)


@compiled
def update(f, dt, parameters, history):
    b, gained, dissipation = history
    moved, strain, V = principal.trial(f, b)
    after, _ = return_map(parameters, history, strain, dt)
    tau, b, gained, dissipation = granular.apply_flow(
        parameters[0], parameters[1], moved, strain, after, V, gained, dissipation
    )
    return tau, (b, gained, dissipation)


ROCKFILL = Law(
    name="rockfill", parameters=RockfillParameters,
    fields=(principal.ELASTIC_STRAIN, granular.GAINED_VOLUME, principal.DISSIPATION),
    constants=("mu", "lam", "scale", "exponent", "gives_back"), pack=pack,
    update=update, stress=hencky.stress_of_b, energy=hencky.energy_of_b, volume_ratio=granular.volume_ratio,
    wave_speed=hencky.hencky_wave_speed,
    branches=(
        Branch(principal.kept_deformation, hencky.hencky_branch_stress, return_map, principal.kept_left_tensor),
    ),
    traits=Traits(
        granular=Granular(gained_volume="gained_volume", elastic_strain="b", corrects_volume="gives_back")
    ),
)  # fmt: skip
