"""Resampling and tearing for any law: threads and sheets thin out without gaps, and part where a scene says so.

Resampling is that of continuum foam ([Yue15] section 6): where material is stretched, voids of the interior get points
with mass, volume and momentum of their neighbours, and histories that are averaged as their fields declare. Elastic
strains b of all parts are averaged with the determinant averaged as well, so that pressure and volume are kept.

Points carry their total deformation F beside the history of their law, and are torn where ‖dev C̄‖ exceeds a threshold,
C̄ = J^(−2/3) FᵀF: the criterion of [Yue15] section 7.2 for the total instead of the plastic strain, because silicone
tears in elastic stretch. In the recovery time C̄ decays, as the strains of a fluid do that relaxes. A torn point resists
compression only and gathers neither shear nor expansion.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numba import prange
from numpy.typing import NDArray

from spume.fields import Field
from spume.foam.foam import FoamState
from spume.foam.method import explicit_step
from spume.foam.step import rehearse_resampling, resample
from spume.foam.tearing import keep_rotation, limit_increments
from spume.foam.total_deformation import TORN_FIELDS, Torn, add_to_total, detect, recover, rehearse_recovery
from spume.materials.kinematics import load, store_sym
from spume.matter.method import Part
from spume.matter.stages import Stage
from spume.matter.world import World
from spume.mpm.step import GATHER, MOVE, RASTERIZE
from spume.mpm.world import GridWorld
from spume.numerics.jit import compiled
from spume.numerics.roots import inverse_cube_root
from spume.numerics.tensor3 import det, gram
from spume.scene.continuum_foam import Recovery, SubgridRemoval
from spume.scene.continuum_foam import Tearing as FoamTearing
from spume.scene.mpm import MpmScene
from spume.scene.stretching import Resampling

COUNTED = ("points_inserted", "pairs_merged", "degenerate_averages")


class Resampled(FoamState):
    """Settings and counters of the resampling of a plain scene."""

    def diagnostics(self, world: GridWorld) -> dict[str, Any]:
        """Counters since the start."""
        return {name: getattr(self, name) for name in COUNTED}

    def checkpoint(self) -> dict[str, Any]:
        """What a bit-for-bit continuation needs; the other values of `FoamState` never change here."""
        return {name: getattr(self, name) for name in ("resampled_until", *COUNTED)}


class Spheres:
    """The elastic part of silicone counts as plastic: the criterion is that of the total strain C̄."""

    def __init__(self) -> None:
        self._known = np.empty((0, 6))

    def __call__(self, world: World[Any]) -> NDArray[np.float64]:
        """The identity for each point, shape (n, 6)."""
        if len(self._known) != len(world.particles):
            self._known = np.tile((1.0, 1.0, 1.0, 0.0, 0.0, 0.0), (len(world.particles), 1))
        return self._known


def limit(world: GridWorld, dt: float, torn: Torn) -> None:
    """Take shear and expansion out of the deformation of torn points, and add the deformation of all to the total."""
    p = world.particles
    if torn.weak_points:
        left = np.empty((len(p), 6))
        _left_tensors(p.total_F, left)
        limit_increments(p.weak, p.total_F, left, world.deformation)
        keep_rotation(world.only.affine_velocity, p.weak)
    add_to_total(world)


def rehearse_limit(world: GridWorld, dt: float, torn: Torn) -> None:
    """Call all kernels."""
    torn.weak_points = 1
    limit(world, dt, torn)


@compiled(parallel=True)
def _left_tensors(F, left):
    """b̄ = J^(−2/3) F Fᵀ."""
    for p in prange(F.shape[0]):
        f = load(F, p)
        scale = inverse_cube_root(det(f)) ** 2
        xx, yy, zz, xy, xz, yz = gram(f)
        store_sym(left, p, (scale * xx, scale * yy, scale * zz, scale * xy, scale * xz, scale * yz))


@dataclass(frozen=True)
class Further:
    """What the tables add to the plain step of a scene."""

    fields: tuple[Field, ...] = ()
    """Of the points."""
    parts: tuple[Part[GridWorld], ...] = ()
    before: Mapping[str, Stage] = field(default_factory=dict)
    """Stages by the name of the one that follows them."""
    after: Mapping[str, Stage] = field(default_factory=dict)
    """Stages by the name of the one that they follow."""

    def added_to(self, stages: Sequence[Stage]) -> list[Stage]:
        """All stages of the step."""
        if not self.before and not self.after:
            return list(stages)
        found = ((self.before.get(stage.name), stage, self.after.get(stage.name)) for stage in stages)
        return [stage for three in found for stage in three if stage is not None]


def stretched(scene: MpmScene) -> Further:
    """Fields, stages and states of the tables [resampling] and [tearing] of a scene."""
    explicit = None if scene.time.integrator == "explicit" else explicit_step(scene)
    fields: tuple[Field, ...] = ()
    parts: tuple[Any, ...] = ()
    before, after = dict[str, Stage](), dict[str, Stage]()
    table = scene.tearing
    if table is not None and table.enabled:
        count, time = len(scene.materials), math.inf if table.recovery_time is None else table.recovery_time
        torn = Torn(np.full(count, table.threshold), np.full(count, time), table.every, Spheres(), explicit)
        fields, parts = TORN_FIELDS, (torn,)
        before[RASTERIZE.name] = Stage("tear detection", detect, torn, rehearse=detect)
        after[GATHER.name] = Stage("limit deformation", limit, torn, rehearse=rehearse_limit, energy="tearing")
        if torn.recovers:
            before[MOVE.name] = Stage("plastic recovery", recover, torn, rehearse=rehearse_recovery)
    if scene.resampling is not None and scene.resampling.enabled:
        state = resampled(scene, scene.resampling, explicit)
        parts = (*parts, state)
        after[MOVE.name] = Stage(
            "particle resampling", resample, state, rehearse=rehearse_resampling, energy="resampling"
        )
    return Further(fields, parts, before, after)


def resampled(scene: MpmScene, table: Resampling, explicit: float | None) -> Resampled:
    """The state of the resampling of a scene."""
    return Resampled(
        scene.material_laws, FoamTearing(enabled=False), Recovery(enabled=False), SubgridRemoval(enabled=False), table,
        scene.seed, explicit, kept_bodies=scene.embedded_bodies,
    )  # fmt: skip
