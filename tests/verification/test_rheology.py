"""Herschel-Bulkley flow in simple shear against closed forms, at small elastic strain (validation cases 1 and 2).

The closed forms neglect the elastic strain e = τ/μ against one. The next order: in simple shear τ11 − τ22 = 2 τ²/μ, so
that s² = 2 τ² (1 + 4/3 e²), and the plastic rate follows from the power, s γp = τ γ̇: γp = γ̇/√2 (1 − 2/3 e²). So the
yield part of τ is smaller by 2/3 e², the viscous part by 2/3 (1 + h) e².
"""

import math

import numpy as np
import pytest

from spume.materials.herschel_bulkley import HERSCHEL_BULKLEY, HerschelBulkleyParameters
from spume.materials.table import Material
from spume.rheology.rheometer import STEADY, STEPS_PER_RELAXATION, flow_curve, start_up, step_strain


def foam(shear_modulus: float, yield_stress: float, viscosity: float, flow_index: float) -> Material:
    parameters = HerschelBulkleyParameters(
        density=100.0, bulk_modulus=1e5, shear_modulus=shear_modulus, yield_stress=yield_stress, viscosity=viscosity,
        flow_index=flow_index,
    )  # fmt: skip
    return Material("foam", HERSCHEL_BULKLEY, parameters)


RATES = np.array([0.01, 0.1, 1.0, 10.0, 100.0])


@pytest.mark.parametrize("yield_stress", [0.0, 31.9])
@pytest.mark.parametrize(("viscosity", "flow_index"), [(27.2, 0.22), (5.0, 0.5), (10.0, 1.0), (0.01, 2.8)])
def test_steady_shear(yield_stress: float, viscosity: float, flow_index: float):
    """Case 1: τ12 = σY/√3 + η 2^(−(1+h)/2) γ̇^h, off by no more than 2/3 (1 + h) e²."""
    expected = yield_stress / math.sqrt(3.0) + viscosity * 2.0 ** (-(1.0 + flow_index) / 2.0) * RATES**flow_index
    stiff = 200.0 * expected.max()  # elastic strains of at most 1/200
    found = flow_curve(foam(stiff, yield_stress, viscosity, flow_index), RATES).shear_stress
    next_order = 2.0 / 3.0 * (1.0 + flow_index) * (expected / stiff) ** 2
    assert np.all(np.abs(found / expected - 1.0) <= 1.1 * next_order + 2.0 * STEADY)


@pytest.mark.parametrize("elastic_strain", [0.02, 0.05, 0.1])
@pytest.mark.parametrize(("viscous_part", "flow_index"), [(0.0, 1.0), (0.5, 0.3), (0.5, 1.0), (1.0, 1.0), (1.0, 2.0)])
def test_steady_shear_at_finite_strain(elastic_strain: float, viscous_part: float, flow_index: float):
    """The next order, 2/3 e² of the yield part and 2/3 (1 + h) e² of the viscous part, to the order after it, e², and
    to the first order of a split step, 1/200 of a relaxation."""
    tau, rate = 10.0, 1.0
    eta = viscous_part * tau * 2.0 ** ((1.0 + flow_index) / 2.0) / rate**flow_index
    material = foam(tau / elastic_strain, math.sqrt(3.0) * (1.0 - viscous_part) * tau, eta, flow_index)
    drop = 1.0 - flow_curve(material, np.array([rate])).shear_stress[0] / tau
    expected = 2.0 / 3.0 * (1.0 + flow_index * viscous_part) * elastic_strain**2
    allowed = 4.0 * (1.0 + flow_index) * elastic_strain**2 + 10.0 / STEPS_PER_RELAXATION
    assert drop == pytest.approx(expected, rel=allowed)


