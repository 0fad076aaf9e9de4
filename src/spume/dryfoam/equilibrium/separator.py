"""Smallest set of nodes that separates the two halves of a cut graph.

The edges across a cut form a bipartite graph, and the separator must contain an end of each: it is a vertex cover. The
cover of minimum weight follows from a maximum flow through the edges, where the capacity of a node is its weight
(König, Egerváry).
"""

from spume.numerics.jit import compiled


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
def _augment(root, stamp, near, far, side, room, flow, seen, path, at, starts, neighbours, mirror):
    """Send one unit of flow from `root`, on the side `near`, to a node on the side `far` that has capacity left; False
    if none can be reached. Visited nodes are marked with `stamp` in `seen`."""
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
def cover(nodes, near, far, side, weight, room, flow, seen, stamp, path, at, starts, neighbours, mirror, edge, chosen):
    """Mark in `chosen` the minimum-weight cover of the edges between the sides `near`, whose nodes are `nodes`, and
    `far`. Returns the next unused stamp.

    side, weight, room, seen, edge, chosen (n,) and flow, mirror (entries of neighbours) are shared by all cuts.
    """
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
            if _augment(i, stamp, near, far, side, room, flow, seen, path, at, starts, neighbours, mirror):
                stamp += 1
    # The cover consists of the far nodes reachable from nodes with capacity left, and the near nodes not reachable.
    stamp += 1
    for i in edge[:count]:
        if room[i] > 0 and seen[i] != stamp:
            _augment(i, stamp, near, far, side, room, flow, seen, path, at, starts, neighbours, mirror)
    for i in edge[:count]:
        chosen[i] = seen[i] != stamp
        for p in range(starts[i], starts[i + 1]):
            j = neighbours[p]
            if side[j] == far and seen[j] == stamp:
                chosen[j] = True
    return stamp + 1
