"""New points of all ranks around the blocks of one, in the order in which they take from their neighbours."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spume.errors import SceneError
from spume.foam.resampling.bins import PointBins
from spume.foam.resampling.darts import Darts
from spume.foam.resampling.territory import REACH, Territory
from spume.grid.blocks import BLOCK, CELLS_PER_BLOCK
from spume.ranks.nearby import Nearby


@dataclass(frozen=True)
class NewPoints:
    """The new points of this rank, and copies of those of others."""

    y: NDArray[np.float64]
    """Coordinates [r], shape (n, 3)."""
    x: NDArray[np.float64]
    """Positions [m], shape (n, d)."""
    bin: NDArray[np.int64]
    """The bin of each, 64 a block; −1 for copies in blocks that are not among the bins of this rank."""
    place: NDArray[np.int64]
    """Place among the new points of all ranks."""
    rows: Nearby

    @property
    def mine(self) -> NDArray[np.bool_]:
        """Which are not copies."""
        return self.rows.own

    @staticmethod
    def of(darts: Darts, bins: PointBins, territory: Territory) -> "NewPoints":
        """Those of all ranks, of which each has its own `darts`."""
        index = bins.coordinates_of(darts.bin)
        rows = territory.ranks.nearby(territory.cells, bins.middles(index), REACH)
        place = territory.ranks.places(_numbers(index, bins.dimension, territory))
        found = rows.extended({"y": darts.y, "index": index, "place": place})
        order = np.argsort(found["place"])
        rows.reorder(order)
        y = found["y"][order]
        return NewPoints(y, bins.position(y), bins.numbers_of(found["index"][order]), found["place"][order], rows)


def _numbers(index: NDArray[np.int64], dimension: int, territory: Territory) -> NDArray[np.int64]:
    """A number for each dart in the bins with the coordinates `index`, ascending in the order of the bins."""
    width = np.array(BLOCK[dimension])
    block, local = index // width, np.ravel_multi_index(tuple((index % width).T), BLOCK[dimension])
    first = np.flatnonzero(np.diff(index, axis=0, prepend=index[:1] - 1).any(axis=1))
    within = np.arange(len(index)) - np.repeat(first, np.diff(first, append=len(index)))
    farthest = np.full((2, 3), -np.inf)
    if len(index):
        farthest[0], farthest[1] = -block.min(axis=0), block.max(axis=0)
    ends = territory.ranks.maxima(np.append(farthest, within.max(initial=0)).astype(np.float64))
    low, extent, most = (-ends[:3]).astype(np.int64), (ends[:3] + ends[3:6]).astype(np.int64) + 1, int(ends[6]) + 1
    if math.prod(map(int, extent)) * CELLS_PER_BLOCK * most >= 2**63:
        raise SceneError(f"darts cannot be thrown at a domain of {' × '.join(map(str, extent))} blocks")
    number = ((block[:, 0] - low[0]) * extent[1] + block[:, 1] - low[1]) * extent[2] + block[:, 2] - low[2]
    return np.asarray((number * CELLS_PER_BLOCK + local) * most + within)
