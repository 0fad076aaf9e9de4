"""Random points that ranks share, without the rest of a world."""

import numpy as np

from spume.grid.cells import Cells
from spume.grid.transfers import Transfers
from spume.numerics.room import Room

QUANTITIES = ("mass", "affine momentum", "stress divergence")
"""Those of an explicit step, whose kernels are compiled anyway."""


class Cloud:
    """Points of one rank: what `spume.ranks.ranks.Movable` asks for."""

    def __init__(self, arrays, dimension, order):
        self.arrays = {name: array.copy() for name, array in arrays.items()}
        self.transfers = Transfers(dimension, 1.0, order)
        self.next_id = 0
        self.room = Room()

    @property
    def cells(self) -> Cells:
        return self.transfers.cells

    def sort(self):
        self.cells.sort(self.arrays["x"], self.arrays["id"])

    def point_arrays(self):
        return self.arrays

    def swap_points(self, gone, arrived):
        self.arrays = {name: self.room.swap(name, a, gone, arrived(name)) for name, a in self.arrays.items()}

    def node_sums(self, nodes):
        a = self.arrays
        target = np.empty((len(nodes), 1 + 2 * nodes.dimension, 64))
        self.transfers.to_grid(
            QUANTITIES, a["x"], target, v=a["v"], mass=a["mass"], volume=a["mass"], stress=a["stress"],
            affine_velocity=a["C"],
        )  # fmt: skip
        return target


def points(rng, dimension, count, width):
    d = dimension
    return {
        "x": rng.uniform(-width, width, (count, d)),
        "id": rng.permutation(count).astype(np.int64),
        "v": rng.normal(size=(count, d)),
        "mass": rng.uniform(0.1, 1.0, count) * 10.0 ** rng.integers(-8, 8, count),
        "stress": rng.normal(size=(count, 6)),
        "C": rng.normal(size=(count, d, d)),
    }
