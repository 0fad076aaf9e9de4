"""Elasticity with yield and power-law flow: perfect plasticity, Bingham and Herschel-Bulkley. [Yue15] section 5

The state is F (total) and b̄e (elastic left Cauchy-Green tensor, determinant one). A step predicts b̄e elastically with
the normalised increment, eq. (13), and returns it towards the yield surface, eqs. (14)-(18):

    s − s_pre + 2 μ̃ Δt ((s − k)/η)^(1/h) = 0,    k = √(2/3) σY,  μ̃ = μ tr b̄e_pre / 3

for the magnitude s of the deviatoric stress. The paper multiplies this by η^(1/h) (eq. 16), which may overflow; here it
stays normalised. With the excess relative to its prediction, y = (s − k)/(s_pre − k) in (0, 1], it reads

    y + a y^(1/h) = 1,    a = 2 μ̃ Δt / E (E/η)^(1/h),  E = s_pre − k.

For h > 1 the slope in y at the yield surface is infinite; z = y^(1/h) gives a z + z^h = 1 instead. Both have the form
p u + q u^n = 1 with n ≥ 1, whose derivatives all follow from one power. It is solved by fourth-order steps in a
bracket.
"""

import math

from pydantic import Field as Describe

from spume.fields import SYMMETRIC_IDENTITY, Field
from spume.materials.law import Branch, Law
from spume.materials.neo_hookean import (
    DEFORMATION,
    NeoHookeanParameters,
    split_principal_stress,
    volume_energy,
    volume_ratio,
)
from spume.materials.principal import DISSIPATION
from spume.materials.traits import Tearing, Traits
from spume.numerics.jit import compiled
from spume.numerics.roots import inverse_cube_root
from spume.numerics.tensor3 import (
    compose_sym,
    congruence,
    det,
    det_sym,
    deviator_sym,
    eigen_sym,
    multiply,
    norm_sym,
    trace_sym,
)


class HerschelBulkleyParameters(NeoHookeanParameters):
    """Elastic below the yield stress, power-law flow above it. Not all methods let material tear."""

    tear_threshold: float | None = Describe(
        default=None, gt=0, description="σT, plasticity ‖dev Cp‖ beyond which a point is torn; none: never [1]"
    )
    recovery_time: float | None = Describe(
        default=None, gt=0, description="ηp, time in which torn connections recover; none: never [s]"
    )
    yield_stress: float = Describe(ge=0, description="σY, von Mises yield stress in uniaxial tension [Pa]")
    viscosity: float = Describe(ge=0, description="η, consistency of the flow; 0 is perfect plasticity [Pa s^h]")
    flow_index: float = Describe(
        default=1.0, gt=0, description="h, exponent: 1 Bingham, below 1 shear thinning, above 1 shear thickening [1]"
    )


_CLOSE = 1e-5
"""The iteration stops after a step of at most this fraction of t/n: the error, its third power, is below rounding."""


@compiled
def _power_root(P, Q, n):
    """Root t in (0, 1] of f = P t + Q t^n − 1 for 0 ≤ P, Q ≤ 1, one of them 1, and n ≥ 1.

    A step of Halley from t = 1, which needs no power, is followed by Householder steps of fourth order with one power
    each: usually none or one, at most three for n up to 10. A step out of the bracket is replaced by bisection; the
    lower end of the bracket follows from P t + Q t^n ≤ (P + Q) t.
    """
    f, f1, f2 = P + Q - 1.0, P + n * Q, n * (n - 1.0) * Q
    change = 2.0 * f * f1 / (2.0 * f1 * f1 - f * f2)
    t = 1.0 - change
    if n * change <= _CLOSE * t:
        return t
    low, high = 1.0 / (P + Q), 1.0
    for _ in range(60):
        power = Q * math.exp((n - 1.0) * math.log(t))
        f, f1 = (P + power) * t - 1.0, P + n * power
        f2 = n * (n - 1.0) * power / t
        f3 = (n - 2.0) * f2 / t
        low, high = (low, t) if f > 0.0 else (t, high)
        change = f * (f1 * f1 - 0.5 * f * f2) / (f1 * (f1 * f1 - f * f2) + f * f * f3 / 6.0)
        if low <= t - change <= high:
            t -= change
            if n * abs(change) <= _CLOSE * t:
                break
        else:
            t = 0.5 * (low + high)
    return t


