"""The return mapping of Herschel-Bulkley flow against bisection, over the whole range of its parameters."""

import math

import numpy as np
import pytest
from numba import njit
from numpy.typing import NDArray

from spume.materials.herschel_bulkley import flow_strain, flow_stress

EPS = np.finfo(float).eps
COUNT = 20_000
YIELD = 0.8
SHEAR = 300.0


@njit
def _each(pre, k, mu, dt, eta, h, out):
    for i in range(pre.size):
        out[i] = flow_stress(pre[i], k, mu, dt[i], eta[i], h[i])


def flow(pre, dt, eta, h, k: float = YIELD, mu: float = SHEAR) -> NDArray[np.float64]:
    """flow_stress of arrays or numbers."""
    pre, dt, eta, h = (np.array(a, float).ravel() for a in np.broadcast_arrays(pre, dt, eta, h))
    out = np.empty(pre.size)
    _each(pre, k, mu, dt, eta, h, out)
    return out


def bisected(pre, dt, eta, h, k: float = YIELD, mu: float = SHEAR) -> NDArray[np.float64]:
    """The root of (s − s_pre) + 2 μ̃ Δt ((s − k)/η)^(1/h) = 0, by bisection of log y, y = (s − k)/(s_pre − k).

    In logarithms the two terms that must balance are 1 − y and 2 μ̃ Δt/E (E y/η)^(1/h); neither over- nor underflows.
    """
    E = pre - k
    low, high = np.full(pre.shape, -2000.0), np.zeros(pre.shape)
    for _ in range(80):
        u = 0.5 * (low + high)
        flowed = np.log(2.0 * mu * dt / E) + (np.log(E / eta) + u) / h
        with np.errstate(divide="ignore"):
            below = flowed < np.log(-np.expm1(u))
        low, high = np.where(below, u, low), np.where(below, high, u)
    return k + E * np.exp(0.5 * (low + high))


def samples(seed: int) -> tuple[NDArray[np.float64], ...]:
    """pre, dt, eta, h over the whole range that scenes may ask for."""
    rng = np.random.default_rng(seed)
    excess = 10.0 ** rng.uniform(-14, 6, COUNT)
    dt = 10.0 ** rng.uniform(-7, -2, COUNT)
    eta = 10.0 ** rng.uniform(-6, 4, COUNT)
    h = 10.0 ** rng.uniform(-1, math.log10(5.0), COUNT)
    return YIELD * (1.0 + excess), dt, eta, h


def test_agrees_with_bisection():
    """Both solve the same equation; bisection of log y to 2000/2^80 leaves rounding only.

    Rounding of log a, a sum of terms of up to |log(E/η)|/h ≈ 300, is about 300 ε, and enters log y times h ≤ 5 at most.
    """
    pre, dt, eta, h = samples(1)
    s, expected = flow(pre, dt, eta, h), bisected(pre, dt, eta, h)
    np.testing.assert_allclose(s, expected, rtol=2_000 * EPS, atol=0)


def test_stays_between_yield_and_prediction():
    pre, dt, eta, h = samples(2)
    s = flow(pre, dt, eta, h)
    assert np.all(np.isfinite(s))
    assert np.all(s >= YIELD)
    assert np.all(s <= pre)


@pytest.mark.parametrize("eta", [0.0, 1e-300, 1e-12, 1e4, 1e300])
@pytest.mark.parametrize("h", [0.1, 0.22, 1.0, 2.8, 5.0])
def test_extreme_viscosities_stay_in_range(eta: float, h: float):
    pre = YIELD * (1.0 + np.logspace(-15, 6, 200))
    for dt in (1e-7, 1e-2):
        s = flow(pre, dt, eta, h)
        assert np.all((s >= YIELD) & (s <= pre))


