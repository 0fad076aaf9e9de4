"""The step of the point-based method as a list of stages, [Gerszewski09] section 3, with symplectic Euler."""

from collections.abc import Sequence

import numpy as np
from numba import prange

from spume.foam.total_deformation import Torn, detect, recover
from spume.materials.kinematics import load
from spume.matter.loads import Load
from spume.matter.material import rehearse_material, update_material
from spume.matter.motion import collide_and_move
from spume.matter.stages import Stage
from spume.numerics.jit import compiled
from spume.numerics.lanes import LANES
from spume.points.deformation import fit_deformation, keep_volume
from spume.points.elastic_metric import elastic_metric
from spume.points.energy import EnergyBudget, begin, count_work, counted_resampling, look
from spume.points.forces import WIDTH
from spume.points.formulations import add_green_strain, step_from_rest
from spume.points.loads import apply_loads
from spume.points.reference import Reference, fit_reference, reference_accelerations
from spume.points.renewal import find_reference, renew_reference
from spume.points.resampling import Resampling, resample
from spume.points.tearing import limit_deformation
from spume.points.world import PointWorld

ADVICE = (
    "the step is too long for the stiffness, or the neighbourhoods have broken down; reduce [time] courant or dt, or "
    "give the points pressure or viscosity"
)
"""What to change when a velocity is not finite."""


def point_based_stages(
    budget: EnergyBudget, loads: Sequence[Load], torn: Torn | None, resampling: Resampling | None
) -> list[Stage]:
    """Symplectic Euler. The budget has the reference; it has none for forces by the paper."""
    reference = budget.reference
    tears, printed = torn is not None, reference is None
    return [
        Stage("neighbours", find_reference, reference, when=not printed),
        Stage("neighbours", find_neighbours, when=printed),
        Stage("budget", begin, budget),
        Stage("tearing", detect, torn, when=tears),
        Stage("metric", find_metric, when=printed),
        Stage("forces", accelerate_from_reference, reference, when=not printed),
        Stage("forces", accelerate, when=printed),  # eqs. (10) to (13)
        Stage("budget", look, budget, when=bool(loads)),
        # after the viscous forces, which depend on the velocities of the last step
        Stage("loads", apply_loads, loads, when=bool(loads)),
        Stage("budget", look, budget),
        Stage("move", remember_positions),
        Stage("move", collide_and_move, ADVICE),
        Stage("budget", count_work, budget),
        Stage("deformation", fit_reference, reference, when=not printed),
        Stage("deformation", fit, when=printed),  # eqs. (6), (7)
        Stage("tearing", limit_deformation, torn, when=tears),
        Stage("material", update_material, rehearse=rehearse_material),  # eqs. (8), (9) and plastic flow
        Stage("tearing", recover, torn, when=torn is not None and torn.recovers),
        Stage("neighbours", renew_reference, reference, when=not printed),
        Stage("resampling", counted_resampling, budget, resample, resampling, when=resampling is not None),
    ]


def find_neighbours(world: PointWorld, dt: float) -> None:
    """Rebuild the neighbour lists if points have moved too far since the last time, or are new."""
    if world.stale:
        build_lists(world)
    p = world.particles
    kept = world.scheme.formulation == "rest-configuration"
    if world.listed and (kept or world.lists.valid(p.x, p.x_listed, world.ranks)):
        return
    if not kept:
        p.x_listed[:] = p.x
    build_lists(world)
    world.rebuilds += 1


def build_lists(world: PointWorld) -> None:
    """Build the lists at the positions that belong to them."""
    world.arrange()
    world.lists.build(getattr(world.particles, world.positions), order=world.order())


def find_metric(world: PointWorld, dt: float) -> None:
    """Find the metric of the elastic deformation of each point; it has no meaning if nothing needs it."""
    p = world.particles
    world.metric, world.size = np.empty((len(p), 6)), np.zeros(len(p))
    if world.scheme.needs_metric:
        elastic_metric(world.model, p.arrays(), world.metric, world.size)


def accelerate(world: PointWorld, dt: float) -> None:
    """v ← v + Δt (f/m + g)."""
    p = world.particles
    acceleration, uncorrected = world.forces.accelerations(
        world.lists, p.arrays(), world.size, world.metric, world.wave_speeds(), world.rows_of(LANES),
        world.rows_of(WIDTH),
    )  # fmt: skip
    world.uncorrected += world.ranks.count(uncorrected)
    _kick(p.v, acceleration, world.gravity(world.time), dt)


def accelerate_from_reference(world: PointWorld, dt: float, reference: Reference) -> None:
    """v ← v + Δt (f/m + g) with the forces of the reference configuration."""
    world.uncorrected += reference.without_fit
    _kick(world.particles.v, reference_accelerations(world, reference), world.gravity(world.time), dt)


def remember_positions(world: PointWorld, dt: float) -> None:
    """Keep the positions at the start of the step."""
    world.before = world.particles.x.copy()


@compiled(parallel=True)
def _kick(v, acceleration, gravity, dt):
    """v ← v + Δt (a + g)."""
    for p in prange(v.shape[0]):
        for q in range(v.shape[1]):
            v[p, q] += dt * (acceleration[p, q] + gravity[q])


def fit(world: PointWorld, dt: float) -> None:
    """Compute the deformation of the step and the strain rate at each point."""
    p, lists, scheme = world.particles, world.lists, world.scheme
    outcome = np.empty(len(p), np.int64)
    world.only.fit_deformation()
    start = p.rest_x if scheme.formulation == "rest-configuration" else world.before
    fit_deformation(
        lists, start, p.x, scheme.least_neighbours, scheme.condition, world.rows_of(LANES), world.deformation,
        p.neighbours, outcome,
    )  # fmt: skip
    if scheme.formulation == "rest-configuration":
        step_from_rest(outcome, p.rest_F, world.deformation)
    _rate_of_strain(world.deformation, 1.0 / dt, p.rate)
    if scheme.formulation == "additive":
        add_green_strain(world.metric, outcome, world.deformation)
    if scheme.formulation != "rest-configuration":  # that one does not sum up
        keep_volume(world.model.volume_ratio(p.arrays()), scheme.least_volume, world.deformation, outcome)
    world.count_outcomes(outcome)


@compiled(parallel=True)
def _rate_of_strain(deformation, per_time, rate):
    """Write the symmetric part of (f − I)/Δt to `rate`."""
    for p in prange(deformation.shape[0]):
        f0, f1, f2, f3, f4, f5, f6, f7, f8 = load(deformation, p)
        rate[p, 0], rate[p, 1], rate[p, 2] = (f0 - 1.0) * per_time, (f4 - 1.0) * per_time, (f8 - 1.0) * per_time
        half = 0.5 * per_time
        rate[p, 3], rate[p, 4], rate[p, 5] = half * (f1 + f3), half * (f2 + f6), half * (f5 + f7)
