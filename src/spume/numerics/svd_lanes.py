"""Singular value decomposition of eight three-dimensional tensors at once, without branches.

The algorithm is that of `spectral3.svd`, a long chain of roots and divisions that depend on each other; a processor
does them for eight tensors in little more time than for one. Accurate to machine precision times the norm.
"""

from spume.numerics import spectral3, tensor2
from spume.numerics.jit import compiled, inlined
from spume.numerics.lanes import (
    LANES,
    abs_of_lanes,
    all_less,
    load_lanes,
    root_of_lanes,
    store_lanes,
    where_less,
    with_sign_of,
    zero_lanes,
)

LEAST, MOST = 1e-100, 1e100
"""Range of ‖A‖² in which no square vanishes or overflows; other tensors are decomposed one by one."""
SAME = 1e-36
"""AᵀA is a multiple of the identity if the square of its deviator is less than this, relative to the square of its
trace; rounding is 1e-33."""
NOTHING = 1e-280
"""Smallest square of a length that has a direction."""
LEFT, VALUES, RIGHT, SVD_ROWS = 9, 18, 21, 30
"""Rows of U, s and V in the memory of `svd_of_eight`, and the number of rows."""

_scalar_svd_2, _scalar_svd_3 = tensor2.svd, spectral3.svd
_half_det, _isolated_root = inlined(spectral3.half_det), inlined(spectral3.isolated_root)
_apply, _cross, _dot, _turn = (
    inlined(spectral3.apply), inlined(spectral3.cross), inlined(spectral3.dot), inlined(spectral3.turn)
)  # fmt: skip


@compiled(forceinline=True)
def row(memory, i):
    """Row i of the memory of eight points."""
    return load_lanes(memory, i * LANES)


@compiled(forceinline=True)
def put(memory, i, values):
    """Write row i of the memory of eight points."""
    store_lanes(memory, i * LANES, values)


@compiled(forceinline=True)
def _longest_of_adjugate(b, x):
    """Eigenvector of b for its isolated eigenvalue x, of any length: the longest column of the adjugate of b − x I."""
    xx, yy, zz, xy, xz, yz = b
    xx, yy, zz = xx - x, yy - x, zz - x
    cxx, cyy, czz = yy * zz - yz * yz, xx * zz - xz * xz, xx * yy - xy * xy
    cxy, cxz, cyz = yz * xz - xy * zz, xy * yz - yy * xz, xy * xz - xx * yz
    vx, vy, vz = where_less(cxx, cyy, cxy, cxx), where_less(cxx, cyy, cyy, cxy), where_less(cxx, cyy, cyz, cxz)
    longest = where_less(cxx, cyy, cyy, cxx)
    return (
        where_less(longest, czz, cxz, vx),
        where_less(longest, czz, cyz, vy),
        where_less(longest, czz, czz, vz),
    )


@compiled(forceinline=True)
def _unit(a):
    i = 1.0 / root_of_lanes(_dot(a, a))
    return (a[0] * i, a[1] * i, a[2] * i)


@compiled(forceinline=True)
def _complement(v):
    """Two unit vectors that complete the unit vector v to a right-handed orthonormal basis (v, e, f). [Duff17]"""
    x, y, z = v
    sign = with_sign_of(1.0, z)
    a = -1.0 / (sign + z)
    b = x * y * a
    return (1.0 + sign * x * x * a, sign * b, 0.0 - sign * x), (b, sign + y * y * a, 0.0 - y)


@compiled(forceinline=True)
def _isolated_singular(a):
    """The square ‖A‖², and isolated root and right singular vector as in `spectral3`."""
    a0, a1, a2, a3, a4, a5, a6, a7, a8 = a
    xx, yy, zz = a0 * a0 + a3 * a3 + a6 * a6, a1 * a1 + a4 * a4 + a7 * a7, a2 * a2 + a5 * a5 + a8 * a8
    xy, xz, yz = a0 * a1 + a3 * a4 + a6 * a7, a0 * a2 + a3 * a5 + a6 * a8, a1 * a2 + a4 * a5 + a7 * a8
    trace = xx + yy + zz
    # the deviator by differences, which are exact where AᵀA is close to a multiple of the identity
    dxy, dyz, dzx = xx - yy, yy - zz, zz - xx
    xx, yy, zz = (dxy - dzx) * (1.0 / 3.0), (dyz - dxy) * (1.0 / 3.0), (dzx - dyz) * (1.0 / 3.0)
    square = xx * xx + yy * yy + zz * zz + 2.0 * (xy * xy + xz * xz + yz * yz)
    least = SAME * trace * trace
    i = 1.0 / root_of_lanes(where_less(least, square, square, 6.0) * (1.0 / 6.0))
    b = (xx * i, yy * i, zz * i, xy * i, xz * i, yz * i)
    r = _half_det(b)
    x = with_sign_of(_isolated_root(abs_of_lanes(r)), r)
    vx, vy, vz = _longest_of_adjugate(b, x)
    v = (
        where_less(least, square, vx, 1.0),
        where_less(least, square, vy, 0.0),
        where_less(least, square, vz, 0.0),
    )
    return trace, where_less(least, square, x, 1.0), _unit(v)


@compiled(forceinline=True)
def _length_and_half_angle(x, y):
    """Length of (x, y), and cosine and sine of half its angle −π < φ <= π; 0 and (1, 0) for the zero vector."""
    square = x * x + y * y
    length = where_less(NOTHING, square, root_of_lanes(square), 0.0)
    # (cos φ/2, sin φ/2) is along (|v| + x, y) and along (|y|, ± (|v| − x)): take the one without cancellation
    large = where_less(NOTHING, square, length + abs_of_lanes(x), 1.0)
    i = 1.0 / root_of_lanes(large * large + y * y)
    large, small = large * i, y * i
    return (
        length,
        where_less(x, 0.0, abs_of_lanes(small), large),
        where_less(x, 0.0, with_sign_of(large, y), small),
    )


