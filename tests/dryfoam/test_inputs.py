"""Bad input is answered by one clear sentence."""

import numpy as np
import pytest

from spume.dryfoam import Foam
from spume.errors import SceneError

# Three cells around a vertex: 0 in the middle, 1 to 3 on the edge.
POSITIONS = np.array([[0.0, 0.0], [1.0, 0.0], [-0.5, 0.9], [-0.5, -0.9]])
CELLS = [[0, 1, 2], [0, 2, 3], [0, 3, 1]]
CROSSING = np.array([[0.9, -0.6], [1.0, 0.0], [-0.5, 0.9], [-0.5, -0.9]])


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
        (lambda: Foam.voronoi(1), "at least 2 cells"),
        (lambda: Foam.voronoi(10, "open"), "'periodic' or 'free', found 'open'"),
        (lambda: Foam.voronoi(10, cell_area=-1.0), "mean cell area must be a positive number"),
        (lambda: Foam.voronoi(10, polydispersity=-0.1), "polydispersity must be zero or positive"),
        (lambda: Foam.hexagonal(4, 3), "even number of rows, found 3"),
        (lambda: Foam.from_network(POSITIONS, CELLS, areas=[1.0, -1.0, 1.0]), "cell 1 is given the area -1"),
        (lambda: Foam.from_network(POSITIONS, CELLS, areas=[1.0]), "1 areas are given for 3 cells"),
        (lambda: Foam.from_network(POSITIONS, CELLS[:2]), "vertex 1 has 2 films"),
        (lambda: Foam.from_network(POSITIONS, [[0, 1, 2], [0, 2, 3], [0, 3, 9]]), "a vertex that is not there: 9"),
        (lambda: Foam.from_network(POSITIONS, [[0, 1, 2], [0, 1, 3], [0, 3, 2]]), "belongs to the cells 0 and 1"),
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
