"""What a foam needs when the straight way to equilibrium fails is done, counted and said."""

import numpy as np
import pytest

from spume.dryfoam import Foam
from spume.dryfoam.dynamics import coarsening
from spume.dryfoam.dynamics.coarsening import remove_cells
from spume.dryfoam.equilibrium import search
from spume.dryfoam.equilibrium.newton import Newton
from spume.dryfoam.equilibrium.report import Events, Options
from spume.dryfoam.equilibrium.rescue import put_back
from spume.dryfoam.equilibrium.short_films import MOST_FLIPS, settle
from spume.dryfoam.network.geometry import reversed_vertices
from spume.dryfoam.network.half_edges import validate
from spume.dryfoam.network.topology import flip_film
from spume.errors import RunFailed, SceneError


def square_cluster(length):
    """Four equal cells around the origin, the fourfold vertex there split into a film of `length` along x."""
    e = 0.5 * length
    positions = np.array([[-e, 0.0], [e, 0.0], [0.0, -1.0], [1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]])
    return Foam.from_network(positions, [[0, 2, 3, 1], [1, 3, 4], [0, 1, 4, 5], [5, 2, 0]], areas=[1.0] * 4)


def settle_film(network, film, flips_of):
    return settle(network.mesh, film, 0.01, flips_of)


def test_a_film_that_is_always_pulled_across_stops_flipping():
    """The four neighbours are moved by 90° after each T1, so that the new film is pulled shut as the old one was: an
    endless cycle, but for the count."""
    network = Foam.voronoi(60, "periodic", seed=1, seeds="poisson-disk").network
    film = int(np.argmin(np.hypot(*network.chords().T)))
    flips_of = np.zeros(network.films, dtype=np.int64)
    done = []
    for _ in range(3 * MOST_FLIPS):
        h = 2 * film
        around = [network.previous[h] ^ 1, network.next[h ^ 1], network.next[h], network.previous[h ^ 1] ^ 1]
        chord = network.chords()[film]
        unit = chord / np.hypot(*chord)
        normal = np.array([-unit[1], unit[0]])
        middle = network.positions[network.origin[h]] + 0.5 * chord
        for k, (along, across) in zip(around, ((-0.1, 1.0), (-0.1, -1.0), (0.1, 1.0), (0.1, -1.0)), strict=True):
            end = network.origin[k ^ 1]
            network.positions[end] = middle + along * unit + across * normal - network.lattice @ network.shift[k]
        done.append(settle_film(network, film, flips_of))
    assert sum(done) == MOST_FLIPS
    assert done == [1] * MOST_FLIPS + [0] * (2 * MOST_FLIPS)
    assert flips_of[film] == MOST_FLIPS + 1


@pytest.mark.parametrize("length", [1e-3, 1e-6, 1e-12])
def test_a_fourfold_vertex_opens_without_a_cycle(length):
    """Either of two mirror images is the equilibrium of four equal bubbles; a start far from both finds it too."""
    foam, far = square_cluster(length), square_cluster(0.5)
    far.equilibrate()
    report = foam.equilibrate()
    foam.validate()
    assert report.cycles == 0
    assert foam.flips <= 1
    assert foam.energy == pytest.approx(far.energy, rel=1e-9)


def test_cycles_are_counted_and_said():
    events = Events(cycles=2)
    assert events.notices() == ["2 films alternated between two topologies and were fixed in one"]


def test_gauss_seidel_helps_where_newton_fails_and_this_is_said(monkeypatch):
    foam, straight = (Foam.voronoi(20, "free", seed=4, seeds="poisson-disk") for _ in range(2))
    straight.equilibrate()
    calls, iterate = [], search._iterate

    def failing(*given):
        calls.append(given)
        if len(calls) <= 2 * len(search.CAUTIONS):  # straight, then in stages
            raise RunFailed("made to fail")
        return iterate(*given)

    monkeypatch.setattr(search, "_iterate", failing)
    report = foam.equilibrate()
    assert report.fallbacks == 1
    assert report.restarts == len(search.CAUTIONS)
    assert foam.happened.fallbacks == 1
    assert "Gauss-Seidel" in foam.notices[0]
    # both stop at a residual of 1e-9, and the energy is stationary
    assert foam.energy == pytest.approx(straight.energy, rel=1e-8)


def flip_within(network, vertices, most):
    """T1s of up to `most` films between the `vertices` (V,)."""
    flipped = []
    for film in range(network.films):
        ends = network.origin[2 * film : 2 * film + 2]
        if len(flipped) < most and np.all(vertices[ends]) and flip_film(network, film):
            flipped.append(film)
    return flipped


def test_a_spot_is_put_back_without_the_rest():
    """T1s at two places, everything moved: one place comes back, films and vertices, the other stays; then all does."""
    network = Foam.voronoi(200, "free", seed=1).network
    kept = network.copy()
    distance = np.hypot(*(kept.positions - kept.positions[0]).T)
    here, there = distance < 3.0, distance > 6.0
    here_films, there_films = flip_within(network, here, 3), flip_within(network, there, 3)
    assert len(here_films) == len(there_films) == 3
    network.positions += 0.1
    moved = network.copy()
    back = put_back(network, kept, here)
    validate(network)
    assert np.all(back[here])
    assert np.any(~back[there])
    assert np.array_equal(network.positions[back], kept.positions[back])
    assert np.array_equal(network.positions[~back], moved.positions[~back])
    for films, state in ((here_films, kept), (there_films, moved)):
        assert np.array_equal(network.cell.reshape(-1, 2)[films], state.cell.reshape(-1, 2)[films])
    put_back(network, kept, np.ones(network.vertices, dtype=bool))
    for name, array in kept.arrays().items():
        assert np.array_equal(getattr(network, name), array)


