"""Tait's own equation of state (1888), p = B (exp((1 − J)/C) − 1): the fluid of the tutorial."""

import math

from pydantic import Field as Describe

from spume.laws import Branch, Field, Fluid, Law, Parameters, Traits, compiled, tensor3


class TaitParameters(Parameters):
    bulk_modulus: float = Describe(gt=0, description="K = B/C, resistance to change of volume at rest [Pa]")
    compression: float = Describe(default=0.137, gt=0, description="C; 0.137 is water [1]")


@compiled
def pressure(parameters, J):
    """p and J dp/dJ, zero where drops have separated."""
    B, C = parameters
    if J > 1.0:
        return 0.0, 0.0
    power = math.exp((1.0 - J) / C)
    return B * (power - 1.0), -B / C * power * J


@compiled
def stress(parameters, history):
    p, _ = pressure(parameters, history[0])
    t = -p * history[0]
    return (t, t, t, 0.0, 0.0, 0.0)


@compiled
def energy(parameters, history):
    B, C = parameters
    e = max(1.0 - history[0], 0.0)
    return B * (C * math.expm1(e / C) - e)


@compiled
def update(f, dt, parameters, history):
    after = (history[0] * tensor3.det(f),)
    return stress(parameters, after), after


@compiled
def volume_ratio(history):
    return history[0]


@compiled
def deformation(parameters, history):
    a = history[0] ** (1.0 / 3.0)
    return (a, 0.0, 0.0, 0.0, a, 0.0, 0.0, 0.0, a)


@compiled
def principal_stress(parameters, history, strain):
    J = math.exp(strain[0] + strain[1] + strain[2])
    p, slope = pressure(parameters, J)
    t, d = -p * J, -(p + slope) * J
    return (t, t, t), (d, d, d, d, d, d, d, d, d)


@compiled
def return_map(parameters, history, strain, dt):
    """Shear leaves no strain."""
    e, t = (strain[0] + strain[1] + strain[2]) / 3.0, 1.0 / 3.0
    return (e, e, e), (t, t, t, t, t, t, t, t, t)


TAIT = Law(
    name="tait", parameters=TaitParameters, fields=(Field("J_tait", initial=1.0),), constants=("B", "C"),
    pack=lambda p: (p.bulk_modulus * p.compression, p.compression),
    update=update, stress=stress, energy=energy, volume_ratio=volume_ratio,
    wave_speed=lambda p: math.sqrt(p.bulk_modulus / p.density),
    branches=(Branch(deformation, principal_stress, return_map),),
    traits=Traits(
        fluid=Fluid(volume_ratio="J_tait", bulk_modulus=lambda p: p.bulk_modulus, separates=lambda p: True)
    ),
)  # fmt: skip
