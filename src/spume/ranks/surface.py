"""What ranks exchange in a step on a grid, counted from the occupied blocks without running any rank."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spume.grid.blocks import corner_steps, unpack
from spume.ranks.cuts import costs, even_cuts, imbalance
from spume.ranks.slots import Reach, colours, leading

Integers = NDArray[np.int64]


class Surface(NamedTuple):
    """What the busiest ranks do in a step."""

    imbalance: float
    """Cost of the costliest rank over the mean."""
    peers: int
    """Most ranks that one sends to."""
    sent: int
    """Most bytes that one sends."""


def surface(keys: Integers, points: Integers, size: int, dimension: int, order: int = 3) -> Surface:
    """Of `size` ranks that share blocks of cells with so many points each, with splines of this order. In an explicit
    step they exchange mass, momentum and force once."""
    cost = costs(points)
    owner = even_cuts(keys, cost, size, dimension).owners(keys)
    nodes, peers = exchanged(keys, owner, size, dimension, order)
    of_node = (1 + 2 * dimension) * 8
    return Surface(imbalance(cost, owner, size), int(peers.max(initial=0)), int(nodes.max(initial=0)) * of_node)


def exchanged(keys: Integers, owner: Integers, size: int, dimension: int, order: int = 3) -> tuple[Integers, Integers]:
    """Nodes in slots (`ranks/slots.py`) that each rank sends for each sum, and its number of peers."""
    steps = corner_steps(dimension)
    node = (keys[:, None] + steps).reshape(-1)
    rank, corner = np.repeat(owner, steps.size), np.tile(np.arange(0, 8, 8 // steps.size), keys.size)
    ascending = np.lexsort((rank, node))
    node, rank, corner = node[ascending], rank[ascending], corner[ascending]
    leads = leading(node, colours(corner, unpack(node) & 1), rank)
    # all that leads at a block of nodes is sent as one sum
    starts = np.flatnonzero(np.diff(node[leads], prepend=-1))
    common = np.bitwise_and.reduceat(corner[leads], starts) if starts.size else starts
    node = np.concatenate([node[leads][starts], node[~leads]])
    rank = np.concatenate([rank[leads][starts], rank[~leads]])
    reach = Reach(dimension, order).counts[np.concatenate([common, corner[~leads]])]
    ascending = np.argsort(node, kind="stable")
    node, rank, reach = node[ascending], rank[ascending], reach[ascending]
    starts = np.flatnonzero(np.r_[True, node[1:] != node[:-1]][: node.size])
    sent, known = np.zeros(size, np.int64), np.zeros((size, size), np.bool_)
    for first, last in zip(starts, np.r_[starts[1:], node.size]):
        holders, place = np.unique(rank[first:last], return_inverse=True)
        if holders.size > 1:
            sent[holders] += np.bincount(place, reach[first:last]).astype(np.int64) * (holders.size - 1)
            known[np.ix_(holders, holders)] = True
    return sent, np.maximum(known.sum(axis=1) - 1, 0)
