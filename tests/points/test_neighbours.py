"""Neighbour lists against a search that compares all pairs."""

import numpy as np
import pytest
from clouds import jittered_lattice

from spume.points.neighbours import NeighbourLists


def listed(lists: NeighbourLists) -> list[set[int]]:
    nobody = len(lists.start) - 1
    return [set(lists.neighbour[a:b].tolist()) - {nobody} for a, b in zip(lists.start[:-1], lists.start[1:])]


def all_pairs(x: np.ndarray, radius: float, count: int) -> list[set[int]]:
    """The `count` nearest within the radius, without those as far as the next one, and whoever has a point among its
    own."""
    distance = np.linalg.norm(x[:, None] - x[None], axis=2)
    np.fill_diagonal(distance, np.inf)
    own = []
    for row in distance:
        within = np.sort(row[row <= radius])
        cut = within[count] * (1.0 - 1e-6) if len(within) > count else np.inf
        own.append(set(np.flatnonzero((row <= radius) & (row < cut)).tolist()))
    return [mine | {j for j in range(len(x)) if i in own[j]} for i, mine in enumerate(own)]


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("count", [8, 30])
def test_lists_are_those_of_all_pairs_made_symmetric(dimension, count, rng):
    x = jittered_lattice(6, dimension, rng)
    lists = NeighbourLists(dimension, 1.9, count, 0.1)
    lists.build(x)
    assert listed(lists) == all_pairs(x, 2.0, count)


def test_no_point_is_listed_twice(rng):
    lists = NeighbourLists(3, 1.9, 10, 0.1)
    lists.build(jittered_lattice(6, 3, rng))
    for a, b, own in zip(lists.start[:-1], lists.start[1:], listed(lists)):
        entries = lists.neighbour[a:b]
        assert (b - a) % 8 == 0
        assert (entries != len(lists.start) - 1).sum() == len(own)


def built(x, skin=0.2):
    lists = NeighbourLists(3, 1.9, 30, skin)
    lists.build(x)
    return lists


def test_lists_hold_until_a_point_has_moved_by_the_skin_relative_to_its_neighbours(rng):
    x = jittered_lattice(4, 3, rng)
    lists = built(x)
    moved = x.copy()
    moved[5, 1] += 0.199
    assert lists.valid(moved, x)
    moved[5, 1] += 0.002
    assert not lists.valid(moved, x)


def test_a_body_that_moves_as_a_whole_keeps_its_lists(rng):
    x = jittered_lattice(4, 3, rng)
    assert built(x).valid(x + np.array([3.0, -20.0, 1.0]), x)


def test_bodies_that_approach_each_other_lose_their_lists_before_they_meet(rng):
    """Whatever the gap and the motion, lists that are called valid miss no pair within the radius."""
    one = jittered_lattice(3, 3, rng)
    for gap in (2.2, 3.0, 5.0, 9.0, 14.0, 30.0):
        x = np.concatenate([one, one + np.array([0.0, 2.0 + gap, 0.0])])
        lists = built(x)
        pairs = {(i, j) for i, own in enumerate(listed(lists)) for j in own}
        verdicts = []
        for approach in np.linspace(0.0, gap, 40):
            y = x.copy()
            y[len(one) :, 1] -= approach
            verdicts.append(lists.valid(y, x))
            if verdicts[-1]:
                distance = np.linalg.norm(y[:, None] - y[None], axis=2)
                near = np.argwhere((distance < lists.radius) & (distance > 0))
                assert {(i, j) for i, j in near.tolist() if (i < 27) != (j < 27)} <= pairs
        assert verdicts[0]
        assert not verdicts[-1]


def test_of_points_at_equal_distance_all_are_listed_or_none():
    # on a lattice all distances are shared by several points
    x = jittered_lattice(5, 3, np.random.default_rng(0), jitter=0.0)
    lists = NeighbourLists(3, 1.9, 9, 0.1)
    lists.build(x)
    assert listed(lists) == all_pairs(x, 2.0, 9)


def test_crowded_points_find_room(rng):
    x = rng.uniform(0.0, 1.0, (150, 3))
    lists = NeighbourLists(3, 1.9, 200, 0.1)
    lists.build(x)
    assert listed(lists) == all_pairs(x, 2.0, 200)