@compiled(forceinline=True)
def _svd_2(axx, axy, ayx, ayy):
    """((cos, sin) of U), (s0, s1), ((cos, sin) of V), see `tensor2.svd`."""
    q, c, s = _length_and_half_angle(0.5 * (axx + ayy), 0.5 * (ayx - axy))
    r, d, t = _length_and_half_angle(0.5 * (axx - ayy), 0.5 * (ayx + axy))
    return (c * d - s * t, c * t + s * d), (q + r, q - r), (c * d + s * t, c * t - s * d)


@compiled(forceinline=True)
def _chosen(x, a, b):
    """Vector a where x < 0, else b."""
    return (where_less(x, 0.0, a[0], b[0]), where_less(x, 0.0, a[1], b[1]), where_less(x, 0.0, a[2], b[2]))


@compiled(forceinline=True)
def _put_columns(memory, first, a, b, c):
    for k in range(3):
        put(memory, first + 3 * k, a[k])
        put(memory, first + 3 * k + 1, b[k])
        put(memory, first + 3 * k + 2, c[k])


@compiled(forceinline=True)
def _put_values(memory, s0, s1, s2):
    put(memory, VALUES, s0)
    put(memory, VALUES + 1, s1)
    put(memory, VALUES + 2, s2)


@compiled(forceinline=True)
def _within(size, bound):
    """`size`, or its sign times `bound` if that is smaller in magnitude: only rounding violates the order of values."""
    least = abs_of_lanes(size)
    return with_sign_of(where_less(least, bound, least, bound), size)


@compiled
def _ordinary(memory, k):
    """Whether the squares of tensor k neither vanish nor overflow."""
    total = 0.0
    for i in range(9):
        total += memory[i, k] * memory[i, k]
    return LEAST < total < MOST


@compiled
def _put_one(memory, k, U, s, V):
    for i in range(9):
        memory[LEFT + i, k], memory[RIGHT + i, k] = U[i], V[i]
    for i in range(3):
        memory[VALUES + i, k] = s[i]


@compiled
def plane_svd(a):
    """Singular value decomposition of a tensor with (0, 0, zz) in the third row and column; zz is the last value."""
    (u0, u1, u2, u3), (s0, s1), (v0, v1, v2, v3) = _scalar_svd_2((a[0], a[1], a[3], a[4]))
    return (
        (u0, u1, 0.0, u2, u3, 0.0, 0.0, 0.0, 1.0),
        (s0, s1, a[8]),
        (v0, v1, 0.0, v2, v3, 0.0, 0.0, 0.0, 1.0),
    )


@compiled
def _components(memory, k):
    a = memory[:, k]
    return (a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8])


@compiled
def plane_svd_of_eight(memory):
    """`plane_svd` of eight tensors, see `svd_of_eight`."""
    axx, axy, ayx, ayy = row(memory, 0), row(memory, 1), row(memory, 3), row(memory, 4)
    zz = row(memory, 8)
    square = axx * axx + axy * axy + (ayx * ayx + ayy * ayy) + zz * zz
    (c, s), (s0, s1), (d, t) = _svd_2(axx, axy, ayx, ayy)
    zero = zero_lanes()
    one = zero + 1.0
    _put_columns(memory, LEFT, (c, s, zero), (0.0 - s, c, zero), (zero, zero, one))
    _put_columns(memory, RIGHT, (d, t, zero), (0.0 - t, d, zero), (zero, zero, one))
    _put_values(memory, s0, s1, zz)
    if not (all_less(LEAST, square) and all_less(square, MOST)):
        for k in range(LANES):
            if not _ordinary(memory, k):
                U, S, V = plane_svd(_components(memory, k))
                _put_one(memory, k, U, S, V)


@compiled
def svd_of_eight(memory):
    """A = U diag(s) Vᵀ of eight tensors, with rotations U and V, s0 >= s1 >= |s2|, and s2 with the sign of det A.

    memory: shape (SVD_ROWS or more, LANES), contiguous: rows 0 to 8 are the components of the tensors; those of U, s
    and V are written to the rows from LEFT, VALUES and RIGHT.
    """
    a = (
        row(memory, 0), row(memory, 1), row(memory, 2),
        row(memory, 3), row(memory, 4), row(memory, 5),
        row(memory, 6), row(memory, 7), row(memory, 8),
    )  # fmt: skip
    square, x, v = _isolated_singular(a)
    e, f = _complement(v)
    ae, af, av = _apply(a, e), _apply(a, f), _apply(a, v)
    u = _unit(_chosen(x, _cross(ae, af), av))
    g, h = _complement(u)
    (c, s), (s1, s2), (d, t) = _svd_2(_dot(g, ae), _dot(g, af), _dot(h, ae), _dot(h, af))
    g, h = _turn(g, h, c, s)
    e, f = _turn(e, f, d, t)
    _put_columns(memory, LEFT, _chosen(x, g, u), _chosen(x, h, g), _chosen(x, u, h))
    _put_columns(memory, RIGHT, _chosen(x, e, v), _chosen(x, f, e), _chosen(x, v, f))
    s0, s1, s2 = _chosen(x, (s1, s2, _dot(u, av)), (_dot(u, av), s1, s2))
    s1 = _within(s1, s0)
    _put_values(memory, s0, s1, _within(s2, s1))
    if not (all_less(LEAST, square) and all_less(square, MOST)):
        for k in range(LANES):
            if not _ordinary(memory, k):
                U, S, V = _scalar_svd_3(_components(memory, k))
                _put_one(memory, k, U, S, V)
