"""The stages at the end of a foam step, called once so that their kernels are compiled: see `runs.compile_ahead`."""

import numpy as np

from spume.foam.method import ContinuumFoam, FoamStages
from spume.foam.recovery import recover_points
from spume.foam.removal import remove_points, search_weak_points
from spume.foam.resampling import avoid_a_void
from spume.foam.tearing import detect_tearing_and_limit_stress, limit_deformation
from spume.mpm.step import sort_points, update_material


def call_late_stages(method: ContinuumFoam) -> None:
    """Call the stages from the last to the first. The resulting state is meaningless."""
    state, stages = method.state, method.stages
    assert isinstance(stages, FoamStages)
    foam, p = stages.foam, method.particles
    if foam.resampling.enabled and len(p):
        nearest = np.argmin(np.linalg.norm(p.x - p.x.mean(axis=0), axis=1))
        # a void to fill; if more points were missing, it would count as outside the material
        p.take(np.flatnonzero(np.arange(len(p)) != nearest))
        p.x[1] = p.x[0] + 1e-3 * state.cell  # a pair to merge
        avoid_a_void(state, (0, 0), foam.resampling_settings)
    dt = 1e-9
    if foam.recovers:
        recover_points(p.material, np.zeros(len(foam.materials)), p.F, p.be)
    sort_points(state)
    if foam.subgrid_removal.enabled:
        remove_points(state, foam, search_weak_points(state, foam.subgrid_removal))
    update_material(state, dt)
    limit_deformation(state, foam)
    detect_tearing_and_limit_stress(state, foam)
    method.diagnostics()
