"""The step of continuum foam as a list of stages: the fifteen procedures of [Yue15], section 4 and appendix E.3, by
their numbers:

     1 mass and momentum         6 collisions of nodes      11 plastic recovery
     2 weak points               7 deformation              12 removal of material too thin for the grid
     3 forces                    8 limits of weak points    13 collisions of points
     4 limits of weak points     9 velocities               14 positions
     5 velocities of nodes      10 plastic flow             15 resampling: avoid a void

Mass, momentum and forces are rasterized in one loop over the points, so weak points are found before it. The points to
be removed by procedure 12 are found in that procedure, while the cells are valid, and removed after the points have
moved; this is equivalent because procedures 13 and 14 treat each point separately.

Procedures 11, 12 and 15 are applied every few steps; implicit steps, which are longer, apply them after the time of as
many explicit ones.
"""

import numpy as np

from spume.foam.foam import FoamState
from spume.foam.pieces import Storage, bond_layers, divide, find_pieces, rehearse_bonds, rehearse_pieces
from spume.foam.recovery import recover, rehearse_recovery
from spume.foam.removal import find_unresolved, rehearse_removal, remove_unresolved
from spume.foam.resampling import KeptBodies, arrange, avoid_a_void, enter, leave
from spume.foam.tearing import detect_tearing, limit_deformation
from spume.matter.stages import Stage
from spume.mpm.step import GATHER, MATERIAL, MOVE, RASTERIZE, SORT, accelerate, collide
from spume.mpm.world import GridWorld


def foam_stages(foam: FoamState, solve: Stage | None = None, spacing: float | None = None) -> list[Stage]:
    """Symplectic Euler, or, with a stage that solves for the velocities of the nodes, backward Euler: torn points are
    then found at the start of the step and carry no tension during it. `spacing`: that of the points [m], if torn
    pieces have velocity fields of their own (`pieces/`)."""
    removes = foam.subgrid_removal.enabled
    apart, layers = spacing is not None, Storage()
    bond = Stage("pieces", bond_layers, layers, when=apart, rehearse=rehearse_bonds)
    velocities = [Stage("grid", accelerate), bond, Stage("grid", collide)] if solve is None else [solve]
    return [
        SORT,
        Stage("pieces", find_pieces, foam, spacing, when=apart, rehearse=rehearse_pieces),
        Stage("pieces", divide, layers, when=apart),
        Stage("tear detection", detect_tearing, foam, when=foam.tears, rehearse=detect_tearing),  # 2, 4
        RASTERIZE,  # 1 mass and momentum, 3 forces
        *velocities,  # 5 velocities, 6 collisions
        GATHER,  # 7 deformation of the step, 9 velocities
        Stage(
            "limit deformation", limit_deformation, foam, when=foam.tears, rehearse=limit_deformation, energy="tearing"
        ),  # 8
        MATERIAL,  # 7 total deformation, 10 plastic flow, and the stress for the next step
        Stage("plastic recovery", recover, foam, when=foam.recovers, rehearse=rehearse_recovery),  # 11
        Stage("subgrid geometry removal", find_unresolved, foam, when=removes, rehearse=rehearse_removal),  # 12
        MOVE,  # 13 collisions, 14 positions
        Stage("subgrid geometry removal", remove_unresolved, foam, when=removes, energy="removal"),  # 12
        Stage(
            "particle resampling",
            resample,
            foam,
            when=foam.resampling.enabled,
            rehearse=rehearse_resampling,
            energy="resampling",
        ),  # 15
    ]


def resample(world: GridWorld, dt: float, foam: FoamState) -> None:
    """Every few steps, fill voids and merge points that are too close: procedure 15, [Yue15] algorithm 18."""
    now, steps = world.time + dt, world.steps + 1
    if not foam.due(foam.resampling.every, foam.resampled_until, now, steps):
        return
    foam.resampled_until = now
    species = world.only
    territory = enter(world.ranks, species, species.cells, foam.resampling_settings.merge_distance)
    arrange(species, territory)
    kept = KeptBodies(world.particles, foam.kept_bodies) if foam.kept_bodies else None
    # Random numbers depend only on the seed and the step, so that a resumed run has the same ones.
    report = avoid_a_void(world, now, (foam.seed, steps), foam.resampling_settings, kept, territory)
    leave(species, territory)
    foam.points_inserted += report.inserted
    foam.pairs_merged += report.merged
    foam.degenerate_averages += report.degenerate


def rehearse_resampling(world: GridWorld, dt: float, foam: FoamState) -> None:
    """Make a void to fill and a pair to merge."""
    p = world.particles
    if len(p) < 3:
        return
    nearest = np.argmin(np.linalg.norm(p.x - p.x.mean(axis=0), axis=1))
    # if more points were missing, the void would count as outside the material
    p.take(np.flatnonzero(np.arange(len(p)) != nearest))
    p.x[1] = p.x[0] + 1e-3 * world.cell
    avoid_a_void(world, world.time, (0, 0), foam.resampling_settings)
