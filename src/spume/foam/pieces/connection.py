"""Which points belong to one piece.

Two points are connected if they are nearer than twice the point spacing: resampling fills wider voids in material that
is stretched. Material that cannot tear bears tension across any gap that the grid does not see; its points are
connected up to twice the cell. Points that were once in different pieces are connected again only after the pieces have
fused: when all points of one that are within reach of the other have come close to it.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spume.fields import Field
from spume.foam.foam import FoamState
from spume.foam.pieces.fusion import fuse
from spume.foam.pieces.nearest import find_nearest
from spume.foam.pieces.points import Points
from spume.grid.blocks import BLOCK, cell_at, cell_in_block
from spume.grid.cells import Cells
from spume.mpm.step import sort_points
from spume.mpm.world import GridWorld
from spume.numerics.jit import compiled

PIECE = Field("piece", (), 0, "1", "nearest", dtype="int64", in_frames=False, description="piece it belongs to")
"""One more than the least id that a point of the piece had when it came apart; 0 for points not yet assigned."""
EVERY = 20
"""Steps between two searches; new points are assigned at once."""
TORN_REACH = 2.0
"""Largest distance of connected points [point spacings]: resampling fills voids wider than 0.88 of this."""
FIRM_REACH = 2.0
"""Largest distance of connected points of materials that cannot tear [cells]; also that of points that share nodes."""


def find_pieces(world: GridWorld, dt: float, foam: FoamState, spacing: float) -> None:
    """Label the pieces, every few steps and whenever there are new points. `spacing` is that of the points [m]."""
    if world.steps % EVERY and not world.ranks.any(not world.particles.piece.all()):
        return

    points = Points.around(world, max(TORN_REACH * spacing, FIRM_REACH * world.cell))
    _adopt(points, TORN_REACH * spacing)
    _label(points, foam.tear_threshold, spacing)
    fuse(points, FIRM_REACH * world.cell, world.ranks)
    world.particles.piece[:] = points.piece[points.rows.own]


def _adopt(p: Points, reach: float) -> None:
    """Give new points the piece of the nearest assigned one within `reach` [m]."""
    new = np.flatnonzero((p.piece == 0) & p.rows.own)
    if not p.rows.any(new.size > 0):
        return
    nearest, _ = find_nearest(p, p.piece, new, reach)
    found = nearest >= 0
    p.piece[new[found]] = p.piece[nearest[found]]
    p.rows.fill(p.piece)


def _label(p: Points, tear_threshold: NDArray[np.float64], spacing: float) -> None:
    """Label all points by the least id of those to which they are connected. What each rank has connected by its own
    points and copies, ranks unite where a point has several labels."""
    root = np.arange(len(p.x))
    near, far = TORN_REACH * spacing, FIRM_REACH * p.cells.size
    _join(p.cells, np.arange(len(p.x)), p.x, p.piece, near, root)
    firm = np.flatnonzero(np.isinf(tear_threshold)[p.material])
    if firm.size:
        _join(p.cells, firm, p.x, p.piece, far, root)
    number = _numbered(root)
    least = np.full(int(number.max(initial=-1)) + 1, np.iinfo(np.int64).max)
    np.minimum.at(least, number, p.id)
    label = least[number]
    theirs = label.copy()
    p.rows.fill(theirs)
    p.piece[:] = p.ranks.united(label, theirs) + 1


def rehearse_pieces(world: GridWorld, dt: float, foam: FoamState, spacing: float) -> None:
    """Label the points where they are."""
    sort_points(world)
    find_pieces(world, dt, foam, spacing)


def _numbered(root: NDArray[np.int64]) -> NDArray[np.int64]:
    """Number of the piece of each point, from the links of `_join`."""
    _flatten(root)
    return (np.cumsum(root == np.arange(root.size)) - 1)[root]


def _join(
    cells: Cells, chosen: NDArray[np.int64], x: NDArray[np.float64], piece: NDArray[np.int64],
    radius: float, root: NDArray[np.int64],
) -> None:  # fmt: skip
    """Link the `chosen` points to those of their piece among them within `radius` [m]."""
    reach = math.ceil(radius * cells.inverse_size)
    listed = np.zeros(len(x), np.bool_)
    listed[chosen] = True
    _link[cells.dimension](
        cells.neighbours, cells.cell_start, cells.sorted_points, listed, x, piece, radius, reach, root
    )


@compiled
def _root_of(root, p):
    while root[p] != p:
        root[p] = root[root[p]]
        p = root[p]
    return p


@compiled
def _flatten(root):
    for p in range(root.size):
        root[p] = _root_of(root, p)


def _make_link(D: int) -> Any:
    last = BLOCK[D][2] > 1

    @compiled(fastmath=False)
    def link(neighbours, cell_start, sorted_points, listed, x, piece, radius, reach, root):
        # Cells whose points are all connected count as one point when they meet: most do.
        whole = np.zeros(cell_start.size - 1, np.bool_)
        for cell in range(whole.size):
            begin, end = cell_start[cell], cell_start[cell + 1]
            if begin < end:
                _link_points(D, sorted_points, begin, end, begin, end, False, listed, x, piece, radius, root)
                own = _root_of(root, sorted_points[begin])
                whole[cell] = True
                for entry in range(begin, end):
                    p = sorted_points[entry]
                    whole[cell] &= listed[p] and _root_of(root, p) == own
        deep = reach if last else 0
        for cell in range(whole.size):
            begin, end = cell_start[cell], cell_start[cell + 1]
            if begin == end:
                continue
            block, i, j, k = cell_in_block(D, cell)
            # each pair of cells meets once
            for a in range(i, i + reach + 1):
                for b in range(j - reach if a > i else j, j + reach + 1):
                    for e in range(k - deep if a > i or b > j else k + 1, k + deep + 1):
                        here = cell_at(D, neighbours, block, a, b, e)
                        if here < 0 or cell_start[here] == cell_start[here + 1]:
                            continue
                        start, finish = cell_start[here], cell_start[here + 1]
                        both = whole[cell] and whole[here]
                        if both:
                            p, q = sorted_points[begin], sorted_points[start]
                            if piece[p] != piece[q] or _root_of(root, p) == _root_of(root, q):
                                continue
                        _link_points(D, sorted_points, begin, end, start, finish, both, listed, x, piece, radius, root)

    return link


@compiled(fastmath=False)
def _link_points(D, sorted_points, begin, end, first, last, once, listed, x, piece, radius, root):
    """Link the points of one cell to those of another, or of the same; `once`: one link connects all of them."""
    for entry in range(begin, end):
        p = sorted_points[entry]
        if not listed[p]:
            continue
        own = _root_of(root, p)
        for other in range(max(first, entry + 1) if first == begin else first, last):
            q = sorted_points[other]
            if root[q] == own or piece[q] != piece[p] or not listed[q]:
                continue
            square = 0.0
            for axis in range(D):
                square += (x[p, axis] - x[q, axis]) ** 2
            if square <= radius * radius:
                root_of_q = _root_of(root, q)
                low, high = min(own, root_of_q), max(own, root_of_q)
                root[high] = low
                own = low
                if once:
                    return


_link = {d: _make_link(d) for d in (2, 3)}
