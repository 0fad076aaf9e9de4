"""T1 and T2 in any order keep the network valid."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spume.dryfoam import Foam
from spume.dryfoam.network import compact, validate
from spume.dryfoam.topology import flip_film, remove_cell
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
