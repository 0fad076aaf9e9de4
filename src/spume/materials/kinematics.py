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
    """Deformation of one step, f = I + Δt L + ½ (Δt L)², the exponential of Δt L to second order.

    [Yue15] eq. (12) takes I + Δt L. Its determinant grows by (Δt ω)² in every step of a rotation, 9 % a second at 30
    rad/s and Δt = 1e-4 s, as if the material swelled; the pressure would then squeeze out in truth what J gains on
    paper. To second order it grows by (Δt ω)⁴/4 a step.
    """
    a = (dt * L[0], dt * L[1], dt * L[2], dt * L[3], dt * L[4], dt * L[5], dt * L[6], dt * L[7], dt * L[8])
    b = multiply(a, a)
    return (
        1.0 + a[0] + 0.5 * b[0], a[1] + 0.5 * b[1], a[2] + 0.5 * b[2],
        a[3] + 0.5 * b[3], 1.0 + a[4] + 0.5 * b[4], a[5] + 0.5 * b[5],
        a[6] + 0.5 * b[6], a[7] + 0.5 * b[7], 1.0 + a[8] + 0.5 * b[8],
    )  # fmt: skip


@compiled
def velocity_gradient_of(dt, f):
    """The L whose `increment` is f: the fixed point of Δt L = f − I − ½ (Δt L)².

    Each pass gains a factor ‖f − I‖; steps that obey the Courant number deform by less than a tenth.
    """
    x = (f[0] - 1.0, f[1], f[2], f[3], f[4] - 1.0, f[5], f[6], f[7], f[8] - 1.0)
    a = x
    for _ in range(40):
        b = multiply(a, a)
        n = (
            x[0] - 0.5 * b[0], x[1] - 0.5 * b[1], x[2] - 0.5 * b[2],
            x[3] - 0.5 * b[3], x[4] - 0.5 * b[4], x[5] - 0.5 * b[5],
            x[6] - 0.5 * b[6], x[7] - 0.5 * b[7], x[8] - 0.5 * b[8],
        )  # fmt: skip
        change = 0.0
        for k in range(9):
            change = max(change, abs(n[k] - a[k]))
        a = n
        if change < 1e-17:
            break
    return (a[0] / dt, a[1] / dt, a[2] / dt, a[3] / dt, a[4] / dt, a[5] / dt, a[6] / dt, a[7] / dt, a[8] / dt)


@compiled
def deform(dt, L, F):
    """F after a step: f F."""
    return multiply(increment(dt, L), F)
