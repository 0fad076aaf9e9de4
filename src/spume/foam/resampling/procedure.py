"""Avoid a void: keep the points evenly distributed in the interior. [Yue15] section 6, algorithm 18"""

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from spume.foam.resampling.bins import bin_points
from spume.foam.resampling.darts import throw_darts
from spume.foam.resampling.free_places import outside_obstacles
from spume.foam.resampling.insertion import insert
from spume.foam.resampling.merging import close_pairs, merge
from spume.foam.resampling.sampled import Sampled
from spume.foam.resampling.signed_distance import REACH, signed_distance


@dataclass(frozen=True)
class ResamplingSettings:
    """Settings of resampling. Lengths are in units of r, half a cell of the MPM grid, as in the paper."""

    coverage: float | None = None
    """α: every interior position has a point within αr [1]. None: half the diagonal of the unit cube (in 2D, the unit
    square) + 1/100, so that a lattice of 2 points per axis and cell needs no more points."""
    depth: float = 2.2
    """Smallest depth of new points below the surface [1]; points closer to it would make the surface jump."""
    merge_distance: float = 0.03
    """Distance below which points are merged [1]; 0: none."""

    def alpha(self, dimension: int) -> float:
        """α in a dimension."""
        return math.sqrt(dimension) / 2 + 0.01 if self.coverage is None else self.coverage

    def check(self, dimension: int) -> None:
        """Raise ValueError for invalid settings."""
        if not math.sqrt(dimension) / 2 < self.alpha(dimension) < 1.0:
            raise ValueError(
                f"coverage is {self.coverage}; it must be above half the diagonal of the unit cube, "
                f"{math.sqrt(dimension) / 2:.4g} in {dimension}D, and below 1"
            )
        # distances of nodes are known between √3 (nodes around a core node) and 4 minus the diagonal of a cell
        if not math.sqrt(3.0) <= self.depth <= REACH - math.sqrt(3.0):
            raise ValueError(f"depth is {self.depth}; it must be between √3 = 1.732 and 4 − √3 = 2.267")
        if not 0.0 <= self.merge_distance < self.alpha(dimension):
            raise ValueError(f"merge_distance is {self.merge_distance}; it must not be negative, and below coverage")


@dataclass(frozen=True)
class ResamplingReport:
    """What happened."""

    inserted: int
    """New points."""
    merged: int
    """Number of merged pairs."""
    degenerate: int
    """Number of tensors whose average was degenerate and was replaced by that of the nearest point."""


class Criterion(Protocol):
    """A further condition on what is merged and inserted, beside distances in space."""

    def merges(self, pairs: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which pairs of points, shape (n, 2), may become one."""

    def inserts(self, x: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Which places [m], shape (n, d), may get a point."""


def avoid_a_void(
    world: Sampled, time: float, seed: tuple[int, ...], settings: ResamplingSettings, criterion: Criterion | None = None
) -> ResamplingReport:
    """Merge points that are too close and fill the voids of the interior at `time` [s]. The result depends only on
    world, time and seed, bit for bit, for any number of threads.

    The paper merges after inserting. New points are never within αr of another point, so the pairs are the same; but
    merging moves points, so that the interior is certainly covered only if merging comes first.
    """
    settings.check(world.dimension)
    if len(world.particles) == 0:
        return ResamplingReport(0, 0, 0)
    r = 0.5 * world.cell
    alpha = settings.alpha(world.dimension)
    degenerate = 0
    bins = bin_points(world.particles.x, r)
    pairs = close_pairs(bins, world.particles.material, settings.merge_distance)
    if criterion is not None and len(pairs):
        pairs = pairs[criterion.merges(pairs)]
    if len(pairs):
        degenerate += merge(world, pairs)  # algorithm 21
        bins = bin_points(world.particles.x, r)
    distance = signed_distance(bins)  # algorithm 2
    darts = throw_darts(bins, distance, alpha, settings.depth, seed)  # algorithm 3
    darts = darts.keep(outside_obstacles(world, time, bins.position(darts.y)))
    if criterion is not None and len(darts):
        darts = darts.keep(criterion.inserts(bins.position(darts.y)))
    if len(darts):
        degenerate += insert(world, bins, darts)  # algorithms 19 and 20
    return ResamplingReport(len(darts), len(pairs), degenerate)
