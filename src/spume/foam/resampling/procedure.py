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
from spume.foam.resampling.signed_distance import FARTHEST, signed_distance
from spume.foam.resampling.territory import AVERAGED, REACH, Territory, alone
from spume.grid.cells import Cells


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
        if not math.sqrt(3.0) <= self.depth <= FARTHEST - math.sqrt(3.0):
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
    world: Sampled, time: float, seed: tuple[int, ...], settings: ResamplingSettings,
    criterion: Criterion | None = None, territory: Territory | None = None,
) -> ResamplingReport:  # fmt: skip
    """Merge points that are too close and fill the voids of the interior at `time` [s]. The result depends only on
    world, time and seed, bit for bit, for any number of threads and ranks; the report is that of all ranks.

    The points are in the order of their cells and ids. `territory`: what this rank resamples, see there; None: all.

    The paper merges after inserting. New points are never within αr of another point, so the pairs are the same; but
    merging moves points, so that the interior is certainly covered only if merging comes first.
    """
    settings.check(world.dimension)
    particles = world.particles
    if territory is None:
        territory = alone(Cells(world.dimension, world.cell, 0.0), len(particles))
    rows, ranks = territory.rows, territory.ranks
    r = 0.5 * world.cell
    alpha = settings.alpha(world.dimension)
    degenerate = 0
    bins = bin_points(particles.x, r)
    pairs = close_pairs(bins, particles.material, settings.merge_distance, particles.id, rows)
    mine = rows.here[pairs[:, 0]]
    if rows.any(len(pairs) > 0):
        needed = np.zeros(len(particles), np.bool_)
        needed[pairs[mine]] = True
        rows.fetch(particles.arrays(), needed & ~rows.own)
        if criterion is not None and mine.any():
            mine[mine] = criterion.merges(pairs[mine])
        degenerate += merge(world, pairs, mine, territory)  # algorithm 21
        bins = bin_points(particles.x, r)
    distance = signed_distance(bins)  # algorithm 2
    darts = throw_darts(bins, distance, alpha, settings.depth, seed, territory)  # algorithm 3
    darts = darts.keep(outside_obstacles(world, time, bins.position(darts.y)))
    if rows.any(len(darts) > 0):
        reach = AVERAGED if criterion is None else REACH
        rows.fetch(particles.arrays(), territory.near(particles.x, bins.position(darts.y), reach))
        if criterion is not None and len(darts):
            darts = darts.keep(criterion.inserts(bins.position(darts.y)))
    if rows.any(len(darts) > 0):
        degenerate += insert(world, bins, darts, territory)  # algorithms 19 and 20
    return ResamplingReport(*ranks.counts(len(darts), int(np.count_nonzero(mine)), degenerate))
