"""Nested dissection of a planar graph by coordinates: an elimination order with little fill, and its tree.

Each part is cut into two halves across its wider side, at the median of its nodes; the smallest set of nodes on the cut
edges separates them and is eliminated last. This also works on a torus, where the first cut yields two separating
lines.
"""

import numpy as np

from spume.dryfoam.equilibrium.separator import Flow, cover, mirror_edges
from spume.numerics.jit import compiled

LEAF = 12
"""Number of nodes below which a part is not cut further."""


@compiled
def _part(order, a, b, where, scratch):
    """Stably sort order[a:b] by the value of `where` (0, 1 or 2) of its nodes; return the numbers of zeros and twos."""
    left, right, middle = 0, 0, 0
    for q in range(a, b):
        i = order[q]
        if where[i] == 0:
            order[a + left] = i
            left += 1
        elif where[i] == 1:
            scratch[right] = i
            right += 1
        else:
            middle += 1
            scratch[len(scratch) - middle] = i
    for q in range(right):
        order[a + left + q] = scratch[q]
    for q in range(middle):
        order[a + left + right + q] = scratch[len(scratch) - 1 - q]
    return left, middle


@compiled
def _wide(along_x, along_y, places, a, b):
    """Whether the nodes of a part, given in the orders of x and of y, extend further along x."""
    return places[along_x[b - 1], 0] - places[along_x[a], 0] >= places[along_y[b - 1], 1] - places[along_y[a], 1]


@compiled
def dissect(places, weight, columns, last, along_x, along_y, begin, end, left_part, right_part):
    """Order the nodes; on return, part t of the tree has the nodes along_x[begin[t]:end[t]]. Parents precede children.

    along_x and along_y contain the nodes sorted by coordinate. left_part and right_part are the two halves of a part,
    -1 for none. `places` (n, 2) are coordinates, `weight` (n,) the number of unknowns of a node, `columns` has the
    adjacency lists; nodes with `last` true belong to the root's separator. Returns the number of parts.
    """
    count = len(places)
    starts, neighbours = columns.starts, columns.neighbours
    side, where = np.full(count, -1, dtype=np.int64), np.empty(count, dtype=np.int8)
    low, high = np.empty(4 * count + 4, dtype=np.int64), np.empty(4 * count + 4, dtype=np.int64)
    above, which = np.empty(4 * count + 4, dtype=np.int64), np.empty(4 * count + 4, dtype=np.int64)
    scratch = np.empty(count, dtype=np.int64)
    mirror, flow = np.empty_like(neighbours), np.empty_like(neighbours)
    mirror_edges(starts, neighbours, mirror)
    room, seen = np.empty(count, dtype=np.int64), np.full(count, -1, dtype=np.int64)
    path, at = np.empty(count + 1, dtype=np.int64), np.empty(count + 1, dtype=np.int64)
    graph = Flow(starts, neighbours, mirror, flow, side, room, seen, path, at)
    chosen = np.zeros(count, dtype=np.bool_)
    stamp = 0
    pending, parts, cuts = 1, 0, 0
    low[0], high[0], above[0] = 0, count, -1
    while pending:
        pending -= 1
        a, b = low[pending], high[pending]
        root = parts == 0
        left_part[parts], right_part[parts] = -1, -1
        if not root:
            if which[pending] == 0:
                left_part[above[pending]] = parts
            else:
                right_part[above[pending]] = parts
        if b - a <= LEAF and not root:
            begin[parts], end[parts] = a, b
            parts += 1
            continue
        order = along_x if _wide(along_x, along_y, places, a, b) else along_y
        half = a + (b - a) // 2
        for q in range(a, b):
            side[order[q]] = 2 * cuts + (1 if q >= half else 0)
        stamp = cover(graph, order[a:half], 2 * cuts, 2 * cuts + 1, weight, stamp, scratch, chosen)
        for q in range(a, b):
            i = order[q]
            where[i] = 2 if chosen[i] or (root and last[i]) else (1 if q >= half else 0)
        left, middle = _part(along_x, a, b, where, scratch)
        _part(along_y, a, b, where, scratch)
        cuts += 1
        begin[parts], end[parts] = b - middle, b
        low[pending], high[pending] = a + left, b - middle
        low[pending + 1], high[pending + 1] = a, a + left
        for side_of in range(2):
            above[pending + side_of], which[pending + side_of] = parts, 1 - side_of
        parts += 1
        pending += 2
    return parts
