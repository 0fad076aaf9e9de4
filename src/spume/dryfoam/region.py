"""The part of a network that an iteration moves: its free vertices, the cells kept on target, the films between."""

import numpy as np
from numpy.typing import NDArray

from spume.dryfoam.network import Integers, Network
from spume.numerics.jit import compiled

Mask = NDArray[np.bool_]


class Region:
    """Free vertices, the cells that have such vertices, and the films these touch; the rest stands still.

    All those cells are kept on target, the ones on the rim by bulging, where the rest keeps its pressure: a small cell
    left at a given pressure would collapse.

    `free` (V,): vertices that may move, all when None. `pinned` (V,): vertices held from outside, whose cells are kept
    on target all the same.
    """

    def __init__(self, network: Network, free: Mask | None = None, pinned: Mask | None = None) -> None:
        n = network
        self.is_whole = free is None
        self.free, self.pinned = free, pinned
        moving = np.ones(n.vertices, dtype=np.bool_) if free is None else free.copy()
        kept = np.zeros(n.cells + 1, dtype=np.bool_)
        kept[n.cell[moving[n.origin]]] = True
        kept[-1] = False  # the outside
        if pinned is not None:
            moving &= ~pinned
        touched = moving[n.origin] | kept[n.cell]
        self.vertices: Integers = np.flatnonzero(moving)
        self.cells: Integers = np.flatnonzero(kept)
        self.films: Integers = np.flatnonzero(touched[0::2] | touched[1::2])
        self.vertex_index = np.full(n.vertices, -1, dtype=np.int64)
        self.vertex_index[self.vertices] = np.arange(len(self.vertices))
        self.cell_index = np.full(n.cells, -1, dtype=np.int64)
        self.cell_index[self.cells] = np.arange(len(self.cells))
        self.film_index = np.full(n.films, -1, dtype=np.int64)
        self.film_index[self.films] = np.arange(len(self.films))
        self.first: Integers = n.first_half_edges()[self.cells]

    def after_flips(self, network: Network) -> "Region":
        """The region of the same vertices once films have exchanged neighbours."""
        return Region(network, self.free, self.pinned)


@compiled
def _grow(free, origin, cell, marked):
    """Frees all vertices of the cells that have a free vertex; `marked` (F,) is scratch."""
    marked[:] = False
    for h in range(len(origin)):
        if cell[h] >= 0 and free[origin[h]]:
            marked[cell[h]] = True
    for h in range(len(origin)):
        if cell[h] >= 0 and marked[cell[h]]:
            free[origin[h]] = True


def around(network: Network, bad_vertices: Mask, bad_cells: Mask, rings: int) -> Mask:
    """Vertices within `rings` rings of cells of the given vertices (V,) and cells (F,), shape (V,)."""
    n = network
    free = bad_vertices.copy()
    inside = n.cell >= 0
    free[n.origin[inside][bad_cells[n.cell[inside]]]] = True
    marked = np.empty(n.cells, dtype=np.bool_)
    for _ in range(rings):
        _grow(free, n.origin, n.cell, marked)
    return free
