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

LARGEST_PHASE = 0.25 * math.pi**2
"""(π r/2h)² at r = h."""


def elastic_constant(dimension: int, h: float) -> float:
    """c of eq. (13) [1/m⁴, in 2D 1/m³]."""
    if dimension == 3:
        return math.pi / (8.0 * h**4 * (math.pi / 3.0 - 8.0 / math.pi + 16.0 / math.pi**2))
    return 1.0 / (4.0 * h**3 * (0.5 - 4.0 / math.pi**2))


@compiled(inline="always")
def _cos_root(q):
    """cos √q for 0 ≤ q ≤ π²/4 to 1e-15, from its series, which needs neither root nor branch."""
    s = 1.0 - q * (1.0 / 306.0)
    s = 1.0 - q * (1.0 / 240.0) * s
    s = 1.0 - q * (1.0 / 182.0) * s
    s = 1.0 - q * (1.0 / 132.0) * s
    s = 1.0 - q * (1.0 / 90.0) * s
    s = 1.0 - q * (1.0 / 56.0) * s
    s = 1.0 - q * (1.0 / 30.0) * s
    s = 1.0 - q * (1.0 / 12.0) * s
    return 1.0 - q * 0.5 * s


@compiled(inline="always")
def _sinc_root(q):
    """sin √q/√q for 0 ≤ q ≤ π²/4 to 1e-15, from its series."""
    s = 1.0 - q * (1.0 / 342.0)
    s = 1.0 - q * (1.0 / 272.0) * s
    s = 1.0 - q * (1.0 / 210.0) * s
    s = 1.0 - q * (1.0 / 156.0) * s
    s = 1.0 - q * (1.0 / 110.0) * s
    s = 1.0 - q * (1.0 / 72.0) * s
    s = 1.0 - q * (1.0 / 42.0) * s
    s = 1.0 - q * (1.0 / 20.0) * s
    return 1.0 - q * (1.0 / 6.0) * s


@compiled(inline="always")
def elastic_slope(square, h, c):
    """−W'(r)/r of the elastic kernel from r² [m²], so that ∇W(x) = −elastic_slope x; 0 beyond h and at r = 0, where the
    gradient has no direction."""
    k = 0.5 * math.pi / h
    q = k * k * square
    inside = q > 0.0 and q < LARGEST_PHASE
    q = q if inside else 1.0  # no branch, so that loops vectorise
    return c * k * _cos_root(q) / math.sqrt(q) if inside else 0.0


@compiled(inline="always")
def elastic_kernel(square, h, c):
    """W of eq. (12) from r² [m²], 0 beyond h."""
    k = 0.5 * math.pi / h
    q = k * k * square
    inside = q < LARGEST_PHASE
    q = q if inside else 0.0
    return c / k * (1.0 - math.sqrt(q) * _sinc_root(q)) if inside else 0.0


@compiled(inline="always")
def squared_weight(square, inverse_square):
    """w² of the fit from r² and 1/h², with w = (1 − r²/h²)³; 0 beyond h. Eq. (6) weights the columns of X and Y by w,
    so XXᵀ contains w²."""
    t = max(0.0, 1.0 - square * inverse_square)
    t = t * t * t
    return t * t
