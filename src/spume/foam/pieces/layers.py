"""Layers: pieces that may share nodes are summed on different velocity fields, all others on the same."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from spume.grid.nodes import NodeFields
from spume.mpm.species import Layer
from spume.mpm.world import GridWorld
from spume.numerics.jit import compiled
from spume.ranks.ranks import Ranks


@dataclass
class Storage:
    """Memory of the fields of the layers after the first, and the layer of each point."""

    fields: list[NodeFields] = field(default_factory=list)
    layer: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))


def in_pieces(piece: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Labels of the pieces, their numbers of points, and the index of the piece of each point."""
    labels, number, counts = np.unique(piece, return_inverse=True, return_counts=True)
    return labels, counts, number


def _pieces(piece: NDArray[np.int64], ranks: Ranks) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Labels of the pieces of all ranks, and their numbers of points."""
    if len(piece) == 0 or (piece == piece[0]).all():
        labels, counts = piece[:1], np.array([len(piece)])[: len(piece)]
    else:
        labels, counts, _ = in_pieces(piece)
    return ranks.totals_by(labels, counts)


def divide(world: GridWorld, dt: float, storage: Storage) -> None:
    """Divide the points among as many layers as are needed for pieces that share nodes to be in different ones."""
    species, p = world.only, world.particles
    labels, counts = _pieces(p.piece, world.ranks)
    if len(labels) <= 1:
        return
    number = np.searchsorted(labels, p.piece)
    cells = species.transfers.cells
    present = np.zeros((len(cells), len(counts)), np.bool_)
    _find_present(cells.cell_start, cells.sorted_points, number, present)
    meets = np.zeros((len(counts), len(counts)), np.bool_)
    _find_meetings(*world.ranks.all_blocks(cells, present), meets)
    layer_of_piece = _colours(meets, counts)
    storage.layer = layer_of_piece[number]
    layers = int(layer_of_piece.max()) + 1
    if layers == 1:
        return
    d = world.dimension
    while len(storage.fields) < layers - 1:
        storage.fields.append(NodeFields(mass=0, momentum=d, force=d))
    species.layers = []
    for k, fields in enumerate([species.fields, *storage.fields[: layers - 1]]):
        fields.fit(world.nodes)
        species.layers.append(Layer(species.transfers.chosen(storage.layer == k), fields))


def _colours(meets: NDArray[np.bool_], counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Layer of each piece: the first that has no piece it meets, in the order of their sizes."""
    layer = np.full(len(counts), -1)
    for k in np.argsort(-counts, kind="stable"):
        taken = set(layer[meets[k]])
        layer[k] = next(n for n in range(len(counts)) if n not in taken)
    return layer


@compiled(fastmath=False)
def _find_present(cell_start, sorted_points, number, present):
    """Find the pieces with points in each block of cells."""
    for block in range(present.shape[0]):
        for entry in range(cell_start[64 * block], cell_start[64 * block + 64]):
            present[block, number[sorted_points[entry]]] = True


@compiled(fastmath=False)
def _find_meetings(neighbours, present, meets):
    """Find the pieces that are in the same block or in adjacent ones, and so may share nodes."""
    for block in range(present.shape[0]):
        for n in range(neighbours.shape[1]):
            other = neighbours[block, n]
            if other < 0:
                continue
            for a in range(present.shape[1]):
                if present[block, a]:
                    for b in range(present.shape[1]):
                        if b != a and present[other, b]:
                            meets[a, b] = True
