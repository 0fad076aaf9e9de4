"""The part of a network that an iteration moves: free vertices, cells kept at their target areas, and their films."""

from typing import NamedTuple

import numpy as np

from spume.dryfoam.network.half_edges import Floats, Integers, Mask, Network
from spume.dryfoam.network.walls import normals
from spume.numerics.jit import compiled


@compiled
def _number(n, free, pinned, vertex_index, cell_index, film_index, first):
    """Number the vertices, cells and films of a region, -1 for all others, and find the lowest half-edge of each cell
    of the network."""
    origin, cell = n.origin, n.cell
    cell_index[:] = -1
    for h in range(len(origin) - 1, -1, -1):
        i = cell[h]
        if i >= 0:
            first[i] = h
            if free[origin[h]]:
                cell_index[i] = 0
    count = 0
    for v in range(len(free)):
        vertex_index[v] = -1
        if free[v] and not pinned[v]:
            vertex_index[v] = count
            count += 1
    count = 0
    for i in range(len(cell_index)):
        if cell_index[i] == 0:
            cell_index[i] = count
            count += 1
    count = 0
    for e in range(len(film_index)):
        film_index[e] = -1
        for h in (2 * e, 2 * e + 1):
            if vertex_index[origin[h]] >= 0 or (cell[h] >= 0 and cell_index[cell[h]] >= 0):
                film_index[e] = count
                count += 1
                break


class Region(NamedTuple):
    """Free vertices, the cells that have such vertices, and the films of these; everything else is fixed.

    All these cells are kept at their target areas, also those on the rim, whose films bulge: a small cell at a given
    pressure would collapse. The other cells keep their pressures. Kernels take regions as they are; see `Mesh`.
    """

    vertices: Integers
    cells: Integers
    films: Integers
    vertex_index: Integers
    """Number of each vertex of the network in the region, -1 if it is fixed, shape (V,)."""
    cell_index: Integers
    film_index: Integers
    first: Integers
    """Lowest half-edge of each cell of the region."""
    is_wall: Mask
    """Mask of the films of the region that are parts of a wall."""
    normals: Floats
    """Normals of the walls on which the vertices of the region slide, zero off the walls, shape (n, 2)."""
    free: Mask
    """Vertices of the network that may move unless they are pinned, shape (V,)."""
    pinned: Mask
    """Vertices of the network that are held externally, shape (V,)."""
    is_whole: bool
    """Whether all vertices may move unless they are pinned."""

    @classmethod
    def of(cls, network: Network, free: Mask | None = None, pinned: Mask | None = None) -> "Region":
        """Region of the vertices `free` (V,) (None: all) without the `pinned` ones (V,) (None: none); the cells of
        these are kept at their target areas, too."""
        n = network
        is_whole = free is None
        free = np.ones(n.vertices, dtype=np.bool_) if free is None else free
        pinned = np.zeros(n.vertices, dtype=np.bool_) if pinned is None else pinned
        vertex_index, cell_index, film_index, first = (
            np.empty(count, dtype=np.int64) for count in (n.vertices, n.cells, n.films, n.cells)
        )
        _number(n.mesh, free, pinned, vertex_index, cell_index, film_index, first)
        vertices, cells, films = (np.flatnonzero(index >= 0) for index in (vertex_index, cell_index, film_index))
        return cls(
            vertices, cells, films, vertex_index, cell_index, film_index, first[cells], n.is_wall[films],
            normals(n)[vertices], free, pinned, is_whole,
        )  # fmt: skip

    @property
    def is_pinned(self) -> bool:
        """Whether a vertex is held externally."""
        return bool(np.any(self.pinned))

    def slide(self, vectors: Floats) -> None:
        """Remove the components normal to the walls from vectors (n, 2) at the vertices, in place."""
        vectors -= np.sum(vectors * self.normals, axis=1)[:, None] * self.normals

    def after_flips(self, network: Network) -> "Region":
        """Region of the same vertices after films have exchanged neighbours."""
        return Region.of(network, None if self.is_whole else self.free, self.pinned)


@compiled
def _grow(n, free, marked, rings):
    """Free all vertices of the marked cells, then, `rings` times, those of all cells that have a free vertex; `marked`
    (F,) is overwritten."""
    origin, cell = n.origin, n.cell
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
    _grow(network.mesh, free, bad_cells.copy(), rings)
    return free
