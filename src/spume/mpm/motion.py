"""Collisions of points and their new positions: [Yue15] algorithms 16 and 17."""

import math

import numpy as np
from numba import prange

from spume.geometry.obstacles.collision import collide_and_move
from spume.numerics.jit import compiled


def _make_move(dimension: int):
    D = dimension

    @compiled(parallel=True)
    def move(tasks, dt, obstacles, travelled, margin, clear_until, x, v, speed, broken_point):
        """Move the points. For each task, a range of points, write the largest speed [m/s] and the index of a point
        whose velocity is not finite, −1 if there is none."""
        for task in prange(tasks.size - 1):
            fastest = 0.0
            broken = -1
            for p in range(tasks[task], tasks[task + 1]):
                if not clear_until[p] > travelled + margin:  # also if both are infinite: unknown
                    pz = x[p, 2] if D == 3 else 0.0
                    vz = v[p, 2] if D == 3 else 0.0
                    px, py, pz, ux, uy, uz, clearance = collide_and_move(
                        obstacles, dt, x[p, 0], x[p, 1], pz, v[p, 0], v[p, 1], vz
                    )
                    v[p, 0] = ux
                    v[p, 1] = uy
                    if D == 3:
                        v[p, 2] = uz
                    clear_until[p] = travelled + clearance
                else:
                    px = x[p, 0] + dt * v[p, 0]
                    py = x[p, 1] + dt * v[p, 1]
                    pz = x[p, 2] + dt * v[p, 2] if D == 3 else 0.0
                square = 0.0
                for q in range(D):
                    square += v[p, q] * v[p, q]
                if square < np.inf:
                    x[p, 0] = px
                    x[p, 1] = py
                    if D == 3:
                        x[p, 2] = pz
                    fastest = max(fastest, square)
                    clear_until[p] -= dt * math.sqrt(square)
                else:
                    broken = p  # it is not moved, so that the message can give its position
            speed[task] = math.sqrt(fastest)
            broken_point[task] = broken

    return move


move_points = {2: _make_move(2), 3: _make_move(3)}
"""By dimension."""
