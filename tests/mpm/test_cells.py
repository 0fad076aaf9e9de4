"""Cells: binning, sorting and neighbour search."""

import numba
import numpy as np
import pytest
from scipy.spatial import cKDTree

from spume.grid.blocks import BLOCK, CELLS_PER_BLOCK, pack, unpack
from spume.grid.cells import Cells
from spume.grid.neighbour_search import all_within

SIZE = 0.02


def cloud(dimension, count, reach=9):
    return np.random.default_rng(1).uniform(-reach * SIZE, reach * SIZE, (count, dimension))


def test_keys_are_ordered_like_coordinates():
    coordinates = np.random.default_rng(0).integers(-(10**6), 10**6, (200, 3))
    keys = np.array([pack(*c) for c in coordinates])
    assert np.array_equal(unpack(keys), coordinates)
    assert np.array_equal(np.argsort(keys), np.lexsort(coordinates.T[::-1]))


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("offset", [0.0, 0.5, 1.0])
@pytest.mark.parametrize(("dimension", "count"), [(2, 1), (2, 4000), (3, 4000)])
def test_points_are_sorted_stably_by_block_and_cell(dimension, count, offset, threads):
    if threads > numba.config.NUMBA_NUM_THREADS:
        pytest.skip("needs two threads")
    x = cloud(dimension, count)
    cells = Cells(dimension, SIZE, offset)
    before = numba.get_num_threads()
    numba.set_num_threads(threads)
    try:
        cells.sort(x)
    finally:
        numba.set_num_threads(before)
    index = np.floor(x * cells.inverse_size - offset).astype(int)
    block, cell = np.divmod(index, np.array(BLOCK[dimension][:dimension]))
    assert np.array_equal(cells.sorted_points, np.lexsort([*cell.T[::-1], *block.T[::-1]]))
    assert cells.cell_start[-1] == count
    for flat in range(len(cells) * CELLS_PER_BLOCK):
        members = cells.sorted_points[cells.cell_start[flat] : cells.cell_start[flat + 1]]
        assert len(np.unique(index[members], axis=0)) <= 1


def test_no_points_are_in_no_cells():
    cells = Cells(3, SIZE, 1.0)
    assert not cells.sort(np.empty((0, 3)))
    assert len(cells) == 0


def test_blocks_follow_the_points_not_the_domain():
    near = np.random.default_rng(0).uniform(0, 10 * SIZE, (500, 3))
    apart = near.copy()
    apart[250:] += 5000 * SIZE
    counts = []
    for x in (near, apart):
        cells = Cells(3, SIZE, 1.0)
        cells.sort(x)
        counts.append(len(cells))
    assert counts[1] <= 2 * counts[0]


def test_a_scrambled_order_asks_for_sorting_and_a_sorted_one_does_not():
    x = np.random.default_rng(0).uniform(0, 40 * SIZE, (20000, 2))
    cells = Cells(2, SIZE, 1.0)
    assert cells.sort(x)
    assert not cells.sort(x[cells.sorted_points])


def test_the_generation_changes_with_the_occupied_blocks_only():
    x = cloud(2, 500)
    cells = Cells(2, SIZE, 0.0)
    cells.sort(x)
    first = cells.generation
    cells.sort(x[::-1])
    assert cells.generation == first
    cells.sort(x + 100 * SIZE)
    assert cells.generation != first


@pytest.mark.parametrize("dimension", [2, 3])
def test_surrounding_blocks_are_listed_and_empty(dimension):
    cells = Cells(dimension, SIZE, 0.0)
    cells.sort(cloud(dimension, 300, reach=3))
    table = cells.table_with_surroundings()
    offsets = np.array(np.meshgrid(*[(-1, 0, 1)] * dimension, indexing="ij")).reshape(dimension, -1).T
    wanted = {tuple(np.pad(o, (0, 3 - dimension)) + b) for b in cells.blocks for o in offsets}
    assert {tuple(b) for b in table.blocks} == wanted
    count = np.diff(table.cell_start).reshape(-1, 64).sum(axis=1)
    occupied = np.isin(table.keys, cells.keys)
    assert np.all(count[occupied] > 0)
    assert np.all(count[~occupied] == 0)
    for b, row in enumerate(table.neighbours):
        for code, other in enumerate(row):
            step = np.array([code // 9, code // 3 % 3, code % 3]) - 1
            found = np.flatnonzero((table.blocks == table.blocks[b] + step).all(axis=1))
            assert other == (found[0] if len(found) else -1)


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("radius", [0.7, 1.0, 2.6])
def test_all_points_within_a_radius_are_found(dimension, radius):
    x, places = cloud(dimension, 5000), cloud(dimension, 90, reach=12)
    cells = Cells(dimension, SIZE, 0.5)
    cells.sort(x)
    start, found = all_within(cells, x, places, radius * SIZE)
    expected = cKDTree(x).query_ball_point(places, radius * SIZE)
    for n, wanted in enumerate(expected):
        assert sorted(found[start[n] : start[n + 1]]) == sorted(wanted)
    assert start[-1] > 20


def test_a_radius_beyond_the_neighbouring_blocks_is_rejected():
    cells = Cells(3, SIZE, 0.0)
    cells.sort(cloud(3, 10))
    with pytest.raises(ValueError, match="4 cells"):
        all_within(cells, cloud(3, 10), cloud(3, 10), 4.5 * SIZE)
