"""The paper's Gauss-Seidel against the global Newton, and the sparse factorisation against a general solver."""

import numpy as np
import pytest
from scipy.sparse.linalg import splu

from spume.dryfoam import Foam
from spume.dryfoam.dynamics.coarsening import remove_cells
from spume.dryfoam.equilibrium.errors import PlaceErrors
from spume.dryfoam.equilibrium.linear_solver import _elimination
from spume.dryfoam.equilibrium.newton import Newton
from spume.dryfoam.equilibrium.region import Region
from spume.dryfoam.equilibrium.report import Options, Report
from spume.dryfoam.equilibrium.search import _Search
from spume.dryfoam.equilibrium.system import NewtonSystem, Residual
from spume.dryfoam.network.geometry import angle_errors
from spume.errors import RunFailed


@pytest.mark.parametrize("boundary", ["periodic", "free", "box", "channel"])
def test_gauss_seidel_and_newton_find_the_same_foam(boundary):
    """Both stop at a residual r; the energies, stationary there, differ by r² times a stiffness."""
    newton = Foam.voronoi(12, boundary, seed=3, seeds="poisson-disk")
    blocks = Foam.voronoi(12, boundary, seed=3, seeds="poisson-disk")
    newton.equilibrate()
    blocks.equilibrate("gauss-seidel", tolerance=1e-5)
    assert np.array_equal(newton.sides, blocks.sides)
    assert blocks.energy == pytest.approx(newton.energy, rel=1e-5)


@pytest.mark.parametrize("boundary", ["free", "box"])
def test_gauss_seidel_ends_at_its_tolerance(boundary):
    """It converges linearly, so that the number of sweeps is not known before, whatever that of Newton steps may be."""
    foam = Foam.voronoi(12, boundary, seed=3, seeds="poisson-disk")
    foam.options = Options(solver="gauss-seidel", iterations=1)
    report = foam.equilibrate()
    assert report.error < 1e-9
    assert np.max(np.abs(angle_errors(foam.network))) < 1e-8


def test_gauss_seidel_says_that_it_missed_its_tolerance():
    foam = Foam.voronoi(5, "free", seed=1, seeds="poisson-disk")
    with pytest.raises(RunFailed, match=r"above the tolerance of 1e-18"):
        foam.equilibrate("gauss-seidel", tolerance=1e-18)


def test_gauss_seidel_lists_its_t1s():
    foam = Foam.voronoi(60, "periodic", seed=0)
    report = foam.equilibrate("gauss-seidel", tolerance=1e-3)
    assert report.flips > 0
    assert len(foam.exchanges) == report.flips


def test_films_below_t_dist_flip():
    """[DryFoam] eq. (2): of all films in equilibrium the shortest alone is below the threshold."""
    foam = Foam.voronoi(60, "periodic", seed=1)
    foam.equilibrate()
    network, known = foam.network, len(foam.exchanges)
    chords = np.sort(np.hypot(*network.chords().T))
    film = int(np.argmin(np.hypot(*network.chords().T)))
    parted = set(network.labels[network.cell[[2 * film, 2 * film + 1]]].tolist())
    foam.options = Options(t_dist=0.5 * float(chords[0] + chords[1]))  # the mean area is 1
    assert foam.equilibrate().error < 1e-9
    assert parted in [set(t1.parted) for t1 in foam.exchanges[known:]]


@pytest.mark.parametrize("boundary", ["periodic", "free"])
def test_factorisation_by_dissection_solves_the_newton_system(boundary):
    foam = Foam.voronoi(300, boundary, seed=1, seeds="poisson-disk")
    foam.equilibrate(tolerance=1e-3)
    n = foam.network
    region = Region.of(n)
    residual = Residual(n, 1.0, region)
    system = NewtonSystem(n, region, residual, np.full(n.vertices, 1e-2), np.full(n.cells, 1e-3))
    right = np.random.default_rng(0).normal(size=system.size)
    solution = _elimination(system).factorize(system.matrix).solve(right)
    # no pivoting: rounding grows with the condition number, here below 1e6
    assert solution == pytest.approx(splu(system.matrix).solve(right), rel=1e-6, abs=1e-8)


def test_newton_converges_quadratically():
    foam = Foam.voronoi(60, "periodic", seed=0, seeds="poisson-disk")
    foam.equilibrate(tolerance=1e-2)
    n = foam.network
    newton = Newton(n, 1.0, 0.1, Region.of(n), np.ones(n.vertices), np.zeros(n.films, dtype=np.int64))
    errors = [newton.residual().error]
    while errors[-1] > 1e-12:
        newton.step(newton.residual())
        newton.system = None  # an exact step each time
        errors.append(newton.residual().error)
    assert len(errors) <= 5  # 1e-2 squared repeatedly, with a constant up to ten: 1e-3, 1e-5, 1e-9, 1e-17


@pytest.mark.parametrize("boundary", ["periodic", "free"])
def test_errors_followed_around_moved_spots_are_those_of_the_whole_foam(boundary):
    """Rounds relax the spots of a foam that has lost cells, with T1s; what was not looked at again is unchanged."""
    foam = Foam.voronoi(300, boundary, seed=1)
    foam.equilibrate()
    network, _ = remove_cells(foam.network, np.array([5, 100, 200]))
    report = Report()
    search = _Search(network, 1.0, Options(), None, 1.0, report)
    errors = PlaceErrors(network, search.whole.residual())
    for _ in range(6):
        free = errors.spots(0.03, 1)
        assert free is not None
        search._relax(free)
        errors.follow(1.0, free, None)
        search.whole.topology_changed()
        whole = search.whole.residual()
        # sums of the same films in the same order
        assert errors.force == pytest.approx(whole.local, abs=1e-13)
        assert errors.area == pytest.approx(whole.relative_area, abs=1e-13)
    assert report.flips > 0


def test_random_foams_reach_equilibrium():
    for seed in range(10):
        for boundary in ("periodic", "free"):
            foam = Foam.voronoi(30, boundary, seed=100 + seed)
            foam.equilibrate()
            foam.validate()


def test_polydispersity_is_what_was_asked_for():
    """The sample of 400 log-normal areas has a relative spread within 15 % of 0.5 (three standard errors)."""
    foam = Foam.voronoi(400, "periodic", seed=2, polydispersity=0.5)
    foam.equilibrate()
    assert foam.areas.std() / foam.areas.mean() == pytest.approx(0.5, rel=0.15)
