"""Volume and centroid of a shape: in closed form if there is one, otherwise by a tree of cells refined at the surface.

A cell whose centre is further from the surface than from its corners is wholly inside or outside, since the distance is
never overestimated. Other cells are halved along each axis. In the smallest cells the surface is approximated by the
plane defined by distance and gradient at the centre. The error is of second order in the cell size; Richardson
extrapolation removes its leading term, and the tree is refined until the extrapolated volume changes by less than 0.02
%.
"""

import functools
import itertools
import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from spume.errors import SceneError
from spume.geometry.sdf.compiler import compile_shape
from spume.geometry.sdf.mesh_samples import load_mesh
from spume.geometry.shapes import combinations, primitives
from spume.geometry.shapes.combinations import NAMES
from spume.geometry.shapes.extent import Extent, bounds, displacement, extent
from spume.geometry.shapes.local_form import local_form, signed_area
from spume.geometry.shapes.parts import check_dimension, parts, placed
from spume.geometry.shapes.placement import HERE, Placement, spatial
from spume.geometry.shapes.primitives import ShapeModel

TOLERANCE = 2e-4
DEEPEST = {2: 13, 3: 9}


@dataclass(frozen=True)
class Moments:
    """Zeroth and first moment of a shape."""

    volume: float
    """[m³], in 2D its area [m²]"""
    centroid: NDArray[np.float64]
    """[m], shape (3,); in 2D the third component is 0"""

    def placed(self, placement: Placement, dimension: int) -> "Moments":
        """Those of the shape after `placement`."""
        return Moments(self.volume * placement.scale**dimension, placement.point(self.centroid))


def volume(shape: ShapeModel, dimension: int, folder: Path | None = None) -> float:
    """Volume of `shape` [m³], or its area [m²] in a 2D scene, to 0.1 %; exact for primitives, closed meshes, and copies
    or unions of them whose boxes do not overlap. Raises SceneError if it is infinite or zero."""
    return moments(shape, dimension, folder).volume


def moments(shape: ShapeModel, dimension: int, folder: Path | None = None) -> Moments:
    """Volume and centroid of `shape`; see `volume`."""
    check_dimension(shape, dimension)
    lower, upper = bounds(shape, dimension, folder)
    name = NAMES[type(shape)]
    if not np.isfinite(lower).all() or not np.isfinite(upper).all():
        raise SceneError(
            f"the shape '{name}' is unbounded, and only a shape of finite volume can be filled or measured"
        )
    found = _moments(shape, dimension, folder)
    if found.volume == 0.0:
        raise SceneError(f"the shape '{name}' has no volume: nothing is inside it")
    return found


def has_volume(shape: ShapeModel, dimension: int, folder: Path | None = None) -> bool:
    """Whether anything is inside a bounded shape."""
    return _moments(shape, dimension, folder).volume > 0.0


def _moments(shape: ShapeModel, dimension: int, folder: Path | None) -> Moments:
    """The moments of `shape`, which may be empty."""
    if inner := placed(shape, HERE):
        return _moments(inner[0], dimension, folder).placed(inner[1], dimension)
    if isinstance(shape, combinations.Repeat) and copies_are_apart(shape, dimension, folder):
        single = _moments(shape.shape, dimension, folder)
        middle = displacement(shape, tuple(count - 1 for count in shape.count), HERE) / 2
        return Moments(single.volume * math.prod(shape.count), single.centroid + middle)
    if isinstance(shape, combinations.Union) and are_apart(shape, dimension, folder):
        return _sum([_moments(part, dimension, folder) for part in shape.of])
    closed = _closed_form(shape, dimension, folder)
    if closed is not None:
        return closed
    return _by_tree(shape, dimension, folder) if _has_mesh(shape) else _remembered(shape, dimension)


def _sum(parts: list[Moments]) -> Moments:
    volume = math.fsum(part.volume for part in parts)
    if volume == 0.0:
        return parts[0]
    first = [math.fsum(part.volume * part.centroid[axis] for part in parts) for axis in range(3)]
    return Moments(volume, np.array(first) / volume)


def _has_mesh(shape: ShapeModel) -> bool:
    return isinstance(shape, primitives.TriangleMesh) or any(_has_mesh(part) for part in parts(shape))


