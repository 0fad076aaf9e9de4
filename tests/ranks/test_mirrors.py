"""Nodes that are tied to others some cells away, and inner products over nodes: the bits of one process."""

import numpy as np
import pytest
from lockstep import on_ranks
from rank_clouds import Cloud, points

from spume.grid.blocks import NODES_PER_BLOCK
from spume.grid.nodes import Nodes, number_active
from spume.mixture.reflection import _add
from spume.ranks.ranks import ALONE
from spume.ranks.team import Team


def coordinates(nodes):
    """Integer coordinates of all nodes, (n, d)."""
    places = nodes.places(np.arange(NODES_PER_BLOCK * len(nodes)))
    return np.round(places).astype(np.int64)


def drawn(index, seed, shape):
    """Numbers that depend on the coordinates of a node alone, (n, *shape) in (0, 1)."""
    numbers = np.sin(index @ np.array([12.9898, 78.233, 37.719])[: index.shape[1]] + seed)[:, None]
    return np.abs(numbers * 43758.5453 * np.arange(1, 1 + np.prod(shape))).reshape(len(index), *shape) % 1.0


def results(ranks, nodes):
    """By coordinates of each node: the values at the nodes it is tied to, and the sums onto it; an inner product; and
    whether a node is tied to one that this rank does not have."""
    d, corners = nodes.dimension, 2**nodes.dimension
    index = coordinates(nodes)
    field = drawn(index, 0.1, (d,)).reshape(len(nodes), NODES_PER_BLOCK, d).transpose(0, 2, 1).copy()
    node = np.repeat(np.arange(len(index)), np.where(drawn(index, 0.2, (1,))[:, 0] < 0.3, 2, 0))  # two walls each
    second = (np.arange(node.size) % 2).astype(np.float64)
    away = np.floor(11.0 * drawn(index[node], 0.3 + second, (corners, d))).astype(np.int64) - 5
    mirrors = ranks.mirrors(nodes, index[node][:, None, :] + away)
    present = mirrors.sources >= 0
    values = np.where(present[..., None], mirrors.at(field, np.maximum(mirrors.sources, 0)), np.nan)
    normal, weights = drawn(index[node], 0.4 + second, (d,)), drawn(index[node], 0.5 + second, (corners,))
    chosen = drawn(index[node], 0.6 + second, (1,))[:, 0] < 0.8
    mirrors.tie(node[chosen], normal[chosen], weights[chosen], chosen)
    active = np.flatnonzero(drawn(index[node[chosen]], 0.7, (1,))[:, 0] < 0.7)
    rows = mirrors.rows(normal[chosen][active, 0], active)
    added = (rows.weights[:, :, None] * (rows.along[:, None] * rows.normal)[:, None, :]).reshape(-1, d)
    _add(field, rows.sources.ravel(), added)
    at = {(*index[n], k % 2): values[k].tobytes() for k, n in enumerate(node)}
    flat = field.transpose(0, 2, 1).reshape(-1, d)
    sums = {tuple(place): value.tobytes() for place, value in zip(index, flat)}
    dofs = number_active(drawn(index, 0.8, (1,)).reshape(-1, NODES_PER_BLOCK) - 0.4, nodes.border)
    own = dofs.take(field)
    return at, sums, dofs.dots([(own, own * own)])[0], bool((mirrors.sources >= NODES_PER_BLOCK * len(nodes)).any())


@pytest.mark.parametrize(("dimension", "size"), [(2, 3), (3, 4)])
@pytest.mark.parametrize("seed", range(3))
def test_ties_and_inner_products_are_those_of_one_process(dimension, size, seed):
    width = {2: 30.0, 3: 9.0}[dimension]
    arrays = points(np.random.default_rng(seed), dimension, 150, width)

    def of_one():
        cloud, nodes = Cloud(arrays, dimension, 2), Nodes(dimension, 1.0, 2)
        cloud.sort()
        nodes.cover([cloud.cells])
        return results(ALONE, nodes)

    def of_rank(messages):
        team = Team(messages)
        part = team.part(len(arrays["x"]))
        cloud, nodes = Cloud({name: a[part] for name, a in arrays.items()}, dimension, 2), Nodes(dimension, 1.0, 2)
        cloud.sort()
        team.settle([cloud], dimension, 0)
        nodes.cover([cloud.cells])
        team.join(nodes, [cloud.cells])
        return results(team, nodes)

    at, sums, product, _ = of_one()
    found = on_ranks(size, of_rank)
    for own_at, own_sums, own_product, _ in found:
        assert own_at.items() <= at.items()
        assert own_sums.items() <= sums.items()
        assert own_product == product
    for place, whole in ((0, at), (1, sums)):
        assert set().union(*(own[place] for own in found)) == set(whole)
    assert any(far for *_, far in found)
