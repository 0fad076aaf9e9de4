"""Volume of a shape: in closed form if there is one, otherwise by a tree of cells refined at the surface.

A cell whose centre is further from the surface than from its corners is wholly inside or outside, since the distance is
never overestimated. Other cells are halved along each axis. In the smallest cells the surface is approximated by the
plane defined by distance and gradient at the centre. The error is of second order in the cell size; Richardson
extrapolation removes its leading term, and the tree is refined until the extrapolated volume changes by less than 0.02
%.
"""

import functools
import itertools
import math
from pathlib import Path

import numpy as np

from spume.errors import SceneError
from spume.geometry.sdf.compiler import compile_shape
from spume.geometry.sdf.mesh_samples import load_mesh
from spume.geometry.shapes import combinations, primitives
from spume.geometry.shapes.combinations import NAMES
from spume.geometry.shapes.extent import Extent, bounds, extent
from spume.geometry.shapes.local_form import signed_area
from spume.geometry.shapes.parts import check_dimension, parts
from spume.geometry.shapes.placement import HERE
from spume.geometry.shapes.primitives import ShapeModel

TOLERANCE = 2e-4
DEEPEST = {2: 13, 3: 9}


def volume(shape: ShapeModel, dimension: int, folder: Path | None = None) -> float:
    """Volume of `shape` [m³], or its area [m²] in a 2D scene, to 0.1 %; exact for primitives, closed meshes, and copies
    or unions of them whose boxes do not overlap. Raises SceneError if it is infinite or zero."""
    check_dimension(shape, dimension)
    lower, upper = bounds(shape, dimension, folder)
    name = NAMES[type(shape)]
    if not np.isfinite(lower).all() or not np.isfinite(upper).all():
        raise SceneError(
            f"the shape '{name}' is unbounded, and only a shape of finite volume can be filled or measured"
        )
    closed = _closed_form(shape, dimension, folder)
    if closed is not None:
        return closed
    return _by_tree(shape, dimension, folder) if _has_mesh(shape) else _remembered(shape, dimension)


def _has_mesh(shape: ShapeModel) -> bool:
    return isinstance(shape, primitives.TriangleMesh) or any(_has_mesh(part) for part in parts(shape))


@functools.lru_cache(maxsize=256)
def _remembered(shape: ShapeModel, dimension: int) -> float:
    """Cached volume, since checking, estimating and filling need it. Not used for meshes, whose files may change."""
    return _by_tree(shape, dimension, None)


def _closed_form(shape: ShapeModel, dimension: int, folder: Path | None) -> float | None:
    """Exact volume, or None if there is no formula."""
    match shape:
        case combinations.Translate() | combinations.Rotate():
            return _closed_form(shape.shape, dimension, folder)
        case combinations.Scale():
            inner = _closed_form(shape.shape, dimension, folder)
            return None if inner is None else inner * shape.factor**dimension
        case combinations.Repeat():
            single = extent(shape.shape, HERE, dimension, folder)
            apart = [
                count == 1 or abs(step) >= size
                for count, step, size in zip(shape.count, shape.spacing, single.upper - single.lower)
            ]
            inner = _closed_form(shape.shape, dimension, folder)
            return None if inner is None or not all(apart) else inner * math.prod(shape.count)
        case combinations.Union():
            boxes = [extent(part, HERE, dimension, folder) for part in shape.of]
            volumes = [_closed_form(part, dimension, folder) for part in shape.of]
            if any(_overlap(a, b) for a, b in itertools.combinations(boxes, 2)) or None in volumes:
                return None
            return math.fsum(v for v in volumes if v is not None)
        case primitives.TriangleMesh():
            return load_mesh(shape.file, shape.scale, shape.resolution, folder).volume
    return _of_plane_figure(shape) if dimension == 2 else _of_solid(shape)


def _overlap(a: Extent, b: Extent) -> bool:
    return bool((np.maximum(a.lower, b.lower) < np.minimum(a.upper, b.upper)).all())


def _of_plane_figure(shape: ShapeModel) -> float | None:
    match shape:
        case primitives.Circle():
            return math.pi * shape.radius**2
        case primitives.Rectangle():
            return math.prod(shape.size) - (4 - math.pi) * shape.rounding**2
        case primitives.Capsule():
            return 2 * shape.radius * math.dist(shape.start, shape.end) + math.pi * shape.radius**2
        case primitives.Ellipse():
            return math.pi * math.prod(shape.semi_axes)
        case primitives.Ring():
            return math.pi * (shape.outer_radius**2 - shape.inner_radius**2)
        case primitives.Polygon():
            return abs(signed_area(np.array(shape.points)))
    return None


def _of_solid(shape: ShapeModel) -> float | None:
    match shape:
        case primitives.Sphere():
            return 4 / 3 * math.pi * shape.radius**3
        case primitives.Box():
            a, b, c = (length - 2 * shape.rounding for length in shape.size)
            return _rounded(a * b * c, 2 * (a * b + b * c + c * a), math.pi * (a + b + c), shape.rounding)
        case primitives.Cylinder():
            a, h = shape.radius - shape.rounding, shape.height - 2 * shape.rounding
            surface = 2 * math.pi * a * (a + h)
            return _rounded(math.pi * a * a * h, surface, math.pi * (h + math.pi * a), shape.rounding)
        case primitives.Capsule():
            return math.pi * shape.radius**2 * (math.dist(shape.start, shape.end) + 4 / 3 * shape.radius)
        case primitives.Cone():
            a, b = shape.radius, shape.top_radius
            return math.pi / 3 * shape.height * (a * a + a * b + b * b)
        case primitives.Torus():
            return 2 * math.pi**2 * shape.major_radius * shape.minor_radius**2
        case primitives.Ellipsoid():
            return 4 / 3 * math.pi * math.prod(shape.semi_axes)
    return None


def _rounded(inner: float, surface: float, curvature: float, r: float) -> float:
    """Steiner's formula: the volume within r of a convex body; `curvature` is the integral of its mean curvature."""
    return inner + surface * r + curvature * r**2 + 4 / 3 * math.pi * r**3


def _by_tree(shape: ShapeModel, dimension: int, folder: Path | None) -> float:
    # imported here, because it loads Numba, which is not needed to check a scene of primitives
    from spume.geometry.shapes.volume_by_tree import volume_by_tree

    lower, upper = bounds(shape, dimension, folder)
    program = compile_shape(shape, dimension, folder)
    name = NAMES[type(shape)]
    cells, extrapolated = math.nan, math.nan
    for depth in range(4, DEEPEST[dimension] + 1):
        cells_before, cells = cells, volume_by_tree(program, lower, upper, depth)
        if math.isnan(cells):
            break
        if cells == 0.0:
            raise SceneError(f"the shape '{name}' has no volume: nothing is inside it")
        before, extrapolated = extrapolated, cells + (cells - cells_before) / 3
        if abs(extrapolated - before) <= TOLERANCE * cells and abs(cells - cells_before) <= 30 * TOLERANCE * cells:
            return extrapolated
    raise SceneError(f"the volume of the shape '{name}' cannot be found to 0.1 %: it is too thin for its extent")