@compiled
def flow_stress(pre, k, mu, dt, eta, h):
    """Magnitude of the deviatoric stress after plastic flow; [Yue15] eqs. (15) and (17).

    pre: predicted magnitude, k = √(2/3) σY, mu: μ̃ = μ tr b̄e_pre / 3, all [Pa].
    """
    E = pre - k
    if E <= 0.0:
        return pre
    if eta == 0.0:
        return k
    # min: the sum may round above pre when nothing flows
    if h == 1.0:
        return min(k + E / (1.0 + 2.0 * mu * dt / eta), pre)
    # log a, because a itself overflows or underflows for small h
    log_a = math.log(2.0 * mu * dt / E) + math.log(E / eta) / h
    if h < 1.0:
        n = 1.0 / h  # y + a y^n = 1; y = scale · t makes both coefficients at most one
        if log_a <= 0.0:
            y = _power_root(1.0, math.exp(log_a), n)
        else:
            scale = math.exp(-log_a * h)
            y = scale * _power_root(scale, 1.0, n)
    elif log_a <= 0.0:  # a z + z^h = 1, y = z^h
        y = _power_root(math.exp(log_a), 1.0, h) ** h
    else:
        y = (math.exp(-log_a) * _power_root(1.0, math.exp(-h * log_a), h)) ** h
    return min(k + E * y, pre)


@compiled
def flow_stress_derivative(s, pre, k, m, eta, h):
    """ds/dpre and ds/dm of `flow_stress` with μ̃ = μ m, from the implicit function theorem, for pre > k."""
    if eta == 0.0:
        return 0.0, 0.0
    fallen, excess = pre - s, s - k
    if excess <= 0.0:  # the excess stress has relaxed completely, up to rounding
        return 0.0, 0.0
    # G = s − pre + 2 μ̃ Δt ((s − k)/η)^(1/h), the last term being pre − s: G_s = 1 + (pre − s)/(h (s − k))
    slope = 1.0 + fallen / (h * excess)
    return 1.0 / slope, -fallen / (m * slope)


@compiled
def flow_strain(be, mu, k, eta, h, dt):
    """b̄e after plastic flow (determinant one), given its elastic prediction, and the dissipated energy [J/m³].

    [Yue15] eq. (18), algorithm 13.
    """
    dev = deviator_sym(be)
    size = norm_sym(dev)
    pre = mu * size
    if pre <= k:
        return be, 0.0
    m = trace_sym(be) / 3.0
    r = flow_stress(pre, k, mu * m, dt, eta, h) / pre
    xx, yy, zz, xy, xz, yz = r * dev[0] + m, r * dev[1] + m, r * dev[2] + m, r * dev[3], r * dev[4], r * dev[5]
    scale = inverse_cube_root(det_sym((xx, yy, zz, xy, xz, yz)))
    # The trace falls from 3 m to 3 m scale, and the energy μ/2 tr b̄e with it. Their difference would lose all digits
    # at small strains; det(m I + r dev) − det(m I + dev) and 1 − scale³ are therefore expanded.
    excess = (1.0 - r) * (0.5 * m * size * size * (1.0 + r) - det_sym(dev) * (1.0 + r + r * r))
    dissipated = 1.5 * mu * m * excess * scale**3 / (1.0 + scale + scale * scale)
    return (scale * xx, scale * yy, scale * zz, scale * xy, scale * xz, scale * yz), dissipated


@compiled
def predict(f, be):
    """Elastic prediction f̄ b̄e f̄ᵀ with f̄ = det(f)^(−1/3) f, [Yue15] eq. (13)."""
    scale = inverse_cube_root(det(f)) ** 2
    xx, yy, zz, xy, xz, yz = congruence(f, be)
    return (scale * xx, scale * yy, scale * zz, scale * xy, scale * xz, scale * yz)


