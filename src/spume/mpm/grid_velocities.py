"""New velocities on the grid, collisions included: [Yue15] algorithms 9 and 10."""

from numba import prange

from spume.geometry.obstacles.collision import collide
from spume.mpm.transfers import BLOCK
from spume.numerics.jit import compiled


def _make_update(dimension: int):
    D = dimension
    BX, BY, BZ = BLOCK[D]

    @compiled(parallel=True)
    def update(grid, node_blocks, cell, dt, gravity, obstacles, travelled, margin, clear_until):
        for block in prange(grid.shape[0]):
            bx = node_blocks[block, 0] * BX
            by = node_blocks[block, 1] * BY
            bz = node_blocks[block, 2] * BZ
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
                if not clear_until[block, node] > travelled + margin:  # both infinite: unknown
                    i = node // (BY * BZ)
                    j = (node // BZ) % BY
                    k = node % BZ
                    ux, uy, uz, clearance = collide(
                        obstacles, (bx + i) * cell, (by + j) * cell, (bz + k) * cell, ux, uy, uz
                    )
                    clear_until[block, node] = travelled + clearance
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
