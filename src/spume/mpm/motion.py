"""Collisions of the points themselves and their new positions: [Yue15] algorithms 16 and 17."""

import math

import numpy as np
from numba import prange

from spume.geometry.obstacle import collide, touches
from spume.mpm.transfers import BLOCK
from spume.numerics.jit import compiled


def _make_move(dimension: int, order: int):
    D = dimension
    BX, BY, BZ = BLOCK[D]
    CELLS = BX * BY * BZ
    # Points of a block lie between `SHIFT` and `SHIFT` + block size past its first node; see grid.py on bases.
    SHIFT_HALVES = 2 if order == 3 else 1
    REACH = math.sqrt(BX**2 + BY**2 + (BZ**2 if D == 3 else 0)) / 2

    @compiled(parallel=True)
    def move(tasks, cell_start, order_of, block_coordinates, cell, dt, obstacles, x, v, speed, culprit):
        """Per task the largest speed [m/s], and a point whose velocity is not finite or −1."""
        shift = 0.5 * SHIFT_HALVES
        for task in prange(tasks.size - 1):
            fastest = 0.0
            broken = -1
            for block in range(tasks[task], tasks[task + 1]):
                near = touches(
                    obstacles,
                    (block_coordinates[block, 0] * BX + shift + 0.5 * BX) * cell,
                    (block_coordinates[block, 1] * BY + shift + 0.5 * BY) * cell,
                    (block_coordinates[block, 2] * BZ + shift + 0.5 * BZ) * cell if D == 3 else 0.0,
                    REACH * cell,
                )
                for entry in range(cell_start[block * CELLS], cell_start[(block + 1) * CELLS]):
                    p = order_of[entry]
                    if near:
                        pz = x[p, 2] if D == 3 else 0.0
                        vz = v[p, 2] if D == 3 else 0.0
                        ux, uy, uz = collide(obstacles, x[p, 0], x[p, 1], pz, v[p, 0], v[p, 1], vz)
                        v[p, 0] = ux
                        v[p, 1] = uy
                        if D == 3:
                            v[p, 2] = uz
                    square = 0.0
                    for q in range(D):
                        square += v[p, q] * v[p, q]
                    if square < np.inf:
                        for q in range(D):
                            x[p, q] += dt * v[p, q]
                        fastest = max(fastest, square)
                    else:
                        broken = p  # and stays where it was, so that the place can be told
            speed[task] = math.sqrt(fastest)
            culprit[task] = broken

    return move


move_points = {(d, o): _make_move(d, o) for d in (2, 3) for o in (2, 3)}
"""By dimension and spline order."""
