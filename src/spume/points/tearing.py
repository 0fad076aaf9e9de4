"""Torn points by the criterion of continuum foam, [Yue15] section 7.2: ‖dev Cp‖ > σT, whatever the law.

In [Gerszewski09] a body tears where its points have moved so far apart that they are no neighbours any more. Here
points carry their total deformation F beside the history of their law; with the elastic b of the law, the plastic part
is Cp = J^(−2/3) Fᵀ b̄e⁻¹ F for every law with one elastic deformation. A torn point resists compression only and
gathers neither shear nor expansion, so its neighbours are free to leave. Torn connections grow again in the recovery
time: Cp decays.
"""

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numba import prange
from numpy.typing import NDArray

from spume.fields import IDENTITY, Field
from spume.foam.foam import WEAK
from spume.foam.recovery import recover_points
from spume.foam.tearing import detect_and_limit, limit_increments
from spume.materials.kinematics import load, store
from spume.materials.loops import ConstitutiveModel
from spume.numerics.jit import compiled
from spume.numerics.roots import inverse_cube_root
from spume.numerics.tensor3 import det_sym, multiply
from spume.points.elastic_metric import apply_to_left_tensors
from spume.scene.point_based import PointBasedScene

if TYPE_CHECKING:
    from spume.points.world import PointWorld

TOTAL_DEFORMATION = Field(
    "total_F", (3, 3), IDENTITY, "1", "average-keep-determinant", in_frames=False,
    description="deformation gradient since the start, without what has recovered",
)  # fmt: skip
FIELDS = (WEAK, TOTAL_DEFORMATION)
"""What points carry in scenes that tear."""
RECOVERY_STEPS = 10
"""Steps between two applications of the recovery; each covers all the time since the one before."""


@dataclass
class Tearing:
    """When each material tears and how it recovers, and what is remembered of the step under way."""

    threshold: NDArray[np.float64]
    """σT of each material [1]; infinite: never torn."""
    recovery_time: NDArray[np.float64]
    """ηp of each material [s]; infinite: torn connections stay torn."""
    weak_points: int = 0
    """Points that were torn in the last step."""
    recovered_until: float = 0.0
    """Time up to which the plastic strain has recovered [s]."""
    be: NDArray[np.float64] = field(default_factory=lambda: np.empty((0, 6)))
    """b̄e at the start of the step under way."""

    @property
    def recovers(self) -> bool:
        """Whether any material recovers."""
        return bool(np.isfinite(self.recovery_time).any())

    def diagnostics(self, world: "PointWorld") -> dict[str, Any]:
        """Number of torn points."""
        return {"weak_points": world.ranks.count(int(world.particles.weak.sum()))}

    def checkpoint(self) -> dict[str, Any]:
        """What a bit-for-bit continuation needs."""
        return {"recovered_until": self.recovered_until}

    def restore(self, values: dict[str, Any]) -> None:
        """Restore what `checkpoint` returned."""
        self.recovered_until = values["recovered_until"]


def detect_tearing(world: "PointWorld", dt: float, tearing: Tearing) -> None:
    """Mark the torn points and take the tension out of their stress."""
    p = world.particles
    tearing.be = normalised_left_tensors(world.model, p.arrays())
    tearing.weak_points = detect_and_limit(
        p.material, tearing.threshold, p.total_F, tearing.be, p.weak, p.stress
    )  # fmt: skip


def limit_deformation(world: "PointWorld", dt: float, tearing: Tearing) -> None:
    """Take shear and expansion out of the deformation of torn points, and add the deformation of all to the total."""
    p = world.particles
    if tearing.weak_points:
        limit_increments(p.weak, p.total_F, tearing.be, world.deformation)
    _compose(world.deformation, p.total_F)


def recover(world: "PointWorld", dt: float, tearing: Tearing) -> None:
    """Every few steps, let the plastic strain decay over the time since the last time."""
    if (world.steps + 1) % RECOVERY_STEPS != 0:
        return
    p, now = world.particles, world.time + dt
    exponents = 0.5 * np.expm1((tearing.recovered_until - now) / tearing.recovery_time)
    recover_points(p.material, exponents, p.total_F, normalised_left_tensors(world.model, p.arrays()))
    tearing.recovered_until = now


def normalised_left_tensors(model: ConstitutiveModel, arrays: dict[str, NDArray[Any]]) -> NDArray[np.float64]:
    """b̄e = b det(b)^(−1/3) of each point, the identity for laws without one elastic deformation. Shape (n, 6)."""
    be = np.empty((len(arrays["material"]), 6))
    apply_to_left_tensors(model, arrays, _normalised, be)
    return be


@compiled
def _normalised(b):
    scale = inverse_cube_root(det_sym(b))
    return scale * b[0], scale * b[1], scale * b[2], scale * b[3], scale * b[4], scale * b[5]


@compiled(parallel=True)
def _compose(deformation, F):
    """F ← f F."""
    for p in prange(F.shape[0]):
        store(F, p, multiply(load(deformation, p), load(F, p)))


def build_tearing(scene: PointBasedScene) -> Tearing | None:
    """The scene's choices; none where nothing can tear. A material's own threshold and recovery time come first; a
    body held together by its rest configuration never tears."""
    table = scene.tearing
    thresholds, times = [], []
    for material in scene.materials:
        trait, p = material.law.traits.tearing, material.parameters
        thresholds.append(_first(None if trait is None else trait.threshold_of(p), table.threshold))
        times.append(_first(None if trait is None else trait.recovery_time_of(p), table.recovery_time))
    held = scene.formulation == "rest-configuration"
    if held or not table.enabled or not any(t < math.inf for t in thresholds):
        return None
    return Tearing(np.array(thresholds), np.array(times))


def _first(own: float | None, common: float | None) -> float:
    return next((value for value in (own, common) if value is not None), math.inf)
