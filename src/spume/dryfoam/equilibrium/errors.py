"""Imbalances of the places of a foam, and the spots where they are large."""

import numpy as np

from spume.dryfoam.equilibrium.region import Mask, Region, around
from spume.dryfoam.equilibrium.system import Residual
from spume.dryfoam.network.half_edges import Network

ROUGH = 0.03
"""Error above which a place is a spot to be relaxed by itself."""
FEW = 0.7
"""Part of the vertices up to which rough spots are relaxed by themselves."""
FEW_SMOOTH = 0.15
"""The same for spots that are not rough."""


class PlaceErrors:
    """Imbalances of the places of a foam, kept up to date where a region has moved."""

    def __init__(self, network: Network, residual: Residual) -> None:
        self.network = network
        self.force = np.zeros(network.vertices)
        self.area = np.zeros(network.cells)
        self.take(residual)

    def take(self, residual: Residual) -> None:
        """Take over the errors of a region."""
        self.force[residual.region.vertices] = residual.local
        self.area[residual.region.cells] = residual.relative_area

    def follow(self, tension: float, moved: Mask, pinned: Mask | None) -> None:
        """Bring the errors up to date when the vertices `moved` (V,) have: this shows at the vertices of all cells that
        have such vertices, which bulge, and in the areas of the cells next to these."""
        n = self.network
        shown = around(n, moved, np.zeros(n.cells, dtype=np.bool_), 1)
        self.take(Residual(n, tension, Region(n, shown, pinned)))

    @property
    def largest(self) -> float:
        return max(float(np.max(self.force)), float(np.max(self.area)))

    def places(self, level: float) -> Mask:
        """Vertices (V,) with errors above `level`, their cells' included, or with none that could be told."""
        return around(self.network, ~(self.force <= level), ~(self.area <= level), 0)

    def spots(self, level: float, rings: int) -> Mask | None:
        """Vertices within `rings` around the places with errors above `level` (V,); None if there are none, or too
        many."""
        bad_vertices, bad_cells = self.force > level, self.area > level
        if not (np.any(bad_vertices) or np.any(bad_cells)):
            return None
        free = around(self.network, bad_vertices, bad_cells, rings)
        return free if np.mean(free) < (FEW if self.largest > ROUGH else FEW_SMOOTH) else None
