"""The unilateral energy of sand: Hencky's energy, faded to zero where the Drucker-Prager cone allows no stress.

[Tampubolon17] section 3.1.1, eqs. (7)-(10). It is used only by implicit solves with lagged plasticity, in which elastic
tension would otherwise hold sand together until the return map removes it at the end of the step.

With u = tr ε/√3 along the hydrostatic axis and v = ‖dev ε‖ across it:

    W = h ψ,   h = h_s((u + f − a − s_C)/(b − a)),   f = c0 v⁴/(v0³ + v³),   ψ = μ tr ε² + λ/2 (tr ε)²

where h_s falls from 1 to 0 between 0 and 1 with two continuous derivatives. Cohesion moves the tip of the cone to
u_t > 0, and cohesion differs from point to point because water changes it. The region follows the tip (`at_tip`):

    s_C + u_t for s_C,   b + b_tip u_t for b.

Far from the tip the region of c0 = `cone_opening` then follows the cone at any cohesion. The second change is that of
Table 2, where b = 100 c_C. Eq. (8) contains an implicit strain scale
v0 = 1, and a, b and s_C are strains: the paper's values (a = −3, …) are for materials so soft that ρ g L/E is of the
order of one. `scaled` converts them to other scenes.
"""

import math
from dataclasses import dataclass

from spume.materials.principal import split
from spume.numerics.jit import compiled


@dataclass(frozen=True)
class Unilateral:
    """Shape of the regions where the energy is Hencky's (u + f < a + s_C) and where it is zero (u + f > b + s_C)."""

    a: float
    """strain on the hydrostatic axis where the energy begins to fade [1]"""
    b: float
    """strain on the hydrostatic axis beyond which the energy is zero, above a [1]"""
    c0: float
    """opening of the region: small values follow a wide cone [1]"""
    s_C: float
    """shift along the hydrostatic axis, for cohesion [1]"""
    v0: float
    """strain scale of the bend at the tip [1]; far from the tip f = c0 v, a cone"""
    b_tip: float = 0.0
    """increase of b per strain u_t of the tip of a cohesive point [1]"""

    def __post_init__(self) -> None:
        if not self.a < self.b:
            raise ValueError(f"a is {self.a:g} and b is {self.b:g}: a should be below b")
        if not (self.c0 >= 0.0 and self.v0 > 0.0):
            raise ValueError(f"c0 is {self.c0:g} and v0 is {self.v0:g}: c0 should be at least 0 and v0 positive")
        if not self.b_tip >= 0.0:
            raise ValueError(f"b_tip is {self.b_tip:g}: it should be at least 0")

    def scaled(self, strain: float) -> "Unilateral":
        """Shape scaled in strain: `strain` is the scene's ρ g L/E divided by that of the scene these values are for."""
        return Unilateral(self.a * strain, self.b * strain, self.c0, self.s_C * strain, self.v0 * strain, self.b_tip)

    def packed(self) -> tuple[float, ...]:
        """Tuple of the numbers, as used by `at_tip`."""
        return (self.a, self.b, self.c0, self.s_C, self.v0, self.b_tip)


NO_SHAPE = (0.0,) * 6
"""Stands for a packed shape where the unilateral energy is not used."""


@compiled
def at_tip(shape, tip):
    """The numbers a, b, c0, s_C and v0 of a point whose cone has its tip at the strain `tip` on the hydrostatic axis,
    as used by the functions below."""
    a, b, c0, s_C, v0, b_tip = shape
    return a, b + b_tip * tip, c0, s_C + tip, v0


def cone_opening(mu: float, lam: float, c_F: float) -> float:
    """c0 for which the region follows the cone of friction coefficient c_F far from its tip.

    On the cone 2 μ v = −c_F (2 μ + 3 λ) √3 u, and u + c0 v is constant along f = c0 v. Larger values cut into the cone:
    the material then yields in compression and loses volume (figure 6 of the paper).
    """
    return 2.0 * mu / (math.sqrt(3.0) * c_F * (2.0 * mu + 3.0 * lam))


