"""State of continuum foam in addition to that of the material point method."""

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spume.fields import Field
from spume.foam.resampling import ResamplingSettings
from spume.materials.law import Law, Parameters
from spume.mpm.world import GridWorld
from spume.scene.continuum_foam import Recovery, Resampling, SubgridRemoval, Tearing

NOTEWORTHY_SHARE = 0.01
"""Fraction of the mass above which removal causes a warning [1]; [Yue15] lost less than 0.0028."""
NO_POINTS = np.empty(0, np.int64)
WEAK = Field("weak", (), 0, "1", "nearest", dtype="uint8", description="1 where the material is torn")


@dataclass
class FoamState:
    """Settings and counters of the stages of [Yue15] section 7."""

    materials: list[tuple[Law, Parameters]]
    tearing: Tearing
    recovery: Recovery
    subgrid_removal: SubgridRemoval
    resampling: Resampling
    seed: int
    """Seed of the scene."""
    explicit_step: float | None = None
    """Length of an explicit step [s]: stages that are not applied in every step follow the time of as many of these.
    None: they follow the number of steps."""
    kept_bodies: tuple[int, ...] = ()
    """Bodies with embedded surfaces, by their index, whose points are not resampled."""
    weak_points: int = 0
    """Number of weak points in the last step, on this rank."""
    unresolved: NDArray[np.int64] = field(default_factory=lambda: NO_POINTS)
    """Points that the current step is going to remove."""
    to_remove: int = 0
    """Their number, on all ranks."""
    recovered_until: float = 0.0
    """Time up to which the plastic strain has recovered [s]."""
    searched_until: float = 0.0
    """Time of the last search for points to remove [s], if these follow time; likewise of the last resampling."""
    resampled_until: float = 0.0
    mass_removed: float = 0.0
    """Mass of the points removed since the start [kg]."""
    points_removed: int = 0
    points_inserted: int = 0
    """Number of points inserted into voids since the start; likewise the others."""
    pairs_merged: int = 0
    degenerate_averages: int = 0
    """Number of tensors of inserted or merged points whose average was degenerate and was replaced by the nearest
    point's."""
    tear_threshold: NDArray[np.float64] = field(init=False)
    """σT of each material [1]; infinite: never torn."""
    recovery_time: NDArray[np.float64] = field(init=False)
    """ηp of each material [s]; infinite: torn material does not recover."""
    resampling_settings: ResamplingSettings = field(init=False)

    def __post_init__(self) -> None:
        tearing = [(law.traits.tearing, p) for law, p in self.materials]
        thresholds = [None if trait is None else trait.threshold_of(p) for trait, p in tearing]
        times = [None if trait is None else trait.recovery_time_of(p) for trait, p in tearing]
        self.tear_threshold = _or_never(thresholds, self.tearing.enabled)
        self.recovery_time = _or_never(times, self.recovery.enabled)
        table = self.resampling
        self.resampling_settings = ResamplingSettings(table.coverage, table.depth, table.merge_distance)

    @property
    def tears(self) -> bool:
        """Whether any material can tear."""
        return bool(np.isfinite(self.tear_threshold).any())

    @property
    def recovers(self) -> bool:
        """Whether any material recovers."""
        return bool(np.isfinite(self.recovery_time).any())

    def due(self, every: int, last: float, time: float, steps: int) -> bool:
        """See `is_due`."""
        return is_due(every, last, time, steps, self.explicit_step)

    def checkpoint(self) -> dict[str, Any]:
        """What a bit-for-bit continuation needs."""
        names = () if self.explicit_step is None else _TIMES
        return {name: getattr(self, name) for name in ("recovered_until", *names, *_TOTALS)}

    def restore(self, values: dict[str, Any]) -> None:
        """Restore the values of `checkpoint()`."""
        for name in self.checkpoint():
            if name not in _TIMES or name in values:  # runs begun before these existed apply the stage at once
                setattr(self, name, values[name])

    def totals(self) -> dict[str, Any]:
        """Counters since the start."""
        return {name: getattr(self, name) for name in _TOTALS}

    def diagnostics(self, world: GridWorld) -> dict[str, Any]:
        """Number of weak points, counters since the start, and a warning."""
        weak = world.ranks.count(int(world.particles.weak.sum()))
        return {"weak_points": weak} | self.totals() | {"warnings": self._warning(world)}

    def _warning(self, world: GridWorld) -> dict[str, str]:
        """Warning, by topic, if a large part of the material was removed."""
        if self.mass_removed == 0.0:
            return {}
        share = self.mass_removed / (world.ranks.total(world.particles.mass) + self.mass_removed)
        if share <= NOTEWORTHY_SHARE:
            return {}
        return {
            "mass removed": f"by t = {world.time:.4g} s subgrid removal has removed {100 * share:.2g} % of the mass: "
            "torn material became thinner than the grid resolves; use a smaller [grid] cell or a larger "
            "tear_threshold, or keep such material with [subgrid_removal] enabled = false"
        }


def is_due(every: int, last: float, time: float, steps: int, explicit_step: float | None) -> bool:
    """Whether a stage with the interval `every` [steps], last applied at `last` [s], is due at `time` [s], after
    `steps` steps since the start. `explicit_step`: see `FoamState`."""
    if explicit_step is None:
        return steps % every == 0
    return time >= last + (1.0 - 1e-9) * every * explicit_step


def _or_never(values: list[float | None], enabled: bool) -> NDArray[np.float64]:
    """Array of the values, infinite where there is none or if the stage is off."""
    return np.array([math.inf if value is None or not enabled else value for value in values])


_TIMES = ("searched_until", "resampled_until")
_TOTALS = ("mass_removed", "points_removed", "points_inserted", "pairs_merged", "degenerate_averages")
