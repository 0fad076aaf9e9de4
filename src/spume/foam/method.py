"""The method "continuum-foam": the material point method with the stages of [Yue15] section 7."""

from typing import Any, ClassVar

from spume.foam.foam import WEAK, FoamState
from spume.foam.removal import removal_warning
from spume.foam.step import foam_step, implicit_foam_step
from spume.methods import Estimate
from spume.mpm.cost import NO_GROWTH, Growth, estimate_cost
from spume.mpm.implicit.problem import carried_fields
from spume.mpm.implicit.step import Integrator
from spume.mpm.method import MaterialPointMethod, build_time_step
from spume.mpm.species import SpeciesPlan, one_species
from spume.mpm.state import State
from spume.numerics.sums import total

COST = 1.3
"""Ratio of the time of a step to that of plain MPM, with a fifth of the points torn; for estimates only."""

RESAMPLED = Growth(1.22, 1.05)
"""Average number of points of a run with resampling; for estimates only. The drafts of seven scenes have 1.08 to 1.31
times the points of their bodies (penguin-pachinko and pie-throw the extremes), those of two nozzles 1.04 and 1.07 times
what was released."""


class FoamStages:
    """The step of [Yue15] section 7 and its state."""

    def __init__(self, foam: FoamState, integrator: Integrator | None = None) -> None:
        self.foam = foam
        self.integrator = integrator
        """For implicit steps; None: explicit steps."""

    def species(self, scene: Any) -> tuple[SpeciesPlan, ...]:
        """One species, whose points have a field that marks torn points."""
        carried = carried_fields(scene.implicit_settings, scene.dimension) if self.integrator else ()
        return one_species(scene, (WEAK, *carried))

    def step(self, state: State, dt: float) -> None:
        """Advance `state` by dt [s]."""
        if self.integrator is None:
            foam_step(state, self.foam, dt)
        else:
            implicit_foam_step(state, self.foam, self.integrator, dt)

    def diagnostics(self, state: State) -> dict[str, Any]:
        """Number of weak points, counters since the start, and warnings."""
        solver = self.integrator.diagnostics(state.time) if self.integrator else {}
        warnings = removal_warning(total(state.particles.mass), self.foam, state.time) | solver.pop("warnings", {})
        weak = int(state.particles.weak.sum())
        return {"weak_points": weak} | self.foam.totals() | solver | {"warnings": warnings}

    def checkpoint(self) -> dict[str, Any]:
        """What a bit-for-bit continuation needs."""
        return self.foam.checkpoint() | (self.integrator.checkpoint() if self.integrator else {})

    def restore(self, values: dict[str, Any]) -> None:
        """Restore what `checkpoint` returned."""
        self.foam.restore(values)
        if self.integrator:
            self.integrator.restore(values)


class ContinuumFoam(MaterialPointMethod):
    """Foam that flows, tears and recovers, and is resampled where it is stretched."""

    name: ClassVar[str] = "continuum-foam"

    def __init__(self, scene: Any) -> None:
        foam = FoamState(
            [material.parameters for material in scene.materials],
            scene.tearing,
            scene.recovery,
            scene.subgrid_removal,
            scene.resampling,
            scene.seed,
        )
        implicit = scene.time.integrator == "implicit"
        if implicit:
            foam.explicit_step = explicit_step(scene)
        integrator = Integrator(scene.implicit_settings, scene.frame_rate) if implicit else None
        super().__init__(scene, FoamStages(foam, integrator))

    @classmethod
    def estimate(cls, scene: Any) -> Estimate:
        """Points, memory, steps and time of a scene; `points` is the number before resampling."""
        materials = [(material.law, material.parameters) for material in scene.materials]
        resampled = RESAMPLED if scene.resampling.enabled else NO_GROWTH
        return estimate_cost(scene, build_time_step(scene, materials), (WEAK,), COST, resampled)


def explicit_step(scene: Any) -> float:
    """The explicit step of a scene at rest [s]: the time in which waves cross Courant number × cell."""
    wave = max(material.law.wave_speed(material.parameters) for material in scene.materials)
    return float(scene.time.courant * scene.grid.cell / wave)
