"""Velocity update on the nodes before contact: [Yue15] algorithm 9."""

from typing import Any

from numba import prange

from spume.grid.blocks import BLOCK
from spume.numerics.jit import compiled


def _make_update(dimension: int) -> Any:
    D = dimension
    BX, BY, BZ = BLOCK[D]

    @compiled(parallel=True)
    def update(fields, dt, gravity):
        for block in prange(fields.shape[0]):
            for node in range(BX * BY * BZ):
                m = fields[block, 0, node]
                if m <= 0.0:
                    for c in range(1, 1 + 2 * D):
                        fields[block, c, node] = 0.0
                    continue
                for q in range(D):
                    v = fields[block, 1 + q, node] / m
                    # v* = v + Δt f/m + Δt g; the text of [Yue15] step 5 omits the first term
                    u = v + dt * (fields[block, 1 + D + q, node] / m + gravity[q])
                    fields[block, 1 + q, node] = u
                    fields[block, 1 + D + q, node] = u - v

    return update


update_grid_velocities = {2: _make_update(2), 3: _make_update(3)}
"""By dimension: kernel (fields, dt, gravity) that replaces mass, momentum and force on the nodes, shape
(blocks, 1 + 2 d, 64), by mass, velocity v* and its change v* − v."""
