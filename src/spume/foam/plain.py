"""The method "mpm": the material point method, with resampling and tearing in scenes that ask for them."""

from typing import Any, ClassVar

from numpy.typing import NDArray

from spume.matter.cost import NO_GROWTH, estimate_cost
from spume.matter.method import Assembly
from spume.methods import Estimate
from spume.mpm import consistency
from spume.mpm.method import GridMethod, assemble, build_time_step, integrated
from spume.mpm.species import one_species
from spume.mpm.total_species import TotalSpecies
from spume.mpm.world import GridWorld
from spume.scene.mpm import MpmScene

NODES = "nodes"
"""Begins the names of the arrays of nodes in checkpoints."""


class MaterialPointMethod(GridMethod[MpmScene]):
    """Points on a background grid; voids are filled, and points tear, if the scene has the tables."""

    name: ClassVar[str] = "mpm"

    def assemble(self, scene: MpmScene) -> Assembly[GridWorld]:
        """World and step of a scene."""
        stages, parts, fields = integrated(scene)
        if any(table is not None and table.enabled for table in (scene.resampling, scene.tearing)):
            from spume.foam.stretched import stretched  # kernels that other scenes do not need

            further = stretched(scene)
            stages, parts, fields = further.added_to(stages), (*parts, *further.parts), (*fields, *further.fields)
        return assemble(scene, one_species(scene, fields), stages, parts)

    @classmethod
    def estimate(cls, scene: MpmScene) -> Estimate:
        """Points, memory, steps and time of a scene; `points` is the number before resampling."""
        growth = NO_GROWTH
        if scene.resampling is not None and scene.resampling.enabled:
            from spume.foam.method import RESAMPLED

            growth = RESAMPLED
        return estimate_cost(scene, build_time_step(scene), resampled=growth)

    def checkpoint(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Everything a bit-for-bit continuation needs."""
        arrays, values = super().checkpoint()
        if isinstance(self.world.only, TotalSpecies):
            values["grid"] = self._grid
        return arrays, values

    def state_arrays(self) -> dict[str, NDArray[Any]]:
        """The arrays of a checkpoint: of points, and of nodes that keep their displacements."""
        arrays, species = super().state_arrays(), self.world.only
        if isinstance(species, TotalSpecies):
            arrays |= {f"{NODES}/{name}": array for name, array in species.node_arrays().items()}
        return arrays

    def restore(self, arrays: dict[str, NDArray[Any]], values: dict[str, Any]) -> None:
        """Restore what `checkpoint` returned."""
        super().restore(consistency.completed(arrays, self.world), values)
        species = self.world.only
        if isinstance(species, TotalSpecies):
            if values["grid"] != self._grid:
                raise ValueError("a grid that deforms with the material cannot be replaced by another one")
            own = {name.removeprefix(f"{NODES}/"): a for name, a in arrays.items() if name.startswith(f"{NODES}/")}
            species.restore_nodes(own)

    @property
    def _grid(self) -> list[float]:
        return [self.world.cell, self.world.nodes.order]
