"""The part of a network that an iteration moves: free vertices, cells kept at their target areas, and their films."""

import numpy as np
from numpy.typing import NDArray

from spume.dryfoam.network.half_edges import Floats, Integers, Network
from spume.dryfoam.network.walls import normals
from spume.numerics.jit import compiled

Mask = NDArray[np.bool_]


@compiled
def _choose(free, pinned, origin, cell, vertex_index, cell_index, film_index, vertices, cells, films, first):
    """Number and list the vertices, cells and films of a region, and the lowest half-edge of each of its cells. Returns
    the number of vertices, cells and films."""
    cell_index[:] = -1
    for h in range(len(origin) - 1, -1, -1):
        i = cell[h]
        if i >= 0:
            first[i] = h
            if free[origin[h]]:
                cell_index[i] = 0
    count_v, count_f, count_e = 0, 0, 0
    for v in range(len(free)):
        vertex_index[v] = -1
        if free[v] and not pinned[v]:
            vertex_index[v] = count_v
            vertices[count_v] = v
            count_v += 1
    for i in range(len(cell_index)):
        if cell_index[i] == 0:
            cell_index[i] = count_f
            cells[count_f] = i
            count_f += 1
    for e in range(len(film_index)):
        film_index[e] = -1
        for h in (2 * e, 2 * e + 1):
            if vertex_index[origin[h]] >= 0 or (cell[h] >= 0 and cell_index[cell[h]] >= 0):
                film_index[e] = count_e
                films[count_e] = e
                count_e += 1
                break
    return count_v, count_f, count_e


class Region:
    """Free vertices, the cells that have such vertices, and the films of these; everything else is fixed.

    All these cells are kept at their target areas, also those on the rim, whose films bulge: a small cell at a given
    pressure would collapse. The other cells keep their pressures.

    `free` (V,): vertices that may move (None: all). `pinned` (V,): vertices held externally; their cells are kept at
    their target areas, too.
    """

    def __init__(self, network: Network, free: Mask | None = None, pinned: Mask | None = None) -> None:
        n = network
        self.is_whole = free is None
        self.free, self.pinned = free, pinned
        moving = np.ones(n.vertices, dtype=np.bool_) if free is None else free
        self.vertex_index: Integers = np.empty(n.vertices, dtype=np.int64)
        self.cell_index: Integers = np.empty(n.cells, dtype=np.int64)
        self.film_index: Integers = np.empty(n.films, dtype=np.int64)
        vertices, cells, films = (
            np.empty(n.vertices, np.int64),
            np.empty(n.cells, np.int64),
            np.empty(n.films, np.int64),
        )
        first: Integers = np.empty(n.cells, dtype=np.int64)
        counts = _choose(
            moving, np.zeros(n.vertices, dtype=np.bool_) if pinned is None else pinned, n.origin, n.cell,
            self.vertex_index, self.cell_index, self.film_index, vertices, cells, films, first,
        )  # fmt: skip
        self.vertices: Integers = vertices[: counts[0]].copy()
        self.cells: Integers = cells[: counts[1]].copy()
        self.films: Integers = films[: counts[2]].copy()
        self.first: Integers = first[self.cells]
        self.is_wall: Mask = n.is_wall[self.films]
        """Mask of the films that are parts of a wall."""
        self.normals: Floats = normals(n)[self.vertices]
        """Normals of the walls on which the vertices slide, zero off the walls, shape (V, 2)."""

    def slide(self, vectors: Floats) -> None:
        """Remove the components normal to the walls from vectors (V, 2) at the vertices, in place."""
        vectors -= np.sum(vectors * self.normals, axis=1)[:, None] * self.normals

    def after_flips(self, network: Network) -> "Region":
        """Region of the same vertices after films have exchanged neighbours."""
        return Region(network, self.free, self.pinned)


@compiled
def _grow(free, origin, cell, marked, rings):
    """Free all vertices of the marked cells, then, `rings` times, those of all cells that have a free vertex; `marked`
    (F,) is overwritten."""
    for ring in range(rings + 1):
        if ring > 0:
            for h in range(len(origin)):
                if cell[h] >= 0 and free[origin[h]]:
                    marked[cell[h]] = True
        for h in range(len(origin)):
            if cell[h] >= 0 and marked[cell[h]]:
                free[origin[h]] = True


def around(network: Network, bad_vertices: Mask, bad_cells: Mask, rings: int) -> Mask:
    """Mask (V,) of the vertices within `rings` rings of cells around the given vertices (V,) and cells (F,)."""
    free = bad_vertices.copy()
    _grow(free, network.origin, network.cell, bad_cells.copy(), rings)
    return free
