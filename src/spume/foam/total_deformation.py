"""Tearing by the total deformation F of points, which they carry beside the history of any law.

A point is torn where ‖dev Cp‖ > σT, the criterion of [Yue15] section 7.2, with Cp = J^(−2/3) Fᵀ b̄e⁻¹ F. What counts as
the elastic part b̄e is chosen by the method. A torn point resists compression only and gathers neither shear nor
expansion. In the recovery time Cp decays.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numba import prange
from numpy.typing import NDArray

from spume.fields import IDENTITY, Field
from spume.foam.foam import WEAK, is_due
from spume.foam.recovery import recover_points
from spume.foam.tearing import detect_and_limit
from spume.materials.kinematics import load, store
from spume.matter.world import World
from spume.numerics.jit import compiled
from spume.numerics.tensor3 import multiply

TOTAL_DEFORMATION = Field(
    "total_F", (3, 3), IDENTITY, "1", "average-keep-determinant", in_frames=False,
    description="deformation gradient since the start, without what has recovered",
)  # fmt: skip
TORN_FIELDS = (WEAK, TOTAL_DEFORMATION)
"""What points carry in scenes that tear."""


@dataclass
class Torn:
    """When each material tears and how it recovers, and what is remembered of the step under way."""

    threshold: NDArray[np.float64]
    """σT of each material [1]; infinite: never torn."""
    recovery_time: NDArray[np.float64]
    """Of each material [s]; infinite: torn material stays torn."""
    every: int
    """Steps between two applications of the recovery; each covers all the time since the one before."""
    elastic_part: Callable[[World[Any]], NDArray[np.float64]]
    """Function that returns b̄e of each point, shape (n, 6)."""
    explicit_step: float | None = None
    """See `FoamState`."""
    weak_points: int = 0
    """Points that were torn in the last step, on this rank."""
    recovered_until: float = 0.0
    """Time up to which the strain has decayed [s]."""
    be: NDArray[np.float64] = field(default_factory=lambda: np.empty((0, 6)))
    """b̄e at the start of the step under way."""

    @property
    def recovers(self) -> bool:
        """Whether any material recovers."""
        return bool(np.isfinite(self.recovery_time).any())

    def diagnostics(self, world: World[Any]) -> dict[str, Any]:
        """Number of torn points."""
        return {"weak_points": world.ranks.count(int(world.particles.weak.sum()))}

    def checkpoint(self) -> dict[str, Any]:
        """What a bit-for-bit continuation needs."""
        return {"recovered_until": self.recovered_until}

    def restore(self, values: dict[str, Any]) -> None:
        """Restore what `checkpoint` returned."""
        self.recovered_until = values["recovered_until"]


def detect(world: World[Any], dt: float, torn: Torn) -> None:
    """Mark the torn points, and take the tension out of their stress."""
    p = world.particles
    torn.be = torn.elastic_part(world)
    torn.weak_points = detect_and_limit(p.material, torn.threshold, p.total_F, torn.be, p.weak, p.stress)


def recover(world: World[Any], dt: float, torn: Torn) -> None:
    """Every few steps, let the strain decay over the time since the last application."""
    now = world.time + dt
    if not is_due(torn.every, torn.recovered_until, now, world.steps + 1, torn.explicit_step):
        return
    p = world.particles
    exponents = 0.5 * np.expm1((torn.recovered_until - now) / torn.recovery_time)
    recover_points(p.material, exponents, p.total_F, torn.elastic_part(world))
    torn.recovered_until = now


def rehearse_recovery(world: World[Any], dt: float, torn: Torn) -> None:
    """Call the kernel without a change."""
    p = world.particles
    recover_points(p.material, np.zeros(len(torn.threshold)), p.total_F, torn.elastic_part(world))


def add_to_total(world: World[Any]) -> None:
    """F ← f F."""
    _compose(world.deformation, world.particles.total_F)


@compiled(parallel=True)
def _compose(deformation, F):
    for p in prange(F.shape[0]):
        store(F, p, multiply(load(deformation, p), load(F, p)))
