"""Sand and water as the frame loop sees them: the material point method with the stages of [Tampubolon17]."""

import math
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from spume.materials.unilateral import Unilateral
from spume.materials.water import WATER
from spume.methods import Estimate
from spume.mixture.mixture import Mixture, MixtureFields
from spume.mixture.saturation import SATURATION
from spume.mixture.semi_implicit import SemiImplicit
from spume.mixture.step import mixture_step
from spume.mpm.cost import estimate_cost
from spume.mpm.method import MaterialPointMethod, build_time_step
from spume.mpm.species import SpeciesPlan
from spume.mpm.state import State
from spume.mpm.time_step import TimeStep
from spume.numerics.sums import dot, total

COST = 1.3
"""Time of a step over that of plain MPM; for estimates only."""
SOLVER_COST = 60.0
"""The same of a semi-implicit step; for estimates only."""


class MixtureStages:
    """The step of a mixture and what it keeps from step to step."""

    def __init__(self, mixture: Mixture, semi_implicit: SemiImplicit | None = None) -> None:
        """Steps are semi-implicit if a solver for them is given."""
        self.mixture = mixture
        self.semi_implicit = semi_implicit
        self.fields = MixtureFields()

    def species(self, scene: Any) -> tuple[SpeciesPlan, ...]:
        """Bodies of the law "water" are water, all others sand."""
        selective = any(obstacle.holds != "all" for obstacle in scene.obstacle)
        plans = []
        for name, fields in (("sand", (SATURATION,)), ("water", ())):
            materials = tuple(
                k for k, each in enumerate(scene.materials) if scene.species_of(each.base or each.name) == name
            )
            held = tuple(k for k, obstacle in enumerate(scene.obstacle) if scene.holds(obstacle, name))
            plans.append(SpeciesPlan(name, materials, fields, held if selective else None))
        return tuple(plans)

    def step(self, state: State, dt: float) -> None:
        """Advance `state` by dt [s]."""
        if self.semi_implicit is None:
            mixture_step(state, self.mixture, self.fields, dt)
        else:
            self.semi_implicit.step(state, self.mixture, self.fields, dt)

    def diagnostics(self, state: State) -> dict[str, Any]:
        """Mass and volume of each species, and the work of the solver."""
        report = self.checkpoint()
        for species in state.species:
            p = species.particles
            report[f"{species.name}_mass"] = total(p.mass)
            report[f"{species.name}_volume"] = dot(p.volume, species.model.volume_ratio(p.arrays()))
        return report

    def checkpoint(self) -> dict[str, Any]:
        """What the solver counts."""
        return {} if self.semi_implicit is None else self.semi_implicit.counts()

    def restore(self, values: dict[str, Any]) -> None:
        """Restore what `checkpoint` returned."""
        if self.semi_implicit is not None:
            self.semi_implicit.restore(values)


class SandWater(MaterialPointMethod):
    """Sand with water in its pores, above and around it."""

    name: ClassVar[str] = "sand-water"

    def __init__(self, scene: Any) -> None:
        super().__init__(scene, MixtureStages(build_mixture(scene), build_semi_implicit(scene)))
        if scene.time.integrator == "semi-implicit":
            self.state.time_step = long_steps(scene)
            for species in self.state.species:  # the deformation that the solver has in its equations
                species.scheme = replace(species.scheme, deformation="first-order")

    @classmethod
    def estimate(cls, scene: Any) -> Estimate:
        """Points, memory, steps, time and disk space of a scene."""
        if scene.time.integrator == "semi-implicit":
            return estimate_cost(scene, long_steps(scene), (SATURATION,), SOLVER_COST)
        materials = [(material.law, material.parameters) for material in scene.materials]
        return estimate_cost(scene, build_time_step(scene, materials), (SATURATION,), COST)


def build_semi_implicit(scene: Any) -> SemiImplicit | None:
    """The solver of semi-implicit steps, if the scene asks for them."""
    if scene.time.integrator != "semi-implicit":
        return None
    table = scene.semi_implicit
    if table is None:
        return SemiImplicit()
    fading = table.unilateral
    return SemiImplicit(
        table.tolerance, table.accepted_residual, table.iterations, table.linear_iterations, table.linear_tolerance,
        table.preconditioner,
        None if fading is None else Unilateral(fading.a, fading.b, fading.c0, fading.s_C, fading.v0),
    )  # fmt: skip


def long_steps(scene: Any) -> TimeStep:
    """Steps that follow the speed of the points, and at rest what gravity adds to it over a cell."""
    pull = float(np.linalg.norm(scene.gravity_keyframes[1], axis=1).max())
    fall = math.sqrt(max(pull * scene.grid.cell, 1e-300))
    fixed = None if scene.time.dt == "auto" else scene.time.dt
    largest = 1.0 / scene.frame_rate if scene.time.max_dt is None else scene.time.max_dt
    return TimeStep(scene.grid.cell, fall, fixed, scene.time.courant, scene.time.growth, largest)


def build_mixture(scene: Any) -> Mixture:
    """The settings of a scene."""
    table = scene.mixture
    sands = tuple(material.parameters.density for material in scene.materials if material.law is not WATER)
    return Mixture(
        table.drag_coefficient, table.hydraulic_conductivity, table.porosity, table.water_density, table.buoyancy,
        table.saturation, table.cohesion_curve, sands,
    )  # fmt: skip
