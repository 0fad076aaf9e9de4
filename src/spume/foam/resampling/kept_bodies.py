"""Bodies whose points stay as they are while the material around them is resampled.

An embedded surface is bound to the points of its body at the start (`matter/embedded.py`), so none of them may be
merged. Nor does such a body get new points: it is a solid whose shape the surface shows, not a foam that opens voids.
"""

import numpy as np
from numpy.typing import NDArray

from spume.matter.particles import Particles


class KeptBodies:
    """The criterion that no point of certain bodies is merged, and that no point is inserted next to one of them."""

    def __init__(self, particles: Particles, bodies: tuple[int, ...]) -> None:
        """bodies: their indices in the scene."""
        self._particles = particles
        self._bodies = np.array(bodies, dtype=np.int64)

    def _kept(self) -> NDArray[np.bool_]:
        return np.isin(self._particles.body, self._bodies)

    def merges(self, pairs: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Pairs without a point of these bodies."""
        return np.asarray(~self._kept()[pairs].any(axis=1))

    def inserts(self, x: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Places whose nearest point is of another body; the new point becomes part of that."""
        kept = self._kept()
        if not kept.any():
            return np.ones(len(x), np.bool_)
        from scipy.spatial import KDTree  # slow to import

        return np.asarray(~kept[KDTree(self._particles.x).query(x)[1]])
