"""Copies of points, which ranks divide by their positions: for sums over points that belong to a rank otherwise."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spume.grid.cells import Cells


class PlainPoints:
    """Arrays of points with positions "x" and "id"; see `Movable`."""

    next_id = 0

    def __init__(self, arrays: dict[str, NDArray[Any]], cells: Cells) -> None:
        self.arrays = arrays
        self.cells = cells
        """Those into which they are sorted."""

    def sort(self) -> None:
        """See `Movable`."""
        self.cells.sort(self.arrays["x"], self.arrays["id"])

    def point_arrays(self) -> dict[str, NDArray[Any]]:
        """See `Movable`."""
        return dict(self.arrays)

    def swap_points(self, gone: NDArray[np.int64], arrived: Callable[[str], NDArray[Any]]) -> None:
        """See `Movable`. The arrays that were given stay as they are."""
        self.arrays = {
            name: np.concatenate([np.delete(a, gone, axis=0), arrived(name)]) for name, a in self.arrays.items()
        }
