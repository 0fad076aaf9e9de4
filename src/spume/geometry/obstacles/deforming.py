"""Obstacles that deform: their distances and velocities are written into the arrays of all obstacles, where rigid ones
have constants."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spume.geometry.sdf.deforming_mesh import DeformingMesh, deforming_mesh
from spume.geometry.sdf.operations import MESH, voxel_offset_position
from spume.geometry.shapes import ShapeModel
from spume.geometry.shapes.placement import Placement
from spume.geometry.shapes.sequences import placed_sequence

if TYPE_CHECKING:
    from spume.geometry.obstacles.obstacle_set import ObstacleArrays

Floats = NDArray[np.float64]
WIDTH = 21
"""Numbers of an obstacle in `ObstacleArrays.lattices`."""
BEGIN, STEP = 19, 20
"""Places of two of these: where the velocities begin, and the length of the step [s]."""


class Placed(NamedTuple):
    """A mesh that deforms, and where the shape puts it."""

    mesh: DeformingMesh
    placement: Placement


def _found(shapes: Sequence[ShapeModel], folder: Path | None) -> dict[int, Placed]:
    pairs = ((k, placed_sequence(shape)) for k, shape in enumerate(shapes))
    return {k: Placed(deforming_mesh(pair[0], folder), pair[1]) for k, pair in pairs if pair is not None}


def lattices_of(shapes: Sequence[ShapeModel], folder: Path | None) -> tuple[Floats, Floats]:
    """The arrays `lattices` and `currents` of obstacles with these shapes."""
    numbers = np.zeros((len(shapes), WIDTH))
    numbers[:, BEGIN] = -1.0
    begin = 0
    for k, (mesh, placement) in _found(shapes, folder).items():
        lattice, s = mesh.lattice, placement.scale
        numbers[k, :BEGIN] = (
            *placement.origin, *placement.rotation.ravel(), *(s * lattice.first), s * lattice.spacing, *lattice.counts
        )  # fmt: skip
        numbers[k, BEGIN] = begin
        begin += 3 * mesh.size
    return numbers, np.zeros(max(begin, 1))


class DeformingObstacle:
    """An obstacle whose distances and velocities change, as parts of the arrays of all obstacles."""

    def __init__(self, found: Placed, distances: Floats, currents: Floats) -> None:
        self.mesh, self._placement = found
        self._distances, self._currents = distances, currents.reshape(-1, 3)
        self._before = np.empty_like(distances)
        self._time: float | None = None
        self._phase: str | None = None
        turn = self._placement.scale * self._placement.rotation
        self._turn = None if np.array_equal(turn, np.eye(3)) else turn

    @property
    def is_moving(self) -> bool:
        """Whether it deforms at the time that it was set to."""
        return self._phase == "moving"

    def deform(self, time: float) -> float:
        """Set the arrays to a time [s]; returns the largest change of a distance [m]."""
        phase = self.mesh.phase(time)
        if time == self._time or self._phase == phase != "moving":
            return 0.0
        self._time, self._phase = time, phase
        self._before[:] = self._distances
        self.mesh.samples(time, self._distances, self._currents)
        if self._turn is not None:
            self._currents[:] = self._currents @ self._turn.T
        np.subtract(self._distances, self._before, out=self._before)
        return self._placement.scale * max(float(self._before.max()), -float(self._before.min()))

    def vertices(self, time: float) -> tuple[Floats, Floats]:
        """Vertices [m] and their velocities [m/s] in the obstacle's own frame at a time [s]."""
        x, v = self.mesh.vertices(time)
        s, R = self._placement.scale, self._placement.rotation
        return self._placement.points(x), s * v @ R.T


def deforming_obstacles(
    shapes: Sequence[ShapeModel], arrays: "ObstacleArrays", folder: Path | None
) -> dict[int, DeformingObstacle]:
    """The obstacles that deform, by their number."""
    made = {}
    for k, found in _found(shapes, folder).items():
        size = found.mesh.size
        rows = arrays.rows[arrays.starts[k] : arrays.starts[k + 1]]
        row = rows[rows[:, 0] == MESH][0]
        begin = int(arrays.numbers[row[2] + voxel_offset_position(row[3])])
        current = int(arrays.lattices[k, BEGIN])
        made[k] = DeformingObstacle(
            found, arrays.voxels[begin : begin + size], arrays.currents[current : current + 3 * size]
        )
    return made