def test_a_spot_that_runs_away_is_tried_again_by_itself(monkeypatch):
    """A vertex is thrown far away whenever steps there are not cautious; only the cells near it begin again."""
    foam, straight = (Foam.voronoi(400, "periodic", seed=4, seeds="poisson-disk") for _ in range(2))
    straight.equilibrate()
    step, cautions = Newton.step, []

    def throwing(self, residual, kind):
        flips = step(self, residual, kind)
        cautions.append(self.caution.copy())
        if self.caution[0] == 1.0:
            self.network.positions[0] += 1e4
        return flips

    monkeypatch.setattr(Newton, "step", throwing)
    report = foam.equilibrate()
    assert report.restarts == 1
    assert report.flips == straight.flips  # those that were undone do not count
    assert cautions[-1][0] == search.CAUTION_STEP
    # five rings hold 91 of the 400 cells
    assert 0.1 < np.mean(cautions[-1] > 1.0) < 0.4
    # both stop at a residual of 1e-9, and the energy is stationary
    assert foam.energy == pytest.approx(straight.energy, rel=1e-8)


def test_a_step_of_time_that_fails_is_halved_and_counted(monkeypatch):
    foam = Foam.voronoi(20, "periodic", seed=4, seeds="poisson-disk")
    foam.equilibrate()
    calls, attempt = [], coarsening._attempt

    def failing(network, dying, dt, *given):
        calls.append(dt)
        if len(calls) == 1:
            raise RunFailed("made to fail")
        return attempt(network, dying, dt, *given)

    monkeypatch.setattr(coarsening, "_attempt", failing)
    events = foam.coarsen(1.0, most_steps=1)
    assert calls[1] == 0.5 * calls[0]
    assert events.restarts == foam.happened.restarts == 1


def test_a_cell_that_cannot_vanish_is_counted_and_said():
    """The smaller of two cells in a box, both of them their own neighbours, has nothing to shrink to."""
    stuck = []
    for seed in range(5):
        network, events = remove_cells(Foam.voronoi(2, "periodic", seed=seed).network, np.array([0]))
        assert network.cells == 2 - events.vanished
        assert events.stuck + events.vanished == 1
        stuck.append(events.stuck)
        if events.stuck:
            assert "could not vanish" in events.notices()[0]
    assert any(stuck)


def test_a_balance_that_is_folded_over_is_refused():
    foam = Foam.voronoi(30, "free", seed=1, seeds="poisson-disk")
    foam.equilibrate()
    assert len(reversed_vertices(foam.network)) == 0
    foam.network.positions[:, 0] *= -1.0  # the mirror image is in balance, but every cell is inside out
    foam.network.half_angles *= -1.0
    assert len(reversed_vertices(foam.network)) == foam.network.vertices
    with pytest.raises(SceneError, match="not valid"):
        foam.validate()


def test_a_run_that_counts_keeps_its_counts():
    foam = Foam.voronoi(30, "periodic", seed=3)
    total = foam.coarsen(0.2)
    assert foam.happened.vanished == foam.vanished == total.vanished == 30 - foam.cells
    assert foam.happened.duration == pytest.approx(foam.time)


@pytest.mark.parametrize(
    ("seed", "boundary"),
    [
        (1, "periodic"),
        (2, "free"),
        pytest.param(3, "periodic", marks=pytest.mark.slow_suite),
        pytest.param(4, "free", marks=pytest.mark.slow_suite),
    ],
)
def test_random_foams_coarsen_to_ten_cells_with_valid_networks_at_every_event(seed, boundary):
    """A small version of `python -m validation.dry_foam_robustness`, which takes 200 foams of up to 2,000 cells."""
    foam = Foam.voronoi(20 + 15 * seed, boundary, seed=seed)
    foam.options = Options(checks="events")
    while foam.cells > 10:
        foam.coarsen(float("inf"), until_cells=10, event_tolerance=0.02, most_steps=1)
        foam.validate()
        assert foam.areas == pytest.approx(foam.network.targets, rel=1e-9)
        # angles follow the net tension, which ends below 1e-9 T
        assert foam.angles == pytest.approx(2.0 * np.pi / 3.0, abs=3e-9)


def test_checks_at_events_notice_a_broken_network(monkeypatch):
    """A T1 that forgets a pointer is found at once, not at the end."""
    foam = Foam.voronoi(40, "periodic", seed=2)
    foam.options = Options(checks="events")

    def broken(self, residual, kind):
        self.network.next[3] = self.network.next[5]
        return 1

    monkeypatch.setattr(Newton, "step", broken)
    with pytest.raises(SceneError, match="not valid"):
        foam.equilibrate()
