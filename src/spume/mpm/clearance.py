"""Which points and nodes are so far from all obstacles that there is no need to look.

Distances to shapes change no faster than the place does. So a point whose distance was d when it was last looked up is
still outside while its own way and that of the obstacles since then are less than d together. The way of the obstacles
is counted by `ObstacleSet.travelled`; kept for each point and node is the count up to which it is clear. No result
depends on this: what may be inside is always looked up.
"""

import numpy as np
from numpy.typing import NDArray

from spume.mpm.grid import CELLS_PER_BLOCK, SparseGrid

MARGIN = 1e-6
"""Of a cell: distances this small are looked up, since both they and the ways are rounded."""


class Clearances:
    """The counts of all points and all nodes [m]."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """To be called when points may have been moved by others."""
        self._points, self._x = np.empty(0), np.empty((0, 0))
        self._nodes, self._keys = np.empty((0, CELLS_PER_BLOCK)), np.empty(0, np.int64)

    def of_points(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """For the points at x, shape (n,). Whoever adds or removes points makes a new x, of which nothing is known."""
        if x is not self._x:
            self._x, self._points = x, np.full(len(x), -np.inf)
        return self._points

    def reorder(self, order: NDArray[np.int32], before: NDArray[np.float64], after: NDArray[np.float64]) -> None:
        """To be called when the points at `before` have become those at `after` = before[order]."""
        if before is self._x:
            self._x, self._points = after, self._points[order]

    def of_nodes(self, grid: SparseGrid) -> NDArray[np.float64]:
        """For the nodes of `grid`, shape (blocks, 64); blocks that were occupied before keep what is known."""
        if grid.node_keys is not self._keys:
            old, new = self._keys, grid.node_keys
            nodes = np.full((len(new), CELLS_PER_BLOCK), -np.inf)
            if len(old):
                place = np.minimum(np.searchsorted(old, new), len(old) - 1)
                same = old[place] == new
                nodes[same] = self._nodes[place[same]]
            self._nodes, self._keys = nodes, new
        return self._nodes
