"""Axis-aligned bounding boxes: tight for primitives in any orientation, conservative for combinations."""

import itertools
import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from spume.errors import SceneError
from spume.geometry.shapes import combinations
from spume.geometry.shapes.local_form import local_form, support
from spume.geometry.shapes.parts import check_dimension, placed
from spume.geometry.shapes.placement import HERE, Placement
from spume.geometry.shapes.primitives import ShapeModel


@dataclass(frozen=True)
class Extent:
    """A box from `lower` to `upper` [m], infinite where the shape is."""

    lower: NDArray[np.float64]
    upper: NDArray[np.float64]

    def swept(self, displacements: NDArray[np.float64]) -> "Extent":
        """Bounding box of all copies of this box, each moved by one of `displacements`."""
        return Extent(self.lower + displacements.min(axis=0), self.upper + displacements.max(axis=0))


def extent(shape: ShapeModel, placement: Placement, dimension: int, folder: Path | None) -> Extent:
    """Bounding box of `shape` after `placement`; in 2D it is infinite along z."""
    if inner := placed(shape, placement):
        return extent(*inner, dimension, folder)
    match shape:
        case combinations.Union() | combinations.SmoothUnion():
            boxes = [extent(part, placement, dimension, folder) for part in shape.of]
            # Each blend of two surfaces moves them outwards by at most a quarter of its width.
            width = placement.scale * shape.radius if isinstance(shape, combinations.SmoothUnion) else 0.0
            bulge = (len(boxes) - 1) * width / 4
            lower = np.min([box.lower for box in boxes], axis=0) - bulge
            return Extent(lower, np.max([box.upper for box in boxes], axis=0) + bulge)
        case combinations.Intersection():
            boxes = [extent(part, placement, dimension, folder) for part in shape.of]
            lower, upper = np.max([box.lower for box in boxes], axis=0), np.min([box.upper for box in boxes], axis=0)
            if (lower >= upper).any():
                raise SceneError("the shape 'intersection' is empty: its parts do not meet")
            return Extent(lower, upper)
        case combinations.Difference():
            return extent(shape.of, placement, dimension, folder)
        case combinations.Repeat():
            ends = [(0, count - 1) for count in shape.count]
            displacements = np.array([displacement(shape, index, placement) for index in itertools.product(*ends)])
            return extent(shape.shape, placement, dimension, folder).swept(displacements)
    primitive = local_form(shape, placement, folder)
    lower, upper = np.full(3, -math.inf), np.full(3, math.inf)
    for axis, direction in enumerate(np.eye(3)[:dimension]):
        lower[axis] = primitive.origin[axis] - support(primitive, -direction)
        upper[axis] = primitive.origin[axis] + support(primitive, direction)
    return Extent(lower, upper)


def displacement(shape: combinations.Repeat, index: tuple[int, ...], placement: Placement) -> NDArray[np.float64]:
    """Displacement of copy `index` of a repeated shape from the first copy [m]."""
    moved: NDArray[np.float64] = placement.point(np.array(index) * np.array(shape.spacing)) - placement.point((0, 0, 0))
    return moved


def bounds(
    shape: ShapeModel, dimension: int, folder: Path | None = None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Lower and upper corner [m], shape (dimension,), of a bounding box of `shape`; infinite for half spaces."""
    check_dimension(shape, dimension)
    box = extent(shape, HERE, dimension, folder)
    return box.lower[:dimension], box.upper[:dimension]
