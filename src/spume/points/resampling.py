"""Points inserted where they thin out and merged where they crowd: the future work of [Gerszewski09] section 4, by the
resampling of continuum foam ([Yue15] section 6, `foam.resampling`).

A neighbourhood stretched beyond the radius of the kernels falls apart, and one that is pressed flat has no fit. New
points keep the first from happening inside a body, merged pairs the second. Mass, volume and momentum are conserved;
what a point carries is averaged as its fields declare.

The unit length r of the foam's resampling is here such that a cubic lattice has to be stretched by a quarter along all
axes before anything is inserted: elastic bodies are not resampled in small strain.
"""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from spume.foam.resampling import ResamplingSettings, avoid_a_void
from spume.geometry.obstacles.obstacle_set import ObstacleSet
from spume.materials.loops import ConstitutiveModel
from spume.mpm.nodes import Nodes
from spume.mpm.particles import Particles

if TYPE_CHECKING:
    from spume.points.state import State

STRETCH = 1.25
"""How far the coverage exceeds that of a cubic lattice where a scene says nothing [1]."""
DEPTH = 1.8
"""New points are at least this deep below the surface [r]: as near to it as the signed distance allows, √3."""
SPLINE = 3
"""Order of the splines over which fields are averaged."""
COUNTED = ("points_inserted", "pairs_merged", "degenerate_averages")


@dataclass(frozen=True)
class SampledPoints:
    """What `foam.resampling` reads, see `Sampled` there."""

    particles: Particles
    model: ConstitutiveModel
    dimension: int
    cell: float
    nodes: Nodes
    obstacles: ObstacleSet
    time: float
    affine_velocity: NDArray[np.float64]


@dataclass
class Resampling:
    """When and how points are resampled, and what has been counted since the start."""

    every: int
    """Steps between two searches."""
    coverage: float | None
    """Every interior place has a point within this distance, in spacings; none: `STRETCH` times that of a lattice."""
    merge_distance: float
    """Points nearer than this become one, in spacings."""
    seed: int
    points_inserted: int = 0
    pairs_merged: int = 0
    degenerate_averages: int = 0
    """Tensors that had no proper average and were taken from the nearest point."""

    def unit(self, dimension: int) -> float:
        """r in spacings."""
        coverage = STRETCH * math.sqrt(dimension) / 2 if self.coverage is None else self.coverage
        return coverage / ResamplingSettings().alpha(dimension)

    def totals(self) -> dict[str, Any]:
        """What was counted since the start."""
        return {name: getattr(self, name) for name in COUNTED}

    def restore(self, values: dict[str, Any]) -> None:
        """Restore what `totals` returned."""
        for name in COUNTED:
            setattr(self, name, values[name])


def resample(state: "State") -> None:
    """Every so many steps, merge points that are too close and fill voids."""
    resampling = state.resampling
    if resampling is None or state.steps % resampling.every != 0:
        return
    with state.timed("resampling"):
        unit = resampling.unit(state.dimension)
        cell = 2.0 * unit * state.spacing
        sampled = SampledPoints(
            state.particles, state.model, state.dimension, cell, Nodes(state.dimension, cell, SPLINE), state.obstacles,
            state.time, np.zeros((0, 1, 1)),
        )  # fmt: skip
        settings = ResamplingSettings(depth=DEPTH, merge_distance=resampling.merge_distance / unit)
        # the random numbers follow from the seed of the scene and the step, so that a resumed run has the same
        report = avoid_a_void(sampled, (resampling.seed, state.steps), settings)
        resampling.points_inserted += report.inserted
        resampling.pairs_merged += report.merged
        resampling.degenerate_averages += report.degenerate
        if report.inserted or report.merged:
            state.listed = False
