"""Fields that a scene adds to its frames, `[frames] fields`: stress, pressure, rates of strain and of dissipation.

Stress and pressure follow from the stress of the points when a frame is written. The rates are those of the last step,
f the deformation in it: the rate of strain is the symmetric part of ln f/Δt, and what is dissipated per present volume
is (τ̄ : ln f − ΔW)/(Δt J) with the mean τ̄ of the stresses before and after the step, in points that flow. Torn material
deforms and resists as its limits allow.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numba import prange
from numpy.typing import NDArray

from spume.fields import Field
from spume.materials.kinematics import load, load_sym
from spume.matter.material import update_material
from spume.matter.species import Species
from spume.matter.stages import Stage
from spume.matter.stress import cauchy_stress, pressure_of
from spume.matter.world import World
from spume.numerics.jit import compiled
from spume.numerics.tensor3 import multiply

Floats = NDArray[np.float64]
STRESS = Field("stress", (6,), 0.0, "Pa", "average", description="Cauchy stress")
PRESSURE = Field("pressure", (), 0.0, "Pa", "average", description="pressure")
STRAIN_RATE = Field("strain_rate", (6,), 0.0, "1/s", "average", description="rate of strain in the last step")
DISSIPATION_RATE = Field(
    "dissipation_rate", (), 0.0, "W/m³", "average", description="power dissipated per volume in the last step"
)
CARRIED = {field.name: field for field in (STRAIN_RATE, DISSIPATION_RATE)}
"""Fields that points carry because a step writes them."""
MADE = {field.name: field for field in (STRESS, PRESSURE)}
"""Fields that are made when a frame is written."""
NAME = "rates"


def carried_fields(chosen: Iterable[str]) -> tuple[Field, ...]:
    """Fields of points for those `chosen` by a scene."""
    return tuple(CARRIED[name] for name in chosen if name in CARRIED)


def made_fields(chosen: Iterable[str]) -> tuple[Field, ...]:
    """Fields of frames for those `chosen` by a scene, without those that points carry."""
    return tuple(MADE[name] for name in chosen if name in MADE)


def made_arrays(chosen: Iterable[str], species: Species) -> dict[str, Floats]:
    """The values of `made_fields`."""
    names = [name for name in chosen if name in MADE]
    if not names:
        return {}
    p = species.particles
    ratio = species.model.volume_ratio(p.arrays())
    stress = cauchy_stress(p.stress, ratio, p.weak if "weak" in p else None)
    return {name: stress if name == STRESS.name else pressure_of(stress) for name in names}


def with_rates(stages: Iterable[Stage], chosen: Iterable[str]) -> list[Stage]:
    """The stages of a step with those that write the rates `chosen` by a scene."""
    wanted = [name for name in chosen if name in CARRIED]
    if not wanted:
        return list(stages)
    rates = Rates(DISSIPATION_RATE.name in wanted, STRAIN_RATE.name in wanted)
    listed: list[Stage] = []
    for stage in stages:
        if stage.function is update_material:
            listed += [Stage(NAME, rates.before), stage, Stage(NAME, rates.after)]
        else:
            listed.append(stage)
    return listed


class Rates:
    """Writes the rates of the step around the update of the material."""

    def __init__(self, dissipation: bool, strain: bool) -> None:
        self.dissipation, self.strain = dissipation, strain
        self.known: list[tuple[Floats, Floats, Floats]] = []
        """Work of the stress before the step, elastic and dissipated energy before it [J/m³], for each species."""

    def before(self, world: World[Any], dt: float) -> None:
        """Before the material is updated."""
        self.known = []
        for species in world.species:
            p = species.particles
            if self.strain:
                strain_rates(species.deformation, 1.0 / dt, p.strain_rate)
            if self.dissipation and "dissipation" in p:
                work = stress_power(p.stress, species.deformation)
                self.known.append((work, species.model.energy(p.arrays()), p.dissipation.copy()))

    def after(self, world: World[Any], dt: float) -> None:
        """After the material is updated."""
        flowing = [species for species in world.species if "dissipation" in species.particles]
        for species, (first, energy, recorded) in zip(flowing, self.known):
            p, arrays = species.particles, species.particles.arrays()
            work = 0.5 * (first + stress_power(p.stress, species.deformation))
            lost = work - (species.model.energy(arrays) - energy)
            rate = lost / (dt * species.model.volume_ratio(arrays))
            p.dissipation_rate[:] = np.where(p.dissipation != recorded, rate, 0.0)


def stress_power(stress: Floats, deformation: Floats) -> Floats:
    """Work τ : ln f of the Kirchhoff stresses (n, 6) in the deformation (n, 3, 3) of a step [J/m³]."""
    power = np.empty(len(stress))
    _stress_power(stress, deformation, power)
    return power


@compiled(inline="always")
def logarithm(deformation, p):
    """ln f = B − B²/2 + B³/3 − …, B = f − I, of point p; the fourth power is left out."""
    a, b, c, d, e, f, g, h, i = load(deformation, p)
    B = (a - 1.0, b, c, d, e - 1.0, f, g, h, i - 1.0)
    C = multiply(B, B)
    D = multiply(C, B)
    third = 1.0 / 3.0
    return (
        B[0] - 0.5 * C[0] + third * D[0], B[1] - 0.5 * C[1] + third * D[1], B[2] - 0.5 * C[2] + third * D[2],
        B[3] - 0.5 * C[3] + third * D[3], B[4] - 0.5 * C[4] + third * D[4], B[5] - 0.5 * C[5] + third * D[5],
        B[6] - 0.5 * C[6] + third * D[6], B[7] - 0.5 * C[7] + third * D[7], B[8] - 0.5 * C[8] + third * D[8],
    )  # fmt: skip


@compiled(inline="always")
def power_of(p, stress, deformation):
    """τ : ln f of point p."""
    xx, yy, zz, xy, xz, yz = load_sym(stress, p)
    a, b, c, d, e, f, g, h, i = logarithm(deformation, p)
    return xx * a + yy * e + zz * i + xy * (b + d) + xz * (c + g) + yz * (f + h)


@compiled(parallel=True)
def _stress_power(stress, deformation, power):
    for p in prange(power.size):
        power[p] = power_of(p, stress, deformation)


@compiled(parallel=True)
def strain_rates(deformation, per_time, rate):
    """Write the symmetric part of ln f/Δt to `rate` (n, 6)."""
    for p in prange(rate.shape[0]):
        a, b, c, d, e, f, g, h, i = logarithm(deformation, p)
        half = 0.5 * per_time
        rate[p, 0], rate[p, 1], rate[p, 2] = a * per_time, e * per_time, i * per_time
        rate[p, 3], rate[p, 4], rate[p, 5] = half * (b + d), half * (c + g), half * (f + h)
