"""Removal of weak points the grid does not resolve: [Yue15] algorithm 15, covariances in cells."""

import numba
import numpy as np
import pytest
from foam_bench import Bench

from spume.foam.foam import NOTEWORTHY_SHARE
from spume.foam.removal import find_unresolved, remove_unresolved
from spume.mpm.step import sort_points

CELL = 0.02


def bench_of(x, weak=None, mass=None, **settings):
    bench = Bench(dimension=x.shape[1], cell=CELL, **settings)
    weak = np.ones(len(x)) if weak is None else weak
    mass = np.full(len(x), 0.25) if mass is None else mass
    bench.add(x=x, weak=weak, mass=mass)
    bench.foam.weak_points = int(bench.particles.weak.sum())
    sort_points(bench.world)
    return bench


def found(bench):
    """The positions of the points found, as rows of a set."""
    find_unresolved(bench.world, 1e-4, bench.foam)
    return {tuple(x) for x in bench.particles.x[bench.foam.unresolved]}


def spline(d):
    """N of [Yue15] appendix E.1."""
    d = np.abs(d)
    return np.where(d < 1, d**3 / 2 - d**2 + 2 / 3, np.where(d < 2, (2 - d) ** 3 / 6, 0.0))


def covariance(x, mass, p):
    """[Yue15] algorithm 15, lines 3 to 19, in cells, over all pairs."""
    d = (x - x[p]) / CELL
    w = mass * np.prod(spline(d), axis=1)
    mean = w @ d / w.sum()
    return np.einsum("n,ni,nj->ij", w**2, d - mean, d - mean) / np.sum(w**2)


def cloud(rng, dimension, count):
    """Clumps and stragglers on both sides of the origin, so that blocks of negative coordinates take part."""
    centres = rng.uniform(-6 * CELL, 6 * CELL, (12, dimension))
    x = centres[rng.integers(12, size=count)] + rng.uniform(0.05, 1.5) * CELL * rng.normal(size=(count, dimension))
    return np.concatenate([x, rng.uniform(-12 * CELL, 12 * CELL, (count, dimension))])


@pytest.mark.parametrize("threshold", [0.02, 1e-5])
@pytest.mark.parametrize("order", [2, 3])
@pytest.mark.parametrize("dimension", [2, 3])
def test_the_points_found_are_those_of_the_algorithm(rng, dimension, order, threshold):
    """With the large threshold all neighbours must be looked at, with the small one a few often suffice."""
    x = cloud(rng, dimension, 150)
    mass = rng.uniform(0.5, 2.0, len(x))
    weak = rng.random(len(x)) < 0.7
    bench = bench_of(x, weak, mass, order=order, threshold=threshold)
    wanted = set()
    for p in np.flatnonzero(weak):
        values = np.linalg.eigvalsh(covariance(x, mass, p))
        if values[0] < threshold * values[-1] or values[-1] < 1e-5:
            wanted.add(tuple(x[p]))
    assert 5 < len(wanted) < 0.95 * weak.sum()
    assert found(bench) == wanted


def lattice(dimension, cells):
    """Two points per cell and axis."""
    ticks = (np.arange(2 * cells) + 0.5) * CELL / 2
    return np.stack(np.meshgrid(*[ticks] * dimension, indexing="ij"), axis=-1).reshape(-1, dimension)


@pytest.mark.parametrize("dimension", [2, 3])
def test_a_thread_goes_and_a_bulk_stays(dimension):
    bulk = lattice(dimension, 5)
    thread = np.zeros((12, dimension))
    thread[:, 0] = 20 * CELL + 0.4 * CELL * np.arange(12)
    bench = bench_of(np.concatenate([bulk, thread]))
    assert found(bench) == {tuple(x) for x in thread}


def test_a_sheet_one_point_thick_goes_in_space():
    sheet = np.pad(lattice(2, 5), ((0, 0), (0, 1)))
    assert len(found(bench_of(sheet))) == len(sheet)


def test_a_point_alone_goes_and_a_lone_whole_point_stays():
    x = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
    assert found(bench_of(x, weak=np.array([1, 0]))) == {(0.0, 0.0, 0.0)}


def test_a_clump_smaller_than_the_smallest_variance_goes(rng):
    """A ball of radius 1e-3 cells has variances of 2e-7 cells², whatever the cell is in metres."""
    x = 1e-3 * CELL * rng.normal(size=(30, 3))
    assert len(found(bench_of(x))) == 30
    assert not found(bench_of(x, smallest=1e-8))


def test_what_is_removed_is_counted(rng):
    x = cloud(rng, 3, 50)
    mass = rng.uniform(0.5, 2.0, len(x))
    bench = bench_of(x, mass=mass)
    for _ in range(2):  # the second time something may have become too thin by the first
        before = bench.particles.mass.sum()
        find_unresolved(bench.world, 1e-4, bench.foam)
        points = bench.foam.unresolved
        lost = bench.particles.mass[points].sum()
        count = len(bench.particles)
        remove_unresolved(bench.world, 1e-4, bench.foam)
        sort_points(bench.world)
        assert len(bench.particles) == count - len(points) < count
        assert bench.particles.mass.sum() == pytest.approx(before - lost, rel=1e-14)
    assert bench.foam.points_removed == len(x) - len(bench.particles)
    assert bench.foam.mass_removed == pytest.approx(mass.sum() - bench.particles.mass.sum(), rel=1e-12)


def test_the_points_found_do_not_depend_on_the_number_of_threads(rng):
    bench = bench_of(cloud(rng, 3, 400), threshold=0.02)
    threads = numba.get_num_threads()
    try:
        results = []
        for n in (1, min(2, numba.config.NUMBA_NUM_THREADS)):
            numba.set_num_threads(n)
            find_unresolved(bench.world, 1e-4, bench.foam)
            results.append(bench.foam.unresolved)
    finally:
        numba.set_num_threads(threads)
    np.testing.assert_array_equal(*results)


def test_a_warning_comes_when_more_than_the_stated_share_of_the_mass_is_gone():
    """The share is that of all mass that has been in the scene: what is left and what was removed."""
    total = 3.0
    bench = bench_of(np.zeros((1, 2)))
    for share, warned in ((0.0, False), (0.99 * NOTEWORTHY_SHARE, False), (1.01 * NOTEWORTHY_SHARE, True)):
        bench.foam.mass_removed = share * total
        bench.particles.mass[:] = total - bench.foam.mass_removed
        sentences = bench.foam.diagnostics(bench.world)["warnings"]
        assert bool(sentences) == warned
    assert "1 % of the mass" in sentences["mass removed"]
    assert "smaller [grid] cell" in sentences["mass removed"]
