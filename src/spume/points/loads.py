"""External forces on the points of the point-based method; see `matter.loads` for those that need no surface.

The area vector of a point is

    A_i = −(2/k) V_i Σ_j V_j g x_ij,    k = Σ_j V_j g x² in a cubic lattice,

with present volumes V, x_ij = x_j − x_i and the slope g of the elastic kernel. It is twice the gradient of the volume
fraction, because at a surface only one side, hence one half, of the gradient is sampled. The sum over the points on one
side of a cut through a lattice is the area of the cut, and the pairs are antisymmetric, so a pressure all around a body
adds no momentum.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numba import prange

from spume.matter.loads import ON_SURFACES, Load, push_points
from spume.numerics.jit import compiled
from spume.points.kernels import elastic_constant, elastic_slope
from spume.points.world import PointWorld


def apply_loads(world: PointWorld, dt: float, loads: Sequence[Load]) -> None:
    """Apply the impulses of the loads in dt [s] to the velocities of all points. The neighbour lists must be valid."""
    p = world.particles
    on_surfaces = [load for load in loads if load.kind in ON_SURFACES and load.factor(world.time) != 0.0]
    if on_surfaces:
        h = world.lists.radius
        c = elastic_constant(world.dimension, h)
        area = np.zeros_like(p.v)
        volume = p.volume * world.model.volume_ratio(p.arrays())
        k = world.forces.slope
        lists, extended = world.lists, world.lists.ghosts.extended
        area_vectors[world.dimension](lists.start, lists.neighbour, extended(p.x), extended(volume), h, c, k, area)
        for load in on_surfaces:
            force = load.factor(world.time) * load.surface_force(area)
            force[~load.inside(p.x)] = 0.0
            np.add(p.v, (dt / p.mass)[:, None] * force, out=p.v)
    for load in loads:
        if load.kind not in ON_SURFACES:
            push_points(p, load, world.time, dt, world.ranks)


def _make_area_vectors(D: int) -> Any:
    @compiled(parallel=True)
    def area_vectors(start, neighbour, x, volume, h, c, k, area):
        for i in prange(area.shape[0]):
            for entry in range(start[i], start[i + 1]):
                j = neighbour[entry]
                if j == x.shape[0]:
                    break  # padding from here on
                dx, dy = x[j, 0] - x[i, 0], x[j, 1] - x[i, 1]
                dz = x[j, 2] - x[i, 2] if D == 3 else 0.0
                s = -2.0 / k * volume[i] * volume[j] * elastic_slope(dx * dx + dy * dy + dz * dz, h, c)
                area[i, 0] += s * dx
                area[i, 1] += s * dy
                if D == 3:
                    area[i, 2] += s * dz

    return area_vectors


area_vectors = {2: _make_area_vectors(2), 3: _make_area_vectors(3)}
"""By dimension."""
