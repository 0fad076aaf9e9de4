"""Three-dimensional tensors at one point, as tuples.

Full tensors are row-major 9-tuples, symmetric tensors (xx, yy, zz, xy, xz, yz). Entries may have any magnitude from
1e-150 to 1e150. No exceptions are raised: the inverse of a singular tensor is not finite, and NaN in the input gives
NaN in the result. The decompositions are defined in `spectral3` and re-exported here.
"""

import math

from spume.numerics.jit import compiled
from spume.numerics.spectral3 import (
    STRICT,
    Symmetric,
    Tensor,
    Triple,
    eigen_sym,
    eigenvalues_sym,
    polar,
    svd,
)

__all__ = [
    "Symmetric",
    "Tensor",
    "Triple",
    "compose_sym",
    "congruence",
    "det",
    "det_sym",
    "deviator_sym",
    "eigen_sym",
    "eigenvalues_sym",
    "gram",
    "inverse",
    "inverse_sym",
    "multiply",
    "multiply_transpose",
    "norm_sym",
    "polar",
    "svd",
    "trace_sym",
    "transpose",
    "transpose_multiply",
]


@compiled
def det(a: Tensor) -> float:
    """Determinant."""
    a0, a1, a2, a3, a4, a5, a6, a7, a8 = a
    return a0 * (a4 * a8 - a5 * a7) + a1 * (a5 * a6 - a3 * a8) + a2 * (a3 * a7 - a4 * a6)


@compiled
def _adjugate(a: Tensor) -> tuple[float, Tensor]:
    """Determinant and adjugate; adjugate/determinant is the inverse."""
    a0, a1, a2, a3, a4, a5, a6, a7, a8 = a
    c0, c3, c6 = a4 * a8 - a5 * a7, a5 * a6 - a3 * a8, a3 * a7 - a4 * a6
    return a0 * c0 + a1 * c3 + a2 * c6, (
        c0,
        a2 * a7 - a1 * a8,
        a1 * a5 - a2 * a4,
        c3,
        a0 * a8 - a2 * a6,
        a2 * a3 - a0 * a5,
        c6,
        a1 * a6 - a0 * a7,
        a0 * a4 - a1 * a3,
    )


@compiled
def inverse(a: Tensor) -> Tensor:
    """Inverse; not finite if `a` is singular."""
    d, c = _adjugate(a)
    scale = 1.0
    if not 1e-200 < abs(d) < 1e200:  # the determinant may have underflowed or overflowed
        a0, a1, a2, a3, a4, a5, a6, a7, a8 = a
        largest = max(max(abs(a0), abs(a1), abs(a2)), max(abs(a3), abs(a4), abs(a5)), max(abs(a6), abs(a7), abs(a8)))
        scale = 1.0 / largest
        d, c = _adjugate(
            (a0 * scale, a1 * scale, a2 * scale, a3 * scale, a4 * scale, a5 * scale, a6 * scale, a7 * scale, a8 * scale)
        )
    i = scale / d
    c0, c1, c2, c3, c4, c5, c6, c7, c8 = c
    return (c0 * i, c1 * i, c2 * i, c3 * i, c4 * i, c5 * i, c6 * i, c7 * i, c8 * i)


@compiled
def transpose(a: Tensor) -> Tensor:
    """Aᵀ."""
    return (a[0], a[3], a[6], a[1], a[4], a[7], a[2], a[5], a[8])


@compiled
def multiply(a: Tensor, b: Tensor) -> Tensor:
    """A B."""
    a0, a1, a2, a3, a4, a5, a6, a7, a8 = a
    b0, b1, b2, b3, b4, b5, b6, b7, b8 = b
    return (
        a0 * b0 + a1 * b3 + a2 * b6,
        a0 * b1 + a1 * b4 + a2 * b7,
        a0 * b2 + a1 * b5 + a2 * b8,
        a3 * b0 + a4 * b3 + a5 * b6,
        a3 * b1 + a4 * b4 + a5 * b7,
        a3 * b2 + a4 * b5 + a5 * b8,
        a6 * b0 + a7 * b3 + a8 * b6,
        a6 * b1 + a7 * b4 + a8 * b7,
        a6 * b2 + a7 * b5 + a8 * b8,
    )


