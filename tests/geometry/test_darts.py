"""Dart throwing: distances, maximality, the order in which darts land, neighbours of cells."""

import numba
import numpy as np
import pytest
from scipy.spatial import cKDTree
from shape_cases import BY_NAME

from spume.geometry.darts import cells_at, periodic_cells
from spume.geometry.darts.cells import offsets
from spume.geometry.darts.throwing import _OFFSETS, _settle
from spume.geometry.filling import darts as filling
from spume.geometry.sdf.compiler import compile_shape
from spume.geometry.shapes.extent import bounds

WAITING, LANDED = 1, 2


def random_cells(dimension, rng):
    """A third of the cells of a cube around the origin, in any order."""
    index = np.argwhere(rng.random((7,) * dimension) < 0.35) - 3
    return rng.permutation(np.pad(index, ((0, 0), (0, 3 - dimension))))


@pytest.mark.parametrize("dimension", [2, 3])
def test_neighbours_are_the_cells_at_the_offsets(dimension):
    index = random_cells(dimension, np.random.default_rng(1)) + np.array([10**6, -(10**6), 0])
    number = {tuple(place): n for n, place in enumerate(index)}
    expected = [[number.get(tuple(place + offset), -1) for offset in offsets(dimension)] for place in index]
    assert np.array_equal(cells_at(index, dimension).neighbours, expected)
    assert len(cells_at(np.empty((0, 3), np.int64), dimension)) == 0


@pytest.mark.parametrize("side", [1, 2, 3, 5])
def test_neighbours_in_a_periodic_square_are_images(side):
    cells = periodic_cells(side)
    for n, place in enumerate(cells.index):
        images = (place + offsets(2))[:, :2] % side
        assert np.array_equal(cells.neighbours[n], images @ [side, 1])


@pytest.mark.parametrize("dimension", [2, 3])
def test_darts_land_as_if_thrown_one_after_another_in_the_order_of_priorities(dimension):
    """The oracle throws them so. Priorities are drawn from few values, so that equal ones occur: the lower number is
    first."""
    rng = np.random.default_rng(2)
    for _ in range(20):
        cells = cells_at(random_cells(dimension, rng), dimension)
        proposal = np.zeros((len(cells), 3))
        proposal[:, :dimension] = rng.random((len(cells), dimension))
        priority = rng.integers(0, 20, len(cells)) / 20
        status = np.full(len(cells), WAITING, np.uint8)
        waiting = np.arange(len(cells))
        while waiting.size:
            decided = np.empty(waiting.size, np.uint8)
            _settle(waiting, cells.neighbours, _OFFSETS[dimension], 0.9, status, proposal, priority, decided)
            assert np.any(decided != WAITING)
            status[waiting] = decided
            waiting = waiting[decided == WAITING]
        place = cells.index + proposal
        landed = []
        for n in sorted(range(len(cells)), key=lambda n: (-priority[n], n)):
            if all(np.linalg.norm(place[n] - place[m]) >= 0.9 for m in landed):
                landed.append(n)
        assert np.array_equal(np.flatnonzero(status == LANDED), sorted(landed))


@pytest.mark.parametrize(("side", "alpha"), [(1, 0.3), (1, 0.6), (2, 0.95), (3, 0.55), (30, 0.8)])
def test_a_periodic_square_is_filled_until_no_place_is_free(side, alpha):
    """No two darts are closer than α, in any image, and every place is within α of one, but for the smallest boxes of
    the search, whose diagonal is √2/1024."""
    from spume.dryfoam.network.seeds import _SQUARE

    cells = periodic_cells(side)
    for seed in range(3):
        cell, place = _SQUARE.throw(cells, (), alpha, np.uint64(seed))
        x = ((cells.index[cell] + place)[:, :2]) % side
        tree = cKDTree(x, boxsize=side)
        assert len(tree.query_pairs(alpha * (1 - 1e-12))) == 0
        anywhere = np.random.default_rng(3).uniform(0, side, (50_000, 2))
        assert tree.query(anywhere)[0].max() < alpha + np.sqrt(2) / 1024
        some, places_of_some = _SQUARE.throw(cells, (), alpha, np.uint64(seed), limit=len(cell) // 2)
        assert len(some) == len(cell) // 2
        both = np.concatenate([cells.index[cell] + place, cells.index[some] + places_of_some])
        assert len(np.unique(both, axis=0)) == len(cell)


@pytest.mark.skipif(numba.config.NUMBA_NUM_THREADS < 2, reason="needs two threads")
@pytest.mark.parametrize("name", ["torus", "ring"])
def test_a_filling_does_not_depend_on_the_number_of_threads(name):
    case = BY_NAME[name]
    program = compile_shape(case.shape, case.dimension)
    before = numba.get_num_threads()
    found = []
    for threads in (1, 2):
        numba.set_num_threads(threads)
        found.append(filling.throw_darts(program, *bounds(case.shape, case.dimension), 0.05, 7).positions)
    numba.set_num_threads(before)
    assert len(found[0]) > 100
    assert np.array_equal(*found)
