"""The walls of a scene as panes of clear glass."""

import numpy as np
from numpy.typing import NDArray

from spume.look.finish import Finish
from spume.look.triangle_mesh import TriangleMesh, split_at_edges

Floats = NDArray[np.float64]
GLASS = Finish((0.85, 0.93, 0.95), 0.0, 0.03, 0.96)
THICK = 0.006
"""Thickness of a pane, relative to the material it holds."""
NEAR = 0.02
"""Distance within which the material touches a wall, relative to its own size."""
ABOVE = 0.12
"""How far a pane stands above the material, relative to its size."""
FACES = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))
"""Corners of the faces of a box, counter-clockwise seen from outside; x slowest."""


def glass_panes(lower: Floats, upper: Floats, material: Floats, up: Floats, eye: Floats) -> list[TriangleMesh]:
    """A pane for each upright wall of a box that outermost points of the material (n, 3) come near to [m], except walls
    between the material and the `eye`: their edges would be lines across the picture."""
    axis = int(np.argmax(np.abs(up)))
    low, high = material.min(axis=0), material.max(axis=0)
    size = float(np.max(high - low))
    bottom, top = lower.copy(), upper.copy()
    # as far as the material and a little more
    bottom, top = np.maximum(bottom, low - ABOVE * size), np.minimum(top, high + ABOVE * size)
    panes = []
    for side in (k for k in range(3) if k != axis):
        for wall, inward in ((lower[side], low[side]), (upper[side], high[side])):
            outwards = np.sign(wall - 0.5 * (low + high)[side])
            if abs(wall - inward) > NEAR * size or (eye[side] - wall) * outwards > 0.0:
                continue
            one, two = bottom.copy(), top.copy()
            one[side], two[side] = sorted((wall, wall + outwards * THICK * size))
            if (one < two).all():
                panes.append(box(one, two))
    return panes


def box(lower: Floats, upper: Floats) -> TriangleMesh:
    """A box with sharp edges."""
    unit = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], dtype=np.float64)
    triangles = np.array([t for a, b, c, d in FACES for t in ((a, b, c), (a, c, d))], np.int32)
    return split_at_edges(lower + unit * (upper - lower), triangles, 35.0)
