"""The kernels of [Gerszewski09]: eq. (7) for the least-squares fit, eqs. (12) and (13) for forces.

With the radius h and the distance r ≤ h:

    poly6     W = a (h² − r²)³                       a = 315/(64 π h⁹), in 2D 4/(π h⁸)
    elastic   W = c (2h/π) (1 + cos((r + h) π/2h))   c = π/(8 h⁴ (π/3 − 8/π + 16/π²)), in 2D
                                                     1/(4 h³ (1/2 − 4/π²))

The paper gives the constants in 3D; those in 2D follow from ∫ W = 1 over the disc. The fit does not depend on the
factor of its weights. The gradient of the elastic kernel is ∇W(x) = −c cos(π r/2h) x/r: its magnitude does not vanish
as r → 0, so the force between points that come close to each other does not vanish either.
"""

import math

from spume.numerics.jit import compiled
from spume.numerics.lanes import root_of_lanes, where_less

LARGEST_PHASE = 0.25 * math.pi**2
"""(π r/2h)² at r = h."""


def elastic_constant(dimension: int, h: float) -> float:
    """c of eq. (13) [1/m⁴, in 2D 1/m³]."""
    if dimension == 3:
        return math.pi / (8.0 * h**4 * (math.pi / 3.0 - 8.0 / math.pi + 16.0 / math.pi**2))
    return 1.0 / (4.0 * h**3 * (0.5 - 4.0 / math.pi**2))


# Polynomials of degree 8 in q, interpolated at the Chebyshev points of 0 ≤ q ≤ π²/4: without root or branch, and less
# than 1e-16 from the functions. The Taylor series of degree 9 have an error of 3e-15.
@compiled(inline="always")
def cos_root(q):
    """cos √q for 0 ≤ q ≤ π²/4."""
    s = q * 4.608977003001797e-14 - 1.1462901901757276e-11
    s = q * s + 2.0876561839933163e-09
    s = q * s - 2.755731639102575e-07
    s = q * s + 2.4801587277414926e-05
    s = q * s - 0.001388888888877299
    s = q * s + 0.04166666666666388
    s = q * s - 0.4999999999999997
    return q * s + 1.0


@compiled(inline="always")
def sinc_root(q):
    """sin √q/√q for 0 ≤ q ≤ π²/4."""
    s = q * 2.7215749422983443e-15 - 7.643026557971632e-13
    s = q * s + 1.605894087848656e-10
    s = q * s - 2.505210689056952e-08
    s = q * s + 2.7557319211229606e-06
    s = q * s - 0.00019841269841208676
    s = q * s + 0.008333333333333186
    s = q * s - 0.16666666666666666
    return q * s + 1.0


@compiled(inline="always")
def elastic_slope(square, h, c):
    """−W'(r)/r of the elastic kernel from r² [m²], so that ∇W(x) = −elastic_slope x; 0 beyond h and at r = 0, where the
    gradient has no direction."""
    k = 0.5 * math.pi / h
    q = k * k * square
    inside = q > 0.0 and q < LARGEST_PHASE
    q = q if inside else 1.0  # no branch, so that loops vectorise
    return c * k * cos_root(q) / math.sqrt(q) if inside else 0.0


@compiled(inline="always")
def elastic_kernel(square, h, c):
    """W of eq. (12) from r² [m²], 0 beyond h."""
    k = 0.5 * math.pi / h
    q = k * k * square
    inside = q < LARGEST_PHASE
    q = q if inside else 0.0
    return c / k * (1.0 - math.sqrt(q) * sinc_root(q)) if inside else 0.0


# The same for eight neighbours at once, see `numerics.lanes`.


@compiled(inline="always")
def elastic_slopes(square, h, c):
    """`elastic_slope` of eight squares."""
    k = 0.5 * math.pi / h
    q = square * (k * k)
    q = where_less(q, LARGEST_PHASE, q, 0.0)
    inside = where_less(0.0, q, q, 1.0)
    return where_less(0.0, q, cos_root(inside) * (c * k) / root_of_lanes(inside), 0.0)


@compiled(inline="always")
def elastic_kernels(square, h, c):
    """`elastic_kernel` of eight squares."""
    k = 0.5 * math.pi / h
    q = square * (k * k)
    inside = where_less(q, LARGEST_PHASE, q, 0.0)
    return where_less(q, LARGEST_PHASE, (1.0 - root_of_lanes(inside) * sinc_root(inside)) * (c / k), 0.0)


@compiled(inline="always")
def squared_weights(square, inverse_square):
    """w² of the fit from eight r² and 1/h², with w = (1 − r²/h²)³; 0 beyond h. Eq. (6) weights the columns of X and Y
    by w, so XXᵀ contains w²."""
    t = 1.0 - square * inverse_square
    t = where_less(0.0, t, t, 0.0)
    t = t * t * t
    return t * t
