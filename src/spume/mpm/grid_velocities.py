"""New velocities on the grid, collisions included: [Yue15] algorithms 9 and 10."""

import math

from numba import prange

from spume.geometry.obstacle import collide, touches
from spume.mpm.transfers import BLOCK
from spume.numerics.jit import compiled


def _make_update(dimension: int):
    D = dimension
    BX, BY, BZ = BLOCK[D]
    REACH = math.sqrt((BX - 1) ** 2 + (BY - 1) ** 2 + (BZ - 1) ** 2) / 2  # middle to corner, in cells

    @compiled(parallel=True)
    def update(grid, node_blocks, cell, dt, gravity, obstacles):
        for block in prange(grid.shape[0]):
            bx = node_blocks[block, 0] * BX
            by = node_blocks[block, 1] * BY
            bz = node_blocks[block, 2] * BZ
            near = touches(
                obstacles,
                (bx + 0.5 * (BX - 1)) * cell,
                (by + 0.5 * (BY - 1)) * cell,
                (bz + 0.5 * (BZ - 1)) * cell,
                REACH * cell,
            )
            for node in range(BX * BY * BZ):
                m = grid[block, 0, node]
                if m <= 0.0:
                    for c in range(1, 1 + 2 * D):
                        grid[block, c, node] = 0.0
                    continue
                vx = grid[block, 1, node] / m
                vy = grid[block, 2, node] / m
                vz = grid[block, 3, node] / m if D == 3 else 0.0
                # v* = v + Δt f/m + Δt g; the text of [Yue15] step 5 omits the first term
                ux = vx + dt * (grid[block, 1 + D, node] / m + gravity[0])
                uy = vy + dt * (grid[block, 2 + D, node] / m + gravity[1])
                uz = vz + dt * (grid[block, 3 + D, node] / m + gravity[2]) if D == 3 else 0.0
                if near:
                    i = node // (BY * BZ)
                    j = (node // BZ) % BY
                    k = node % BZ
                    ux, uy, uz = collide(obstacles, (bx + i) * cell, (by + j) * cell, (bz + k) * cell, ux, uy, uz)
                grid[block, 1, node] = ux
                grid[block, 2, node] = uy
                grid[block, 1 + D, node] = ux - vx
                grid[block, 2 + D, node] = uy - vy
                if D == 3:
                    grid[block, 3, node] = uz
                    grid[block, 3 + D, node] = uz - vz

    return update


update_grid_velocities = {2: _make_update(2), 3: _make_update(3)}
"""By dimension. Turns mass, momentum, force on the nodes into mass, v*, v* − v."""
