"""Two-dimensional tensors at one point, as tuples.

Full tensors are row-major 4-tuples, symmetric tensors (xx, yy, xy). Rotations are represented internally as (cos, sin).
Entries may have any magnitude from 1e-150 to 1e150; errors are of the order of machine precision times the norm. No
exceptions are raised: the inverse of a singular tensor is not finite, and NaN in the input gives NaN in the result.
"""

import math

from spume.numerics.jit import compiled

Tensor = tuple[float, float, float, float]
Symmetric = tuple[float, float, float]
Pair = tuple[float, float]

# No reassociation: the differences below are exact only in the order written.
STRICT = {"contract"}


@compiled
def det(a: Tensor) -> float:
    """Determinant."""
    return a[0] * a[3] - a[1] * a[2]


@compiled
def inverse(a: Tensor) -> Tensor:
    """Inverse; not finite if `a` is singular."""
    axx, axy, ayx, ayy = a
    d = 1.0 / det(a)
    return (ayy * d, -axy * d, -ayx * d, axx * d)


@compiled
def transpose(a: Tensor) -> Tensor:
    """Aᵀ."""
    return (a[0], a[2], a[1], a[3])


@compiled
def multiply(a: Tensor, b: Tensor) -> Tensor:
    """A B."""
    return (
        a[0] * b[0] + a[1] * b[2],
        a[0] * b[1] + a[1] * b[3],
        a[2] * b[0] + a[3] * b[2],
        a[2] * b[1] + a[3] * b[3],
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
    return s[0] + s[1]


@compiled
def det_sym(s: Symmetric) -> float:
    """Determinant of a symmetric tensor."""
    return s[0] * s[1] - s[2] * s[2]


@compiled
def inverse_sym(s: Symmetric) -> Symmetric:
    """Inverse of a symmetric tensor; not finite if it is singular."""
    d = 1.0 / det_sym(s)
    return (s[1] * d, s[0] * d, -s[2] * d)


@compiled(fastmath=STRICT)
def deviator_sym(s: Symmetric) -> Symmetric:
    """S − tr(S)/2 I, with full relative accuracy even when S is close to a multiple of I."""
    half = 0.5 * (s[0] - s[1])
    return (half, -half, s[2])


@compiled
def norm_sym(s: Symmetric) -> float:
    """Frobenius norm of a symmetric tensor."""
    return math.sqrt(s[0] * s[0] + s[1] * s[1] + 2.0 * s[2] * s[2])


@compiled
def congruence(a: Tensor, s: Symmetric) -> Symmetric:
    """A S Aᵀ."""
    axx, axy, ayx, ayy = a
    pxx, pxy, pyx, pyy = multiply(a, (s[0], s[2], s[2], s[1]))
    return (pxx * axx + pxy * axy, pyx * ayx + pyy * ayy, pxx * ayx + pxy * ayy)


@compiled
def gram(a: Tensor) -> Symmetric:
    """A Aᵀ."""
    return (a[0] * a[0] + a[1] * a[1], a[2] * a[2] + a[3] * a[3], a[0] * a[2] + a[1] * a[3])


@compiled(fastmath=STRICT)
def length_and_direction(x: float, y: float) -> tuple[float, Pair]:
    """Length of the vector (x, y) and the unit vector along it; (1, 0) for the zero vector."""
    square = x * x + y * y
    if 1e-280 < square < 1e300:
        length = math.sqrt(square)
        return length, (x / length, y / length)
    if square == 0.0 and x == 0.0 and y == 0.0:
        return 0.0, (1.0, 0.0)
    largest = max(abs(x), abs(y))
    x, y = x / largest, y / largest
    length = math.sqrt(x * x + y * y)
    return length * largest, (x / length, y / length)


@compiled(fastmath=STRICT)
def half_angle(direction: Pair) -> Pair:
    """(cos φ/2, sin φ/2) with −π < φ <= π, given (cos φ, sin φ)."""
    c, s = direction
    # Compute the square root without cancellation; the other component follows from sin φ = 2 cos φ/2 sin φ/2.
    large = math.sqrt(0.5 + 0.5 * abs(c))
    small = 0.5 * s / large
    if c >= 0.0:
        return (large, small)
    return (abs(small), math.copysign(large, s))


@compiled(fastmath=STRICT)
def eigenvalues_sym(s: Symmetric) -> Pair:
    """Eigenvalues in descending order."""
    mean = 0.5 * (s[0] + s[1])
    radius, _ = length_and_direction(0.5 * (s[0] - s[1]), s[2])
    return (mean + radius, mean - radius)


@compiled(fastmath=STRICT)
def eigen_sym(s: Symmetric) -> tuple[Pair, Tensor]:
    """Eigenvalues in descending order and the rotation whose columns are the eigenvectors."""
    # S = mean I + radius [[cos φ, sin φ], [sin φ, −cos φ]]: the reflection has its first axis at φ/2.
    mean = 0.5 * (s[0] + s[1])
    radius, direction = length_and_direction(0.5 * (s[0] - s[1]), s[2])
    c, n = half_angle(direction)
    return (mean + radius, mean - radius), (c, -n, n, c)


@compiled
def compose_sym(l: Pair, v: Tensor) -> Symmetric:
    """V diag(l) Vᵀ."""
    l0, l1 = l
    return (
        l0 * v[0] * v[0] + l1 * v[1] * v[1],
        l0 * v[2] * v[2] + l1 * v[3] * v[3],
        l0 * v[0] * v[2] + l1 * v[1] * v[3],
    )


@compiled(fastmath=STRICT)
def svd(a: Tensor) -> tuple[Tensor, Pair, Tensor]:
    """A = U diag(s) Vᵀ with rotations U and V, s0 >= |s1|, and s1 with the sign of det A."""
    # A = q Rot(α) + r Refl(β) and U diag(s) Vᵀ = (s0+s1)/2 Rot(u−v) + (s0−s1)/2 Refl(u+v).
    axx, axy, ayx, ayy = a
    q, rotation = length_and_direction(0.5 * (axx + ayy), 0.5 * (ayx - axy))
    r, reflection = length_and_direction(0.5 * (axx - ayy), 0.5 * (ayx + axy))
    c, s = half_angle(rotation)
    d, t = half_angle(reflection)
    uc, us = c * d - s * t, c * t + s * d
    vc, vs = c * d + s * t, c * t - s * d
    return (uc, -us, us, uc), (q + r, q - r), (vc, -vs, vs, vc)


@compiled(fastmath=STRICT)
def polar(a: Tensor) -> tuple[Tensor, Symmetric]:
    """A = R S with the rotation R nearest to A and a symmetric S (positive where det A > 0)."""
    axx, axy, ayx, ayy = a
    _, (c, s) = length_and_direction(axx + ayy, ayx - axy)
    return (c, -s, s, c), (c * axx + s * ayx, c * ayy - s * axy, 0.5 * (c * (axy + ayx) + s * (ayy - axx)))
