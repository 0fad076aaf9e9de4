"""The surface of a shape as an opening, from all of which material flows along the normals."""

import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from spume.geometry.sdf.compiler import compile_shape
from spume.geometry.sdf.evaluation import distances, distances_and_gradients
from spume.geometry.shapes import ShapeModel
from spume.geometry.shapes.extent import bounds

Floats = NDArray[np.float64]
PORTION = 1 << 20
"""Number of lattice points that are tested together."""
DENSITY = {2: 0.7476, 3: 0.6966}
"""Points per r^(d−1) on a line and in a plane when there is no room for further ones at distances of at least r, thrown
one after another [Zhang13]."""
CANDIDATES = 3
"""Places per spacing along each axis from which the points are chosen."""
PROJECTIONS = 3
"""Newton steps from a place near the surface to the surface."""


class SurfaceSection:
    """The surface of a shape, or its part inside another one.

    folder: that of mesh files.
    most_samples: largest number of points of the lattice that measures its area.
    """

    def __init__(
        self,
        shape: ShapeModel,
        within: ShapeModel | None,
        folder: Path,
        dimension: int,
        spacing: float,
        most_samples: int,
    ) -> None:
        self.dimension, self.spacing = dimension, spacing
        """Between the points of a layer, and between layers [m]."""
        self.program = compile_shape(shape, dimension, folder)
        self.within = None if within is None else compile_shape(within, dimension, folder)
        self.lower, self.upper = bounds(shape, dimension, folder)
        size = float((self.upper - self.lower).max()) + spacing
        fine = max(spacing / 8, size / most_samples ** (1 / dimension))
        self.area = float(sum(self._shell(x, depth, fine) for x, depth in self._near(fine, 2 * fine)))
        """[m²]; in 2D its length [m]"""

    def points_and_normals(self, seed: list[int]) -> tuple[Floats, Floats]:
        """Places on the surface [m] about a spacing apart, at random, and the directions outwards there."""
        fine = self.spacing / CANDIDATES
        near = [x for x, _ in self._near(fine, fine)]
        x = np.concatenate([np.empty((0, self.dimension)), *near])
        depth, normals = distances_and_gradients(self.program, x)
        for _ in range(PROJECTIONS):
            x = x - depth[:, None] * normals
            depth, normals = distances_and_gradients(self.program, x)
        on = (np.abs(depth) < 1e-3 * self.spacing) & self._counted(x)
        x, normals = x[on], normals[on]
        apart = self.spacing * DENSITY[self.dimension] ** (1 / (self.dimension - 1))
        chosen = _apart(x, apart, np.random.default_rng(seed).permutation(len(x)))
        return np.ascontiguousarray(x[chosen]), np.ascontiguousarray(normals[chosen])

    def reaches_out(self, x: Floats, directions: Floats | None, depth: float) -> bool:
        """Whether lines from places `x` on the surface against their directions leave the shape within `depth` [m]."""
        if directions is None:
            return False
        steps = self.spacing * (np.arange(math.ceil(depth / self.spacing - 1e-9)) + 0.5)
        return any((distances(self.program, x - step * directions) > 0.0).any() for step in steps)

    def _counted(self, x: Floats) -> NDArray[np.bool_]:
        return np.ones(len(x), bool) if self.within is None else distances(self.within, x) < 0

    def _shell(self, x: Floats, depth: Floats, fine: float) -> float:
        """What places near the surface add to its area: a smooth delta function of the distance, integrated."""
        weight = (1.0 + np.cos(np.pi * depth / (2 * fine))) / (4 * fine)
        if self.within is not None:
            weight = weight * np.clip(0.5 - distances(self.within, x) / fine, 0.0, 1.0)
        return float(weight.sum()) * fine**self.dimension

    def _near(self, fine: float, reach: float) -> Iterator[tuple[Floats, Floats]]:
        """The places of a lattice closer to the surface than `reach`, and their distances, in chunks."""
        counts = [math.ceil((high - low + 2 * reach) / fine) for low, high in zip(self.lower, self.upper)]
        middle = 0.5 * (self.lower + self.upper)
        rows = max(1, PORTION // max(1, math.prod(counts[1:])))
        for first in range(0, counts[0], rows):
            spans = [(first, min(first + rows, counts[0])), *((0, count) for count in counts[1:])]
            axes = [(np.arange(*span) + 0.5 - 0.5 * count) * fine + m for span, count, m in zip(spans, counts, middle)]
            x = np.stack([g.ravel() for g in np.meshgrid(*axes, indexing="ij")], axis=1)
            depth = distances(self.program, x)
            near = np.abs(depth) < reach
            yield x[near], depth[near]


def _apart(x: Floats, distance: float, rank: NDArray[np.int64]) -> NDArray[np.int64]:
    """The points that remain if they are taken in the order of `rank` and each is left out that is closer than
    `distance` to one before it."""
    from scipy.spatial import cKDTree  # slow to import

    undecided = np.ones(len(x), bool)
    chosen = np.zeros(len(x), bool)
    pairs = cKDTree(x).query_pairs(distance, output_type="ndarray") if len(x) else np.empty((0, 2), np.intp)
    while undecided.any():
        pairs = pairs[undecided[pairs].all(axis=1)]
        later = np.zeros(len(x), bool)
        later[np.where(rank[pairs[:, 0]] > rank[pairs[:, 1]], pairs[:, 0], pairs[:, 1])] = True
        first = undecided & ~later
        chosen |= first
        undecided &= ~first
        hit = first[pairs].any(axis=1)
        undecided[pairs[hit].ravel()] = False
        undecided &= ~chosen
    return np.flatnonzero(chosen)
