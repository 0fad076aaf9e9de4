"""Elastic energies whose volume and shape are separate, W = U(tr ε) + Ŵ(dev ε), with their flow in principal space.

ε are principal logarithmic strains, d = dev ε and t = tr ε = ln J. The Kirchhoff stress is τ = U'(t) + ∂Ŵ/∂d. All have
the shear modulus μ and the bulk modulus κ = λ + 2/3 μ at rest:

    hencky        U = κ/2 t²,                         Ŵ = μ ‖d‖²
    neo-hookean   U = κ/2 ((J² − 1)/2 − ln J),        Ŵ = μ/2 Σ_i (λ̄_i² − 1),                 λ̄_i = exp d_i
    ogden         U as above,                         Ŵ = Σ_p w_p 2 μ/α_p² Σ_i (λ̄_i^α_p − 1),  Σ_p w_p = 1

([Yue15] eq. (1), [Ogden72].) Ogden's with α = 2 is the neo-Hookean energy, and with α → 0 Hencky's. The tension of
Hencky's falls beyond a stretch of e; that of the others grows if one |α| is above one.

Flow moves the strain against the stress: over a step, implicit in time, d + c ∂Ŵ/∂d = d_trial with a multiplier c ≥ 0.
That is c = Δt/νd where a strain relaxes by the dissipation potential of [Fang19] eq. (7), and the c with
‖∂Ŵ/∂d‖ = k where a yield surface limits the stress. Its solution is the minimum of ½ ‖d − d_trial‖² + c Ŵ(d), strictly
convex as Ŵ is convex in d: there is one solution, Newton's method finds it with a line search, and Ŵ falls by at least
c ‖∂Ŵ/∂d‖², so that flow always dissipates. For Hencky's energy the solution is d_trial/(1 + 2 μ c), which is eq. (8).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from spume.numerics.jit import compiled

Elasticity = Literal["hencky", "neo-hookean", "ogden"]
DEVIATOR = (2.0 / 3.0, -1.0 / 3.0, -1.0 / 3.0, -1.0 / 3.0, 2.0 / 3.0, -1.0 / 3.0, -1.0 / 3.0, -1.0 / 3.0, 2.0 / 3.0)
"""P = I − 1 1ᵀ/3."""
MOST_ITERATIONS = 60
CLOSE = 1e-8
"""A change below this fraction of the solution is the last one: Newton's method squares the error."""


@dataclass(frozen=True)
class Spring:
    """Compiled functions of an energy. `parameters` are the constants of the law, which begin with those of the energy:
    the exponents α_p and then the weights w_p of Ogden's; the others have none."""

    shape: Callable[..., Any]
    """shape(parameters, mu, d) -> ∂Ŵ/∂d and a, where ∂²Ŵ/∂d² = P diag(a) P."""
    shape_energy: Callable[..., Any]
    """shape_energy(parameters, mu, d) -> Ŵ."""
    volume: Callable[..., Any]
    """volume(kappa, t) -> U', U''."""
    volume_energy: Callable[..., Any]
    """volume_energy(kappa, t) -> U."""
    trace: Callable[..., Any]
    """trace(kappa, pressure) -> t with U'(t) = pressure."""
    relax_shape: Callable[..., Any]
    """relax_shape(parameters, mu, c, d) -> d after the flow with the multiplier c, and its derivative, a 9-tuple."""
    relax_volume: Callable[..., Any]
    """relax_volume(kappa, c, t) -> t' with t' + c U'(t') = t, and dt'/dt."""
    limit: Callable[..., Any]
    """limit(parameters, mu, k, d) -> d after the flow to ‖∂Ŵ/∂d‖ ≤ k with k > 0, its derivatives by d (9-tuple) and by
    k, and whether it flows."""


@compiled
def excess(x):
    """exp x − 1 − x, without loss of digits at small x."""
    if abs(x) < 0.03:
        return 0.5 * x * x * (1.0 + x / 3.0 * (1.0 + x / 4.0 * (1.0 + x / 5.0 * (1.0 + x / 6.0 * (1.0 + x / 7.0)))))
    return math.expm1(x) - x