@functools.lru_cache(maxsize=256)
def _remembered(shape: ShapeModel, dimension: int) -> Moments:
    """Cached moments, since checking, estimating and filling need them. Not used for meshes, whose files may change."""
    return _by_tree(shape, dimension, None)


def _closed_form(shape: ShapeModel, dimension: int, folder: Path | None) -> Moments | None:
    """Exact moments of a primitive or a closed mesh, or None if there is no formula."""
    if isinstance(shape, primitives.TriangleMesh):
        samples = load_mesh(shape.file, shape.scale, shape.resolution, folder)
        return None if samples.volume is None else Moments(samples.volume, samples.centroid)
    size = _of_plane_figure(shape) if dimension == 2 else _of_solid(shape)
    return None if size is None else Moments(size, _centroid(shape))


def are_apart(shape: combinations.Union, dimension: int, folder: Path | None) -> bool:
    """Whether the boxes of the parts do not overlap, so that volumes add up."""
    boxes = [extent(part, HERE, dimension, folder) for part in shape.of]
    return not any(_overlap(a, b) for a, b in itertools.combinations(boxes, 2))


def copies_are_apart(shape: combinations.Repeat, dimension: int, folder: Path | None) -> bool:
    """Whether the boxes of the copies do not overlap."""
    single = extent(shape.shape, HERE, dimension, folder)
    sizes = single.upper - single.lower
    return all(
        count == 1 or abs(step) >= size * (1.0 - 1e-12)
        for count, step, size in zip(shape.count, shape.spacing, sizes)
    )  # fmt: skip


def _overlap(a: Extent, b: Extent) -> bool:
    """Whether two boxes have more in common than rounding makes of a common face."""
    sizes = np.minimum(a.upper - a.lower, b.upper - b.lower)
    common = np.minimum(a.upper, b.upper) - np.maximum(a.lower, b.lower)
    flat = np.isinf(sizes)  # along z in 2D
    return bool((flat | (common > 1e-12 * sizes)).all())


def _centroid(shape: ShapeModel) -> NDArray[np.float64]:
    """Centroid of a primitive [m]: its centre, unless it is a cone or a polygon."""
    form = local_form(shape, HERE, None)
    if isinstance(shape, primitives.Cone):
        a, b = shape.radius, shape.top_radius
        above = shape.height / 4 * (a * a + 2 * a * b + 3 * b * b) / (a * a + a * b + b * b)
        return np.asarray(form.origin + above * form.rotation[:, 2])
    if isinstance(shape, primitives.Polygon):
        first = np.array(shape.points[0])
        p = np.array(shape.points) - first
        q = np.roll(p, -1, axis=0)
        cross = p[:, 0] * q[:, 1] - p[:, 1] * q[:, 0]
        return spatial(first + (p + q).T @ cross / (3.0 * cross.sum()))
    return form.origin


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


def _by_tree(shape: ShapeModel, dimension: int, folder: Path | None) -> Moments:
    # imported here, because it loads Numba, which is not needed to check a scene of primitives
    from spume.geometry.shapes.moments_by_tree import moments_by_tree

    lower, upper = bounds(shape, dimension, folder)
    program = compile_shape(shape, dimension, folder)
    name = NAMES[type(shape)]
    found, extrapolated = np.full(4, math.nan), math.nan
    for depth in range(4, DEEPEST[dimension] + 1):
        coarser, found = found, moments_by_tree(program, lower, upper, depth)
        cells, cells_before = float(found[0]), float(coarser[0])
        if math.isnan(cells):
            break
        if cells == 0.0:
            return Moments(0.0, np.zeros(3))
        before, extrapolated = extrapolated, cells + (cells - cells_before) / 3
        if abs(extrapolated - before) <= TOLERANCE * cells and abs(cells - cells_before) <= 30 * TOLERANCE * cells:
            first = found[1:] + (found[1:] - coarser[1:]) / 3
            centroid = np.zeros(3)
            centroid[:dimension] = 0.5 * (lower + upper) + first[:dimension] / extrapolated
            return Moments(extrapolated, centroid)
    raise SceneError(f"the volume of the shape '{name}' cannot be found to 0.1 %: it is too thin for its extent")
