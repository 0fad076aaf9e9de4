"""Positions outside all obstacles.

An obstacle thinner than about a cell, with foam on both sides, looks like a void: the nodes of the signed distance in
it have points within r. The paper does not mention this case; here no new point is placed inside an obstacle.
"""

import numpy as np
from numba import prange
from numpy.typing import NDArray

from spume.foam.resampling.sampled import Sampled
from spume.geometry.obstacles.collision import obstacle_distance_and_normal
from spume.numerics.jit import compiled


def outside_obstacles(world: Sampled, time: float, x: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Mask of the positions `x` [m], shape (n, d), that are outside all obstacles of `world` at `time` [s]."""
    outside = np.ones(len(x), np.bool_)
    if world.obstacles:
        _test(x, world.obstacles.at(time), outside)
    return outside


@compiled(parallel=True)
def _test(x, obstacles, outside):
    for p in prange(x.shape[0]):
        z = x[p, 2] if x.shape[1] == 3 else 0.0
        for k in range(obstacles.number):
            distance, _, _, _ = obstacle_distance_and_normal(obstacles, k, x[p, 0], x[p, 1], z)
            if distance <= 0.0:
                outside[p] = False