@compiled
def multiply_transpose(a: Tensor, b: Tensor) -> Tensor:
    """A Bᵀ."""
    return multiply(a, transpose(b))


@compiled
def transpose_multiply(a: Tensor, b: Tensor) -> Tensor:
    """Aᵀ B."""
    return multiply(transpose(a), b)


@compiled
def trace_sym(s: Symmetric) -> float:
    """Trace."""
    return s[0] + s[1] + s[2]


@compiled
def det_sym(s: Symmetric) -> float:
    """Determinant of a symmetric tensor."""
    xx, yy, zz, xy, xz, yz = s
    return xx * (yy * zz - yz * yz) + xy * (yz * xz - xy * zz) + xz * (xy * yz - yy * xz)


@compiled
def inverse_sym(s: Symmetric) -> Symmetric:
    """Inverse of a symmetric tensor; not finite if it is singular."""
    xx, yy, zz, xy, xz, yz = s
    i0, i1, i2, _, i4, i5, _, _, i8 = inverse((xx, xy, xz, xy, yy, yz, xz, yz, zz))
    return (i0, i4, i8, i1, i2, i5)


@compiled(fastmath=STRICT)
def deviator_sym(s: Symmetric) -> Symmetric:
    """S − tr(S)/3 I, with full relative accuracy even when S is close to a multiple of I."""
    # Differences of diagonal entries are exact where the entries are close to each other.
    xx, yy, zz, xy, xz, yz = s
    dx, dy, dz = xx - yy, yy - zz, zz - xx
    return ((dx - dz) / 3.0, (dy - dx) / 3.0, (dz - dy) / 3.0, xy, xz, yz)


@compiled
def norm_sym(s: Symmetric) -> float:
    """Frobenius norm of a symmetric tensor."""
    xx, yy, zz, xy, xz, yz = s
    return math.sqrt(xx * xx + yy * yy + zz * zz + 2.0 * (xy * xy + xz * xz + yz * yz))


@compiled
def congruence(a: Tensor, s: Symmetric) -> Symmetric:
    """A S Aᵀ."""
    a0, a1, a2, a3, a4, a5, a6, a7, a8 = a
    xx, yy, zz, xy, xz, yz = s
    p0, p1, p2, p3, p4, p5, p6, p7, p8 = multiply(a, (xx, xy, xz, xy, yy, yz, xz, yz, zz))
    return (
        p0 * a0 + p1 * a1 + p2 * a2,
        p3 * a3 + p4 * a4 + p5 * a5,
        p6 * a6 + p7 * a7 + p8 * a8,
        p0 * a3 + p1 * a4 + p2 * a5,
        p0 * a6 + p1 * a7 + p2 * a8,
        p3 * a6 + p4 * a7 + p5 * a8,
    )


@compiled
def gram(a: Tensor) -> Symmetric:
    """A Aᵀ."""
    a0, a1, a2, a3, a4, a5, a6, a7, a8 = a
    return (
        a0 * a0 + a1 * a1 + a2 * a2,
        a3 * a3 + a4 * a4 + a5 * a5,
        a6 * a6 + a7 * a7 + a8 * a8,
        a0 * a3 + a1 * a4 + a2 * a5,
        a0 * a6 + a1 * a7 + a2 * a8,
        a3 * a6 + a4 * a7 + a5 * a8,
    )


@compiled
def compose_sym(l: Triple, v: Tensor) -> Symmetric:
    """V diag(l) Vᵀ."""
    l0, l1, l2 = l
    v0, v1, v2, v3, v4, v5, v6, v7, v8 = v
    p0, p1, p2 = l0 * v0, l1 * v1, l2 * v2
    p3, p4, p5 = l0 * v3, l1 * v4, l2 * v5
    return (
        p0 * v0 + p1 * v1 + p2 * v2,
        p3 * v3 + p4 * v4 + p5 * v5,
        l0 * v6 * v6 + l1 * v7 * v7 + l2 * v8 * v8,
        p0 * v3 + p1 * v4 + p2 * v5,
        p0 * v6 + p1 * v7 + p2 * v8,
        p3 * v6 + p4 * v7 + p5 * v8,
    )
