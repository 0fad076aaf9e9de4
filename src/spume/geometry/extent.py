"""Boxes along the axes that hold a shape: tight for primitives however they are turned, sufficient for combinations."""

import itertools
import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from spume.errors import SceneError
from spume.geometry import combined_shapes as combined
from spume.geometry.canonical import canonical, support
from spume.geometry.placement import HERE, Placement
from spume.geometry.primitive_shapes import ShapePart
from spume.geometry.structure import check_dimension, placed


@dataclass(frozen=True)
class Extent:
    """A box from `lower` to `upper` [m], infinite where the shape is."""

    lower: NDArray[np.float64]
    upper: NDArray[np.float64]

    def swept(self, displacements: NDArray[np.float64]) -> "Extent":
        """The box of this one moved by each of `displacements`."""
        return Extent(self.lower + displacements.min(axis=0), self.upper + displacements.max(axis=0))


def extent(shape: ShapePart, placement: Placement, dimension: int, folder: Path | None) -> Extent:
    """The box of `shape` where `placement` puts it; in 2D its third side is infinite."""
    if inner := placed(shape, placement):
        return extent(*inner, dimension, folder)
    match shape:
        case combined.Union() | combined.SmoothUnion():
            boxes = [extent(part, placement, dimension, folder) for part in shape.of]
            # Each blend of two surfaces moves them out by a quarter of its width at most.
            width = placement.scale * shape.radius if isinstance(shape, combined.SmoothUnion) else 0.0
            bulge = (len(boxes) - 1) * width / 4
            lower = np.min([box.lower for box in boxes], axis=0) - bulge
            return Extent(lower, np.max([box.upper for box in boxes], axis=0) + bulge)
        case combined.Intersection():
            boxes = [extent(part, placement, dimension, folder) for part in shape.of]
            lower, upper = np.max([box.lower for box in boxes], axis=0), np.min([box.upper for box in boxes], axis=0)
            if (lower >= upper).any():
                raise SceneError("the shape 'intersection' is empty: its parts do not meet")
            return Extent(lower, upper)
        case combined.Difference():
            return extent(shape.of, placement, dimension, folder)
        case combined.Repeat():
            ends = [(0, count - 1) for count in shape.count]
            displacements = np.array([displacement(shape, index, placement) for index in itertools.product(*ends)])
            return extent(shape.shape, placement, dimension, folder).swept(displacements)
    primitive = canonical(shape, placement, folder)
    lower, upper = np.full(3, -math.inf), np.full(3, math.inf)
    for axis, direction in enumerate(np.eye(3)[:dimension]):
        lower[axis] = primitive.origin[axis] - support(primitive, -direction)
        upper[axis] = primitive.origin[axis] + support(primitive, direction)
    return Extent(lower, upper)


def displacement(shape: combined.Repeat, index: tuple[int, ...], placement: Placement) -> NDArray[np.float64]:
    """Where the copy `index` of a repeated shape stands, from the first one [m]."""
    moved: NDArray[np.float64] = placement.point(np.array(index) * np.array(shape.spacing)) - placement.point((0, 0, 0))
    return moved


def bounds(
    shape: ShapePart, dimension: int, folder: Path | None = None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Lower and upper corner [m], shape (dimension,), of a box that holds `shape`; infinite along a half space."""
    check_dimension(shape, dimension)
    box = extent(shape, HERE, dimension, folder)
    return box.lower[:dimension], box.upper[:dimension]
