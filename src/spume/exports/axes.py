"""Poses and axes in the conventions of other programs."""

import numpy as np
from numpy.typing import NDArray

from spume.look.pictures.camera import View

Floats = NDArray[np.float64]


def pose_matrix(R: Floats, p: Floats) -> Floats:
    """A rotation and a displacement [m] for row vectors, as USD and Alembic have them: x' = x M, shape (4, 4)."""
    matrix = np.eye(4)
    matrix[:3, :3], matrix[3, :3] = R.T, p
    return matrix


def upright(up: Floats) -> Floats:
    """The rotation, for row vectors, that takes the axis `up` to y, the up axis of formats without a choice."""
    if abs(up[1]) > 0.5:
        turn = np.diag([1.0, np.sign(up[1]), np.sign(up[1])])
    elif abs(up[2]) > 0.5:
        s = float(np.sign(up[2]))
        turn = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, s], [0.0, -s, 0.0]])
    else:
        s = float(np.sign(up[0]))
        turn = np.array([[0.0, -s, 0.0], [s, 0.0, 0.0], [0.0, 0.0, 1.0]])
    return pose_matrix(turn, np.zeros(3))


def camera_pose(view: View) -> tuple[Floats, Floats]:
    """Rotation and position of a camera that looks along its own −z, as in USD, glTF and Alembic."""
    back = view.position - view.target
    back = back / np.linalg.norm(back)
    right = np.cross(view.up, back)
    right = right / np.linalg.norm(right)
    return np.stack([right, np.cross(back, right), back], axis=1), view.position
