"""Which points of torn foam are connected, against the graph of all pairs."""

import numpy as np
import pytest
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from spume.foam.pieces import connection
from spume.grid.cells import Cells


def parts_of(x, piece, chosen, radius):
    """Number of the part of each point, by a search tree and a graph."""
    pairs = cKDTree(x).query_pairs(radius, output_type="ndarray")
    listed = np.isin(np.arange(len(x)), chosen)
    a, b = pairs[listed[pairs].all(axis=1) & (piece[pairs[:, 0]] == piece[pairs[:, 1]])].T
    return connected_components(coo_array((np.ones(len(a)), (a, b)), (len(x), len(x))), directed=False)[1]


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("radius", [0.6, 1.0, 2.0])
@pytest.mark.parametrize("per_cell", [0.3, 1.5, 6.0])
def test_links_are_the_connected_parts_of_the_graph(dimension, radius, per_cell):
    """Sparse clouds whose cells are rarely connected in themselves, dense ones whose cells nearly always are; points of
    two pieces, all of them or a part."""
    rng = np.random.default_rng([dimension, int(10 * radius), int(10 * per_cell)])
    for everything in (True, False):
        x = rng.uniform(-4.0, 4.0, (int(per_cell * 8**dimension), dimension))
        piece = 1 + (rng.random(len(x)) < 0.3) if everything else np.ones(len(x), np.int64)
        chosen = np.arange(len(x)) if everything else np.flatnonzero(rng.random(len(x)) < 0.7)
        cells = Cells(dimension, 1.0, 0.5)
        cells.sort(x)
        root = np.arange(len(x))
        connection._join(cells, chosen, x, piece, radius, root)
        number, expected = connection._numbered(root), parts_of(x, piece, chosen, radius)
        assert number.max() == expected.max()
        assert len(np.unique(np.stack([number, expected]), axis=1).T) == number.max() + 1
