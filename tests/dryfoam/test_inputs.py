"""Bad input is answered by one clear sentence."""

import numpy as np
import pytest

from spume.dryfoam import Foam
from spume.errors import SceneError

# Three cells around a vertex: 0 in the middle, 1 to 3 on the edge.
POSITIONS = np.array([[0.0, 0.0], [1.0, 0.0], [-0.5, 0.9], [-0.5, -0.9]])
CELLS = [[0, 1, 2], [0, 2, 3], [0, 3, 1]]
CROSSING = np.array([[0.9, -0.6], [1.0, 0.0], [-0.5, 0.9], [-0.5, -0.9]])


SQUARE = np.array([[0.1, 0.1], [0.6, 0.1], [0.1, 0.6], [0.6, 0.6]])


def unit_disc(points):
    return np.hypot(points[:, 0], points[:, 1]) - 1.0


def doubled_targets():
    network = Foam.voronoi(10).network
    network.targets *= 2.0
    return network


def box_of_one():
    return np.array([[0.5, -0.2], [0.5, 0.3]]), [[(0, 0, 0), (1, 0, 0), (0, 0, 1), (1, -1, 0), (0, -1, 0), (1, 0, -1)]]


def test_a_network_given_by_hand():
    foam = Foam.from_network(POSITIONS, CELLS, areas=[1.0, 1.0, 1.0])
    foam.equilibrate()
    assert foam.energy == pytest.approx(8.79393, abs=1e-4)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Foam.voronoi(10, T=0.0), "film tension must be a positive number, found 0.0"),
        (lambda: Foam.voronoi(10, T=-1.0), "film tension must be a positive number"),
        (lambda: Foam.voronoi(10, K=float("nan")), "diffusion constant must be a positive number"),
        (lambda: Foam.voronoi(1), "at least 2, found 1"),
        (lambda: Foam.voronoi(10, "open"), "'periodic', 'free', 'box' or 'channel', found 'open'"),
        (lambda: Foam.voronoi(10, cell_area=-1.0), "mean cell area must be between 1e-30 and"),
        (lambda: Foam.voronoi(10, polydispersity=-0.1), "polydispersity must be between 0 and 100"),
        (lambda: Foam.voronoi(10, polydispersity=1e199), "polydispersity must be between 0 and 100"),
        (lambda: Foam.voronoi(10, polydispersity=float("nan")), "polydispersity must be between 0 and 100"),
        (lambda: Foam.voronoi(10, cell_area=1e300), "mean cell area must be between 1e-30 and 1e\\+30 m²"),
        (lambda: Foam.hexagonal(4, 3), "even number of rows, found 3"),
        (lambda: Foam.hexagonal(0, 2), "columns of a honeycomb must be a whole number, at least 1, found 0"),
        (lambda: Foam.voronoi(2.5), "number of cells of a Voronoi foam must be a whole number, at least 2, found 2.5"),
        (lambda: Foam.voronoi(10, seed=-1), "random seed must be a whole number"),
        (lambda: Foam.voronoi(10).coarsen(1.0, scheme="euler"), "'adaptive' or 'unit', found 'euler'"),
        (lambda: Foam.voronoi(10).coarsen(1.0, event_tolerance=-1), "event tolerance must be a positive number"),
        (lambda: Foam.voronoi(10).coarsen(1.0, until_cells=10), "cells left are 10, until_cells is 10"),
        (lambda: Foam.voronoi(10).coarsen(1.0, most_steps=0), "number of steps must be a whole number"),
        (lambda: Foam.voronoi(10).shear(0.1, steps=-1), "number of increments must be a whole number"),
        (lambda: Foam.voronoi(10).cycle(-0.1), "amplitude of the strain must be a positive number"),
        (lambda: Foam.voronoi(10).stability(0), "number of modes must be a whole number, at least 1"),
        (lambda: Foam(doubled_targets()), "add up to 20 m², where the box has 10 m²: multiply them by 0.5"),
        (lambda: Foam.from_seeds([[0.1, 0.1], [0.5, 0.5], [1.1, 0.1]], lattice=np.eye(2)), "seeds 0 and 2 coincide"),
        (lambda: Foam.from_seeds([[0.1, 0.1], [0.5, np.inf]], lattice=np.eye(2)), "seed 1 is not finite"),
        (lambda: Foam.from_seeds(np.zeros((3, 3))), "shape \\(N, 2\\)"),
        (lambda: Foam.from_seeds(SQUARE, lattice=[[1.0, 2.0], [0.0, 0.0]]), "invertible matrix"),
        (lambda: Foam.from_seeds(SQUARE, lattice=[[0.0, 1.0], [1.0, 0.0]]), "counter-clockwise"),
        (lambda: Foam.from_seeds(SQUARE, lattice=np.eye(2), areas=[1.0, 2.0]), "2 areas are given for 4 cells"),
        (lambda: Foam.from_seeds([[0.0, 0.0], [3.0, 0.0]], shape=unit_disc), "seed 1 lies outside the shape"),
        (lambda: Foam.from_seeds(SQUARE, lattice=np.eye(2), shape=unit_disc), "not both"),
        (lambda: Foam.from_network(*box_of_one(), lattice=-np.eye(2)[::-1]), "counter-clockwise"),
        (lambda: Foam.from_network(POSITIONS, [[0, (1, 1, 0), 2]]), "only a foam in a box has"),
        (lambda: Foam.from_network(POSITIONS, CELLS, areas=[1.0, -1.0, 1.0]), "cell 1 is given the area -1"),
        (lambda: Foam.from_network(POSITIONS, CELLS, areas=[1.0]), "1 areas are given for 3 cells"),
        (lambda: Foam.from_network(POSITIONS, CELLS[:2]), "vertex 1 has 2 films"),
        (lambda: Foam.from_network(POSITIONS, [[0, 1, 2], [0, 2, 3], [0, 3, 9]]), "a vertex that is not there: 9"),
        (lambda: Foam.from_network(POSITIONS, [[0, 1, 2], [0, 1, 3], [0, 3, 2]]), "has the cells 0 and 1 on one side"),
        (lambda: Foam.from_network(POSITIONS, CELLS, areas=[1.0, 0.0, 1.0]), "cell 1 is given the area 0"),
        (lambda: Foam.from_network(POSITIONS, CELLS, areas=[1.0, np.nan, 1.0]), "number that is not finite"),
        (lambda: Foam.from_network(CROSSING, CELLS), "films 2 and 5 cross"),
        (lambda: Foam.from_network(POSITIONS, [loop[::-1] for loop in CELLS]), "cell 0 has the area -0.45 m², not pos"),
        (lambda: Foam.from_network(POSITIONS * np.nan, CELLS), "number that is not finite"),
        (lambda: Foam.from_network(POSITIONS, CELLS, T=-2.0), "film tension must be a positive number, found -2"),
        (lambda: Foam.voronoi(10).coarsen(-1.0), "duration must be positive, found -1"),
        (lambda: Foam.voronoi(10).coarsen(float("nan")), "duration must be positive, found nan"),
        (lambda: Foam.voronoi(10).shear(float("inf")), "strain must be finite"),
        (lambda: Foam.voronoi(10).equilibrate(tolerance=0.0), "tolerance must be a positive number"),
        (lambda: Foam.voronoi(10).collapse(10), "there is no cell 10"),
        (lambda: Foam.voronoi(10).equilibrate("jacobi"), "'newton' or 'gauss-seidel', found 'jacobi'"),
    ],
)
def test_bad_input(build, message):
    with pytest.raises(SceneError, match=message):
        build()
