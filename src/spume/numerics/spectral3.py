"""Eigenvalues, singular values and polar decomposition of three-dimensional tensors at one point.

The algorithm is not iterative, yet accurate to machine precision times the norm for every tensor with entries from
1e-150 to 1e150 in magnitude. Of the three eigenvalues of a symmetric tensor, the one farthest from the other two is
always well conditioned, and so is its eigenvector. It is computed from the characteristic polynomial and split off by
an orthogonal change of basis; the remaining two-dimensional problem has a stable closed form. [Scherzinger08] splits in
the same way; the formulas for the root and for splitting singular values are our own.
"""

import math

from spume.numerics import tensor2
from spume.numerics.jit import compiled

Tensor = tuple[float, float, float, float, float, float, float, float, float]
Symmetric = tuple[float, float, float, float, float, float]
Triple = tuple[float, float, float]

# No reassociation: the differences below are exact only in the order written.
STRICT = {"contract"}

# For functions that return many numbers to one or two callers: returning them through memory takes a tenth of the time.
inlined = compiled(fastmath=STRICT, inline="always")


@compiled(fastmath=set())
def _split_mean(x: float, y: float, z: float) -> tuple[float, float, float, float]:
    """(m, x − m, y − m, z − m) with m close to the mean; exact differences if x, y, z are within a factor 2 of m."""
    m = (x + y + z) * (1.0 / 3.0)
    return m, x - m, y - m, z - m


