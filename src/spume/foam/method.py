"""The method "continuum-foam": the material point method with the stages of [Yue15] section 7."""

from typing import Any, ClassVar

from numpy.typing import NDArray

from spume.foam.foam import WEAK, FoamState
from spume.foam.pieces import PIECE
from spume.foam.step import foam_stages
from spume.matter.cost import NO_GROWTH, Growth, estimate_cost
from spume.matter.method import Assembly, point_spacing
from spume.methods import Estimate
from spume.mpm.implicit.step import Integrator
from spume.mpm.method import GridMethod, assemble, build_time_step
from spume.mpm.species import one_species
from spume.mpm.world import GridWorld
from spume.scene.continuum_foam import ContinuumFoamScene
from spume.scene.mpm import MpmScene

COST = 1.3
"""Ratio of the time of a step to that of plain MPM, with a fifth of the points torn; for estimates only."""

RESAMPLED = Growth(1.22, 1.05)
"""Average number of points of a run with resampling; for estimates only. The drafts of seven scenes have 1.08 to 1.31
times the points of their bodies (penguin-pachinko and pie-throw the extremes), those of two nozzles 1.04 and 1.07 times
what was released."""


class ContinuumFoam(GridMethod[ContinuumFoamScene]):
    """Foam that flows, tears and recovers, and is resampled where it is stretched."""

    name: ClassVar[str] = "continuum-foam"

    def assemble(self, scene: ContinuumFoamScene) -> Assembly[GridWorld]:
        """World and step of a scene."""
        foam = FoamState(
            scene.material_laws,
            scene.tearing,
            scene.recovery,
            scene.subgrid_removal,
            scene.resampling,
            scene.seed,
            kept_bodies=scene.embedded_bodies,
        )
        if scene.time.integrator == "explicit":
            spacing = point_spacing(scene) if foam.tears and scene.tearing.pieces else None
            fields = (WEAK,) if spacing is None else (WEAK, PIECE)
            return assemble(scene, one_species(scene, fields), foam_stages(foam, spacing=spacing), (foam,))
        foam.explicit_step = explicit_step(scene)
        integrator = Integrator(scene.implicit_settings, scene.frame_rate)
        species = one_species(scene, (WEAK, *integrator.carried_fields(scene.dimension)))
        return assemble(scene, species, foam_stages(foam, integrator.stage), (foam, integrator))

    def restore(self, arrays: dict[str, NDArray[Any]], values: dict[str, Any]) -> None:
        """Restore what `checkpoint` returned; the pieces of runs begun before these existed are found anew."""
        name = f"{self.world.only.name}/{PIECE.name}"
        if PIECE.name in self.world.particles and name not in arrays:
            arrays = arrays | {name: PIECE.allocate(len(next(iter(arrays.values()))))}
        super().restore(arrays, values)

    @classmethod
    def estimate(cls, scene: ContinuumFoamScene) -> Estimate:
        """Points, memory, steps and time of a scene; `points` is the number before resampling."""
        resampled = RESAMPLED if scene.resampling.enabled else NO_GROWTH
        return estimate_cost(scene, build_time_step(scene), (WEAK,), COST, resampled)


def explicit_step(scene: MpmScene) -> float:
    """The explicit step of a scene at rest [s]: the time in which waves cross Courant number × cell."""
    wave = max(material.law.wave_speed(material.parameters) for material in scene.materials)
    return float(scene.time.courant * scene.cell / wave)
