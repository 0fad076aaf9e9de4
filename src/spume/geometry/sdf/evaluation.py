"""Evaluation of a compiled shape at a point, by one interpreter for all shapes.

The distance of a Boolean combination is a bound: its sign is exact, its magnitude is at most the true
distance to the surface, and it is 1-Lipschitz. So a ball of radius r around a point does not
meet a shape whose distance there is r or more.
"""

import math

import numpy as np
from numpy.typing import NDArray

from spume.geometry.sdf import operations, primitive_distances
from spume.geometry.sdf.operations import ShapeProgram
from spume.numerics.array_pointers import open_arrays, stack_memory
from spume.numerics.jit import compiled

__all__ = ["ShapeProgram", "distance", "distance_and_gradient", "distances", "distances_and_gradients", "run_rows"]


@compiled
def _smooth_minimum(a, ax, ay, az, b, bx, by, bz, width):
    """min(a, b), minus (width − |a − b|)² / (4 width) where the two are closer than `width`. The gradient is a convex
    combination of both, so the result is 1-Lipschitz if they are."""
    t = min(max(0.5 + 0.5 * (b - a) / width, 0.0), 1.0)
    s = 1.0 - t
    return b * s + a * t - width * s * t, ax * t + bx * s, ay * t + by * s, az * t + bz * s


@compiled
def _outside_box_squared(x, y, z, numbers, o):
    """Squared distance to a box, zero inside."""
    ux = max(max(numbers[o] - x, x - numbers[o + 3]), 0.0)
    uy = max(max(numbers[o + 1] - y, y - numbers[o + 4]), 0.0)
    uz = max(max(numbers[o + 2] - z, z - numbers[o + 5]), 0.0)
    return ux * ux + uy * uy + uz * uz


@compiled
def _clip(x, y, z, n, o, d, gx, gy, gz):
    """Maximum of the accumulator and the distance of a box around the shape."""
    qx, sx = _nearer_face(x, n[o], n[o + 3])
    qy, sy = _nearer_face(y, n[o + 1], n[o + 4])
    qz, sz = _nearer_face(z, n[o + 2], n[o + 5])
    b, bx, by, bz = primitive_distances.from_faces(qx, qy, qz, sx, sy, sz, 0.0)
    if b > d:
        return b, bx, by, bz
    return d, gx, gy, gz


@compiled
def _nearer_face(x, lower, upper):
    """Signed distance of the nearer of two faces, and its outward direction."""
    if lower - x > x - upper:
        return lower - x, -1.0
    return x - upper, 1.0


@compiled
def _primitive(operation, x, y, z, n, o, voxels):
    if operation == operations.SPHERE:
        return primitive_distances.sphere(x, y, z, n[o])
    if operation == operations.BOX:
        return primitive_distances.box(x, y, z, n[o], n[o + 1], n[o + 2], n[o + 3])
    if operation == operations.CYLINDER:
        return primitive_distances.cylinder(x, y, z, n[o], n[o + 1], n[o + 2])
    if operation == operations.CAPSULE:
        return primitive_distances.capsule(x, y, z, n[o], n[o + 1])
    if operation == operations.CONE:
        return primitive_distances.cone(x, y, z, n[o], n[o + 1], n[o + 2])
    if operation == operations.TORUS:
        return primitive_distances.torus(x, y, z, n[o], n[o + 1])
    if operation == operations.HALF_SPACE:
        return x * n[o] + y * n[o + 1] + z * n[o + 2], n[o], n[o + 1], n[o + 2]
    if operation == operations.ELLIPSOID:
        return primitive_distances.ellipsoid(x, y, z, n[o], n[o + 1], n[o + 2])
    if operation == operations.POLYGON:
        return primitive_distances.polygon(x, y, n, o)
    return primitive_distances.mesh(x, y, z, n, o, voxels)


@compiled
def _placed_primitive(operation, turned, x, y, z, n, o, voxels):
    x, y, z = x - n[o], y - n[o + 1], z - n[o + 2]
    if turned == operations.STRAIGHT:
        return _primitive(operation, x, y, z, n, o + 3, voxels)
    a, b, c = n[o + 3], n[o + 4], n[o + 5]
    e, f, g = n[o + 6], n[o + 7], n[o + 8]
    p, q, r = n[o + 9], n[o + 10], n[o + 11]
    d, u, v, w = _primitive(
        operation, a * x + b * y + c * z, e * x + f * y + g * z, p * x + q * y + r * z, n, o + 12, voxels
    )
    return d, a * u + e * v + p * w, b * u + f * v + q * w, c * u + g * v + r * w


