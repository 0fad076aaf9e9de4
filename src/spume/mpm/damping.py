"""Damping by repeated transfers of the velocities to the grid and back, without motion. [Fang19] section 8

In a round trip the points keep only the rotation of their affine velocity, C ← C − β sym C with β = 1, before it is
transferred to the grid ("RPIC", [Jiang15]). This is equivalent to a viscosity of β h²/(8 Δt) with quadratic splines and
β h²/(6 Δt) with cubic ones: half the second moment of the spline over Δt. Linear and angular momentum are conserved.
With β below one and a suitable number of round trips, any viscosity can be obtained.
"""

import math

from numba import prange

from spume.grid.nodes import NodeFields
from spume.mpm.step import sort_points
from spume.mpm.world import GridWorld
from spume.numerics.jit import compiled
from spume.scene.time_stepping import Damping

HALF_MOMENT = {2: 1.0 / 8.0, 3: 1.0 / 6.0}
"""Half the second moment of the splines [cells²], by their order."""


def damp_velocities(world: GridWorld, dt: float, settings: Damping) -> None:
    """Damp the velocities of all points before a step of dt [s]; `settings` is the scene's table [damping]."""
    trips, part = trips_of_step(settings, world.cell, world.nodes.order, dt)
    if trips == 0:
        return
    sort_points(world)
    sums = NodeFields(mass=0, momentum=world.dimension)
    sums.fit(world.nodes)
    for _ in range(trips):
        for species in world.species:
            p, transfers = species.particles, species.transfers
            _rigid(part, p.C)
            transfers.to_grid(("mass", "affine momentum"), p.x, sums.array, v=p.v, mass=p.mass, affine_velocity=p.C)
            _divide(sums.array)
            transfers.to_points(("affine velocity",), p.x, sums.array, first_channel=1, v=p.v, affine_velocity=p.C)


def trips_of_step(settings: Damping, cell: float, order: int, dt: float) -> tuple[int, float]:
    """Number of round trips, and the fraction β of the deformation rate that each removes."""
    if settings.rpic_iterations:
        return settings.rpic_iterations, 1.0
    wanted = settings.viscosity * dt / (HALF_MOMENT[order] * cell * cell)
    if wanted == 0.0:
        return 0, 0.0
    trips = math.ceil(wanted)
    return trips, wanted / trips


@compiled(parallel=True)
def _rigid(part, C):
    """C ← C − part · (C + Cᵀ)/2."""
    for p in prange(C.shape[0]):
        for i in range(C.shape[1]):
            for j in range(i, C.shape[1]):
                s = 0.5 * part * (C[p, i, j] + C[p, j, i])
                C[p, i, j] -= s
                if i != j:
                    C[p, j, i] -= s


@compiled(parallel=True)
def _divide(sums):
    """Convert the momenta of the nodes to velocities."""
    for block in prange(sums.shape[0]):
        for node in range(sums.shape[2]):
            m = sums[block, 0, node]
            for c in range(1, sums.shape[1]):
                sums[block, c, node] = sums[block, c, node] / m if m > 0.0 else 0.0
