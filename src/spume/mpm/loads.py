"""Loads on the surfaces of bodies, on the grid.

Surface loads are computed on the nodes: with the volume fraction χ of the material,

    ∫ w_i ∇χ dV = −Σ_p V_p J_p ∇w_ip = −A_i

is the area of the surface near node i times its inward normal; it vanishes inside the material, except for the
irregularity of the points. The forces of the nodes,

    pressure   −P A_i                  traction   t (A_i · n),

are interpolated to the points as accelerations f_i/m_i, which keeps their sum, so the momentum added by a load is
exactly that of the force on the nodes. A surface that faces away from n receives the opposite traction, so the shape of
a traction should contain only one side of a body.
"""

from collections.abc import Sequence

import numpy as np

from spume.grid.nodes import NodeFields
from spume.matter.loads import ON_SURFACES, Load, push_points
from spume.mpm.species import GridSpecies
from spume.mpm.step import sort_points
from spume.mpm.world import GridWorld


def apply_loads(world: GridWorld, dt: float, loads: Sequence[Load]) -> None:
    """Apply the impulses of the loads in dt [s] to the velocities of all points."""
    found = [load for load in loads if load.kind in ON_SURFACES and load.factor(world.time) != 0.0]
    if found:
        sort_points(world)
    for species in world.species:
        for load in loads:
            if load.kind not in ON_SURFACES and load.species in ("all", species.name):
                push_points(species.particles, load, world.time, dt, world.ranks)
        own = [load for load in found if load.species in ("all", species.name)]
        if own:
            _push_surface(world, species, own, dt)


def _push_surface(world: GridWorld, species: GridSpecies, loads: Sequence[Load], dt: float) -> None:
    p, d = species.particles, world.dimension
    sums = NodeFields(mass=0, area=d)
    sums.fit(world.nodes)
    volume = p.volume * species.model.volume_ratio(p.arrays())
    inward = np.tile([-1.0, -1.0, -1.0, 0.0, 0.0, 0.0], (len(p), 1))
    species.transfers.to_grid(
        ("mass", "stress divergence"), species.weighted_at, sums.array, mass=p.mass, volume=volume, stress=inward
    )
    block, local = np.nonzero(sums["mass"] > 0.0)
    moved = species.moved_nodes(world.nodes)
    place = (moved if len(moved) else world.nodes.positions())[block, local]
    area = np.ascontiguousarray(sums["area"][block, :, local])  # Σ V J ∇w: along the outward normal
    force = np.zeros_like(area)
    for load in loads:
        force += np.where(load.inside(place)[:, None], load.factor(world.time) * load.surface_force(area), 0.0)
    sums["area"][:] = 0.0
    sums["area"][block, :, local] = dt * force / sums["mass"][block, local][:, None]
    change = np.zeros((len(p), d))
    species.transfers.to_points(("velocity",), species.weighted_at, sums.array, first_channel=1, v=change)
    np.add(p.v, change, out=p.v)