@pytest.mark.parametrize("h", [0.1, 0.22, 0.999, 1.0, 1.001, 2.8, 5.0])
@pytest.mark.parametrize("eta", [0.0, 1e-6, 1.0, 27.2, 1e4])
@pytest.mark.parametrize("dt", [1e-7, 1e-5, 1e-2])
def test_grows_with_the_prediction(h: float, eta: float, dt: float):
    """ds/ds_pre = 1/(1 + slope of the flow) > 0; neighbours may differ by rounding only."""
    pre = YIELD * (1.0 + np.logspace(-14, 6, 4_000))
    s = flow(pre, dt, eta, h)
    assert np.all(np.diff(s) >= -8 * EPS * s[1:])


def test_no_flow_below_yield():
    pre = YIELD * np.array([0.0, 0.5, 1.0 - 1e-15, 1.0])
    for eta, h in ((0.0, 1.0), (0.0, 0.3), (5.0, 1.0), (5.0, 0.3), (5.0, 3.0)):
        np.testing.assert_array_equal(flow(pre, 1e-3, eta, h), pre)


def test_perfect_plasticity_returns_to_the_yield_surface():
    pre, dt, _, h = samples(3)
    np.testing.assert_array_equal(flow(pre, dt, 0.0, h), YIELD)


@pytest.mark.parametrize("h", [0.1, 0.22, 1.0, 2.8, 5.0])
def test_vanishing_viscosity_is_perfect_plasticity(h: float):
    """The flow takes at most E from s_pre, so that by eq. (15) s − k ≤ η (E/(2 μ̃ Δt))^h, which vanishes with η."""
    pre = YIELD * (1.0 + np.logspace(-6, 3, 200))
    dt, eta = 1e-4, 1e-10
    s = flow(pre, dt, eta, h)
    bound = eta * ((pre - YIELD) / (2.0 * SHEAR * dt)) ** h
    assert np.all(s - YIELD <= bound * (1.0 + 1e-9) + EPS * s)


def test_bingham_is_the_limit_of_flow_index_one():
    """h = 1 is solved in closed form, its neighbours by iteration: s differs by O(|h − 1| |log y|)."""
    pre, dt, eta, _ = samples(4)
    bingham = flow(pre, dt, eta, 1.0)
    y = (bingham - YIELD) / (pre - YIELD)
    keep = y > 1e-9
    for change in (-1e-9, 1e-9):
        near = flow(pre, dt, eta, 1.0 + change)
        scale = np.abs(np.log((pre - YIELD) / eta)) + np.abs(np.log(np.maximum(y, 1e-300))) + 1.0
        allowed = 2.0 * abs(change) * scale * (pre - YIELD) * y + 10 * EPS * pre
        assert np.all(np.abs(near - bingham)[keep] <= allowed[keep])


def test_bingham_against_the_printed_formula():
    """[Yue15] eq. (17); as printed it subtracts from s_pre, whose rounding is the tolerance."""
    pre, dt, eta, _ = samples(5)
    printed = pre - (pre - YIELD) / (1.0 + eta / (2.0 * SHEAR * dt))
    assert np.all(np.abs(flow(pre, dt, eta, 1.0) - printed) <= 4 * EPS * pre)


def test_solves_the_normalised_equation():
    """The residual of eq. (15), relative to its terms, where it can be evaluated without over- or underflow."""
    pre, dt, eta, h = samples(6)
    s = flow(pre, dt, eta, h)
    keep = (s - YIELD > 1e-3 * YIELD) & (pre - s > 1e-3 * pre)
    assert keep.sum() > 500
    pre, dt, eta, h, s = pre[keep], dt[keep], eta[keep], h[keep], s[keep]
    rate = ((s - YIELD) / eta) ** (1.0 / h)
    residual = (s - pre) + 2.0 * SHEAR * dt * rate
    # an error of ε s in s moves the power by ε s/(s − k)/h; both conditions bound the factors by 1e3
    amplification = 1.0 + s / (s - YIELD) / h + pre / (pre - s)
    assert np.all(np.abs(residual) <= 40 * EPS * amplification * (pre - s))


def random_strain(rng: np.random.Generator, size: float) -> tuple[float, ...]:
    """A symmetric tensor of determinant one with logarithmic strains of `size`."""
    a = rng.standard_normal((3, 3))
    values, vectors = np.linalg.eigh(a + a.T)
    logs = size * (values - values.mean())
    b = vectors @ np.diag(np.exp(logs)) @ vectors.T
    return (b[0, 0], b[1, 1], b[2, 2], b[0, 1], b[0, 2], b[1, 2])


