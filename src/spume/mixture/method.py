"""Sand and water as the frame loop sees them: the material point method with the stages of [Tampubolon17]."""

from typing import Any, ClassVar

from spume.materials.water import WATER
from spume.methods import Estimate
from spume.mixture.mixture import Mixture, MixtureFields
from spume.mixture.saturation import SATURATION
from spume.mixture.step import mixture_step
from spume.mpm.cost import estimate_cost
from spume.mpm.method import MaterialPointMethod, build_time_step
from spume.mpm.species import SpeciesPlan
from spume.mpm.state import State
from spume.numerics.sums import dot, total

COST = 1.3
"""Time of a step over that of plain MPM; for estimates only."""


class MixtureStages:
    """The step of a mixture and what it keeps from step to step."""

    def __init__(self, mixture: Mixture) -> None:
        self.mixture = mixture
        self.fields = MixtureFields()

    def species(self, scene: Any) -> tuple[SpeciesPlan, ...]:
        """Bodies of the law "water" are water, all others sand."""
        selective = any(obstacle.holds != "all" for obstacle in scene.obstacle)
        plans = []
        for name, fields in (("sand", (SATURATION,)), ("water", ())):
            materials = tuple(k for k, each in enumerate(scene.materials) if scene.species_of(each.name) == name)
            held = tuple(k for k, obstacle in enumerate(scene.obstacle) if scene.holds(obstacle, name))
            plans.append(SpeciesPlan(name, materials, fields, held if selective else None))
        return tuple(plans)

    def step(self, state: State, dt: float) -> None:
        """Advance `state` by dt [s]."""
        mixture_step(state, self.mixture, self.fields, dt)

    def diagnostics(self, state: State) -> dict[str, Any]:
        """Mass and volume of each species."""
        report: dict[str, Any] = {}
        for species in state.species:
            p = species.particles
            report[f"{species.name}_mass"] = total(p.mass)
            report[f"{species.name}_volume"] = dot(p.volume, species.model.volume_ratio(p.arrays()))
        return report

    def checkpoint(self) -> dict[str, Any]:
        """Nothing beside those of MPM."""
        return {}

    def restore(self, values: dict[str, Any]) -> None:
        """Nothing to restore."""


class SandWater(MaterialPointMethod):
    """Sand with water in its pores, above and around it."""

    name: ClassVar[str] = "sand-water"

    def __init__(self, scene: Any) -> None:
        super().__init__(scene, MixtureStages(build_mixture(scene)))

    @classmethod
    def estimate(cls, scene: Any) -> Estimate:
        """Points, memory, steps, time and disk space of a scene."""
        materials = [(material.law, material.parameters) for material in scene.materials]
        return estimate_cost(scene, build_time_step(scene, materials), (SATURATION,), COST)


def build_mixture(scene: Any) -> Mixture:
    """The settings of a scene."""
    table = scene.mixture
    sands = tuple(material.parameters.density for material in scene.materials if material.law is not WATER)
    return Mixture(
        table.drag_coefficient, table.hydraulic_conductivity, table.porosity, table.water_density, table.buoyancy,
        table.saturation, table.cohesion_curve, sands,
    )  # fmt: skip