@compiled
def apart(strain):
    """tr ε and dev ε."""
    e0, e1, e2 = strain
    a, b, c = e0 - e1, e1 - e2, e2 - e0
    return e0 + e1 + e2, ((a - c) / 3.0, (b - a) / 3.0, (c - b) / 3.0)


@compiled
def together(trace, d):
    """The strain with this trace and deviator."""
    third = trace / 3.0
    return (third + d[0], third + d[1], third + d[2])


@compiled
def add_to_all(number, a):
    """A + number 1 1ᵀ."""
    return (
        a[0] + number, a[1] + number, a[2] + number,
        a[3] + number, a[4] + number, a[5] + number,
        a[6] + number, a[7] + number, a[8] + number,
    )  # fmt: skip


@compiled
def projected(a):
    """P diag(a) P."""
    mean = (a[0] + a[1] + a[2]) / 9.0
    m01, m02, m12 = mean - (a[0] + a[1]) / 3.0, mean - (a[0] + a[2]) / 3.0, mean - (a[1] + a[2]) / 3.0
    return (mean + a[0] / 3.0, m01, m02, m01, mean + a[1] / 3.0, m12, m02, m12, mean + a[2] / 3.0)


@compiled
def norm(a):
    """Length of a 3-tuple."""
    return math.sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2])


@compiled
def applied(a, x):
    """A x."""
    return (
        a[0] * x[0] + a[1] * x[1] + a[2] * x[2],
        a[3] * x[0] + a[4] * x[1] + a[5] * x[2],
        a[6] * x[0] + a[7] * x[1] + a[8] * x[2],
    )  # fmt: skip


@compiled
def _flow_inverse(c, a):
    """(I + c P diag(a) P)⁻¹ on deviators: diag h − h hᵀ/Σh with h = 1/(1 + c a)."""
    h0, h1, h2 = 1.0 / (1.0 + c * a[0]), 1.0 / (1.0 + c * a[1]), 1.0 / (1.0 + c * a[2])
    i = 1.0 / (h0 + h1 + h2)
    m01, m02, m12 = -h0 * h1 * i, -h0 * h2 * i, -h1 * h2 * i
    return (-m01 - m02, m01, m02, m01, -m01 - m12, m12, m02, m12, -m02 - m12)


@compiled
def stiff_volume(kappa, t):
    """U' = κ/2 (J² − 1) and U'' = κ J²."""
    return 0.5 * kappa * math.expm1(2.0 * t), kappa * math.exp(2.0 * t)


@compiled
def stiff_volume_energy(kappa, t):
    """κ/2 ((J² − 1)/2 − ln J)."""
    return 0.25 * kappa * excess(2.0 * t)


@compiled
def stiff_trace(kappa, pressure):
    """ln J = ½ ln(1 + 2 p/κ)."""
    return 0.5 * math.log1p(2.0 * pressure / kappa)


@compiled
def relax_stiff_volume(kappa, c, t):
    """t' + c κ/2 (exp 2t' − 1) = t. The left side is convex and grows, and the solution of the linear equation is above
    the root: Newton's method comes down to it."""
    found = t / (1.0 + c * kappa)
    for _ in range(MOST_ITERATIONS):
        pressure, stiffness = stiff_volume(kappa, found)
        change = (found + c * pressure - t) / (1.0 + c * stiffness)
        found -= change
        if abs(change) <= CLOSE * abs(found):
            break
    return found, 1.0 / (1.0 + c * stiff_volume(kappa, found)[1])


@compiled
def _shape_by_power(mu, alpha, d):
    """2 μ/α (x_i − mean x) with x_i = λ̄_i^α − 1, and 2 μ λ̄_i^α."""
    x0, x1, x2 = math.expm1(alpha * d[0]), math.expm1(alpha * d[1]), math.expm1(alpha * d[2])
    c = 2.0 * mu / (3.0 * alpha)
    stress = (c * ((x0 - x1) + (x0 - x2)), c * ((x1 - x0) + (x1 - x2)), c * ((x2 - x0) + (x2 - x1)))
    return stress, (2.0 * mu * (1.0 + x0), 2.0 * mu * (1.0 + x1), 2.0 * mu * (1.0 + x2))


