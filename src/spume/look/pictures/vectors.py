"""Vectors of three numbers in kernels that draw."""

import numpy as np

from spume.numerics.jit import compiled


@compiled
def dot(a, b):
    """Inner product."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@compiled
def unit(a):
    """A vector of length one, or (nearly) none for a zero vector."""
    over = 1.0 / max(np.sqrt(dot(a, a)), 1e-12)
    return a[0] * over, a[1] * over, a[2] * over


@compiled
def towards(a, b):
    """Unit vector from a to b, which are apart."""
    x, y, z = b[0] - a[0], b[1] - a[1], b[2] - a[2]
    over = 1.0 / np.sqrt(x * x + y * y + z * z)
    return x * over, y * over, z * over


@compiled
def mirrored(a, normal, across):
    """A vector reflected at a plane, of whose unit normal it has the component `across`."""
    return 2 * across * normal[0] - a[0], 2 * across * normal[1] - a[1], 2 * across * normal[2] - a[2]


@compiled
def row_of(rows, k):
    """A row of an array of shape (n, 3)."""
    return rows[k, 0], rows[k, 1], rows[k, 2]


@compiled
def between(rows, triangle, weights):
    """Mean of the rows of a triangle's corners with three weights."""
    p, q, r = triangle
    a, b, c = weights
    return (
        a * rows[p, 0] + b * rows[q, 0] + c * rows[r, 0],
        a * rows[p, 1] + b * rows[q, 1] + c * rows[r, 1],
        a * rows[p, 2] + b * rows[q, 2] + c * rows[r, 2],
    )


@compiled
def put(rows, i, j, value):
    """Write three numbers to an array of shape (m, n, 3)."""
    rows[i, j, 0], rows[i, j, 1], rows[i, j, 2] = value
