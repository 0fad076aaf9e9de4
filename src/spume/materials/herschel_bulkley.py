"""Elasticity with yield and power-law flow: perfect plasticity, Bingham and Herschel-Bulkley. [Yue15] section 5

The state is F (total) and b̄e (elastic left Cauchy-Green tensor, determinant one). A step predicts b̄e elastically with
the normalised increment, eq. (13), and brings it back towards the yield surface, eqs. (14)-(18):

    s − s_pre + 2 μ̃ Δt ((s − k)/η)^(1/h) = 0,    k = √(2/3) σY,  μ̃ = μ tr b̄e_pre / 3

for the magnitude s of the deviatoric stress. The paper multiplies this by η^(1/h) (eq. 16), a number without bounds;
here it stays normalised. With the excess measured by its prediction, y = (s − k)/(s_pre − k) in (0, 1], it reads

    y + a y^(1/h) = 1,    a = 2 μ̃ Δt / E (E/η)^(1/h),  E = s_pre − k.

For h > 1 the slope in y at the yield surface is infinite; z = y^(1/h) gives a z + z^h = 1 instead. Both have the form
p u + q u^n = 1 with n ≥ 1, whose derivatives all follow from one power: steps of fourth order within a bracket.
"""

import math

from numba import prange
from pydantic import Field as Describe

from spume.fields import SYMMETRIC_IDENTITY, Field
from spume.materials.kinematics import increment, load, load_sym, store, store_sym
from spume.materials.law import Law
from spume.materials.neo_hookean import DEFORMATION, NeoHookeanParameters, volume_energy
from spume.numerics.jit import compiled
from spume.numerics.roots import inverse_cube_root
from spume.numerics.tensor3 import congruence, det, det_sym, deviator_sym, multiply, norm_sym, trace_sym


class HerschelBulkleyParameters(NeoHookeanParameters):
    """Elastic below the yield stress, flowing by a power law above it."""

    yield_stress: float = Describe(ge=0, description="σY, von Mises yield stress in uniaxial tension [Pa]")
    viscosity: float = Describe(ge=0, description="η, consistency of the flow; 0 is perfect plasticity [Pa s^h]")
    flow_index: float = Describe(
        default=1.0, gt=0, description="h, exponent: 1 Bingham, below 1 shear thinning, above 1 shear thickening [1]"
    )
    tear_threshold: float | None = Describe(
        default=None, gt=0, description="σT, plasticity ‖dev Cp‖ beyond which a point is torn; none: never [1]"
    )
    recovery_time: float | None = Describe(
        default=None, gt=0, description="ηp, time in which torn connections grow again; none: never [s]"
    )


_CLOSE = 1e-5
"""A step of at most this part of t/n leaves an error of its third power, below rounding."""


@compiled
def _power_root(P, Q, n):
    """The root t in (0, 1] of f = P t + Q t^n − 1 for 0 ≤ P, Q ≤ 1, one of them 1, and n ≥ 1.

    Halley's step from t = 1, which needs no power, then Householder's of fourth order, one power each: usually none or
    one, at most three for n up to 10. A step out of the bracket is replaced by bisection; P t + Q t^n ≤ (P + Q) t gives
    the lower end.
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
    # log a, because a itself over- and underflows for small h
    log_a = math.log(2.0 * mu * dt / E) + math.log(E / eta) / h
    if h < 1.0:
        n = 1.0 / h  # y + a y^n = 1; y = scale · t with both coefficients at most one
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
def return_map(be, mu, k, eta, h, dt):
    """b̄e after plastic flow from its elastic prediction, determinant one, and the energy dissipated [J/m³].

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
    # The trace falls from 3 m to 3 m scale, the energy μ/2 tr b̄e with it. Their difference would lose all digits at
    # small strains: det(m I + r dev) − det(m I + dev) and 1 − scale³ are written out.
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
def point_stress(kappa, mu, J, be):
    """τ = κ/2 (J² − 1) I + μ dev b̄e, [Yue15] eq. (2)."""
    pressure = 0.5 * kappa * (J * J - 1.0)
    xx, yy, zz, xy, xz, yz = deviator_sym(be)
    return (pressure + mu * xx, pressure + mu * yy, pressure + mu * zz, mu * xy, mu * xz, mu * yz)


@compiled(parallel=True)
def _update(material, mine, rows, dt, velocity_gradient, stress, F, be, dissipation):
    for p in prange(material.size):
        m = material[p]
        if mine[m]:
            kappa, mu, k, eta, h = rows[m, 0], rows[m, 1], rows[m, 2], rows[m, 3], rows[m, 4]
            f = increment(dt, load(velocity_gradient, p))
            moved = multiply(f, load(F, p))
            store(F, p, moved)
            flowed, dissipated = return_map(predict(f, load_sym(be, p)), mu, k, eta, h, dt)
            store_sym(be, p, flowed)
            dissipation[p] += dissipated
            store_sym(stress, p, point_stress(kappa, mu, det(moved), flowed))


@compiled(parallel=True)
def _stress(material, mine, rows, stress, F, be, dissipation):
    for p in prange(material.size):
        m = material[p]
        if mine[m]:
            store_sym(stress, p, point_stress(rows[m, 0], rows[m, 1], det(load(F, p)), load_sym(be, p)))


@compiled(parallel=True)
def _energy(material, mine, rows, energy, F, be, dissipation):
    for p in prange(material.size):
        m = material[p]
        if mine[m]:
            shear = 0.5 * rows[m, 1] * (trace_sym(load_sym(be, p)) - 3.0)
            energy[p] = volume_energy(rows[m, 0], det(load(F, p))) + shear


ELASTIC_STRAIN = Field(
    "be", (6,), SYMMETRIC_IDENTITY, "1", "average-unit-determinant",
    description="elastic left Cauchy-Green tensor, determinant one",
)  # fmt: skip
DISSIPATION = Field(
    "dissipation", (), 0.0, "J/m³", "average", description="energy dissipated so far per volume at rest"
)

HERSCHEL_BULKLEY = Law(
    name="herschel-bulkley",
    parameters=HerschelBulkleyParameters,
    fields=(DEFORMATION, ELASTIC_STRAIN, DISSIPATION),
    pack=lambda p: (
        p.bulk_modulus,
        p.shear_modulus,
        math.sqrt(2.0 / 3.0) * p.yield_stress,
        p.viscosity,
        p.flow_index,
    ),
    update=_update,
    stress=_stress,
    energy=_energy,
    wave_speed=lambda p: math.sqrt((p.bulk_modulus + 4.0 / 3.0 * p.shear_modulus) / p.density),
    description="foam, cream, oobleck: elastic to a yield stress, then power-law flow ([Yue15] section 5)",
)
