"""Graph of the unknowns of a Newton system and sparsity pattern of its matrix.

Nodes are, in this order, the free vertices, with two unknowns each, the cells, and the films whose half angle is an
unknown, with one each. All nodes of a film are coupled with each other.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spume.dryfoam.equilibrium.region import Region
from spume.dryfoam.network.half_edges import Integers, Network
from spume.numerics.jit import compiled

ENDS = 5
"""Nodes of a film: its two vertices, the cells left and right of it, its half angle."""


@compiled
def film_nodes(n, r, e, number, nodes):
    """Nodes of film e, -1 for fixed ones; `number` is the film's number among those whose half angle is an unknown."""
    origin, vertex_index, cell_index = n.origin, r.vertex_index, r.cell_index
    vertices, cells = len(r.vertices), len(r.cells)
    i, j = n.cell[2 * e], n.cell[2 * e + 1]
    nodes[0], nodes[1] = vertex_index[origin[2 * e]], vertex_index[origin[2 * e + 1]]
    nodes[2] = vertices + cell_index[i] if i >= 0 and cell_index[i] >= 0 else -1
    nodes[3] = vertices + cell_index[j] if j >= 0 and cell_index[j] >= 0 else -1
    nodes[4] = vertices + cells + number if number >= 0 else -1


@compiled
def _couple(n, r, extra, starts, neighbours):
    """Build the adjacency lists of the nodes, excluding themselves; return their total length."""
    ends = np.empty(ENDS, dtype=np.int64)
    count = len(starts) - 1
    films = r.films
    starts[:] = 0
    for phase in range(2):
        for q in range(len(films)):
            film_nodes(n, r, films[q], extra[q], ends)
            for k in range(ENDS):
                if ends[k] < 0:
                    continue
                for m in range(ENDS):
                    if ends[m] >= 0 and ends[m] != ends[k]:
                        if phase == 1:
                            neighbours[starts[ends[k]]] = ends[m]
                        starts[ends[k]] += 1
        # first pass: convert lengths to starts; second pass: convert ends to starts
        total = 0
        for i in range(count + 1):
            here = starts[i]
            starts[i] = total
            total = total + here if phase == 0 else here
    mark = np.full(count, -1, dtype=np.int64)
    used = 0
    for i in range(count):  # a pair of nodes may share several films
        begin, end = starts[i], starts[i + 1]
        starts[i] = used
        for p in range(begin, end):
            if mark[neighbours[p]] != i:
                mark[neighbours[p]] = i
                neighbours[used] = neighbours[p]
                used += 1
    starts[count] = used
    return used


@compiled
def _expand(starts, neighbours, vertices, indptr, indices, below):
    """Build the columns of the matrix: a node's own unknowns, then, from position `below` on, those of neighbours."""
    n = 0
    for i in range(len(starts) - 1):
        for own in range(2 if i < vertices else 1):
            indptr[2 * i + own if i < vertices else i + vertices] = n
            begin = n
            for k in range(2 if i < vertices else 1):
                indices[n] = 2 * i + k if i < vertices else i + vertices
                n += 1
            for p in range(starts[i], starts[i + 1]):
                j = neighbours[p]
                below[p] = n - begin
                for k in range(2 if j < vertices else 1):
                    indices[n] = 2 * j + k if j < vertices else j + vertices
                    n += 1
    return n


@compiled
def offset(columns, i, j):
    """Position at which the unknowns of node j begin in the columns of node i."""
    if i == j:
        return 0
    neighbours = columns.neighbours
    p = columns.starts[i]
    while neighbours[p] != j:
        p += 1
    return columns.below[p]


class Columns(NamedTuple):
    """Adjacency lists of the nodes and columns of the matrix, as kernels take them; n is the number of neighbours."""

    extra: Integers
    """Number of each film of the region among those whose half angle is an unknown, -1 for the others."""
    starts: Integers
    """Index of the first neighbour of each node."""
    neighbours: Integers
    """Neighbours of the nodes, shape (n,)."""
    below: NDArray[np.int32]
    """Position at which the unknowns of each neighbour begin in the columns of the node, shape (n,)."""
    indptr: NDArray[np.int32]
    """Index of the first entry of each column."""


class Pattern:
    """Graph and columns of a region's system; `extra` (E,) numbers the films whose half angle is an unknown, or -1."""

    def __init__(self, network: Network, region: Region, extra: Integers) -> None:
        r = region
        self.vertices, self.cells = len(r.vertices), len(r.cells)
        self.nodes = self.vertices + self.cells + int(np.max(extra, initial=-1)) + 1
        starts = np.empty(self.nodes + 1, dtype=np.int64)
        room = np.empty(ENDS * (ENDS - 1) * len(r.films), dtype=np.int64)
        used = _couple(network.mesh, r, extra, starts, room)
        neighbours, below = room[:used].copy(), np.empty(used, dtype=np.int32)
        self.size = self.nodes + self.vertices
        indptr = np.empty(self.size + 1, dtype=np.int32)
        indices = np.empty(4 * (used + self.nodes), dtype=np.int32)
        indptr[-1] = _expand(starts, neighbours, self.vertices, indptr, indices, below)
        self.indices = indices[: indptr[-1]].copy()
        self.columns = Columns(extra, starts, neighbours, below, indptr)

    def serves(self, extra: Integers) -> bool:
        """Whether the unknowns are the same for `extra`."""
        return np.array_equal(self.columns.extra, extra)
