"""How many separate pieces the points of a body make up, whoever has them."""

import numpy as np
from numpy.typing import NDArray

from spume.geometry.darts import cells_at
from spume.grid.cells import Cells
from spume.ranks.plain_points import PlainPoints
from spume.ranks.ranks import Ranks


def separate_pieces(x: NDArray[np.float64], cell: float, ranks: Ranks) -> int:
    """Number of groups of the points of all ranks, own ones at `x` [m], that are more than about a cell apart: of
    occupied cells that touch each other. Each rank labels those of its blocks, and labels that meet are united."""
    from scipy.sparse import coo_array  # slow to import
    from scipy.sparse.csgraph import connected_components

    d, lattice, apart = x.shape[1], Cells(x.shape[1], cell, 0.0), ranks.apart()
    occupied = _middles(x, cell)
    middles = PlainPoints({"x": occupied, "id": np.arange(len(occupied))}, lattice)
    apart.bring_home([middles], d, 0)
    own = _middles(middles.arrays["x"], cell)  # several ranks may have points in a cell
    rows = apart.nearby(lattice, own, 1)
    number = np.arange(len(own)) * ranks.size + ranks.rank
    table = rows.extended({"x": own, "number": number})
    index = np.zeros((len(table["x"]), 3), np.int64)
    index[:, :d] = np.floor(table["x"] / cell)
    first, code = np.nonzero((neighbours := cells_at(index, d).neighbours) >= 0)
    touching = coo_array((np.ones(len(first), np.int8), (first, neighbours[first, code])), shape=(len(index),) * 2)
    count, group = connected_components(touching, directed=False)
    least = np.full(count, np.iinfo(np.int64).max)
    np.minimum.at(least, group, table["number"])
    label = least[group]
    theirs = label.copy()
    rows.fill(theirs)
    label = apart.united(label, theirs)
    return ranks.count(int(np.count_nonzero(label[rows.own] == number)))


def _middles(x: NDArray[np.float64], cell: float) -> NDArray[np.float64]:
    """Middles of the cells with points, each once."""
    return np.asarray((np.unique(np.floor(x / cell), axis=0) + 0.5) * cell)
