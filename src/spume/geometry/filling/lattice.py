"""The points of a lattice that lie in a shape, found without visiting all points of its bounding box."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spume.geometry.sdf.evaluation import distance_and_gradient
from spume.geometry.sdf.operations import ShapeProgram
from spume.numerics.jit import compiled


@dataclass(frozen=True)
class Slab:
    """The points of a lattice between two planes."""

    index: NDArray[np.int64]
    """Of the points between the planes and near them, shape (n, 3)."""
    order: NDArray[np.int64]
    """Their numbers among all points of the lattice, in the order of `lattice_within`."""
    owner: NDArray[np.int64]
    """The slab that each is in."""


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
    return slab_within(program, lower, upper, step, margin, first, 0, 1, 0).index


def count_within(
    program: ShapeProgram,
    lower: NDArray[np.float64],
    upper: NDArray[np.float64],
    step: NDArray[np.float64],
    margin: float,
) -> int:
    """How many points `lattice_within` finds."""
    return int(_layers(program, lower, upper, step, margin, None)[1].sum())


def slab_within(
    program: ShapeProgram,
    lower: NDArray[np.float64],
    upper: NDArray[np.float64],
    step: NDArray[np.float64],
    margin: float,
    first: NDArray[np.float64] | None,
    number: int,
    slabs: int,
    near: int,
) -> Slab:
    """One of several slabs with about equal numbers of the points of `lattice_within`, and the points at most `near`
    steps beside it."""
    box, layers = _layers(program, lower, upper, step, margin, first)
    begin, axis = box[1], box[-1]
    below = np.concatenate([[0], np.cumsum(layers)])
    lowest = np.searchsorted(below, below[-1] * np.arange(slabs) // slabs)
    low, high = (int(layer) for layer in np.append(lowest, layers.size)[number : number + 2])
    first_near, last_near = max(low - near, 0), min(high + near, layers.size)
    count = int(below[last_near] - below[first_near])
    found, order = np.empty((count, 3), np.int64), np.empty(count if slabs > 1 else 0, np.int64)
    _lattice(*box, begin[axis] + first_near, begin[axis] + last_near, layers, found, order)
    layer = found[:, axis] - begin[axis]
    return Slab(found, order, np.searchsorted(lowest, layer, side="right") - 1)


def _layers(
    program: ShapeProgram,
    lower: NDArray[np.float64],
    upper: NDArray[np.float64],
    step: NDArray[np.float64],
    margin: float,
    first: NDArray[np.float64] | None,
) -> tuple[tuple[Any, ...], NDArray[np.int64]]:
    """The first arguments of `_lattice`, and the number of points in each layer across the longest axis."""
    d = len(lower)
    origin, steps = np.zeros(3), np.zeros(3)
    steps[:d] = step
    if first is not None:
        origin[:d] = first
    begin, end = np.zeros(3, dtype=np.int64), np.ones(3, dtype=np.int64)
    begin[:d] = np.floor((lower - margin - origin[:d]) / step) - 1
    end[:d] = np.ceil((upper + margin - origin[:d]) / step) + 1
    axis = int(np.argmax(end - begin))
    layers = np.zeros(int(end[axis] - begin[axis]), np.int64)
    box = (program, begin, end, origin, steps, margin, axis)
    _lattice(*box, 0, 0, layers, np.empty((0, 3), np.int64), np.empty(0, np.int64))
    return box, layers


@compiled
def _lattice(program, first, last, origin, step, margin, axis, low, high, layers, found, order):
    """Halve the box of indices along its longest side until it is completely outside, completely inside or a single
    point. Write the points whose index along `axis` is between `low` and `high` to `found`, which has room for them,
    and their numbers among all to `order`, which may be empty; if there is no room, the number of points in each layer
    across the axis to `layers`."""
    path = np.empty((200, 6), dtype=np.int64)
    written = 0
    for side in range(3):
        path[0, side], path[0, side + 3] = first[side], last[side]
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
            if len(found) == 0:
                across = ni * nj * nk // (ni if axis == 0 else nj if axis == 1 else nk)
                for layer in range(path[height, axis], path[height, axis + 3]):
                    layers[layer - first[axis]] += across
            elif path[height, axis] < high and path[height, axis + 3] > low:
                number = count
                for i in range(i0, i1):
                    for j in range(j0, j1):
                        for k in range(k0, k1):
                            layer = i if axis == 0 else j if axis == 1 else k
                            if low <= layer < high:
                                found[written, 0], found[written, 1], found[written, 2] = i, j, k
                                if len(order) > 0:
                                    order[written] = number
                                written += 1
                            number += 1
            count += ni * nj * nk
            continue
        side = 0 if ni >= nj and ni >= nk else (1 if nj >= nk else 2)
        middle = (path[height, side] + path[height, side + 3]) // 2
        for end in range(6):  # assigning rows takes seconds to compile
            path[height + 1, end] = path[height, end]
        path[height, side] = middle
        path[height + 1, side + 3] = middle
        height += 2
