"""Smallest set of nodes that separates the two halves of a cut graph.

The edges across a cut form a bipartite graph, and the separator must contain an end of each: it is a vertex cover. The
cover of minimum weight follows from a maximum flow through the edges, where the capacity of a node is its weight
(König, Egerváry).
"""

from typing import NamedTuple

from spume.dryfoam.network.half_edges import Integers
from spume.numerics.jit import compiled


class Flow(NamedTuple):
    """Working arrays of the cuts of a graph of n nodes, as kernels take them; all cuts share them."""

    starts: Integers
    """Index of the first neighbour of each node."""
    neighbours: Integers
    mirror: Integers
    """For each entry of `neighbours`, from i to j, the entry from j to i."""
    flow: Integers
    """Flow along each entry of `neighbours`."""
    side: Integers
    """Side of a cut on which each node is, shape (n,)."""
    room: Integers
    """Capacity that each node has left, shape (n,)."""
    seen: Integers
    """Last search that visited each node, shape (n,)."""
    path: Integers
    """Nodes of the present path, shape (n + 1,)."""
    at: Integers
    """Next entry of `neighbours` to try at each node of the path, shape (n + 1,)."""


@compiled
def mirror_edges(starts, neighbours, mirror):
    """Find for each entry of the adjacency lists, from i to j, the entry from j to i."""
    for i in range(len(starts) - 1):
        for p in range(starts[i], starts[i + 1]):
            j = neighbours[p]
            for q in range(starts[j], starts[j + 1]):
                if neighbours[q] == i:
                    mirror[p] = q
                    break


@compiled
def _augment(graph, root, stamp, near, far):
    """Send one unit of flow from `root`, on the side `near`, to a node on the side `far` that has capacity left; False
    if none can be reached. Visited nodes are marked with `stamp` in `seen`."""
    starts, neighbours, mirror, flow, side, room, seen, path, at = graph
    depth = 0
    path[0] = root
    at[0] = starts[root]
    seen[root] = stamp
    while depth >= 0:
        i = path[depth]
        forward = side[i] == near
        if at[depth] == starts[i + 1]:
            depth -= 1
            continue
        p = at[depth]
        at[depth] += 1
        j = neighbours[p]
        if seen[j] == stamp or side[j] != (far if forward else near):
            continue
        if not forward and flow[mirror[p]] == 0:
            continue
        seen[j] = stamp
        depth += 1
        path[depth] = j
        at[depth] = starts[j]
        if forward and room[j] > 0:
            room[root] -= 1
            room[j] -= 1
            for k in range(depth):
                used = at[k] - 1
                if side[path[k]] == near:
                    flow[used] += 1
                else:
                    flow[mirror[used]] -= 1
            return True
    return False


@compiled
def cover(graph, nodes, near, far, weight, stamp, edge, chosen):
    """Mark in `chosen` the minimum-weight cover of the edges between the sides `near`, whose nodes are `nodes`, and
    `far`. Returns the next unused stamp.

    `weight` (n,) is the number of unknowns of each node; `edge` and `chosen` (n,) are shared by all cuts, too.
    """
    starts, neighbours, _, flow, side, room, seen, _, _ = graph
    count = 0
    for i in nodes:
        across = False
        for p in range(starts[i], starts[i + 1]):
            j = neighbours[p]
            if side[j] == far:
                across = True
                room[j] = weight[j]
        if across:
            edge[count] = i
            count += 1
            room[i] = weight[i]
            for p in range(starts[i], starts[i + 1]):
                flow[p] = 0
    for i in edge[:count]:  # initial flow along single edges
        for p in range(starts[i], starts[i + 1]):
            j = neighbours[p]
            if side[j] == far:
                sent = min(room[i], room[j])
                room[i] -= sent
                room[j] -= sent
                flow[p] = sent
    stamp += 1
    for i in edge[:count]:
        # nodes visited by a failed search lead nowhere until a search succeeds
        while room[i] > 0 and seen[i] != stamp:
            if _augment(graph, i, stamp, near, far):
                stamp += 1
    # The cover consists of the far nodes reachable from nodes with capacity left, and the near nodes not reachable.
    stamp += 1
    for i in edge[:count]:
        if room[i] > 0 and seen[i] != stamp:
            _augment(graph, i, stamp, near, far)
    for i in edge[:count]:
        chosen[i] = seen[i] != stamp
        for p in range(starts[i], starts[i + 1]):
            j = neighbours[p]
            if side[j] == far and seen[j] == stamp:
                chosen[j] = True
    return stamp + 1
