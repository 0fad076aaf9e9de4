"""What decides on the piece of points, with copies of the points of other ranks."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spume.grid.cells import Cells
from spume.mpm.world import GridWorld
from spume.ranks.nearby import Nearby
from spume.ranks.ranks import Ranks


@dataclass
class Points:
    """Sorted points of one rank, and copies of those of others around them."""

    ranks: Ranks
    rows: Nearby
    cells: Cells
    x: NDArray[np.float64]
    id: NDArray[np.int64]
    material: NDArray[np.int32]
    volume: NDArray[np.float64]
    piece: NDArray[np.int64]

    @staticmethod
    def around(world: GridWorld, reach: float) -> "Points":
        """The points, and copies of those at most `reach` [m] from blocks of this rank."""
        p, ranks, own = world.particles, world.ranks, world.only.cells
        rows = ranks.nearby(own, p.x, math.ceil(reach * own.inverse_size), margin=0.0)
        near = rows.extended({name: p.arrays()[name] for name in ("x", "id", "material", "volume", "piece")})
        cells = own
        if rows.copies.size:
            cells = Cells(own.dimension, own.size, own.offset)
            cells.sort(near["x"], near["id"])
        return Points(ranks, rows, cells, **near)
