"""The ground as a mesh."""

import numpy as np
from numpy.typing import NDArray

from spume.look.triangle_mesh import TriangleMesh

Floats = NDArray[np.float64]


def ground_axes(up: Floats) -> tuple[Floats, Floats]:
    """Two directions along the ground, which make a right-handed frame with `up`."""
    one = np.eye(3)[int(np.argmin(np.abs(up)))]
    one = one - (one @ up) * up
    one /= np.linalg.norm(one)
    return one, np.cross(up, one)


def ground_square(up: Floats, height: float, middle: Floats, reach: float) -> TriangleMesh:
    """A level square at `height` [m] along `up`, above or below `middle`, with sides of twice `reach` [m]."""
    one, two = ground_axes(up)
    below = middle + (height - middle @ up) * up
    corners = [below + reach * (a * one + b * two) for a, b in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
    return TriangleMesh(np.array(corners), np.array([[0, 1, 2], [0, 2, 3]], np.int32), np.tile(up, (4, 1)))
