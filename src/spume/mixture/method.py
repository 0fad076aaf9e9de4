"""The method "sand-water": the material point method with the stages of [Tampubolon17]."""

from dataclasses import replace
from typing import Any, ClassVar, Literal

from numpy.typing import NDArray

from spume.fields import Population
from spume.materials.water import WATER
from spume.methods import Estimate
from spume.mixture.drains import Drains
from spume.mixture.mixture import RETENTION_EXPONENT, Mixture, MixtureFields
from spume.mixture.pictured import COHESION, PORE_PRESSURE, pictured_arrays, pictured_fields
from spume.mixture.pore_pressure import wave_speed
from spume.mixture.saturation import SATURATION
from spume.mixture.step import SemiImplicitMixture, mixture_step
from spume.mpm.cost import estimate_cost
from spume.mpm.implicit.semi_implicit import build_semi_implicit
from spume.mpm.method import MaterialPointMethod, build_time_step
from spume.mpm.species import SpeciesPlan
from spume.mpm.state import State
from spume.mpm.time_step import TimeStep
from spume.numerics.sums import dot, total

COST = 1.3
"""Time of a step relative to that of plain MPM; for estimates only."""


class MixtureStages:
    """The step of a mixture, with the data kept between steps."""

    def __init__(self, mixture: Mixture, drains: Drains, semi_implicit: SemiImplicitMixture | None = None) -> None:
        """Set up the stages; steps are semi-implicit if a solver for them is given."""
        self.mixture = mixture
        self.drains = drains
        self.semi_implicit = semi_implicit
        self.fields = MixtureFields()

    def species(self, scene: Any) -> tuple[SpeciesPlan, ...]:
        """Species of a scene: bodies of the law "water" are water, all others sand. Water has no Coulomb friction."""
        frictions = [obstacle.friction for obstacle in scene.obstacle]
        frictions.append(0.0 if scene.grid.walls is None else scene.grid.walls.friction)
        own_contacts = any(obstacle.holds != "all" or obstacle.drained for obstacle in scene.obstacle) or any(frictions)
        plans = []
        for name, fields in (("sand", (SATURATION,)), ("water", ())):
            materials = tuple(
                k for k, each in enumerate(scene.materials) if scene.species_of(each.base or each.name) == name
            )
            held = tuple(k for k, obstacle in enumerate(scene.obstacle) if scene.holds(obstacle, name))
            friction: Literal["coulomb", "none"] = "none" if name == "water" and own_contacts else "coulomb"
            plans.append(SpeciesPlan(name, materials, fields, held if own_contacts else None, friction))
        return tuple(plans)

    def step(self, state: State, dt: float) -> None:
        """Advance `state` by dt [s]."""
        if self.semi_implicit is None:
            mixture_step(state, self.mixture, self.fields, dt)
        else:
            self.semi_implicit.step(state, self.mixture, self.fields, dt)
        self.drains.drain(state)

    def diagnostics(self, state: State) -> dict[str, Any]:
        """Mass and volume of each species, and the iteration counts of the solver."""
        report = self.checkpoint()
        for species in state.species:
            p = species.particles
            report[f"{species.name}_mass"] = total(p.mass)
            report[f"{species.name}_volume"] = dot(p.volume, species.model.volume_ratio(p.arrays()))
        return report

    def checkpoint(self) -> dict[str, Any]:
        """Counters of the solver and the drains."""
        drained = {"drained_mass": self.drains.mass, "drained_points": self.drains.points} if len(self.drains) else {}
        return drained | ({} if self.semi_implicit is None else self.semi_implicit.solver.counts())

    def restore(self, values: dict[str, Any]) -> None:
        """Restore what `checkpoint` returned."""
        if len(self.drains):
            self.drains.mass, self.drains.points = values["drained_mass"], values["drained_points"]
        if self.semi_implicit is not None:
            self.semi_implicit.solver.restore(values)


class SandWater(MaterialPointMethod):
    """Sand with water in its pores, above and around it."""

    name: ClassVar[str] = "sand-water"

    def __init__(self, scene: Any) -> None:
        mixture = build_mixture(scene)
        implicit = scene.time.integrator == "semi-implicit"
        solver = SemiImplicitMixture(build_semi_implicit(scene)) if implicit else None
        super().__init__(scene, MixtureStages(mixture, Drains(scene), solver))
        self.state.time_step = mixture_time_step(scene, mixture)

    def declarations(self) -> tuple[Population, ...]:
        """Points of each species, with pressures and cohesion."""
        return tuple(
            replace(population, fields=(*population.fields, *pictured_fields(population.name)))
            for population in super().declarations()
        )

    def frame(self) -> dict[str, dict[str, NDArray[Any]]]:
        """The arrays of a frame."""
        return {name: arrays | pictured_arrays(self.state, name) for name, arrays in super().frame().items()}

    @classmethod
    def estimate(cls, scene: Any) -> Estimate:
        """Points, memory, steps, time and disk space of a scene."""
        extra = (SATURATION, COHESION, PORE_PRESSURE)
        return estimate_cost(scene, mixture_time_step(scene, build_mixture(scene)), extra, COST)


def mixture_time_step(scene: Any, mixture: Mixture) -> TimeStep:
    """Time step control of a scene; waves of the pore pressure limit the step, too."""
    step = build_time_step(scene, [(material.law, material.parameters) for material in scene.materials])
    if mixture.coupling == "pore-pressure" and scene.time.integrator == "explicit":
        sands = [material for material in scene.materials if material.law is not WATER]
        waters = [material for material in scene.materials if material.law is WATER]
        step.wave_speed = max(step.wave_speed, wave_speed(mixture, sands, waters))
    return step


def build_mixture(scene: Any) -> Mixture:
    """The settings of a scene."""
    table = scene.mixture
    sands = tuple(material.parameters.density for material in scene.materials if material.law is not WATER)
    return Mixture(
        table.drag_coefficient, table.hydraulic_conductivity, table.porosity, table.water_density, table.buoyancy,
        table.coupling, table.saturation, table.cohesion_curve, table.retention_exponent or RETENTION_EXPONENT, sands,
    )  # fmt: skip
