"""Initial networks: seeds and polygons given by the user, degenerate lattices, shapes that are not convex."""

import numpy as np
import pytest

from spume.dryfoam import Foam
from spume.dryfoam.network.geometry import cell_centroids
from spume.dryfoam.statistics import aboav_weaire, bulk_cells, second_moment


def square_lattice(side):
    i, j = np.meshgrid(np.arange(side), np.arange(side))
    return np.stack([i.ravel() + 0.5, j.ravel() + 0.5], axis=1)


def c_shape(points):
    """An arc of the width 0.6 and the mean radius 1, open towards +x."""
    r, angle = np.hypot(points[:, 0], points[:, 1]), np.abs(np.arctan2(points[:, 1], points[:, 0]))
    return np.maximum(np.abs(r - 1.0) - 0.3, (0.6 - angle) * r)


def hexagon_in_a_box(lattice):
    """Vertices and corners of one cell that tiles the plane; the vertices are off the middles of the triangles."""
    positions = np.array([[0.36, 0.30], [0.65, 0.70]]) @ lattice.T
    return positions, [[(0, 0, 0), (1, -1, 0), (0, -1, 0), (1, -1, -1), (0, 0, -1), (1, 0, -1)]]


@pytest.mark.parametrize("boundary", ["periodic", "free"])
def test_seeds_on_a_square_lattice_give_a_foam(boundary):
    """Four seeds on each circle: the fourfold vertices split."""
    lattice = 6.0 * np.eye(2) if boundary == "periodic" else None
    foam = Foam.from_seeds(square_lattice(6), lattice=lattice)
    assert foam.cells == 36
    foam.equilibrate()
    foam.validate()


@pytest.mark.parametrize("cells", [30, 60])
def test_a_c_shaped_cluster_is_one_cluster(cells):
    for seed in range(4):
        foam = Foam.voronoi(cells, "free", seed=seed, shape=c_shape)
        foam.validate()
        foam.equilibrate()


def test_seeds_keep_their_numbers_as_labels_and_their_areas():
    seeds = np.random.default_rng(0).random((20, 2)) * [4.0, 5.0]
    areas = np.linspace(0.5, 1.5, 20)
    foam = Foam.from_seeds(seeds, lattice=np.diag([4.0, 5.0]), areas=areas)
    assert foam.network.targets == pytest.approx(areas[foam.labels])
    foam.equilibrate()
    assert foam.areas == pytest.approx(areas[foam.labels], rel=1e-8)


def test_one_hexagon_in_a_box_is_a_honeycomb():
    """With the lattice vectors of a honeycomb of the area 1 its energy is 12^(1/4) T."""
    lattice = np.sqrt(2.0 / np.sqrt(3.0)) * np.array([[1.0, 0.5], [0.0, np.sqrt(3.0) / 2.0]])
    foam = Foam.from_network(*hexagon_in_a_box(lattice), lattice=lattice)
    assert foam.cells == 1
    assert foam.areas == pytest.approx([1.0])
    foam.equilibrate()
    assert foam.energy == pytest.approx(12**0.25, rel=1e-9)


def test_a_periodic_network_given_by_hand_is_the_voronoi_network_it_was_read_from():
    """Corners named by their nearest images, as a user would write them."""
    voronoi = Foam.voronoi(30, "periodic", seed=4).network
    cells = []
    for h in voronoi.first_half_edges():
        loop, k = [], h
        while True:
            loop.append(int(voronoi.origin[k]))
            k = voronoi.next[k]
            if k == h:
                break
        cells.append(loop)
    foam = Foam.from_network(voronoi.positions, cells, lattice=voronoi.lattice)
    assert foam.areas == pytest.approx(voronoi.targets, rel=1e-12)
    assert foam.energy == pytest.approx(np.sum(np.hypot(*voronoi.chords().T)))


def test_a_lone_bubble_stays_where_it_is_and_is_free_of_stress():
    foam = Foam.voronoi(2, "free", seed=3)
    foam.network.positions += [5.0, -3.0]
    foam.equilibrate()
    place = foam.centroids[1]
    foam.collapse(0)
    assert foam.network.is_lone
    assert foam.centroid == pytest.approx(place, abs=1e-12)
    assert np.abs(foam.stress).max() < 1e-12


def test_a_lone_bubble_shrinks_by_the_law_of_laplace():
    """Gas leaves through 2πR of film at the pressure T/R: dA/dt = -2π K T, whatever R."""
    foam = Foam.voronoi(2, "free", seed=3, T=1.5, K=0.2)
    foam.collapse(0)
    before = float(foam.areas[0])
    foam.coarsen(0.1, until_cells=0)
    assert foam.areas[0] == pytest.approx(before - 2.0 * np.pi * 0.2 * 1.5 * 0.1, rel=1e-12)
    assert foam.time == pytest.approx(0.1)


def test_centroids_of_cells_are_those_of_their_drawn_outlines():
    """Outlines of steps δ = 1e-3 rad err by δ² in the centroid of a segment."""
    from spume.dryfoam.drawing import cell_outlines

    foam = Foam.voronoi(6, "free", seed=2)
    foam.network.targets *= np.array([0.3, 0.5, 1.0, 1.5, 1.7, 1.0])
    foam.equilibrate()
    for outline, found in zip(cell_outlines(foam.network, 1e-3), cell_centroids(foam.network), strict=True):
        x, y = outline.T
        cross = x * np.roll(y, -1) - y * np.roll(x, -1)
        area = 0.5 * np.sum(cross)
        expected = [np.sum((p + np.roll(p, -1)) * cross) / (6.0 * area) for p in (x, y)]
        assert found == pytest.approx(expected, abs=1e-6)


def test_the_bulk_of_a_free_foam_obeys_aboav_weaire():
    """A relaxed random foam has a near 1: the points lie within 8 % of 5 n + 6 + μ2, where those with the edge miss."""
    foam = Foam.voronoi(600, "free", seed=2)
    foam.equilibrate()
    bulk = bulk_cells(foam.network)
    assert 0.7 < np.mean(bulk) < 0.95
    assert foam.sides[bulk].mean() == pytest.approx(6.0, abs=0.2)
    n, product = aboav_weaire(foam.network)
    common = (n >= 5) & (n <= 7)
    assert product[common] == pytest.approx(5.0 * n[common] + 6.0 + second_moment(foam.network, bulk), rel=0.08)


def test_rings_of_the_bulk_are_counted_from_the_edge():
    """A hexagon of 19 cells: 12 on the edge, 6 beside these, 1 in the middle."""
    network = Foam.voronoi(19, "free", seeds="hexagonal").network
    assert [int(np.sum(bulk_cells(network, rings))) for rings in (0, 1, 2, 3)] == [19, 7, 1, 0]
    assert np.all(bulk_cells(Foam.voronoi(10).network, 3))
