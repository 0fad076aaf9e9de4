"""The placement of a shape: x = scale · R · local + p. Used while a shape is compiled, never per point."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class Placement:
    """A rotation, a uniform scale and a displacement [m]."""

    rotation: Matrix
    scale: float
    origin: NDArray[np.float64]

    def point(self, local: ArrayLike) -> NDArray[np.float64]:
        return self.scale * (self.rotation @ spatial(local)) + self.origin

    def points(self, local: Matrix) -> Matrix:
        """The places of points (n, 3)."""
        return np.asarray(self.scale * local @ self.rotation.T + self.origin)

    def direction(self, local: ArrayLike) -> NDArray[np.float64]:
        """A unit vector."""
        turned: NDArray[np.float64] = self.rotation @ unit(local)
        return turned

    def moved(self, by: ArrayLike) -> "Placement":
        return Placement(self.rotation, self.scale, self.point(by))

    def turned(self, rotation: Matrix, about: ArrayLike) -> "Placement":
        about = spatial(about)
        return Placement(self.rotation @ rotation, self.scale, self.point(about - rotation @ about))

    def scaled(self, factor: float, about: ArrayLike) -> "Placement":
        return Placement(self.rotation, self.scale * factor, self.point((1.0 - factor) * spatial(about)))


HERE = Placement(np.eye(3), 1.0, np.zeros(3))


def spatial(vector: ArrayLike) -> NDArray[np.float64]:
    """`vector` with three components."""
    given = np.asarray(vector, dtype=np.float64)
    return given if len(given) == 3 else np.array([given[0], given[1], 0.0])


def unit(vector: ArrayLike) -> NDArray[np.float64]:
    given = spatial(vector)
    given = given / np.abs(given).max()
    normal: NDArray[np.float64] = given / np.linalg.norm(given)
    return normal


def rotation_matrix(axis: ArrayLike, angle: float) -> Matrix:
    """Rodrigues' formula; `angle` [rad]. Quarter turns about the axes are exact."""
    x, y, z = unit(axis)
    quarter = round(angle / (math.pi / 2))
    if math.isclose(angle, quarter * (math.pi / 2), rel_tol=1e-15, abs_tol=0.0):
        c, s = ((1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0))[quarter % 4]
    else:
        c, s = math.cos(angle), math.sin(angle)
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.eye(3) + s * cross + (1.0 - c) * (cross @ cross)


def frame_along(axis: ArrayLike, local: int) -> Matrix:
    """A rotation that takes the unit vector number `local` to the direction `axis`."""
    target = unit(axis)
    start = np.eye(3)[local]
    if np.array_equal(target, start):
        return np.eye(3)
    cross = np.cross(start, target)
    if np.linalg.norm(cross) == 0.0:
        return rotation_matrix(np.eye(3)[(local + 1) % 3], math.pi)
    return rotation_matrix(cross, math.atan2(float(np.linalg.norm(cross)), float(start @ target)))
