"""Insertion of points in stretched regions and merging of crowded points: the future work of [Gerszewski09] section 4,
with the resampling of continuum foam ([Yue15] section 6, `foam.resampling`).

A neighbourhood stretched beyond the kernel radius falls apart, and a flattened one has no fit. Inserted points prevent
the first inside a body, merged pairs the second. Mass, volume and momentum are conserved; fields are averaged as they
declare.

Points are merged, and voids filled, only where the distances in the reference space of the elastic deformation say so,
too (eq. 11 of the paper): what an elastic strain brings together or apart returns when the load is gone. By distances
in space alone a soft box that bounces gets points when it is stretched and loses them when it is pressed; each time its
strains are averaged, and after a few bounces neighbourhoods are crushed.

The unit length r of the foam's resampling is here such that a cubic lattice has to be stretched by a quarter along all
axes before anything is inserted.
"""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from spume.foam.resampling import SEEN, ResamplingSettings, avoid_a_void, enter, leave
from spume.geometry.obstacles.obstacle_set import ObstacleSet
from spume.grid.cells import Cells
from spume.grid.neighbour_search import all_within
from spume.grid.nodes import Nodes
from spume.materials.loops import ConstitutiveModel
from spume.matter.particles import Particles
from spume.points.elastic_metric import elastic_metric
from spume.points.reference import NEW

if TYPE_CHECKING:
    from spume.points.world import PointWorld

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
    affine_velocity: NDArray[np.float64]


class ReferenceSpace:
    """Distances as they are without the elastic deformation: the criterion of resampling for elastic materials."""

    def __init__(self, state: "PointWorld", merge_distance: float, coverage: float) -> None:
        """merge_distance, coverage: lengths [m], see `Resampling`."""
        self.state, self.merge_distance, self.coverage = state, merge_distance, coverage
        self.thinned = np.empty(0, np.int64)
        """Groups that lose points by merging on this rank."""

    def _metric(self) -> NDArray[np.float64]:
        """b⁻¹ of each point, see `elastic_metric`, shape (n, 6)."""
        p = self.state.particles
        metric = np.empty((len(p), 6))
        elastic_metric(self.state.model, p.arrays(), metric, np.empty(len(p)))
        return metric

    def merges(self, pairs: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Pairs that are near to each other without the mean elastic deformation of both, too."""
        points, metric = self.state.particles, self._metric()
        p, q = pairs.T
        merged = squares(0.5 * (metric[p] + metric[q]), points.x[q] - points.x[p]) < self.merge_distance**2
        if "group" in points:
            lighter = np.where(points.mass[p] >= points.mass[q], q, p)
            self.thinned = points.group[lighter[merged]].astype(np.int64)
        return merged

    def inserts(self, x: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Places that no point covers, each point without its elastic deformation."""
        points, lists = self.state.particles.x, self.state.lists
        cells = Cells(self.state.dimension, lists.cells.size, 0.0)
        cells.sort(points)
        start, found = all_within(cells, points, x, lists.radius)
        place = np.repeat(np.arange(len(x)), np.diff(start))
        covered = squares(self._metric()[found], points[found] - x[place]) < self.coverage**2
        return np.bincount(place, covered, len(x)) == 0


def squares(metric: NDArray[np.float64], d: NDArray[np.float64]) -> NDArray[np.float64]:
    """dᵀ C d for symmetric tensors C, shape (n, 6), and d, shape (n, 2) or (n, 3)."""
    x, y = d[:, 0], d[:, 1]
    result = metric[:, 0] * x * x + metric[:, 1] * y * y + 2.0 * metric[:, 3] * x * y
    if d.shape[1] == 3:
        z = d[:, 2]
        result += metric[:, 2] * z * z + 2.0 * (metric[:, 4] * x + metric[:, 5] * y) * z
    return result


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

    def reach(self, dimension: int) -> float:
        """`coverage`, or its default."""
        return STRETCH * math.sqrt(dimension) / 2 if self.coverage is None else self.coverage

    def unit(self, dimension: int) -> float:
        """r in spacings."""
        return self.reach(dimension) / ResamplingSettings().alpha(dimension)

    def diagnostics(self, world: "PointWorld") -> dict[str, Any]:
        """Counts since the start."""
        return self.checkpoint()

    def checkpoint(self) -> dict[str, Any]:
        """Counts since the start."""
        return {name: getattr(self, name) for name in COUNTED}

    def restore(self, values: dict[str, Any]) -> None:
        """Restore what `checkpoint` returned."""
        for name in COUNTED:
            setattr(self, name, values[name])


def resample(world: "PointWorld", dt: float, resampling: Resampling) -> None:
    """Merge points that are too close and fill voids, every `resampling.every` steps."""
    steps = world.steps + 1
    if steps % resampling.every != 0:
        return
    unit = resampling.unit(world.dimension)
    cell = 2.0 * unit * world.spacing
    sampled = SampledPoints(
        world.particles, world.model, world.dimension, cell, Nodes(world.dimension, cell, SPLINE), world.obstacles,
        np.zeros((0, 1, 1)),
    )  # fmt: skip
    settings = ResamplingSettings(depth=DEPTH, merge_distance=resampling.merge_distance / unit)
    # random numbers depend on the seed and the step only, so that a resumed run has the same ones
    seed = (resampling.seed, steps)
    criterion = ReferenceSpace(
        world, resampling.merge_distance * world.spacing, resampling.reach(world.dimension) * world.spacing
    )
    listed, species = world.positions, world.only
    before = world.particles.generation
    cells = Cells(world.dimension, cell, 0.0)
    # the cuts of the world are those of the reference, which may be elsewhere
    territory = enter(
        world.ranks.divided(cells, world.particles.x), species, cells, settings.merge_distance, (*SEEN, listed)
    )
    p = world.particles
    # what is merged and inserted follows the order of the arrays
    order = _in_order(world, getattr(p, listed), p.id)
    species.reorder(order)
    territory.rows.reorder(order)
    unmoved = bool((np.diff(order[territory.rows.own]) > 0).all())
    first = p.next_id
    report = avoid_a_void(sampled, world.time + dt, seed, settings, criterion, territory)
    leave(species, territory)
    resampling.points_inserted += report.inserted
    resampling.pairs_merged += report.merged
    resampling.degenerate_averages += report.degenerate
    if report.inserted or report.merged:
        world.listed = False
        if "group" in p:
            changed = np.union1d(criterion.thinned, p.group[p.id >= first])
            changed, _ = world.ranks.totals_by(changed.astype(np.int64), np.ones(len(changed), np.int64))
            p.group[np.isin(p.group, changed)] = NEW  # they get a new reference
    elif unmoved and world.listed_as == before:
        world.listed_as = p.generation  # the points are where they were before the copies came


def _in_order(world: "PointWorld", x: NDArray[np.float64], ids: NDArray[np.int64]) -> NDArray[np.int32]:
    """The points in the order of lists at `x` [m]."""
    cells = Cells(world.dimension, world.lists.cells.size, 0.0)
    cells.sort(x, ids)
    return cells.sorted_points