@compiled
def split_stress(kappa, mu, J, be):
    """τ = κ/2 (J² − 1) I + μ dev b̄e, [Yue15] eq. (2)."""
    pressure = 0.5 * kappa * (J * J - 1.0)
    xx, yy, zz, xy, xz, yz = deviator_sym(be)
    return (pressure + mu * xx, pressure + mu * yy, pressure + mu * zz, mu * xy, mu * xz, mu * yz)


@compiled
def stress(parameters, history):
    """Stress of F and b̄e."""
    kappa, mu, _, _, _ = parameters
    F, be, _ = history
    return split_stress(kappa, mu, det(F), be)


@compiled
def energy(parameters, history):
    """W = W_v(J) + μ/2 (tr b̄e − 3), [Yue15] eq. (1)."""
    kappa, mu, _, _, _ = parameters
    F, be, _ = history
    return volume_energy(kappa, det(F)) + 0.5 * mu * (trace_sym(be) - 3.0)


@compiled
def update(f, dt, parameters, history):
    """F ← f F; elastic prediction and plastic flow of b̄e, [Yue15] algorithm 13."""
    kappa, mu, k, eta, h = parameters
    F, be, dissipation = history
    moved = multiply(f, F)
    flowed, dissipated = flow_strain(predict(f, be), mu, k, eta, h, dt)
    return split_stress(kappa, mu, det(moved), flowed), (moved, flowed, dissipation + dissipated)


@compiled
def deformation(parameters, history):
    """Fe = J^(1/3) b̄e^(1/2), symmetric."""
    F, be, _ = history
    squares, V = eigen_sym(be)
    scale = 1.0 / inverse_cube_root(det(F))
    l0, l1, l2 = scale * math.sqrt(squares[0]), scale * math.sqrt(squares[1]), scale * math.sqrt(squares[2])
    xx, yy, zz, xy, xz, yz = compose_sym((l0, l1, l2), V)
    return (xx, xy, xz, xy, yy, yz, xz, yz, zz)


@compiled
def left_tensor(parameters, history):
    """b = J^(2/3) b̄e."""
    F, be, _ = history
    scale = inverse_cube_root(det(F)) ** -2
    xx, yy, zz, xy, xz, yz = be
    return (scale * xx, scale * yy, scale * zz, scale * xy, scale * xz, scale * yz)


@compiled
def principal_stress(parameters, history, strain):
    """Principal Kirchhoff stresses and their derivative."""
    kappa, mu, _, _, _ = parameters
    return split_principal_stress(kappa, mu, strain)