def full(b) -> NDArray[np.float64]:
    xx, yy, zz, xy, xz, yz = b
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def deviator(b) -> NDArray[np.float64]:
    return full(b) - np.trace(full(b)) / 3.0 * np.eye(3)


@pytest.mark.parametrize(("eta", "h"), [(0.0, 1.0), (3.0, 1.0), (3.0, 0.22), (3.0, 2.8)])
@pytest.mark.parametrize("size", [0.01, 0.3, 1.0])
def test_strain_after_the_return_map(eta: float, h: float, size: float):
    """[Yue15] eq. (18) and the normalisation after it, against NumPy; determinant one; the direction is kept."""
    rng = np.random.default_rng(7)
    mu, k, dt = 100.0, 0.3, 1e-3
    for _ in range(20):
        pre = random_strain(rng, size)
        dev, mean = deviator(pre), np.trace(full(pre)) / 3.0
        magnitude = mu * np.linalg.norm(dev)
        s = flow_stress(magnitude, k, mu * mean, dt, eta, h) if magnitude > k else magnitude
        expected = s / magnitude * dev + mean * np.eye(3)
        expected /= np.cbrt(np.linalg.det(expected))
        found = full(flow_strain(pre, mu, k, eta, h, dt)[0])
        # products of the size ‖b̄e‖³ cancel to a determinant of one
        size_b = np.linalg.norm(expected)
        np.testing.assert_allclose(found, expected, rtol=0, atol=(20 + 4 * size_b**3) * EPS * size_b)
        assert abs(np.linalg.det(found) - 1.0) <= 30 * EPS * size_b**3


@pytest.mark.parametrize("eta", [0.0, 1e-3, 3.0])
def test_normalisation_undershoots_yield_by_no_more_than_the_volume_it_removes(eta: float):
    """Before the normalisation the stress is at or above yield, and its determinant d ≥ 1 ([Yue15] below eq. 18):
    so ‖dev τ‖ ≥ k d^(−1/3), and never above the prediction."""
    rng = np.random.default_rng(8)
    mu, k, h, dt = 100.0, 5.0, 0.4, 1e-3
    for _ in range(200):
        pre = random_strain(rng, 10.0 ** rng.uniform(-2, 0))
        dev, mean = deviator(pre), np.trace(full(pre)) / 3.0
        magnitude = mu * np.linalg.norm(dev)
        if magnitude <= k:
            assert flow_strain(pre, mu, k, eta, h, dt) == (pre, 0.0)
            continue
        s = flow_stress(magnitude, k, mu * mean, dt, eta, h)
        d = np.linalg.det(s / magnitude * dev + mean * np.eye(3))
        assert d >= 1.0 - 10 * EPS
        stress = mu * np.linalg.norm(deviator(flow_strain(pre, mu, k, eta, h, dt)[0]))
        assert k * d ** (-1.0 / 3.0) * (1.0 - 1e-12) <= stress <= magnitude * (1.0 + 1e-12)


@pytest.mark.parametrize("eta", [0.0, 1e-3, 3.0])
@pytest.mark.parametrize("size", [1e-2, 0.1, 1.0])
def test_dissipation_is_the_fall_of_the_stored_energy(eta: float, size: float):
    """D = μ/2 (tr b̄e_pre − tr b̄e), whose difference NumPy knows to the rounding of the traces and determinants."""
    rng = np.random.default_rng(9)
    mu, k, h, dt = 100.0, 0.3, 0.4, 1e-3
    for _ in range(50):
        pre = random_strain(rng, size)
        flowed, dissipated = flow_strain(pre, mu, k, eta, h, dt)
        fall = 0.5 * mu * (sum(pre[:3]) - sum(flowed[:3]))
        norm = np.linalg.norm(full(pre))
        assert dissipated >= 0.0
        assert abs(dissipated - fall) <= 30 * EPS * mu * norm * (1 + norm**3)