@compiled
def ramp(z):
    """h_s = 1 − 10 z³ + 15 z⁴ − 6 z⁵ and its first two derivatives, eq. (9)."""
    if z <= 0.0:
        return 1.0, 0.0, 0.0
    if z >= 1.0:
        return 0.0, 0.0, 0.0
    y = 1.0 - z
    value = 1.0 - z * z * z * (10.0 + z * (-15.0 + 6.0 * z))
    return value, -30.0 * z * z * y * y, -60.0 * z * y * (y - z)


@compiled
def bend(c0, v0, v):
    """f = c0 v⁴/(v0³ + v³), f'/v and (f'' − f'/v)/v², all regular at v = 0; eq. (8) with a strain scale."""
    x = v / v0
    c = x * x * x
    q = 1.0 / (1.0 + c)
    value = c0 * v * c * q
    # f' = c0 c (4 + c)/(1 + c)², f'' = 6 c0 x² (2 − c)/(1 + c)³/v0 with c = x³
    first = c0 * x * x * (4.0 + c) * q * q / v0
    # f'' − f'/v = c0 x² (8 − 11 c − c²)/(1 + c)³/v0
    second = c0 * (8.0 - c * (11.0 + c)) * q * q * q / (v0 * v0 * v0)
    return value, first, second


@compiled
def multiplier(shape, strain):
    """h of eq. (10), its gradient and its Hessian (row-major 9-tuple) in the principal strains."""
    a, b, c0, s_C, v0 = shape
    trace, d, v = split(strain)
    f, f1, f2 = bend(c0, v0, v)
    width = 1.0 / (b - a)
    o = 1.0 / math.sqrt(3.0)
    h, h1, h2 = ramp((trace * o + f - a - s_C) * width)
    # with g = u + f: dg/dε = o + f'/v d, d²g/dε² = f'/v (I − 1/3) + (f'' − f'/v)/v² d ⊗ d
    g0, g1, g2 = o + f1 * d[0], o + f1 * d[1], o + f1 * d[2]
    p, r, s = h1 * width, h2 * width * width, h1 * width * f2
    q, k = p * f1, -p * f1 / 3.0
    gradient = (p * g0, p * g1, p * g2)
    hessian = (
        q + k + s * d[0] * d[0] + r * g0 * g0, k + s * d[0] * d[1] + r * g0 * g1, k + s * d[0] * d[2] + r * g0 * g2,
        k + s * d[1] * d[0] + r * g1 * g0, q + k + s * d[1] * d[1] + r * g1 * g1, k + s * d[1] * d[2] + r * g1 * g2,
        k + s * d[2] * d[0] + r * g2 * g0, k + s * d[2] * d[1] + r * g2 * g1, q + k + s * d[2] * d[2] + r * g2 * g2,
    )  # fmt: skip
    return h, gradient, hessian


@compiled
def unilateral_energy(mu, lam, shape, strain):
    """W = h ψ [J/m³], eq. (7)."""
    e0, e1, e2 = strain
    trace = e0 + e1 + e2
    h, _, _ = multiplier(shape, strain)
    return h * (mu * (e0 * e0 + e1 * e1 + e2 * e2) + 0.5 * lam * trace * trace)


@compiled
def unilateral_stress(mu, lam, shape, strain):
    """Principal Kirchhoff stresses dW/dε [Pa] and their derivative, a symmetric row-major 9-tuple (not definite)."""
    e0, e1, e2 = strain
    trace = e0 + e1 + e2
    h, (g0, g1, g2), H = multiplier(shape, strain)
    psi = mu * (e0 * e0 + e1 * e1 + e2 * e2) + 0.5 * lam * trace * trace
    t0, t1, t2 = 2.0 * mu * e0 + lam * trace, 2.0 * mu * e1 + lam * trace, 2.0 * mu * e2 + lam * trace
    stress = (h * t0 + psi * g0, h * t1 + psi * g1, h * t2 + psi * g2)
    d, o = h * (2.0 * mu + lam), h * lam
    d01, d02, d12 = (
        o + t0 * g1 + g0 * t1 + psi * H[1],
        o + t0 * g2 + g0 * t2 + psi * H[2],
        o + t1 * g2 + g1 * t2 + psi * H[5],
    )
    stiffness = (
        d + 2.0 * t0 * g0 + psi * H[0], d01, d02,
        d01, d + 2.0 * t1 * g1 + psi * H[4], d12,
        d02, d12, d + 2.0 * t2 * g2 + psi * H[8],
    )  # fmt: skip
    return stress, stiffness