@pytest.mark.parametrize("rate", [0.1, 1.0, 10.0, 100.0])
@pytest.mark.parametrize("viscosity", [0.5, 10.0])
def test_start_up_of_bingham_flow(rate: float, viscosity: float):
    """Case 2: elastic up to γ = σY/(√3 μ), then ‖s‖ = √(2/3) σY + (η γ̇/√2)(1 − exp(−2 μ (t − ty)/η)), within 1 %."""
    sigma = 30.0
    mu = 50.0 * (sigma / math.sqrt(3.0) + viscosity * rate / 2.0)
    curve = start_up(foam(mu, sigma, viscosity, 1.0), rate)
    t, tau = curve.values, curve.shear_stress
    yield_time = sigma / (math.sqrt(3.0) * mu * rate)
    s = math.sqrt(2.0 / 3.0) * sigma + viscosity * rate / math.sqrt(2.0) * -np.expm1(
        -2.0 * mu * (t - yield_time) / viscosity
    )
    expected = np.where(t <= yield_time, mu * rate * t, s / math.sqrt(2.0))
    assert np.all(np.abs(tau - expected) <= 0.01 * np.maximum(expected, 1e-300))
    assert np.count_nonzero(t <= yield_time) > 10
    assert t[-1] > yield_time + 5.0 * viscosity / (2.0 * mu)


@pytest.mark.parametrize("flow_index", [0.22, 0.5, 2.8])
def test_start_up_of_power_law_flow(flow_index: float):
    """x' = √2 μ γ̇ − 2 μ (x/η)^(1/h) for the excess x, by an independent explicit integration; within 1 % as case 2."""
    sigma, eta, rate = 30.0, 8.0, 2.0
    tau_end = sigma / math.sqrt(3.0) + eta * 2.0 ** (-(1.0 + flow_index) / 2.0) * rate**flow_index
    mu = 50.0 * tau_end
    curve = start_up(foam(mu, sigma, eta, flow_index), rate)
    yield_time = sigma / (math.sqrt(3.0) * mu * rate)
    end = eta * (rate / math.sqrt(2.0)) ** flow_index
    dt = 1e-4 * end / (math.sqrt(2.0) * mu * rate)
    x, t, excess, clock = 0.0, 0.0, [0.0], [0.0]
    while t < 4.0 * max(1.0, flow_index) * end / (math.sqrt(2.0) * mu * rate):
        x += dt * (math.sqrt(2.0) * mu * rate - 2.0 * mu * (x / eta) ** (1.0 / flow_index))
        t += dt
        excess.append(x)
        clock.append(t)
    after = (curve.values > yield_time) & (curve.values < yield_time + t)
    assert np.count_nonzero(after) > 100
    expected = sigma / math.sqrt(3.0) + np.interp(curve.values[after] - yield_time, clock, excess) / math.sqrt(2.0)
    np.testing.assert_allclose(curve.shear_stress[after], expected, rtol=0.01)


@pytest.mark.parametrize(("viscosity", "flow_index"), [(10.0, 1.0), (10.0, 0.3), (10.0, 2.0)])
def test_relaxation_after_a_sudden_strain(viscosity: float, flow_index: float):
    """x' = −2 μ (x/η)^(1/h) from x0 = √2 (μ γ − σY/√3): exp(−2 μ t/η) for h = 1, else
    x^(1−1/h) = x0^(1−1/h) − (1 − 1/h) 2 μ η^(−1/h) t; backward Euler in 200 steps a relaxation: within 1 %."""
    sigma, mu, strain = 20.0, 1e4, 0.005
    curve = step_strain(foam(mu, sigma, viscosity, flow_index), strain)
    t = curve.values
    x0 = math.sqrt(2.0) * (mu * strain - sigma / math.sqrt(3.0))
    if flow_index == 1.0:
        x = x0 * np.exp(-2.0 * mu * t / viscosity)
    else:
        p = 1.0 - 1.0 / flow_index
        x = np.maximum(x0**p - p * 2.0 * mu * viscosity ** (-1.0 / flow_index) * t, 0.0) ** (1.0 / p)
    expected = sigma / math.sqrt(3.0) + x / math.sqrt(2.0)
    np.testing.assert_allclose(curve.shear_stress, expected, rtol=0.01)
    assert curve.shear_stress[-1] < 0.75 * curve.shear_stress[0]


def test_no_relaxation_below_yield():
    """Simple shear of the neo-Hookean solid: τ12 = μ γ, for ever."""
    curve = step_strain(foam(100.0, 30.0, 10.0, 0.5), 0.1)
    np.testing.assert_allclose(curve.shear_stress, 10.0, rtol=1e-12)