@inlined
def _normal_form(s: Symmetric) -> tuple[float, float, float, Symmetric]:
    """(m, n, p, b) with S = (m + n) I + p b and tr b = 0, tr b² = 6; p = 0 if S is a multiple of the identity.

    The mean is subtracted twice: first rounded (m), then its rounding error (n). So b keeps its relative accuracy where
    S is close to a multiple of the identity.
    """
    xx, yy, zz, xy, xz, yz = s
    m, xx, yy, zz = _split_mean(xx, yy, zz)
    n, xx, yy, zz = _split_mean(xx, yy, zz)
    scale = 1.0
    square = xx * xx + yy * yy + zz * zz + 2.0 * (xy * xy + xz * xz + yz * yz)
    if not 1e-250 < square < 1e250:
        scale = max(max(abs(xx), abs(yy), abs(zz)), max(abs(xy), abs(xz), abs(yz)))
        if scale == 0.0 and square == 0.0:
            return m, n, 0.0, (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        xx, yy, zz, xy, xz, yz = xx / scale, yy / scale, zz / scale, xy / scale, xz / scale, yz / scale
        square = xx * xx + yy * yy + zz * zz + 2.0 * (xy * xy + xz * xz + yz * yz)
    p = math.sqrt(square * (1.0 / 6.0))
    i = 1.0 / p
    return m, n, p * scale, (xx * i, yy * i, zz * i, xy * i, xz * i, yz * i)


@compiled(fastmath=STRICT)
def half_det(b: Symmetric) -> float:
    xx, yy, zz, xy, xz, yz = b
    return 0.5 * (xx * (yy * zz - yz * yz) + xy * (yz * xz - xy * zz) + xz * (xy * yz - yy * xz))


@compiled(fastmath=STRICT)
def isolated_root(r: float) -> float:
    """The root x = 2 cos(acos(r)/3) in [√3, 2] of the characteristic polynomial x³ − 3x − 2r, 0 <= r <= 1."""
    # Chebyshev interpolant of degree 5 with error 1.3e-6, then one step of Halley, which cubes the error.
    x = 1.7320521 + r * (0.33323771 + r * (-0.095050028 + r * (0.043799255 + r * (-0.017932902 + r * 0.0038946032))))
    f = x * (x * x - 3.0) - 2.0 * r
    g = 3.0 * (x * x - 1.0)
    return x - f * g / (g * g - 3.0 * x * f)


@compiled(fastmath=STRICT)
def eigenvalues_sym(s: Symmetric) -> Triple:
    """Eigenvalues in descending order."""
    m, n, p, b = _normal_form(s)
    xx, yy, zz, xy, xz, yz = b
    r = half_det(b)
    x = isolated_root(abs(r))
    # With r = cos φ, the other two eigenvalues are 2√3 sin φ / (x² − 1) apart. Where they are close, sin² φ = 1 − r²
    # would lose all digits; |b² − r b − 2I|² = 6 sin² φ (Cayley-Hamilton) keeps full accuracy.
    exx = xx * xx + xy * xy + xz * xz - r * xx - 2.0
    eyy = xy * xy + yy * yy + yz * yz - r * yy - 2.0
    ezz = xz * xz + yz * yz + zz * zz - r * zz - 2.0
    exy = xx * xy + xy * yy + xz * yz - r * xy
    exz = xx * xz + xy * yz + xz * zz - r * xz
    eyz = xy * xz + yy * yz + yz * zz - r * yz
    square = exx * exx + eyy * eyy + ezz * ezz + 2.0 * (exy * exy + exz * exz + eyz * eyz)
    half = math.sqrt(0.5 * square) / (x * x - 1.0)
    x = math.copysign(x, r)
    isolated, larger, smaller = m + (n + p * x), m + (n + p * (half - 0.5 * x)), m + (n - p * (half + 0.5 * x))
    return (
        isolated if x > 0.0 else larger,
        larger if x > 0.0 else smaller,
        smaller if x > 0.0 else isolated,
    )


@compiled(fastmath=STRICT)
def _isolated_vector(b: Symmetric, x: float) -> Triple:
    """Unit eigenvector of b (in normal form) for its isolated eigenvalue x."""
    # The adjugate of b − x I is (x − x1)(x − x2) v vᵀ with a factor of at least 6: take its longest column.
    xx, yy, zz, xy, xz, yz = b
    xx, yy, zz = xx - x, yy - x, zz - x
    cxx, cyy, czz = yy * zz - yz * yz, xx * zz - xz * xz, xx * yy - xy * xy
    cxy, cxz, cyz = yz * xz - xy * zz, xy * yz - yy * xz, xy * xz - xx * yz
    if cxx >= cyy and cxx >= czz:
        vx, vy, vz = cxx, cxy, cxz
    elif cyy >= czz:
        vx, vy, vz = cxy, cyy, cyz
    else:
        vx, vy, vz = cxz, cyz, czz
    i = 1.0 / math.sqrt(vx * vx + vy * vy + vz * vz)
    return (vx * i, vy * i, vz * i)


@compiled(fastmath=STRICT)
def _complement(v: Triple) -> tuple[Triple, Triple]:
    """Two unit vectors that complete the unit vector v to a right-handed orthonormal basis (v, e, f). [Duff17]"""
    x, y, z = v
    sign = math.copysign(1.0, z)
    a = -1.0 / (sign + z)
    b = x * y * a
    return (1.0 + sign * x * x * a, sign * b, -sign * x), (b, sign + y * y * a, -y)


@compiled(fastmath=STRICT)
def _apply_sym(s: Symmetric, v: Triple) -> Triple:
    xx, yy, zz, xy, xz, yz = s
    x, y, z = v
    return (xx * x + xy * y + xz * z, xy * x + yy * y + yz * z, xz * x + yz * y + zz * z)


@compiled(fastmath=STRICT)
def dot(a: Triple, b: Triple) -> float:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@compiled(fastmath=STRICT)
def turn(e: Triple, f: Triple, c: float, s: float) -> tuple[Triple, Triple]:
    """Orthonormal pair (e, f) rotated in its plane by the angle with cosine c and sine s."""
    return (
        (c * e[0] + s * f[0], c * e[1] + s * f[1], c * e[2] + s * f[2]),
        (c * f[0] - s * e[0], c * f[1] - s * e[1], c * f[2] - s * e[2]),
    )


@compiled(fastmath=STRICT)
def _columns(a: Triple, b: Triple, c: Triple) -> Tensor:
    return (a[0], b[0], c[0], a[1], b[1], c[1], a[2], b[2], c[2])


@compiled(fastmath=STRICT)
def eigen_sym(s: Symmetric) -> tuple[Triple, Tensor]:
    """Eigenvalues in descending order and the rotation whose columns are the eigenvectors."""
    m, n, p, b = _normal_form(s)
    if p == 0.0:
        return (m + n, m + n, m + n), (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
    r = half_det(b)
    x = math.copysign(isolated_root(abs(r)), r)
    v = _isolated_vector(b, x)
    e, f = _complement(v)
    be, bf = _apply_sym(b, e), _apply_sym(b, f)
    (x1, x2), (c, _, t, _) = tensor2.eigen_sym((dot(e, be), dot(f, bf), dot(e, bf)))
    e, f = turn(e, f, c, t)
    isolated, larger, smaller = m + (n + p * x), m + (n + p * x1), m + (n + p * x2)
    if x > 0.0:
        return (isolated, larger, smaller), _columns(v, e, f)
    return (larger, smaller, isolated), _columns(e, f, v)


@compiled(fastmath=STRICT)
def apply(a: Tensor, v: Triple) -> Triple:
    x, y, z = v
    return (a[0] * x + a[1] * y + a[2] * z, a[3] * x + a[4] * y + a[5] * z, a[6] * x + a[7] * y + a[8] * z)


@compiled(fastmath=STRICT)
def cross(a: Triple, b: Triple) -> Triple:
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


@compiled(fastmath=STRICT)
def _unit(a: Triple) -> Triple:
    i = 1.0 / math.sqrt(dot(a, a))
    return (a[0] * i, a[1] * i, a[2] * i)


@compiled(fastmath=STRICT)
def _negative(a: Triple) -> Triple:
    return (-a[0], -a[1], -a[2])


@inlined
def _isolated_singular(a: Tensor) -> tuple[float, Triple]:
    """Isolated root, and right singular vector of the singular value whose square is farthest from the others.

    The root is positive if that singular value is the largest, negative if it is the smallest.
    """
    a0, a1, a2, a3, a4, a5, a6, a7, a8 = a
    _, _, p, b = _normal_form(
        (
            a0 * a0 + a3 * a3 + a6 * a6,
            a1 * a1 + a4 * a4 + a7 * a7,
            a2 * a2 + a5 * a5 + a8 * a8,
            a0 * a1 + a3 * a4 + a6 * a7,
            a0 * a2 + a3 * a5 + a6 * a8,
            a1 * a2 + a4 * a5 + a7 * a8,
        )
    )
    if p == 0.0:
        return 1.0, (1.0, 0.0, 0.0)
    r = half_det(b)
    x = math.copysign(isolated_root(abs(r)), r)
    return x, _isolated_vector(b, x)


@inlined
def _svd_unscaled(a: Tensor) -> tuple[tuple[Triple, Triple, Triple], Triple, tuple[Triple, Triple, Triple]]:
    """Columns of U, singular values and columns of V; in descending order up to rounding."""
    x, v = _isolated_singular(a)
    e, f = _complement(v)
    ae, af, av = apply(a, e), apply(a, f), apply(a, v)
    # A v is orthogonal to A e and A f up to the rounding of AᵀA. The left vector is computed from what is not small: A
    # v itself if its singular value is the largest, else the normal of A e and A f, which then have similar lengths.
    u = _unit(av) if x > 0.0 else _unit(cross(ae, af))
    g, h = _complement(u)
    (c, _, s, _), (s1, s2), (d, _, t, _) = tensor2.svd((dot(g, ae), dot(g, af), dot(h, ae), dot(h, af)))
    g, h = turn(g, h, c, s)
    e, f = turn(e, f, d, t)
    if x > 0.0:
        return (u, g, h), (dot(u, av), s1, s2), (v, e, f)
    return (g, h, u), (s1, s2, dot(u, av)), (e, f, v)


@compiled(fastmath=STRICT)
def svd(a: Tensor) -> tuple[Tensor, Triple, Tensor]:
    """A = U diag(s) Vᵀ with rotations U and V, s0 >= s1 >= |s2|, and s2 with the sign of det A."""
    a0, a1, a2, a3, a4, a5, a6, a7, a8 = a
    scale = 1.0
    largest = max(max(abs(a0), abs(a1), abs(a2)), max(max(abs(a3), abs(a4), abs(a5)), max(abs(a6), abs(a7), abs(a8))))
    if largest == 0.0:
        one = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
        return one, (0.0, 0.0, 0.0), one
    if not 1e-60 < largest < 1e60:  # the squares of AᵀA must neither vanish nor overflow
        scale = largest
        a = (a0 / scale, a1 / scale, a2 / scale, a3 / scale, a4 / scale, a5 / scale, a6 / scale, a7 / scale, a8 / scale)
    (u0, u1, u2), (s0, s1, s2), (v0, v1, v2) = _svd_unscaled(a)
    # Swapping two columns and negating one of them, in both U and V, keeps U and V rotations and U diag(s) Vᵀ the same.
    if s0 < s1:
        s0, s1, u0, u1, v0, v1 = s1, s0, u1, _negative(u0), v1, _negative(v0)
    if s1 < abs(s2):
        s1, s2, u1, u2, v1, v2 = s2, s1, u2, _negative(u1), v2, _negative(v1)
        if s1 < 0.0:
            s1, s2, u1, u2 = -s1, -s2, _negative(u1), _negative(u2)
        if s0 < s1:
            s0, s1, u0, u1, v0, v1 = s1, s0, u1, _negative(u0), v1, _negative(v0)
    return _columns(u0, u1, u2), (s0 * scale, s1 * scale, s2 * scale), _columns(v0, v1, v2)


@inlined
def _newton_polar(a: Tensor) -> tuple[float, Tensor]:
    """|X − A|² and Newton's step X = (A + A⁻ᵀ)/2 towards the nearest rotation; infinite unless det A > 0."""
    a0, a1, a2, a3, a4, a5, a6, a7, a8 = a
    c0, c1, c2 = a4 * a8 - a5 * a7, a5 * a6 - a3 * a8, a3 * a7 - a4 * a6
    c3, c4, c5 = a2 * a7 - a1 * a8, a0 * a8 - a2 * a6, a1 * a6 - a0 * a7
    c6, c7, c8 = a1 * a5 - a2 * a4, a2 * a3 - a0 * a5, a0 * a4 - a1 * a3
    det = a0 * c0 + a1 * c1 + a2 * c2
    if not det > 0.0:
        return math.inf, a
    i = 0.5 / det
    d0, d1, d2 = c0 * i - 0.5 * a0, c1 * i - 0.5 * a1, c2 * i - 0.5 * a2
    d3, d4, d5 = c3 * i - 0.5 * a3, c4 * i - 0.5 * a4, c5 * i - 0.5 * a5
    d6, d7, d8 = c6 * i - 0.5 * a6, c7 * i - 0.5 * a7, c8 * i - 0.5 * a8
    square = (d0 * d0 + d1 * d1 + d2 * d2) + (d3 * d3 + d4 * d4 + d5 * d5) + (d6 * d6 + d7 * d7 + d8 * d8)
    return square, (a0 + d0, a1 + d1, a2 + d2, a3 + d3, a4 + d4, a5 + d5, a6 + d6, a7 + d7, a8 + d8)


@compiled(fastmath=STRICT)
def polar(a: Tensor) -> tuple[Tensor, Symmetric]:
    """A = R S with the rotation R nearest to A and a symmetric S (positive where det A > 0)."""
    square, rotation = _newton_polar(a)
    if square < 0.1:
        # A step takes a stretch 1 + e to 1 + e²/2 + …, so the remaining error is half the square of the step length.
        while square > 2e-16:
            square, rotation = _newton_polar(rotation)
    else:
        u, _, v = svd(a)
        rotation = _rows_product(u, v)
    r0, r1, r2, r3, r4, r5, r6, r7, r8 = rotation
    a0, a1, a2, a3, a4, a5, a6, a7, a8 = a
    return rotation, (
        r0 * a0 + r3 * a3 + r6 * a6,
        r1 * a1 + r4 * a4 + r7 * a7,
        r2 * a2 + r5 * a5 + r8 * a8,
        0.5 * ((r0 * a1 + r3 * a4 + r6 * a7) + (r1 * a0 + r4 * a3 + r7 * a6)),
        0.5 * ((r0 * a2 + r3 * a5 + r6 * a8) + (r2 * a0 + r5 * a3 + r8 * a6)),
        0.5 * ((r1 * a2 + r4 * a5 + r7 * a8) + (r2 * a1 + r5 * a4 + r8 * a7)),
    )


@compiled(fastmath=STRICT)
def _rows_product(u: Tensor, v: Tensor) -> Tensor:
    """U Vᵀ."""
    return (
        u[0] * v[0] + u[1] * v[1] + u[2] * v[2],
        u[0] * v[3] + u[1] * v[4] + u[2] * v[5],
        u[0] * v[6] + u[1] * v[7] + u[2] * v[8],
        u[3] * v[0] + u[4] * v[1] + u[5] * v[2],
        u[3] * v[3] + u[4] * v[4] + u[5] * v[5],
        u[3] * v[6] + u[4] * v[7] + u[5] * v[8],
        u[6] * v[0] + u[7] * v[1] + u[8] * v[2],
        u[6] * v[3] + u[7] * v[4] + u[8] * v[5],
        u[6] * v[6] + u[7] * v[7] + u[8] * v[8],
    )