@compiled
def _energy_by_power(mu, alpha, d):
    """2 μ/α² Σ (λ̄_i^α − 1)."""
    return 2.0 * mu / (alpha * alpha) * (excess(alpha * d[0]) + excess(alpha * d[1]) + excess(alpha * d[2]))


@compiled
def _neo_hookean_shape(parameters, mu, d):
    return _shape_by_power(mu, 2.0, d)


@compiled
def _neo_hookean_energy(parameters, mu, d):
    return _energy_by_power(mu, 2.0, d)


def _ogden(terms: int) -> tuple[Any, Any]:
    """`shape` and `shape_energy` of Ogden's energy with so many terms."""

    @compiled
    def shape(parameters, mu, d):
        s0, s1, s2, a0, a1, a2 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        for p in range(terms):
            s, a = _shape_by_power(mu * parameters[terms + p], parameters[p], d)
            s0, s1, s2, a0, a1, a2 = s0 + s[0], s1 + s[1], s2 + s[2], a0 + a[0], a1 + a[1], a2 + a[2]
        return (s0, s1, s2), (a0, a1, a2)

    @compiled
    def shape_energy(parameters, mu, d):
        total = 0.0
        for p in range(terms):
            total += _energy_by_power(mu * parameters[terms + p], parameters[p], d)
        return total

    return shape, shape_energy


@cache
def spring(elasticity: Elasticity, terms: int = 0) -> Spring:
    """The functions of an energy; `terms` is the number of those of Ogden's."""
    if elasticity == "hencky":
        return Spring(
            _hencky_shape, _hencky_energy, _hencky_volume, _hencky_volume_energy, _hencky_trace, _hencky_relax_shape,
            _hencky_relax_volume, _hencky_limit,
        )  # fmt: skip
    shape, energy = _ogden(terms) if elasticity == "ogden" else (_neo_hookean_shape, _neo_hookean_energy)
    solve, relax_shape = _relaxation(shape, energy)
    return Spring(
        shape, energy, stiff_volume, stiff_volume_energy, stiff_trace, relax_shape, relax_stiff_volume,
        _limitation(shape, solve),
    )  # fmt: skip


def _relaxation(shape: Any, energy: Any) -> tuple[Any, Any]:
    @compiled
    def merit_of(parameters, mu, c, d, x):
        y0, y1, y2 = x[0] - d[0], x[1] - d[1], x[2] - d[2]
        return 0.5 * (y0 * y0 + y1 * y1 + y2 * y2) + c * energy(parameters, mu, x)

    @compiled
    def solve(parameters, mu, c, d, start):
        """d' + c ∂Ŵ/∂d' = d by Newton's method from `start`."""
        x0, x1, x2 = start
        last = math.inf
        for _ in range(MOST_ITERATIONS):
            s, a = shape(parameters, mu, (x0, x1, x2))
            g = (x0 + c * s[0] - d[0], x1 + c * s[1] - d[1], x2 + c * s[2] - d[2])
            y0, y1, y2 = applied(_flow_inverse(c, a), g)
            change, size = norm((y0, y1, y2)), norm((x0, x1, x2))
            if change > 1e-3 * size:  # a line search far from the solution, where the equations are most curved
                merit = merit_of(parameters, mu, c, d, (x0, x1, x2))
                slope = g[0] * y0 + g[1] * y1 + g[2] * y2
                for _ in range(30):
                    there = (x0 - y0, x1 - y1, x2 - y2)
                    if merit_of(parameters, mu, c, d, there) <= merit - 1e-4 * slope:
                        break
                    y0, y1, y2, slope = 0.5 * y0, 0.5 * y1, 0.5 * y2, 0.5 * slope
            x0, x1, x2 = x0 - y0, x1 - y1, x2 - y2
            if change <= CLOSE * size or (change <= 1e-5 * size and change >= last):
                break
            last = change
        return (x0, x1, x2)

    @compiled
    def relax_shape(parameters, mu, c, d):
        i = 1.0 / (1.0 + 2.0 * mu * c)
        after = solve(parameters, mu, c, d, (i * d[0], i * d[1], i * d[2]))
        _, a = shape(parameters, mu, after)
        return after, _flow_inverse(c, a)

    return solve, relax_shape


