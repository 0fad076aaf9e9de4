"""T1 and T2 in any order keep the network valid."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spume.dryfoam import Foam
from spume.dryfoam.network.geometry import cell_areas
from spume.dryfoam.network.half_edges import compact, validate
from spume.dryfoam.network.numbering import along_curve
from spume.dryfoam.network.seeds import APART, poisson_disk_seeds
from spume.dryfoam.network.topology import flip_film, remove_cell
from spume.dryfoam.network.voronoi import periodic_voronoi
from spume.errors import SceneError

MOVES = st.lists(st.tuples(st.booleans(), st.integers(0, 10_000)), max_size=60)


@settings(max_examples=60, deadline=None)
@given(boundary=st.sampled_from(["periodic", "free"]), cells=st.integers(3, 30), seed=st.integers(0, 50), moves=MOVES)
def test_any_sequence_of_t1_and_t2_leaves_a_valid_network(boundary, cells, seed, moves):
    network = Foam.voronoi(cells, boundary, seed=seed).network
    for collapse, number in moves:
        if collapse and network.cells > 3:
            if remove_cell(network, number % network.cells) >= 0:
                network = compact(network)
        else:
            flip_film(network, number % network.films)
        validate(network)


@settings(max_examples=30, deadline=None)
@given(boundary=st.sampled_from(["periodic", "free"]), seed=st.integers(0, 20), film=st.integers(0, 10_000))
def test_a_t1_takes_a_side_from_two_cells_and_gives_one_to_two_others(boundary, seed, film):
    network = Foam.voronoi(20, boundary, seed=seed).network
    film %= network.films
    before, beside = network.sides(), network.cell[2 * film : 2 * film + 2].copy()
    if not flip_film(network, film):
        return
    change = network.sides() - before
    gained = network.cell[2 * film : 2 * film + 2]
    expected = np.zeros(network.cells + 1, dtype=np.int64)
    np.add.at(expected, beside, -1)
    np.add.at(expected, gained, 1)
    assert np.array_equal(change, expected[:-1])


def test_four_t1s_of_one_film_restore_the_topology():
    network = Foam.voronoi(20, "periodic", seed=1, seeds="poisson-disk").network
    film = int(np.argmin(np.hypot(*network.chords().T)))
    kept = network.copy()
    for _ in range(4):
        assert flip_film(network, film)
    for name in ("next", "previous", "cell", "origin"):
        assert np.array_equal(getattr(network, name), getattr(kept, name))
    assert network.chords() == pytest.approx(kept.chords(), abs=1e-12)


@pytest.mark.parametrize("name", ["next", "cell", "origin", "previous"])
def test_validate_notices_a_corrupted_index(name):
    network = Foam.voronoi(10, "periodic", seed=0).network
    values = getattr(network, name)
    values[3] = (values[3] + 1) % len(values) if name != "cell" else (values[3] + 1) % network.cells
    with pytest.raises(SceneError, match="not valid"):
        validate(network)


def test_a_forced_collapse_loses_the_gas_of_a_free_foam_and_shares_that_of_a_periodic_one():
    free, box = Foam.voronoi(30, "free", seed=2), Foam.voronoi(30, "periodic", seed=2)
    for foam, expected in ((free, "lost"), (box, "shared")):
        foam.equilibrate()
        total, gone = foam.areas.sum(), foam.areas[7]
        foam.collapse(7)
        foam.validate()
        assert foam.cells == 29
        assert foam.areas.sum() == pytest.approx(total - gone if expected == "lost" else total, rel=1e-8)


@pytest.mark.parametrize("boundary", ["periodic", "free"])
def test_numbering_along_the_curve_changes_nothing_else(boundary):
    """Cells are told by their labels, films by the labels on their sides and their chords."""
    network = Foam.voronoi(80, boundary, seed=2).network
    generator = np.random.default_rng(0)
    network.half_angles += generator.uniform(-0.2, 0.2, network.films)
    network.pressures = generator.normal(size=network.cells)
    # moved in the box, or turned by 90°, so that the order is another
    network.positions = network.positions + 3.3 if boundary == "periodic" else network.positions[:, ::-1] * [-1.0, 1.0]
    turned = along_curve(network)
    validate(turned, cell_areas(turned))
    assert not np.array_equal(turned.positions, network.positions)

    def told(n):
        cells = np.argsort(n.labels)
        labels = np.append(n.labels, -1)[n.cell.reshape(-1, 2)]
        films = sorted(map(tuple, np.column_stack([labels, n.chords(), n.half_angles]).round(12)))
        return cell_areas(n)[cells], n.pressures[cells], n.targets[cells], n.sides()[cells], np.array(films)

    for before, after in zip(told(network), told(turned), strict=True):
        assert after == pytest.approx(before, abs=1e-11)


def test_neighbours_in_a_large_foam_are_near_in_memory():
    """Half of the films join vertices less than 1 % of all numbers apart; in a random order this would be 29 %."""
    network = Foam.voronoi(3000, "periodic", seed=1).network
    apart = np.abs(np.diff(network.origin.reshape(-1, 2), axis=1))
    assert np.median(apart) < 0.01 * network.vertices


def test_the_label_of_a_cell_is_the_number_of_its_seed():
    """The mean of the vertices of a convex cell lies in it, so that its nearest seed is the cell's own."""
    seeds = np.random.default_rng(3).random((60, 2))
    network = periodic_voronoi(seeds, np.eye(2))
    for first, label in zip(network.first_half_edges(), network.labels, strict=True):
        corners, h = [np.zeros(2)], first
        while True:
            forward = network.chords()[h >> 1] * (1 if h % 2 == 0 else -1)
            h = network.next[h]
            if h == first:
                break
            corners.append(corners[-1] + forward)
        middle = network.positions[network.origin[first]] + np.mean(corners, axis=0)
        away = middle - seeds
        assert np.argmin(np.hypot(*(away - np.round(away)).T)) == label


@pytest.mark.parametrize("count", [1, 2, 3, 6, 50, 2000])
def test_poisson_disk_seeds_keep_their_distance(count):
    """In the periodic square, against all images of all others."""
    for seed in range(20 if count < 100 else 1):
        points = poisson_disk_seeds(count, np.random.default_rng(seed))
        assert points.shape == (count, 2)
        apart = points[:, None] - points[None]
        apart -= np.round(apart)
        distance = np.hypot(apart[..., 0], apart[..., 1]) + 2.0 * np.eye(count)
        assert distance.min() >= APART / np.sqrt(count)
