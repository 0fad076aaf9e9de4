"""Insertion of points in stretched regions and merging of crowded points: the future work of [Gerszewski09] section 4,
with the resampling of continuum foam ([Yue15] section 6, `foam.resampling`).

A neighbourhood stretched beyond the kernel radius falls apart, and a flattened one has no fit. Inserted points prevent
the first inside a body, merged pairs the second. Mass, volume and momentum are conserved; fields are averaged as they
declare.

The unit length r of the foam's resampling is chosen so that points are inserted only after a cubic lattice has been
stretched by a quarter along all axes: elastic bodies are not resampled at small strains.
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
"""Default coverage distance relative to that of a cubic lattice [1]."""
DEPTH = 1.8
"""Smallest depth of new points below the surface [r]: √3, the smallest that the signed distance allows."""
SPLINE = 3
"""Order of the splines over which fields are averaged."""
COUNTED = ("points_inserted", "pairs_merged", "degenerate_averages")


@dataclass(frozen=True)
class SampledPoints:
    """Points in the form that `foam.resampling` requires, see `Sampled` there."""

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
    """Settings of resampling, and counts since the start."""

    every: int
    """Steps between two searches."""
    coverage: float | None
    """Largest distance of an interior position from a point [spacings]; None: `STRETCH` times that of a lattice."""
    merge_distance: float
    """Distance below which two points are merged [spacings]."""
    seed: int
    points_inserted: int = 0
    pairs_merged: int = 0
    degenerate_averages: int = 0
    """Number of tensors without a valid average, copied from the nearest point."""

    def unit(self, dimension: int) -> float:
        """r in spacings."""
        coverage = STRETCH * math.sqrt(dimension) / 2 if self.coverage is None else self.coverage
        return coverage / ResamplingSettings().alpha(dimension)

    def totals(self) -> dict[str, Any]:
        """Counts since the start."""
        return {name: getattr(self, name) for name in COUNTED}

    def restore(self, values: dict[str, Any]) -> None:
        """Restore what `totals` returned."""
        for name in COUNTED:
            setattr(self, name, values[name])


def resample(state: "State") -> None:
    """Merge points that are too close and fill voids, every `interval` steps."""
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
        # random numbers depend on the seed and the step only, so that a resumed run has the same ones
        report = avoid_a_void(sampled, (resampling.seed, state.steps), settings)
        resampling.points_inserted += report.inserted
        resampling.pairs_merged += report.merged
        resampling.degenerate_averages += report.degenerate
        if report.inserted or report.merged:
            state.listed = False
