"""Openings for the flow of material: their area and the positions of points in them, in the emitter's own frame."""

import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from spume.geometry.nozzles import NozzleModel, nozzle_area, nozzle_axes, nozzle_points
from spume.geometry.sdf.compiler import compile_shape
from spume.geometry.sdf.evaluation import distances
from spume.geometry.shapes import ShapeModel
from spume.geometry.shapes.extent import bounds

Floats = NDArray[np.float64]
PORTION = 1 << 20
"""Number of points of a section that are tested together."""


class NozzleSection:
    """The opening of a nozzle."""

    def __init__(self, nozzle: NozzleModel, normal: Floats, spacing: float) -> None:
        self.nozzle, self.normal = nozzle, normal
        self.spacing = spacing
        """Between the points of a layer, and between layers [m]."""
        self.area = nozzle_area(nozzle)
        """[m²]; in 2D its length [m]"""

    def points(self) -> Floats:
        """Positions of points [m], shape (n, dimension)."""
        across = nozzle_axes(self.nozzle, self.normal)
        return np.array(self.nozzle.center) + nozzle_points(self.nozzle, self.spacing, len(self.normal)) @ across


class ShapeSection:
    """The cross section of a shape through the centre of its bounding box.

    folder: that of mesh files.
    most_samples: largest number of points of the lattice that measures its area.
    """

    def __init__(self, shape: ShapeModel, folder: Path, normal: Floats, spacing: float, most_samples: int) -> None:
        d = len(normal)
        self.dimension, self.normal = d, normal
        self.spacing = spacing
        """Between the points of a layer, and between layers [m]."""
        self.program = compile_shape(shape, d, folder)
        lower, upper = bounds(shape, d, folder)
        self.middle = 0.5 * (lower + upper)
        self.reach = 0.5 * float(np.linalg.norm(upper - lower))
        # measured on a lattice eight times finer than that of the points, unless it would have too many points
        fine = max(spacing / 8, 2 * self.reach / most_samples ** (1 / (d - 1)))
        self.area = float(sum(_covered(depth, fine) for _, depth in self._lattice(fine)) * fine ** (d - 1))
        """[m²]; in 2D its length [m]"""

    def points(self) -> Floats:
        """Lattice points inside the shape [m], shape (n, dimension)."""
        portions = [x[depth < 0] for x, depth in self._lattice(self.spacing)]
        return np.ascontiguousarray(np.concatenate([np.empty((0, self.dimension)), *portions]))

    def _lattice(self, spacing: float) -> Iterator[tuple[Floats, Floats]]:
        """Positions and their distances from the shape, in chunks, so that no array contains the whole lattice."""
        half = math.ceil(self.reach / spacing)
        # an orthonormal basis whose first vector is the direction
        across = np.linalg.svd(self.normal[None, :])[2][1:]
        rows = max(1, PORTION // (2 * half) ** (self.dimension - 2))
        for first in range(-half, half, rows):
            spans = [(first, min(first + rows, half)), (-half, half)][: self.dimension - 1]
            lattice = np.meshgrid(*((np.arange(*span) + 0.5) * spacing for span in spans), indexing="ij")
            x = self.middle + sum(g.reshape(-1, 1) * axis for g, axis in zip(lattice, across))
            yield x, distances(self.program, x)


def _covered(depth: Floats, fine: float) -> float:
    """Number of lattice squares inside, counting squares on the rim partially; accurate to second order in `fine`."""
    return float(np.clip(0.5 - depth / fine, 0.0, 1.0).sum())
