"""The method "mpm": the material point method, with resampling and tearing in scenes that ask for them."""

from spume.mpm.method import Further, MaterialPointMethod
from spume.scene.mpm import MpmScene


class PlainMpm(MaterialPointMethod):
    """Points on a background grid; voids are filled, and points tear, if the scene has the tables."""

    def further(self, scene: MpmScene) -> Further:
        """Stages of the tables [resampling] and [tearing]."""
        if not any(table is not None and table.enabled for table in (scene.resampling, scene.tearing)):
            return Further()
        from spume.foam.stretched import stretched  # kernels that other scenes do not need

        return stretched(scene)
