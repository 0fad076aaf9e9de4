"""Local errors of a foam, and the spots where they are large."""

import numpy as np

from spume.dryfoam.equilibrium.region import Region, around
from spume.dryfoam.equilibrium.system import Residual
from spume.dryfoam.network.half_edges import Mask, Network

ROUGH = 0.03
"""Error above which a spot is relaxed separately."""
FEW = 0.7
"""Largest fraction of the vertices in spots for separate relaxation, if the largest error is above ROUGH."""
FEW_SMOOTH = 0.15
"""The same if the largest error is smaller."""


class PlaceErrors:
    """Errors at the vertices and cells of a foam, updated where a region has moved."""

    def __init__(self, network: Network, residual: Residual) -> None:
        self.network = network
        self.force = np.zeros(network.vertices)
        self.area = np.zeros(network.cells)
        self.take(residual)

    def take(self, residual: Residual) -> None:
        """Store the errors of a region."""
        self.force[residual.region.vertices] = residual.local
        self.area[residual.region.cells] = residual.relative_area

    def follow(self, tension: float, moved: Mask, pinned: Mask | None) -> None:
        """Update the errors after the vertices `moved` (V,) have moved. This affects the vertices of all cells that
        have such vertices, because their films bulge, and the areas of the cells next to these."""
        n = self.network
        shown = around(n, moved, np.zeros(n.cells, dtype=np.bool_), 1)
        self.take(Residual(n, tension, Region.of(n, shown, pinned)))

    @property
    def largest(self) -> float:
        return max(float(np.max(self.force)), float(np.max(self.area)))

    def places(self, level: float) -> Mask:
        """Mask (V,) of vertices whose error, or that of one of their cells, is above `level` or not finite."""
        return around(self.network, ~(self.force <= level), ~(self.area <= level), 0)

    def spots(self, level: float, rings: int) -> Mask | None:
        """Mask (V,) of vertices within `rings` rings of cells around errors above `level`; None if there are none, or
        too many."""
        bad_vertices, bad_cells = self.force > level, self.area > level
        if not (np.any(bad_vertices) or np.any(bad_cells)):
            return None
        free = around(self.network, bad_vertices, bad_cells, rings)
        return free if np.mean(free) < (FEW if self.largest > ROUGH else FEW_SMOOTH) else None
