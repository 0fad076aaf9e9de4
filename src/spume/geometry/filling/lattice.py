"""The points of a lattice that lie in a shape, found without visiting all points of its bounding box."""

import math

import numpy as np
from numpy.typing import NDArray

from spume.geometry.sdf.evaluation import distance_and_gradient
from spume.geometry.sdf.operations import ShapeProgram
from spume.numerics.jit import compiled


def lattice_within(
    program: ShapeProgram,
    lower: NDArray[np.float64],
    upper: NDArray[np.float64],
    step: NDArray[np.float64],
    margin: float,
    first: NDArray[np.float64] | None = None,
) -> NDArray[np.int64]:
    """Indices k, shape (n, 3), of the lattice points first + (k + 1/2) · step [m] between two corners whose distance
    from the shape is less than `margin` [m]. In 2D the third index is 0. `first`: the origin if absent."""
    d = len(lower)
    origin, steps = np.zeros(3), np.zeros(3)
    steps[:d] = step
    if first is not None:
        origin[:d] = first
    begin, end = np.zeros(3, dtype=np.int64), np.ones(3, dtype=np.int64)
    begin[:d] = np.floor((lower - margin - origin[:d]) / step) - 1
    end[:d] = np.ceil((upper + margin - origin[:d]) / step) + 1
    count = _lattice(program, begin, end, origin, steps, margin, np.empty((0, 3), dtype=np.int64))
    found = np.empty((count, 3), dtype=np.int64)
    _lattice(program, begin, end, origin, steps, margin, found)
    return found


@compiled
def _lattice(program, first, last, origin, step, margin, found):
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
        x = origin[0] + 0.5 * (i0 + i1) * step[0]
        y = origin[1] + 0.5 * (j0 + j1) * step[1]
        z = origin[2] + 0.5 * (k0 + k1) * step[2]
        s, _, _, _ = distance_and_gradient(program, x, y, z)
        s -= margin
        a, b, c = (ni - 1.0) * step[0], (nj - 1.0) * step[1], (nk - 1.0) * step[2]
        reach = 0.5 * math.sqrt(a * a + b * b + c * c)
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
