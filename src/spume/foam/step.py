"""One step of continuum foam: the fifteen procedures of [Yue15], section 4 and appendix E.3, by their numbers.

Mass, momentum and forces are rasterized in one loop over the points, so weak points are found before it. The points to
be removed by procedure 12 are found in that procedure, while the cells are valid, and removed after the points have
moved; this is equivalent because procedures 13 and 14 treat each point separately.

Procedures 11, 12 and 15 are applied every few steps; implicit steps, which are longer, apply them after the time of as
many explicit ones.
"""

from spume.foam.foam import FoamState
from spume.foam.recovery import recover
from spume.foam.removal import find_subgrid_points, remove_points
from spume.foam.resampling import avoid_a_void
from spume.foam.tearing import detect_tearing_and_limit_stress, limit_deformation
from spume.mpm.implicit.step import Integrator
from spume.mpm.state import State
from spume.mpm.step import (
    collide_and_move,
    gather,
    rasterize,
    sort_points,
    update_material,
    update_velocities_on_grid,
)


def foam_step(state: State, foam: FoamState, dt: float) -> None:
    """Advance `state` by dt [s] with symplectic Euler."""
    sort_points(state)
    detect_tearing_and_limit_stress(state, foam)  # 2 weak points, 4 limit their forces
    rasterize(state)  # 1 mass and momentum, 3 forces
    update_velocities_on_grid(state, dt)  # 5 velocities, 6 collisions
    _finish(state, foam, dt)


def implicit_foam_step(state: State, foam: FoamState, integrator: Integrator, dt: float) -> None:
    """Advance `state` by dt [s] with backward Euler. Torn points are found at the start of the step and carry no
    tension during it."""

    def prepare(state: State) -> None:
        sort_points(state)
        detect_tearing_and_limit_stress(state, foam)  # 2, 4

    def finish(state: State, dt: float) -> None:
        _finish(state, foam, dt)

    integrator.step(state, dt, prepare, finish)


def _finish(state: State, foam: FoamState, dt: float) -> None:
    """Do the procedures that follow the velocities on the nodes."""
    gather(state, dt)  # 7 deformation of the step, 9 velocities
    limit_deformation(state, foam)  # 8 neither shear nor expansion of weak points
    update_material(state, dt)  # 7 total deformation, 10 plastic flow, and the stress for the next step
    recover(state, foam, dt)  # 11 plastic recovery
    unresolved = find_subgrid_points(state, foam, dt)  # 12 material too thin for the grid
    collide_and_move(state, dt)  # 13 collisions, 14 positions
    remove_points(state, foam, unresolved)  # 12
    state.time += dt
    state.steps += 1
    resample(state, foam)  # 15 avoid a void


def resample(state: State, foam: FoamState) -> None:
    """Every few steps, fill voids and merge points that are too close: procedure 15, [Yue15] algorithm 18."""
    table = foam.resampling
    if not (table.enabled and foam.due(table.every, foam.resampled_until, state.time, state.steps)):
        return
    foam.resampled_until = state.time
    with state.timed("particle resampling"):
        # Random numbers depend only on the seed and the step, so that a resumed run has the same ones.
        report = avoid_a_void(state, (foam.seed, state.steps), foam.resampling_settings)
        foam.points_inserted += report.inserted
        foam.pairs_merged += report.merged
        foam.degenerate_averages += report.degenerate
