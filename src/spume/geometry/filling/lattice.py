"""The points of a lattice that lie in a shape, found without visiting all points of its bounding box."""

import math

import numpy as np
from numpy.typing import NDArray

from spume.geometry.sdf.evaluation import distance_and_gradient
from spume.geometry.sdf.operations import ShapeProgram
from spume.numerics.jit import compiled


def lattice_within(
    program: ShapeProgram, lower: NDArray[np.float64], upper: NDArray[np.float64], spacing: float, margin: float
) -> NDArray[np.int64]:
    """Indices k, shape (n, 3), of the lattice points (k + 1/2) · spacing [m] between two corners whose distance from
    the shape is less than `margin` [m]. In 2D the third index is 0."""
    first, last = np.zeros(3, dtype=np.int64), np.ones(3, dtype=np.int64)
    first[: len(lower)] = np.floor((lower - margin) / spacing) - 1
    last[: len(lower)] = np.ceil((upper + margin) / spacing) + 1
    count = _lattice(program, first, last, spacing, margin, np.empty((0, 3), dtype=np.int64))
    found = np.empty((count, 3), dtype=np.int64)
    _lattice(program, first, last, spacing, margin, found)
    return found


# A lattice point exactly on the common surface of two bodies must belong to exactly one of them: distances are taken at
# points shifted by a millionth of the spacing, in a direction that is parallel to no likely face.
SHIFT = (1.0e-6, 1.4142e-6, 1.7320e-6)


@compiled
def _lattice(program, first, last, spacing, margin, found):
    """Halve the box of indices along its longest side until it is completely outside, completely inside or a single
    point. Return the number of points, and write as many of them as fit into `found`."""
    path = np.empty((200, 6), dtype=np.int64)
    for axis in range(3):
        path[0, axis], path[0, axis + 3] = first[axis], last[axis]
    height = 1
    count = 0
    while height > 0:
        height -= 1
        i0, j0, k0 = path[height, 0], path[height, 1], path[height, 2]
        i1, j1, k1 = path[height, 3], path[height, 4], path[height, 5]
        ni, nj, nk = i1 - i0, j1 - j0, k1 - k0
        x = (0.5 * (i0 + i1) + SHIFT[0]) * spacing
        y = (0.5 * (j0 + j1) + SHIFT[1]) * spacing
        z = (0.5 * (k0 + k1) + SHIFT[2]) * spacing
        s, _, _, _ = distance_and_gradient(program, x, y, z)
        s -= margin
        reach = 0.5 * spacing * math.sqrt((ni - 1.0) ** 2 + (nj - 1.0) ** 2 + (nk - 1.0) ** 2)
        if s >= reach:
            continue
        if s < -reach or reach == 0.0:
            for i in range(i0, i1):
                for j in range(j0, j1):
                    for k in range(k0, k1):
                        if count < len(found):
                            found[count, 0], found[count, 1], found[count, 2] = i, j, k
                        count += 1
            continue
        axis = 0 if ni >= nj and ni >= nk else (1 if nj >= nk else 2)
        middle = (path[height, axis] + path[height, axis + 3]) // 2
        for end in range(6):  # assigning rows takes seconds to compile
            path[height + 1, end] = path[height, end]
        path[height, axis] = middle
        path[height + 1, axis + 3] = middle
        height += 2
    return count
