"""The method "sand-water": the material point method with the stages of [Tampubolon17]."""

from dataclasses import replace
from typing import Any, ClassVar, Literal

from numpy.typing import NDArray

from spume.fields import Field, Population
from spume.matter.cost import estimate_cost
from spume.matter.method import Assembly, Part
from spume.matter.stages import Stage
from spume.matter.time_step import TimeStep
from spume.methods import Estimate
from spume.mixture.drains import Drains
from spume.mixture.energy import budget_stages
from spume.mixture.mixture import RETENTION_EXPONENT, Buoyancy, Mixture, MixtureStep
from spume.mixture.pictured import COHESION, PORE_PRESSURE, pictured_arrays, pictured_fields
from spume.mixture.pore_pressure import wave_speed
from spume.mixture.saturation import SATURATION
from spume.mixture.step import explicit_mixture_stages, semi_implicit_mixture_stages
from spume.mpm.implicit.semi_implicit import build_semi_implicit
from spume.mpm.method import GridMethod, assemble, build_time_step
from spume.mpm.species import SpeciesPlan
from spume.mpm.world import GridWorld
from spume.scene.sand_water import SandWaterScene, coupling_of

COST = 1.3
"""Time of a step relative to that of plain MPM; for estimates only."""


class SpeciesReport:
    """Mass and volume of each species."""

    def diagnostics(self, world: GridWorld) -> dict[str, Any]:
        """Mass [kg] and volume [m³] of each species."""
        report = {}
        for species in world.species:
            p = species.particles
            report[f"{species.name}_mass"] = world.ranks.total(p.mass)
            report[f"{species.name}_volume"] = world.ranks.dot(p.volume, species.model.volume_ratio(p.arrays()))
        return report

    def checkpoint(self) -> dict[str, Any]:
        """Nothing."""
        return {}

    def restore(self, values: dict[str, Any]) -> None:
        """Nothing."""


def plan_species(scene: SandWaterScene) -> tuple[SpeciesPlan, ...]:
    """Species of a scene: bodies of a fluid are water, all others sand. Water has no Coulomb friction."""
    rough = any(each.friction for each in (*scene.obstacle, scene.walls) if each is not None)
    pores = coupling_of(scene.mixture) == "pore-pressure"
    plans = []
    for name, fields in (("sand", (SATURATION,)), ("water", ())):
        materials = tuple(
            k for k, each in enumerate(scene.materials) if scene.species_of(each.base or each.name) == name
        )
        passed = tuple(k for k, obstacle in enumerate(scene.obstacle) if not scene.holds(obstacle, name))
        friction: Literal["coulomb", "none"] = "none" if name == "water" and rough else "coulomb"
        density = scene.mixture.water_density if name == "water" and pores else None
        plans.append(SpeciesPlan(name, materials, fields, passed, friction, density))
    return tuple(plans)


class SandWater(GridMethod[SandWaterScene]):
    """Sand with water in its pores, above and around it."""

    name: ClassVar[str] = "sand-water"

    def assemble(self, scene: SandWaterScene) -> Assembly[GridWorld]:
        """World and step of a scene."""
        mixture, step, drains = build_mixture(scene), MixtureStep(), Drains(scene)
        parts: list[Part[GridWorld]] = [drains, SpeciesReport()]
        if scene.time.integrator == "semi-implicit":
            solver = build_semi_implicit(scene)
            parts.append(solver)
            stages = semi_implicit_mixture_stages(mixture, step, solver)
        else:
            stages = explicit_mixture_stages(mixture, step)
        after = [Stage("drains", drains.drain, when=len(drains) > 0, energy="removal")]
        time_step, budgeted = mixture_time_step(scene, mixture), budget_stages(step)
        return assemble(scene, plan_species(scene), stages, parts, time_step, after, budgeted)

    def declarations(self) -> tuple[Population, ...]:
        """Points of each species, with pressures and cohesion."""
        return tuple(replace(each, fields=_with_pictured(each)) for each in super().declarations())

    def frame(self) -> dict[str, dict[str, NDArray[Any]]]:
        """The arrays of a frame."""
        world = self.world
        world.ranks.bring_home(world.species, world.dimension, world.steps)  # for sums on nodes
        return {name: arrays | pictured_arrays(world, name) for name, arrays in super().frame().items()}

    @classmethod
    def estimate(cls, scene: SandWaterScene) -> Estimate:
        """Points, memory, steps, time and disk space of a scene."""
        extra = (SATURATION, COHESION, PORE_PRESSURE)
        return estimate_cost(scene, mixture_time_step(scene, build_mixture(scene)), extra, COST)


def _with_pictured(population: Population) -> tuple[Field, ...]:
    """The fields of a population in frames; the pressure of the water is one of them in any case."""
    added = pictured_fields(population.name)
    names = [field.name for field in added]
    return (*(field for field in population.fields if field.name not in names), *added)


def mixture_time_step(scene: SandWaterScene, mixture: Mixture) -> TimeStep:
    """Time step control of a scene; waves of the pore pressure limit the step, too."""
    step = build_time_step(scene)
    if mixture.coupling == "pore-pressure" and scene.time.integrator == "explicit":
        sands = [material for material in scene.materials if material.law.traits.fluid is None]
        waters = [material for material in scene.materials if material.law.traits.fluid is not None]
        step.wave_speed = max(step.wave_speed, wave_speed(mixture, sands, waters))
    return step


def build_mixture(scene: SandWaterScene) -> Mixture:
    """The settings of a scene."""
    table = scene.mixture
    sands = tuple(material.parameters.density for material in scene.materials if material.law.traits.fluid is None)
    buoyancy: Buoyancy = "paper" if table.buoyancy == "paper" else "none"
    return Mixture(
        table.drag_coefficient, table.hydraulic_conductivity, table.porosity, table.water_density, buoyancy,
        coupling_of(table), table.saturation, table.cohesion_curve, table.retention_exponent or RETENTION_EXPONENT,
        sands,
    )  # fmt: skip
