"""The box that a shape really needs, found by rays."""

import numpy as np
from numpy.typing import NDArray

from spume.geometry.sdf.evaluation import distance
from spume.geometry.sdf.operations import ShapeProgram
from spume.numerics.jit import compiled

Floats = NDArray[np.float64]

RAYS = 64
"""Most rays along each axis of a side."""
STEPS = 200
"""Most steps of a ray."""
CLOSE = 1e-7
"""Distance at which a ray has reached the shape, in spacings of the points."""


def tight_box(program: ShapeProgram, lower: Floats, upper: Floats, spacing: float) -> tuple[Floats, Floats]:
    """Corners [m] of the box around a shape that lies between two corners: exact for flat sides. Rays go inwards from
    each side, four for each `spacing` [m] or `RAYS` along each axis; what is between them may stay outside."""
    d = len(lower)
    size = np.zeros(3)
    size[:d] = upper - lower
    corner = np.zeros(3)
    corner[:d] = lower
    counts = np.ones(3, np.int64)
    # an odd number, so that one goes through the middle; rounding must not change it
    counts[:d] = 2 * np.clip(np.ceil(2.0 * size[:d] / spacing - 1e-6), 0, RAYS // 2) + 1
    found = [
        [_first_hit(program, corner, size, counts, axis, side, CLOSE * spacing) for side in (0, 1)] for axis in range(d)
    ]
    inner = np.array(found)
    return lower + inner[:, 0], upper - inner[:, 1]


@compiled
def _first_hit(program, corner, size, counts, axis, side, close):
    """Distance [m] of the shape from a side of the box, along the rays from there; at most the size of the box."""
    best = size[axis]
    p = np.empty(3)
    u, v = (axis + 1) % 3, (axis + 2) % 3
    for i in range(counts[u]):
        for j in range(counts[v]):
            p[u] = corner[u] + (i + 0.5) / counts[u] * size[u]
            p[v] = corner[v] + (j + 0.5) / counts[v] * size[v]
            way = 0.0
            for _ in range(STEPS):
                p[axis] = corner[axis] + (way if side == 0 else size[axis] - way)
                s = distance(program, p[0], p[1], p[2])
                if s <= close:
                    break
                way += s
                if way >= best:
                    break
            best = min(best, way)
    return best
