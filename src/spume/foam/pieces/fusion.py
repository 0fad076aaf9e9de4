"""Pieces that have come close: two become one when all points of one that are within reach of others are close."""

import numpy as np
from numpy.typing import NDArray

from spume.foam.pieces.layers import in_pieces
from spume.foam.pieces.nearest import find_nearest
from spume.foam.pieces.points import Points
from spume.grid.blocks import CELLS_PER_BLOCK
from spume.numerics.jit import compiled
from spume.ranks.ranks import Ranks

FUSED = 0.25
"""Gap below which two pieces are one, if they have no larger one within reach [cells]."""


def fuse(p: Points, reach: float, ranks: Ranks) -> None:
    """Make one piece of two that have no gap: the smaller ones first, each with the piece nearest to it. Gaps are
    searched up to `reach` [m]."""
    labels, counts, _ = in_pieces(p.piece[p.rows.own])
    labels, counts = ranks.totals_by(labels, counts)
    if len(labels) < 2:
        return
    number = np.searchsorted(labels, p.piece)
    gap, own, other = _gaps(p, number, reach)
    widest, narrowest = np.full((2, len(labels)), -np.inf)
    np.maximum.at(widest, number[own], gap)
    np.maximum.at(narrowest, number[own], -gap)
    widest, narrowest = ranks.maxima(np.concatenate([widest, narrowest])).reshape(2, -1)
    # the points with the smallest gap; of several, that with the least id
    first = np.flatnonzero(-gap == narrowest[number[own]])
    least = np.full(len(labels), -np.inf)
    np.maximum.at(least, number[own[first]], -p.id[own[first]].astype(np.float64))
    least = ranks.maxima(least)
    first = first[-p.id[own[first]] == least[number[own[first]]]]
    target = np.full(len(labels), -1.0)
    target[number[own[first]]] = number[other[first]]
    target = ranks.maxima(target).astype(np.int64)
    for k in np.argsort(counts, kind="stable")[:-1]:
        if target[k] >= 0 and widest[k] <= FUSED * p.cells.size:
            labels[k] = labels[target[k]]
    p.piece[:] = labels[number]


def _gaps(
    p: Points, number: NDArray[np.int64], reach: float
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]:
    """Gaps [m] between points of this rank and the nearest ones of other pieces, and these points and the nearest."""
    cells = p.cells
    mixed = np.zeros(len(p.x), np.bool_)
    _find_mixed(cells.neighbours, cells.cell_start, cells.sorted_points, number, mixed)
    own = np.flatnonzero(mixed & p.rows.own)
    nearest, distance = find_nearest(p, number + 1, own, reach)
    near = nearest >= 0
    own, other = own[near], nearest[near]
    size = np.asarray(p.volume ** (1.0 / cells.dimension))
    return distance[near] - 0.5 * (size[own] + size[other]), own, other


@compiled
def _find_mixed(neighbours, cell_start, sorted_points, number, mixed):
    """Mark the points in blocks that have points of several pieces in or beside them."""
    blocks = neighbours.shape[0]
    lowest, highest = np.empty(blocks, np.int64), np.empty(blocks, np.int64)
    for block in range(blocks):
        first = sorted_points[cell_start[block * CELLS_PER_BLOCK]]
        lowest[block] = highest[block] = number[first]
        for entry in range(cell_start[block * CELLS_PER_BLOCK], cell_start[(block + 1) * CELLS_PER_BLOCK]):
            here = number[sorted_points[entry]]
            lowest[block], highest[block] = min(lowest[block], here), max(highest[block], here)
    for block in range(blocks):
        low, high = lowest[block], highest[block]
        for n in range(neighbours.shape[1]):
            if neighbours[block, n] >= 0:
                low, high = min(low, lowest[neighbours[block, n]]), max(high, highest[neighbours[block, n]])
        if low < high:
            for entry in range(cell_start[block * CELLS_PER_BLOCK], cell_start[(block + 1) * CELLS_PER_BLOCK]):
                mixed[sorted_points[entry]] = True