@compiled
def return_map(parameters, history, strain, dt):
    """Flow of `flow_strain` in principal space, with its derivative.

    With x_i = exp(2 ε_i − 2/3 tr ε), m their mean and d_i = x_i − m: y_i = m + r d_i with r = s/(μ ‖d‖), then
    ε_i ← ½ ln y_i − 1/6 Σ ln y_j + 1/3 tr ε.
    """
    _, mu, k, eta, h = parameters
    e0, e1, e2 = strain
    third = (e0 + e1 + e2) / 3.0
    x0, x1, x2 = math.exp(2.0 * (e0 - third)), math.exp(2.0 * (e1 - third)), math.exp(2.0 * (e2 - third))
    m = (x0 + x1 + x2) / 3.0
    d0, d1, d2 = ((x0 - x1) + (x0 - x2)) / 3.0, ((x1 - x0) + (x1 - x2)) / 3.0, ((x2 - x0) + (x2 - x1)) / 3.0
    size = math.sqrt(d0 * d0 + d1 * d1 + d2 * d2)
    pre = mu * size
    if pre <= k:
        return strain, (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
    s = flow_stress(pre, k, mu * m, dt, eta, h)
    by_pre, by_m = flow_stress_derivative(s, pre, k, m, eta, h)
    r = s / pre
    y0, y1, y2 = m + r * d0, m + r * d1, m + r * d2
    l0, l1, l2 = 0.5 * math.log(y0), 0.5 * math.log(y1), 0.5 * math.log(y2)
    mean = (l0 + l1 + l2) / 3.0
    # dx_i = 2 x_i (dε_i − dtr/3); dm = Σ dx/3; dsize = Σ d_i dx_i / size; dr = (ds/dpre − r) dsize/size + ds/dm dm/pre
    a, b = (by_pre - r) / (size * size), by_m / (3.0 * pre)
    g0, g1, g2 = a * d0 + b, a * d1 + b, a * d2 + b  # dr/dx_j
    c = (1.0 - r) / 3.0  # dy_i/dx_j = c + r δ_ij + d_i g_j
    h0, h1, h2 = 0.5 / y0, 0.5 / y1, 0.5 / y2
    m00, m01, m02 = h0 * (c + r + d0 * g0), h0 * (c + d0 * g1), h0 * (c + d0 * g2)
    m10, m11, m12 = h1 * (c + d1 * g0), h1 * (c + r + d1 * g1), h1 * (c + d1 * g2)
    m20, m21, m22 = h2 * (c + d2 * g0), h2 * (c + d2 * g1), h2 * (c + r + d2 * g2)
    n0, n1, n2 = (m00 + m10 + m20) / 3.0, (m01 + m11 + m21) / 3.0, (m02 + m12 + m22) / 3.0
    D = _by_strain((m00 - n0, m01 - n1, m02 - n2, m10 - n0, m11 - n1, m12 - n2, m20 - n0, m21 - n1, m22 - n2),
                   (2.0 * x0, 2.0 * x1, 2.0 * x2))  # fmt: skip
    return (l0 - mean + third, l1 - mean + third, l2 - mean + third), D


@compiled
def _by_strain(by_x, scale):
    """Convert derivatives with respect to x_j, functions of the deviatoric strain, to ε_j, and add dtr/3."""
    a0, a1, a2, b0, b1, b2, c0, c1, c2 = by_x
    a0, a1, a2 = a0 * scale[0], a1 * scale[1], a2 * scale[2]
    b0, b1, b2 = b0 * scale[0], b1 * scale[1], b2 * scale[2]
    c0, c1, c2 = c0 * scale[0], c1 * scale[1], c2 * scale[2]
    u, v, w = (1.0 - a0 - a1 - a2) / 3.0, (1.0 - b0 - b1 - b2) / 3.0, (1.0 - c0 - c1 - c2) / 3.0
    return (a0 + u, a1 + u, a2 + u, b0 + v, b1 + v, b2 + v, c0 + w, c1 + w, c2 + w)


ELASTIC_STRAIN = Field(
    "be", (6,), SYMMETRIC_IDENTITY, "1", "average-unit-determinant",
    description="elastic left Cauchy-Green tensor, determinant one",
)  # fmt: skip

HERSCHEL_BULKLEY = Law(
    name="herschel-bulkley",
    parameters=HerschelBulkleyParameters,
    fields=(DEFORMATION, ELASTIC_STRAIN, DISSIPATION),
    constants=("kappa", "mu", "k", "eta", "h"),
    pack=lambda p: (
        p.bulk_modulus,
        p.shear_modulus,
        math.sqrt(2.0 / 3.0) * p.yield_stress,
        p.viscosity,
        p.flow_index,
    ),
    update=update,
    stress=stress,
    energy=energy,
    volume_ratio=volume_ratio,
    wave_speed=lambda p: math.sqrt((p.bulk_modulus + 4.0 / 3.0 * p.shear_modulus) / p.density),
    branches=(Branch(deformation, principal_stress, return_map, left_tensor),),
    description="foam, cream, oobleck: elastic to a yield stress, then power-law flow ([Yue15] section 5)",
    traits=Traits(tearing=Tearing("tear_threshold", "recovery_time")),
)
