"""Access to tensors of points, and the deformation of one step from the velocity gradient."""

from spume.numerics.jit import compiled
from spume.numerics.tensor3 import multiply


@compiled(inline="always")
def load(a, p):
    """Full tensor of point p."""
    return (a[p, 0, 0], a[p, 0, 1], a[p, 0, 2], a[p, 1, 0], a[p, 1, 1], a[p, 1, 2], a[p, 2, 0], a[p, 2, 1], a[p, 2, 2])


@compiled(inline="always")
def store(a, p, t):
    """Write the full tensor t to point p."""
    a[p, 0, 0], a[p, 0, 1], a[p, 0, 2] = t[0], t[1], t[2]
    a[p, 1, 0], a[p, 1, 1], a[p, 1, 2] = t[3], t[4], t[5]
    a[p, 2, 0], a[p, 2, 1], a[p, 2, 2] = t[6], t[7], t[8]


@compiled(inline="always")
def load_sym(a, p):
    """Symmetric tensor of point p."""
    return (a[p, 0], a[p, 1], a[p, 2], a[p, 3], a[p, 4], a[p, 5])


@compiled(inline="always")
def store_sym(a, p, t):
    """Write the symmetric tensor t to point p."""
    a[p, 0], a[p, 1], a[p, 2], a[p, 3], a[p, 4], a[p, 5] = t[0], t[1], t[2], t[3], t[4], t[5]


@compiled(inline="always")
def load_scalar(a, p):
    """Number of point p."""
    return a[p]


@compiled(inline="always")
def store_scalar(a, p, value):
    """Write a number to point p."""
    a[p] = value


@compiled
def first_order_deformation(dt, L):
    """f = I + Δt L, [Yue15] eq. (12)."""
    return (
        1.0 + dt * L[0], dt * L[1], dt * L[2],
        dt * L[3], 1.0 + dt * L[4], dt * L[5],
        dt * L[6], dt * L[7], 1.0 + dt * L[8],
    )  # fmt: skip


@compiled
def second_order_deformation(dt, L):
    """f = I + Δt L + ½ (Δt L)², the exponential of Δt L to second order.

    In a rotation, det(I + Δt L) grows by (Δt ω)² per step (9 % per second at 30 rad/s and Δt = 1e-4 s), as if the
    material swelled, and the resulting tension would contract it. That of the second-order f grows by (Δt ω)⁴/4.
    """
    a = (dt * L[0], dt * L[1], dt * L[2], dt * L[3], dt * L[4], dt * L[5], dt * L[6], dt * L[7], dt * L[8])
    b = multiply(a, a)
    return (
        1.0 + a[0] + 0.5 * b[0], a[1] + 0.5 * b[1], a[2] + 0.5 * b[2],
        a[3] + 0.5 * b[3], 1.0 + a[4] + 0.5 * b[4], a[5] + 0.5 * b[5],
        a[6] + 0.5 * b[6], a[7] + 0.5 * b[7], 1.0 + a[8] + 0.5 * b[8],
    )  # fmt: skip
