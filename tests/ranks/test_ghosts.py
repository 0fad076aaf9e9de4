"""Neighbour lists on ranks are those of one process, for random points and whoever has which of them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lockstep import on_ranks

from spume.grid.cells import Cells
from spume.points.contacts import Contacts
from spume.points.neighbours import NeighbourLists, Order, Pairs
from spume.ranks.ghosts import NO_GHOSTS
from spume.ranks.ranks import ALONE
from spume.ranks.team import Team

RADIUS, SKIN = 1.9, 0.2


def cloud(rng, dimension, count, width):
    """Some points, a part of them so close that many are in reach of each other."""
    x = rng.uniform(-width, width, (count, dimension)) * rng.uniform(0.1, 1.0, (count, 1))
    metric = np.zeros((count, 6))
    metric[:, :3] = rng.uniform(0.6, 1.6, (count, 3))
    metric[:, 3:] = rng.uniform(-0.1, 0.1, (count, 3))
    return {
        "x": x,
        "moved": x + rng.uniform(-0.5, 0.5) * SKIN * rng.uniform(-1.0, 1.0, x.shape),
        "places": x + rng.normal(0.0, 0.3, x.shape),
        "id": rng.permutation(3 * count)[:count].astype(np.int64),
        "metric": metric,
        "group": rng.integers(0, 2, count).astype(np.int32),
    }


def in_order(points, dimension):
    """The points as `PointWorld.arrange` leaves them."""
    cells = Cells(dimension, RADIUS / 2, 0.0)
    cells.sort(points["places"], points["id"])
    return {name: array[cells.sorted_points] for name, array in points.items()}


def found(points, dimension, count, with_pairs, ranks):
    """For each point, by its id: the ids of its neighbours in their order, and the weights of the entries (j, i)."""
    points = in_order(points, dimension)
    order = Order(points["places"], points["id"], RADIUS / 2, ranks)
    lists = NeighbourLists(dimension, RADIUS, count, SKIN)
    pairs = None
    if with_pairs:
        stretch = ranks.largest(float(np.linalg.eigvalsh(_full(points["metric"])).min(initial=1.0) ** -0.5))
        pairs = Pairs(points["group"], points["metric"], stretch)
    lists.build(points["x"], pairs, order)
    ids = np.append(lists.ghosts.extended(points["id"]), -1)
    weights = lists.memory_for_weights()
    own = np.repeat(points["id"], np.diff(lists.start))
    weights[: len(own)] = 1e6 * own + ids[lists.neighbour]
    lists.complete_weights(weights)
    contacts = Contacts(dimension, 1.0)
    contacts.find(points["x"], lists, order)
    touching = contacts.ghosts.extended(points["id"])[contacts.pairs]
    here = {
        int(identity): (ids[lists.neighbour[first:last]].tolist(), weights[lists.reverse[first:last]].tolist())
        for identity, first, last in zip(points["id"], lists.start, lists.start[1:])
    }
    near = contacts.lists if with_pairs else lists
    return here, [tuple(pair) for pair in touching.tolist()], near.valid(points["moved"], points["x"], ranks)


def _full(s):
    return np.stack([s[:, [0, 3, 4]], s[:, [3, 1, 5]], s[:, [4, 5, 2]]], axis=1)


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    size=st.integers(2, 5),
    dimension=st.sampled_from([2, 3]),
    points=st.integers(0, 250),
    width=st.floats(1.0, 12.0),
    count=st.sampled_from([5, 12, 1 << 20]),
    with_pairs=st.booleans(),
    scattered=st.booleans(),
)
def test_lists_on_any_ranks_are_those_of_one_process(
    seed, size, dimension, points, width, count, with_pairs, scattered
):
    rng = np.random.default_rng(seed)
    whole = cloud(rng, dimension, points, width)
    owner = rng.integers(0, size, points) if scattered else (whole["x"][:, 0] > 0) + (whole["x"][:, 1] > 0.3)
    expected, touching, valid = found(whole, dimension, count, with_pairs, ALONE)

    def work(messages):
        own = {name: array[owner == messages.rank] for name, array in whole.items()}
        return found(own, dimension, count, with_pairs, Team(messages))

    ranks = on_ranks(size, work)
    together = {}
    for here, _, _ in ranks:
        together |= here
    assert together == expected
    for here, pairs, decided in ranks:
        assert pairs == [pair for pair in touching if pair[0] in here or pair[1] in here]
        assert decided == valid


@pytest.mark.parametrize("dimension", [2, 3])
def test_only_ghosts_that_are_neighbours_are_kept(dimension):
    rng = np.random.default_rng(5)
    whole = cloud(rng, dimension, 300, 8.0)

    def work(messages):
        own = in_order(
            {name: a[(whole["x"][:, 0] > 0) == (messages.rank == 1)] for name, a in whole.items()}, dimension
        )
        team = Team(messages)
        lists = NeighbourLists(dimension, RADIUS, 1 << 20, SKIN)
        lists.build(own["x"], order=Order(own["places"], own["id"], RADIUS / 2, team))
        n = len(own["x"])
        ghosts = lists.ghosts.extended(own["x"])[n:]
        assert set(lists.neighbour[lists.neighbour >= n]) >= set(range(n, n + len(ghosts)))
        return len(ghosts), lists.ghosts is not NO_GHOSTS

    (few, known), (others, _) = on_ranks(2, work)
    assert known
    assert 0 < few < 300
    assert 0 < others < 300