@compiled
def _likely_nearest(x, y, z, n, o):
    """Row, relative to that of the probe, of the copy whose centre is nearest."""
    x, y, z = x - n[o], y - n[o + 1], z - n[o + 2]
    i = min(max(round(n[o + 3] * x + n[o + 4] * y + n[o + 5] * z), 0.0), n[o + 12] - 1.0)
    j = min(max(round(n[o + 6] * x + n[o + 7] * y + n[o + 8] * z), 0.0), n[o + 13] - 1.0)
    k = min(max(round(n[o + 9] * x + n[o + 10] * y + n[o + 11] * z), 0.0), n[o + 14] - 1.0)
    return int(n[o + 15 + int((i * n[o + 13] + j) * n[o + 14] + k)])


@compiled
def _combine(how, a, ax, ay, az, b, bx, by, bz, width):
    """Combine the accumulator a with the new value b."""
    if how == operations.UNION:
        if a <= b:
            return a, ax, ay, az
    elif how == operations.INTERSECTION:
        if a >= b:
            return a, ax, ay, az
    elif how == operations.DIFFERENCE:
        if a >= -b:
            return a, ax, ay, az
        return -b, -bx, -by, -bz
    elif how == operations.SMOOTH_UNION:
        return _smooth_minimum(a, ax, ay, az, b, bx, by, bz, width)
    return b, bx, by, bz


@compiled
def run_rows(rows, numbers, voxels, first, last, x, y, z):
    """Distance [m] and unit gradient at a point, from rows first to last of a program given by pointers."""
    stack = stack_memory(64)
    depth = 0
    d, gx, gy, gz = math.inf, 1.0, 0.0, 0.0
    row = first
    while row < last:
        at = 5 * row
        operation, how, o = rows[at], rows[at + 1], rows[at + 2]
        if operation < operations.PRIMITIVES:
            b, bx, by, bz = _placed_primitive(operation, rows[at + 3], x, y, z, numbers, o, voxels)
            d, gx, gy, gz = _combine(how, d, gx, gy, gz, b, bx, by, bz, numbers[rows[at + 4]])
        elif operation == operations.GUARD:
            s = _outside_box_squared(x, y, z, numbers, o)
            reach = -d if how == operations.DIFFERENCE else d
            if s > 0.0 and (reach <= 0.0 or s >= reach * reach):
                row = rows[at + 3]
                continue
        elif operation == operations.PROBE:
            leaf = at + 5 * _likely_nearest(x, y, z, numbers, o)
            b, bx, by, bz = _placed_primitive(rows[leaf], rows[leaf + 3], x, y, z, numbers, rows[leaf + 2], voxels)
            d, gx, gy, gz = _combine(how, d, gx, gy, gz, b, bx, by, bz, 0.0)
        elif operation == operations.PUSH:
            stack[depth], stack[depth + 1], stack[depth + 2], stack[depth + 3] = d, gx, gy, gz
            depth += 4
        elif operation == operations.POP:
            depth -= 4
            a, ax, ay, az = stack[depth], stack[depth + 1], stack[depth + 2], stack[depth + 3]
            d, gx, gy, gz = _combine(how, a, ax, ay, az, d, gx, gy, gz, numbers[rows[at + 4]])
        else:
            d, gx, gy, gz = _clip(x, y, z, numbers, o, d, gx, gy, gz)
        row += 1
    # Smooth unions and meshes have gradients shorter than one; midway between two blended spheres it vanishes.
    s = gx * gx + gy * gy + gz * gz
    if abs(s - 1.0) > 1e-12:
        if s < 1e-200:
            return d, 1.0, 0.0, 0.0
        i = 1.0 / math.sqrt(s)
        gx, gy, gz = gx * i, gy * i, gz * i
    return d, gx, gy, gz


@compiled
def distance_and_gradient(program, x, y, z):
    """Signed distance [m] of the point (x, y, z) [m] from the shape, negative inside, and its unit gradient."""
    rows, numbers, starts, voxels, dimension = open_arrays(program)
    return run_rows(rows, numbers, voxels, starts[0], starts[1], x, y, z if dimension == 3 else 0.0)


@compiled
def distance(program, x, y, z):
    """Signed distance [m] of the point (x, y, z) [m] from the shape, negative inside."""
    d, _, _, _ = distance_and_gradient(program, x, y, z)
    return d


@compiled
def _evaluate_all(program, points, out):
    for i in range(len(points)):
        z = points[i, 2] if points.shape[1] == 3 else 0.0
        out[i, 0], out[i, 1], out[i, 2], out[i, 3] = distance_and_gradient(program, points[i, 0], points[i, 1], z)


def distances_and_gradients(
    program: ShapeProgram, points: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Signed distances [m], shape (n,), and unit gradients, shape (n, dimension), at `points` [m], (n, dimension)."""
    points = np.ascontiguousarray(points, dtype=np.float64)
    out = np.empty((len(points), 4))
    _evaluate_all(program, points, out)
    return out[:, 0].copy(), out[:, 1 : 1 + points.shape[1]].copy()


def distances(program: ShapeProgram, points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Signed distances [m], shape (n,), at `points` [m], shape (n, dimension)."""
    return distances_and_gradients(program, points)[0]
