"""Where new points go. validation.md case 11"""

import numba
import numpy as np
import pytest
from scipy.spatial import cKDTree
from void_oracles import ALPHA, CELL, DEPTH, DenseDistance, R, lattice, make_state, scattered, uncovered

from spume.foam.resampling import ResamplingSettings, avoid_a_void
from spume.foam.resampling.bins import bin_points
from spume.foam.resampling.darts import throw_darts
from spume.foam.resampling.signed_distance import signed_distance
from spume.foam.resampling.territory import alone
from spume.geometry.obstacles.obstacle_set import ObstacleSet
from spume.geometry.shapes import Cylinder
from spume.grid.cells import Cells


def throw(x, seed=(7, 50)):
    """New places [m] for points at x."""
    bins, d = bin_points(x, R), x.shape[1]
    darts = throw_darts(bins, signed_distance(bins), ALPHA[d], DEPTH, seed, alone(Cells(d, CELL, 0.0), len(x)))
    return bins.position(darts.y)


@pytest.mark.parametrize("d", [2, 3])
@pytest.mark.parametrize("offset", [0.0, 0.25, 0.5, 0.3137])
def test_a_lattice_needs_no_new_points(d, offset):
    """Its holes are √d/2 r wide, a hundredth of r less than α."""
    assert len(throw(lattice((16,) * d, offset))) == 0


@pytest.mark.parametrize("d", [2, 3])
def test_a_lattice_jittered_by_less_than_the_margin_needs_no_new_points(d):
    """A jitter of 0.011 of the filler: up to 0.0055 r an axis, at most 0.0096 r in all; the margin is 0.01 r."""
    x = lattice((16,) * d)
    x += np.random.default_rng(3).uniform(-0.0055, 0.0055, x.shape) * R
    assert len(throw(x)) == 0


@pytest.mark.parametrize("d", [2, 3])
def test_one_point_missing_in_a_lattice_is_replaced(d):
    x = lattice((16,) * d)
    missing = np.ravel_multi_index((8,) * d, (16,) * d)
    new = throw(np.delete(x, missing, axis=0))
    # what is uncovered is what only the missing sphere covered
    assert len(new) >= 1
    assert np.all(np.linalg.norm(new - x[missing], axis=1) < ALPHA[d] * R)


@pytest.mark.parametrize("d", [2, 3])
@pytest.mark.parametrize("points", [0.8, 1.0, 2.0])
def test_the_interior_is_covered_and_darts_keep_their_distance(d, points):
    rng = np.random.default_rng(11)
    x = scattered(rng, d, points)
    distance = DenseDistance(x)
    assert len(uncovered(x, distance, rng)) > 50
    new = throw(x)
    together = np.concatenate([x, new])
    assert len(uncovered(together, distance, rng)) == 0
    # darts: no nearer than αr to any other point, deeper than 2.2 r; rounding of coordinates of size 40 r
    spacing = cKDTree(together).query(new, k=2)[0][:, 1]
    assert spacing.min() >= ALPHA[d] * R * (1 - 1e-12)
    assert distance(new).max() < -DEPTH + 1e-12 * 40


@pytest.mark.parametrize("d", [2, 3])
def test_thin_and_scattered_material_gets_no_new_points(d):
    """A layer 4 r thick is nowhere 2.2 r deep."""
    layer = lattice((16,) * (d - 1) + (3,))
    assert len(throw(layer * 1.2)) == 0
    assert len(throw(scattered(np.random.default_rng(0), d, 0.02))) == 0


def test_no_new_point_stands_inside_an_obstacle():
    """A rod thinner than a cell through a lattice: what it displaces looks like a void and is none."""
    x = lattice((16, 16, 16))
    centre = x.mean(axis=0) + 0.5 * R  # on a row of points, which the rod displaces
    x = x[np.hypot(*(x - centre)[:, :2].T) > 0.8 * R]
    states = [make_state(x), make_state(x)]
    rod = Cylinder(center=tuple(centre), axis=(0, 0, 1), radius=0.8 * R, height=32 * R)
    states[1].obstacles = ObstacleSet([(rod, "slip", 0.0, None, "rod")], 3)
    inserted = [avoid_a_void(state, 0.0, (7, 50), ResamplingSettings()).inserted for state in states]
    assert inserted[0] > inserted[1]
    new = states[1].particles.x[len(x) :]
    assert np.all(np.hypot(*(new - centre)[:, :2].T) > 0.8 * R)


@pytest.mark.parametrize("d", [2, 3])
def test_a_blob_is_filled_alike_whatever_else_there_is(d):
    rng = np.random.default_rng(5)
    one, other = scattered(rng, d), scattered(rng, d) + 3000 * R
    alone = throw(one)
    assert len(alone) > 0
    np.testing.assert_array_equal(throw(np.concatenate([other, one]))[: len(alone)], alone)


def test_another_seed_gives_other_places():
    x = scattered(np.random.default_rng(2), 3)
    assert np.array_equal(throw(x, (7, 50)), throw(x, (7, 50)))
    first, second = throw(x, (7, 50)), throw(x, (7, 100))
    assert not np.array_equal(first[:10], second[:10])


@pytest.mark.skipif(numba.config.NUMBA_NUM_THREADS < 2, reason="needs two threads")
@pytest.mark.parametrize("d", [2, 3])
def test_results_do_not_depend_on_the_number_of_threads(d):
    before = numba.get_num_threads()
    for seed in range(3, 7):
        results = []
        for threads in (1, 2):
            numba.set_num_threads(threads)
            state = make_state(scattered(np.random.default_rng(seed), d, 1.5))
            report = avoid_a_void(state, 0.0, (7, 50), ResamplingSettings(merge_distance=0.2))
            results.append((report, {name: a.tobytes() for name, a in state.particles.arrays().items()}))
        numba.set_num_threads(before)
        assert results[0][0].inserted > 0
        assert results[0][0].merged > 0
        assert results[0] == results[1]