def _limitation(shape: Any, solve: Any) -> Any:
    @compiled
    def limit(parameters, mu, k, d):
        """The multiplier c with ‖s‖ = k for s = ∂Ŵ/∂d: Newton's method for 1/‖s‖, which is linear in c for Hencky's
        energy, in the bracket 0 < c ≤ ‖d‖/k."""
        s, a = shape(parameters, mu, d)
        size = norm(s)
        if size <= k:
            return d, DEVIATOR, (0.0, 0.0, 0.0), False
        after, low, high, c = d, 0.0, norm(d) / k, 0.0
        for _ in range(MOST_ITERATIONS):
            inverse = _flow_inverse(c, a)
            turned = applied(inverse, s)  # −d(after)/dc
            softened = applied(projected(a), turned)  # −ds/dc
            slope = (s[0] * softened[0] + s[1] * softened[1] + s[2] * softened[2]) / size**3
            change = (1.0 / k - 1.0 / size) / slope
            low, high = (c, high) if size > k else (low, c)
            c = c + change if low < c + change < high else 0.5 * (low + high)
            after = solve(parameters, mu, c, d, after)
            s, a = shape(parameters, mu, after)
            size = norm(s)
            if abs(size - k) <= 1e-13 * k or high - low <= 1e-15 * high:
                break
        inverse = _flow_inverse(c, a)
        turned = applied(inverse, s)
        across = applied(projected(a), turned)  # symmetric in s: also the gradient of ½ ‖s‖² by the trial deviator
        i = 1.0 / (s[0] * across[0] + s[1] * across[1] + s[2] * across[2])
        t0, t1, t2 = i * turned[0], i * turned[1], i * turned[2]
        derivative = (
            inverse[0] - t0 * across[0], inverse[1] - t0 * across[1], inverse[2] - t0 * across[2],
            inverse[3] - t1 * across[0], inverse[4] - t1 * across[1], inverse[5] - t1 * across[2],
            inverse[6] - t2 * across[0], inverse[7] - t2 * across[1], inverse[8] - t2 * across[2],
        )  # fmt: skip
        return after, derivative, (k * t0, k * t1, k * t2), True

    return limit


@compiled
def _hencky_shape(parameters, mu, d):
    m = 2.0 * mu
    return (m * d[0], m * d[1], m * d[2]), (m, m, m)


@compiled
def _hencky_energy(parameters, mu, d):
    return mu * (d[0] * d[0] + d[1] * d[1] + d[2] * d[2])


@compiled
def _hencky_volume(kappa, t):
    return kappa * t, kappa


@compiled
def _hencky_volume_energy(kappa, t):
    return 0.5 * kappa * t * t


@compiled
def _hencky_trace(kappa, pressure):
    return pressure / kappa


@compiled
def _scaled_deviator(r):
    """r P."""
    a, b = 2.0 / 3.0 * r, -r / 3.0
    return (a, b, b, b, a, b, b, b, a)


@compiled
def _hencky_relax_shape(parameters, mu, c, d):
    r = 1.0 / (1.0 + 2.0 * mu * c)
    return (r * d[0], r * d[1], r * d[2]), _scaled_deviator(r)


@compiled
def _hencky_relax_volume(kappa, c, t):
    r = 1.0 / (1.0 + c * kappa)
    return r * t, r


@compiled
def _hencky_limit(parameters, mu, k, d):
    size = norm(d)
    radius = k / (2.0 * mu)
    if size <= radius:
        return d, DEVIATOR, (0.0, 0.0, 0.0), False
    r, i = radius / size, 1.0 / size
    n0, n1, n2 = i * d[0], i * d[1], i * d[2]
    a, b = 2.0 / 3.0 * r, -r / 3.0
    derivative = (
        a - r * n0 * n0, b - r * n0 * n1, b - r * n0 * n2,
        b - r * n1 * n0, a - r * n1 * n1, b - r * n1 * n2,
        b - r * n2 * n0, b - r * n2 * n1, a - r * n2 * n2,
    )  # fmt: skip
    j = 0.5 / mu
    return (r * d[0], r * d[1], r * d[2]), derivative, (j * n0, j * n1, j * n2), True
