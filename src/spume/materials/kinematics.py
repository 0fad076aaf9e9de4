"""Reading and writing tensors of points, and the deformation of one step."""

from spume.numerics.jit import compiled
from spume.numerics.tensor3 import multiply


@compiled(inline="always")
def load(a, p):
    """Full tensor of point p."""
    return (a[p, 0, 0], a[p, 0, 1], a[p, 0, 2], a[p, 1, 0], a[p, 1, 1], a[p, 1, 2], a[p, 2, 0], a[p, 2, 1], a[p, 2, 2])


@compiled(inline="always")
def store(a, p, t):
    """Full tensor t to point p."""
    a[p, 0, 0], a[p, 0, 1], a[p, 0, 2] = t[0], t[1], t[2]
    a[p, 1, 0], a[p, 1, 1], a[p, 1, 2] = t[3], t[4], t[5]
    a[p, 2, 0], a[p, 2, 1], a[p, 2, 2] = t[6], t[7], t[8]


@compiled(inline="always")
def load_sym(a, p):
    """Symmetric tensor of point p."""
    return (a[p, 0], a[p, 1], a[p, 2], a[p, 3], a[p, 4], a[p, 5])


@compiled(inline="always")
def store_sym(a, p, t):
    """Symmetric tensor t to point p."""
    a[p, 0], a[p, 1], a[p, 2], a[p, 3], a[p, 4], a[p, 5] = t[0], t[1], t[2], t[3], t[4], t[5]


@compiled
def increment(dt, L):
    """f = I + Δt ∇v, [Yue15] eq. (12)."""
    return (
        1.0 + dt * L[0], dt * L[1], dt * L[2],
        dt * L[3], 1.0 + dt * L[4], dt * L[5],
        dt * L[6], dt * L[7], 1.0 + dt * L[8],
    )  # fmt: skip


@compiled
def deform(dt, L, F):
    """F after a step: f F."""
    return multiply(increment(dt, L), F)
