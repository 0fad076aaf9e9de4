"""The method "mpm": the material point method, with resampling and tearing in scenes that ask for them."""

from spume.matter.cost import estimate_cost
from spume.methods import Estimate
from spume.mpm.method import Further, MaterialPointMethod, build_time_step, materials_of
from spume.scene.mpm import MpmScene


class PlainMpm(MaterialPointMethod):
    """Points on a background grid; voids are filled, and points tear, if the scene has the tables."""

    def further(self, scene: MpmScene) -> Further:
        """Stages of the tables [resampling] and [tearing]."""
        if not any(table is not None and table.enabled for table in (scene.resampling, scene.tearing)):
            return Further()
        from spume.foam.stretched import stretched  # kernels that other scenes do not need

        return stretched(scene)

    @classmethod
    def estimate(cls, scene: MpmScene) -> Estimate:
        """Points, memory, steps and time of a scene; `points` is the number before resampling."""
        if scene.resampling is None or not scene.resampling.enabled:
            return super().estimate(scene)
        from spume.foam.method import RESAMPLED

        return estimate_cost(scene, build_time_step(scene, materials_of(scene)), resampled=RESAMPLED)
