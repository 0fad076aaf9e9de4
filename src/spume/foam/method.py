"""Continuum foam as the frame loop sees it: the material point method with the stages of [Yue15] section 7."""

from typing import Any, ClassVar

from numpy.typing import NDArray

from spume.fields import Field
from spume.foam.foam import WEAK, Foam
from spume.foam.step import foam_step
from spume.mpm.cost import estimate_cost
from spume.mpm.method import MaterialPointMethod, build_time_step
from spume.run.method import Estimate

COST = 1.3
"""Time of a step over that of plain MPM, with a fifth of the points torn; for estimates only."""

GROWTH = 1.3
"""Points over a run that resampling adds to, on average, over those at its start; for estimates only. The draft of
shaving cream has 1.24 after 0.5 s of 1.6 s, and one other draft 1.8 at its end."""


class ContinuumFoam(MaterialPointMethod):
    """Foam that flows, tears, grows together again and leaves no voids where it is stretched."""

    name: ClassVar[str] = "continuum-foam"

    def __init__(self, scene: Any) -> None:
        self.foam = Foam(
            [material.parameters for material in scene.materials],
            scene.tearing,
            scene.recovery,
            scene.subgrid_removal,
            scene.resampling,
            scene.seed,
        )
        super().__init__(scene)

    def extra_fields(self) -> tuple[Field, ...]:
        """What points carry beside the fields of MPM and of their laws."""
        return (WEAK,)

    def step(self, dt: float) -> None:
        """Advance by dt [s]."""
        foam_step(self.state, self.foam, dt)

    def diagnostics(self) -> dict[str, Any]:
        """Numbers about the present state."""
        return super().diagnostics() | {"weak_points": int(self.particles.weak.sum())} | self.foam.totals()

    def checkpoint(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Everything a bit-for-bit continuation needs."""
        arrays, values = super().checkpoint()
        return arrays, values | self.foam.checkpoint()

    def restore(self, arrays: dict[str, NDArray[Any]], values: dict[str, Any]) -> None:
        """Take the state of `checkpoint()` on."""
        super().restore(arrays, values)
        self.foam.restore(values)

    @classmethod
    def estimate(cls, scene: Any) -> Estimate:
        """Points, memory, steps and time of a scene; `points` are those before resampling adds to them."""
        materials = [(material.law, material.parameters) for material in scene.materials]
        growth = GROWTH if scene.resampling.enabled else 1.0
        return estimate_cost(scene, build_time_step(scene, materials), (WEAK,), COST, growth)
