"""Nested dissection of a planar graph by coordinates: an order of elimination with little fill, and its tree.

Each part is cut in two halves at the median of its wider coordinate; the smallest set of nodes on the edges across
separates them and is eliminated last. Works on a torus too: the first cut then yields two separating lines.
"""

import numpy as np

from spume.dryfoam.separator import cover, mirror_edges
from spume.numerics.jit import compiled

LEAF = 12
"""Nodes of a part that is not cut further."""


@compiled
def dissect(places, weight, starts, neighbours, last, perm, begin, end, left_part, right_part):
    """Orders the nodes into `perm`; tree part t owns perm[begin[t]:end[t]]. Parts are numbered parents first.

    left_part and right_part are the two halves of a part, -1 for none. `places` (n, 2) are coordinates,
    `weight` (n,) the unknowns of a node, starts/neighbours the adjacency lists; nodes with `last` true go into the
    root's separator. Returns the number of parts.
    """
    count = len(places)
    side = np.full(count, -1, dtype=np.int64)
    low, high = np.empty(4 * count + 4, dtype=np.int64), np.empty(4 * count + 4, dtype=np.int64)
    above, which = np.empty(4 * count + 4, dtype=np.int64), np.empty(4 * count + 4, dtype=np.int64)
    scratch = np.empty(count, dtype=np.int64)
    mirror, flow = np.empty_like(neighbours), np.empty_like(neighbours)
    mirror_edges(starts, neighbours, mirror)
    room, seen = np.empty(count, dtype=np.int64), np.full(count, -1, dtype=np.int64)
    path, at = np.empty(count + 1, dtype=np.int64), np.empty(count + 1, dtype=np.int64)
    chosen = np.zeros(count, dtype=np.bool_)
    stamp = 0
    pending, parts, cuts = 1, 0, 0
    low[0], high[0], above[0] = 0, count, -1
    for i in range(count):
        perm[i] = i
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
        nodes = perm[a:b].copy()
        lx, hx, ly, hy = np.inf, -np.inf, np.inf, -np.inf
        for i in nodes:
            lx, hx = min(lx, places[i, 0]), max(hx, places[i, 0])
            ly, hy = min(ly, places[i, 1]), max(hy, places[i, 1])
        axis = 0 if hx - lx >= hy - ly else 1
        key = np.empty(b - a)
        for q in range(b - a):
            key[q] = places[nodes[q], axis]
        half = (b - a) // 2
        middle_key = np.partition(key, half)[half]
        if np.min(key) == middle_key:  # many nodes at one place: any half will do
            for q in range(b - a):
                key[q] = q
            middle_key = half
        for q in range(b - a):
            side[nodes[q]] = 2 * cuts + (1 if key[q] >= middle_key else 0)
        stamp = cover(
            nodes, 2 * cuts, 2 * cuts + 1, side, weight, room, flow, seen, stamp, path, at, starts, neighbours, mirror,
            chosen,
        )  # fmt: skip
        left, right, middle = 0, 0, 0
        for half_side in range(2):
            for q in range(b - a):
                i = nodes[q]
                if side[i] != 2 * cuts + half_side:
                    continue
                if chosen[i] or (root and last[i]):
                    scratch[middle] = i
                    middle += 1
                elif half_side == 0:
                    perm[a + left] = i
                    left += 1
                else:
                    perm[a + left + right] = i
                    right += 1
        for q in range(middle):
            perm[b - middle + q] = scratch[q]
        cuts += 1
        begin[parts], end[parts] = b - middle, b
        low[pending], high[pending] = a + left, a + left + right
        low[pending + 1], high[pending + 1] = a, a + left
        for side_of in range(2):
            above[pending + side_of], which[pending + side_of] = parts, 1 - side_of
        parts += 1
        pending += 2
    return parts
