"""The volume of a shape: in closed form where there is one, otherwise by a tree of cells down to the surface.

A cell whose centre is further from the surface than its corners are from the centre is wholly inside or outside, since
the distance is never overestimated. Others are halved. In the smallest the surface is taken as the plane given by
distance and gradient at the centre. The error then falls with the square of the cell; Richardson's extrapolation takes
out most of what is left, and the tree is deepened until it changes the extrapolated volume by less than 0.02 %.
"""

import functools
import itertools
import math
from pathlib import Path

import numpy as np

from spume.errors import SceneError
from spume.geometry import combined_shapes as combined
from spume.geometry import primitive_shapes as primitive
from spume.geometry.assembly import compile_shape
from spume.geometry.canonical import signed_area
from spume.geometry.combined_shapes import NAMES
from spume.geometry.extent import Extent, bounds, extent
from spume.geometry.placement import HERE
from spume.geometry.primitive_shapes import ShapePart
from spume.geometry.structure import check_dimension, parts

TOLERANCE = 2e-4
DEEPEST = {2: 13, 3: 9}


def volume(shape: ShapePart, dimension: int, folder: Path | None = None) -> float:
    """Volume of `shape` [m³], or its area [m²] in a 2D scene, to 0.1 %; exact for primitives other than meshes, and for
    copies or unions of them whose boxes do not overlap. Raises SceneError when it is infinite or zero."""
    check_dimension(shape, dimension)
    lower, upper = bounds(shape, dimension, folder)
    name = NAMES[type(shape)]
    if not np.isfinite(lower).all() or not np.isfinite(upper).all():
        raise SceneError(f"the shape '{name}' has no end, and only a shape of finite volume can be filled or measured")
    closed = _closed_form(shape, dimension, folder)
    if closed is not None:
        return closed
    return _by_tree(shape, dimension, folder) if _has_mesh(shape) else _remembered(shape, dimension)


def _has_mesh(shape: ShapePart) -> bool:
    return isinstance(shape, primitive.Mesh) or any(_has_mesh(part) for part in parts(shape))


@functools.lru_cache(maxsize=256)
def _remembered(shape: ShapePart, dimension: int) -> float:
    """Checking a scene, filling it and estimating it all ask for the same volumes. A mesh file may change meanwhile."""
    return _by_tree(shape, dimension, None)


def _closed_form(shape: ShapePart, dimension: int, folder: Path | None) -> float | None:
    """The exact volume, or None where there is no formula."""
    match shape:
        case combined.Translate() | combined.Rotate():
            return _closed_form(shape.shape, dimension, folder)
        case combined.Scale():
            inner = _closed_form(shape.shape, dimension, folder)
            return None if inner is None else inner * shape.factor**dimension
        case combined.Repeat():
            single = extent(shape.shape, HERE, dimension, folder)
            apart = [
                count == 1 or abs(step) >= size
                for count, step, size in zip(shape.count, shape.spacing, single.upper - single.lower)
            ]
            inner = _closed_form(shape.shape, dimension, folder)
            return None if inner is None or not all(apart) else inner * math.prod(shape.count)
        case combined.Union():
            boxes = [extent(part, HERE, dimension, folder) for part in shape.of]
            volumes = [_closed_form(part, dimension, folder) for part in shape.of]
            if any(_overlap(a, b) for a, b in itertools.combinations(boxes, 2)) or None in volumes:
                return None
            return math.fsum(v for v in volumes if v is not None)
    return _of_plane_figure(shape) if dimension == 2 else _of_solid(shape)


def _overlap(a: Extent, b: Extent) -> bool:
    return bool((np.maximum(a.lower, b.lower) < np.minimum(a.upper, b.upper)).all())


def _of_plane_figure(shape: ShapePart) -> float | None:
    match shape:
        case primitive.Circle():
            return math.pi * shape.radius**2
        case primitive.Rectangle():
            return math.prod(shape.size) - (4 - math.pi) * shape.rounding**2
        case primitive.Capsule():
            return 2 * shape.radius * math.dist(shape.start, shape.end) + math.pi * shape.radius**2
        case primitive.Ellipse():
            return math.pi * math.prod(shape.semi_axes)
        case primitive.Ring():
            return math.pi * (shape.outer_radius**2 - shape.inner_radius**2)
        case primitive.Polygon():
            return abs(signed_area(np.array(shape.points)))
    return None


def _of_solid(shape: ShapePart) -> float | None:
    match shape:
        case primitive.Sphere():
            return 4 / 3 * math.pi * shape.radius**3
        case primitive.Box():
            a, b, c = (length - 2 * shape.rounding for length in shape.size)
            return _rounded(a * b * c, 2 * (a * b + b * c + c * a), math.pi * (a + b + c), shape.rounding)
        case primitive.Cylinder():
            a, h = shape.radius - shape.rounding, shape.height - 2 * shape.rounding
            surface = 2 * math.pi * a * (a + h)
            return _rounded(math.pi * a * a * h, surface, math.pi * (h + math.pi * a), shape.rounding)
        case primitive.Capsule():
            return math.pi * shape.radius**2 * (math.dist(shape.start, shape.end) + 4 / 3 * shape.radius)
        case primitive.Cone():
            a, b = shape.radius, shape.top_radius
            return math.pi / 3 * shape.height * (a * a + a * b + b * b)
        case primitive.Torus():
            return 2 * math.pi**2 * shape.major_radius * shape.minor_radius**2
        case primitive.Ellipsoid():
            return 4 / 3 * math.pi * math.prod(shape.semi_axes)
    return None


def _rounded(inner: float, surface: float, curvature: float, r: float) -> float:
    """Steiner's formula: the volume within r of a convex body; `curvature` is the integral of its mean curvature."""
    return inner + surface * r + curvature * r**2 + 4 / 3 * math.pi * r**3


def _by_tree(shape: ShapePart, dimension: int, folder: Path | None) -> float:
    from spume.geometry.tree import volume_by_tree  # compiled: a scene of primitives is checked without

    lower, upper = bounds(shape, dimension, folder)
    program = compile_shape(shape, dimension, folder)
    name = NAMES[type(shape)]
    cells, extrapolated = math.nan, math.nan
    for depth in range(4, DEEPEST[dimension] + 1):
        cells_before, cells = cells, volume_by_tree(program, lower, upper, depth)
        if cells == 0.0:
            raise SceneError(f"the shape '{name}' has no volume: nothing is inside it")
        before, extrapolated = extrapolated, cells + (cells - cells_before) / 3
        if abs(extrapolated - before) <= TOLERANCE * cells and abs(cells - cells_before) <= 30 * TOLERANCE * cells:
            return extrapolated
    raise SceneError(f"the volume of the shape '{name}' cannot be found to 0.1 %: it is too thin for its extent")
