"""Primitives in their own frames: the operation that evaluates each, its numbers, and the frame."""

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spume.geometry.sdf import operations
from spume.geometry.sdf.deforming_mesh import deforming_mesh
from spume.geometry.sdf.mesh_samples import Samples, load_mesh
from spume.geometry.shapes import primitives
from spume.geometry.shapes.placement import Matrix, Placement, frame_along, spatial
from spume.geometry.shapes.primitives import ShapeModel

X, Z = 0, 2
"""Local axes: capsules lie along X, solids of revolution are symmetric about Z."""


@dataclass(frozen=True)
class LocalForm:
    """local = rotationᵀ (x − origin)."""

    operation: int
    numbers: tuple[float, ...]
    origin: NDArray[np.float64]
    rotation: Matrix
    voxels: NDArray[np.float64] | None = None


def local_form(shape: ShapeModel, placement: Placement, folder: Path | None) -> LocalForm:
    """The primitive `shape` after `placement`."""
    if isinstance(shape, primitives.TriangleMesh):
        return _mesh_form(load_mesh(shape.file, shape.scale, shape.resolution, folder), placement)
    if isinstance(shape, primitives.MeshSequence):
        return _mesh_form(deforming_mesh(shape, folder).first, placement)
    if isinstance(shape, primitives.HalfSpace | primitives.HalfPlane):
        normal = tuple(placement.direction(shape.normal))
        return LocalForm(operations.HALF_SPACE, normal, placement.point(shape.point), np.eye(3))
    operation, lengths, origin, frame = _unplaced(shape)
    numbers = tuple(placement.scale * length for length in lengths)
    if operation == operations.POLYGON:
        numbers = (len(numbers) / 2, *numbers)
    return LocalForm(operation, numbers, placement.point(origin), placement.rotation @ frame)


def _unplaced(shape: ShapeModel) -> tuple[int, tuple[float, ...], ArrayLike, Matrix]:
    """Operation, lengths [m], origin and frame of a primitive without its placement."""
    straight = np.eye(3)
    match shape:
        case primitives.Sphere() | primitives.Circle():
            return operations.SPHERE, (shape.radius,), shape.center, straight
        case primitives.Box() | primitives.Rectangle():
            half = [length / 2 - shape.rounding for length in shape.size]
            hx, hy, hz = half if len(half) == 3 else (*half, math.inf)
            return operations.BOX, (hx, hy, hz, shape.rounding), shape.center, straight
        case primitives.Cylinder():
            inner = shape.radius - shape.rounding, shape.height / 2 - shape.rounding
            return operations.CYLINDER, (*inner, shape.rounding), shape.center, frame_along(shape.axis, Z)
        case primitives.Capsule():
            start, end = spatial(shape.start), spatial(shape.end)
            length = float(np.linalg.norm(end - start))
            frame = frame_along(end - start, X) if length > 0 else straight
            return operations.CAPSULE, (length / 2, shape.radius), (start + end) / 2, frame
        case primitives.Cone():
            lengths = shape.radius, shape.top_radius, shape.height
            return operations.CONE, lengths, shape.base, frame_along(shape.axis, Z)
        case primitives.Torus():
            return operations.TORUS, (shape.major_radius, shape.minor_radius), shape.center, frame_along(shape.axis, Z)
        case primitives.Ring():
            middle, width = (shape.inner_radius + shape.outer_radius) / 2, shape.outer_radius - shape.inner_radius
            return operations.TORUS, (middle, width / 2), shape.center, straight
        case primitives.Ellipsoid():
            return operations.ELLIPSOID, shape.semi_axes, shape.center, straight
        case primitives.Ellipse():
            # The nearest point to a point in the plane z = 0 lies in that plane if z is not the shortest axis.
            return operations.ELLIPSOID, (*shape.semi_axes, max(shape.semi_axes)), shape.center, straight
        case primitives.Polygon():
            points = np.array(shape.points)
            corners = points if signed_area(points) > 0 else points[::-1]
            return operations.POLYGON, tuple(corners.ravel()), (0.0, 0.0, 0.0), straight
    raise TypeError(f"{type(shape).__name__} is not a primitive")


def signed_area(points: NDArray[np.float64]) -> float:
    """Area of a polygon [m²], positive when its corners go counter-clockwise."""
    x, y = (points - points[0]).T
    return 0.5 * float(x @ np.roll(y, -1) - y @ np.roll(x, -1))


def _mesh_form(samples: Samples, placement: Placement) -> LocalForm:
    s = placement.scale
    numbers = (*(s * samples.lower), s * samples.spacing, *samples.values.shape, 0.0, s * samples.factor)
    return LocalForm(operations.MESH, numbers, placement.origin, placement.rotation, samples.values.reshape(-1))


def support(shape: LocalForm, direction: NDArray[np.float64]) -> float:
    """Largest extent [m] of the primitive from its origin along a unit vector in world coordinates."""
    u = shape.rotation.T @ direction
    n = shape.numbers
    across = math.hypot(u[0], u[1])
    match shape.operation:
        case operations.SPHERE:
            return n[0]
        case operations.BOX:
            return sum(h * abs(c) for h, c in zip(n[:3], u) if c != 0.0) + n[3]
        case operations.CYLINDER:
            return n[0] * across + n[1] * abs(u[2]) + n[2]
        case operations.CAPSULE:
            return n[0] * abs(u[0]) + n[1]
        case operations.CONE:
            return max(n[0] * across, n[1] * across + n[2] * u[2])
        case operations.TORUS:
            return n[0] * across + n[1]
        case operations.HALF_SPACE:
            return 0.0 if np.allclose(direction, n, rtol=0.0, atol=1e-12) else math.inf
        case operations.ELLIPSOID:
            return float(np.linalg.norm(np.array(n) * u))
        case operations.POLYGON:
            return float((np.reshape(n[1:], (-1, 2)) @ u[:2]).max())
        case operations.MESH:
            lower, spacing, counts = np.array(n[:3]), n[3], np.array(n[4:7])
            upper = lower + spacing * (counts - 1)
            return float(np.where(u > 0, upper * u, lower * u).sum())
    raise ValueError(f"operation {shape.operation} is not a primitive")
