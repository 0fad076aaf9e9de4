"""Neighbour lists against a search that compares all pairs."""

import numpy as np
import pytest
from clouds import jittered_lattice

from spume.points.neighbours import NeighbourLists


def listed(lists: NeighbourLists) -> list[set[int]]:
    return [set(lists.neighbour[a:b].tolist()) for a, b in zip(lists.start[:-1], lists.start[1:])]


def all_pairs(x: np.ndarray, radius: float, count: int) -> list[set[int]]:
    """The `count` nearest within the radius, and whoever has a point among its own."""
    distance = np.linalg.norm(x[:, None] - x[None], axis=2)
    np.fill_diagonal(distance, np.inf)
    own = [
        {int(j) for j in np.lexsort((np.arange(len(x)), row))[:count] if row[j] <= radius} for row in distance
    ]  # fmt: skip
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
    sizes = np.diff(lists.start)
    assert sizes.tolist() == [len(each) for each in listed(lists)]


def test_lists_hold_until_a_point_has_moved_by_half_the_skin(rng):
    x = jittered_lattice(4, 3, rng)
    lists = NeighbourLists(3, 1.9, 30, 0.2)
    moved = x.copy()
    moved[5, 1] += 0.099
    assert lists.valid(moved, x)
    moved[5, 1] += 0.002
    assert not lists.valid(moved, x)
