"""The curve along which blocks are owned visits every block once and goes from neighbour to neighbour."""

import numpy as np
import pytest

from spume.grid.blocks import pack
from spume.ranks.curve import hilbert, morton_places, places
from spume.ranks.cuts import Cuts, costs, even_cuts, imbalance


def all_cells(dimension, bits):
    return np.stack(np.meshgrid(*[np.arange(1 << bits)] * dimension, indexing="ij"), axis=-1).reshape(-1, dimension)


@pytest.mark.parametrize(("dimension", "bits"), [(2, 1), (2, 5), (3, 1), (3, 3)])
def test_the_curve_visits_every_cell_once_and_goes_to_a_neighbour(dimension, bits):
    cells = all_cells(dimension, bits)
    place = hilbert(cells, bits)
    assert sorted(place) == list(range(len(cells)))
    way = cells[np.argsort(place)]
    assert (np.abs(np.diff(way, axis=0)).sum(axis=1) == 1).all()


@pytest.mark.parametrize("curve", [places, morton_places])
@pytest.mark.parametrize("dimension", [2, 3])
def test_blocks_on_both_sides_of_the_origin_have_different_places(curve, dimension):
    index = all_cells(dimension, 3) - 4
    index = np.pad(index, ((0, 0), (0, 3 - dimension)))
    found = curve(pack(*index.T), dimension)
    assert len(set(found)) == len(found)
    assert found.min() >= 0


def test_cuts_give_equal_shares_of_the_cost():
    rng = np.random.default_rng(1)
    keys = np.unique(pack(*rng.integers(-20, 20, (3, 4000))))
    cost = costs(rng.integers(1, 600, keys.size))
    for size in (1, 2, 3, 7):
        owners = even_cuts(keys, cost, size, 3).owners(keys)
        assert set(owners) == set(range(size))
        # no share is off by more than the costliest block
        shares = np.bincount(owners, cost)
        assert np.abs(shares - cost.sum() / size).max() <= cost.max()
        assert imbalance(cost, owners, size) == pytest.approx(shares.max() * size / cost.sum())


def test_fewer_blocks_than_ranks_leave_some_without():
    keys = pack(np.array([0, 1]), np.array([0, 0]), np.array([0, 0]))
    owners = even_cuts(keys, np.array([5, 5]), 5, 3).owners(keys)
    assert len(set(owners)) == 2
    assert even_cuts(keys[:0], keys[:0], 3, 2).owners(keys).tolist() == [0, 0]


def test_ranges_are_contiguous():
    cuts = Cuts(np.array([100, 5000]), 2)
    index = np.pad(all_cells(2, 4), ((0, 0), (0, 1)))
    keys = pack(*index.T)
    order = np.argsort(places(keys, 2))
    assert (np.diff(cuts.owners(keys)[order]) >= 0).all()
