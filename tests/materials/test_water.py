"""Water: pressure, waves, tension and viscosity of one point."""

import math
from typing import Any

import numpy as np
import pytest
from one_point import OnePoint
from scipy.integrate import quad

from spume.materials.water import WATER, WaterParameters


def water(**changes: Any) -> OnePoint:
    return OnePoint(WATER, WaterParameters(**{"density": 1e3, "bulk_modulus": 2e6} | changes))


@pytest.mark.parametrize("exponent", [1.0, 3.0, 7.0])
def test_pressure_and_energy_have_their_closed_forms(exponent: float):
    """p = K/γ (J^−γ − 1), W = −∫ p dJ; the Kirchhoff stress is −p J."""
    for J in (0.7, 0.99, 1.0, 1.05):
        tested = water(exponent=exponent, tension="full")
        tau = tested.step(np.eye(3) * J ** (1 / 3))

        def p(x: float) -> float:
            return 2e6 / exponent * (x**-exponent - 1)

        np.testing.assert_allclose(tau, -p(J) * J * np.eye(3), rtol=1e-10, atol=1e-8)
        assert tested.energy() == pytest.approx(-quad(p, 1.0, J)[0], rel=1e-9, abs=1e-9)


def test_bulk_modulus_is_the_stiffness_at_rest():
    """−J dp/dJ = K at J = 1 for every exponent: the error of the difference is O(δ)."""
    for exponent in (1.0, 7.0):
        tested = water(exponent=exponent)
        tau = tested.stretch(-1e-6, 0.0, 0.0)
        assert -tau[0, 0] == pytest.approx(2e6 * 1e-6, rel=1e-4)


def test_stretched_water_is_free_of_stress_and_resists_when_its_volume_is_back():
    tested = water()
    tau = tested.stretch(0.3, 0.2, -0.1)
    assert np.all(tau == 0.0)
    assert tested.energy() == 0.0
    assert tested.volume_ratio() == pytest.approx(math.exp(0.4), rel=1e-14)
    tau = tested.stretch(-0.3, -0.2, 0.1 - 1e-4)
    np.testing.assert_allclose(tau, -2e6 * 1e-4 * np.eye(3), rtol=1e-3)


def test_full_tension_pulls():
    assert water(tension="full").stretch(0.01, 0.0, 0.0)[0, 0] > 0.0


def test_newtonian_shear_stress():
    """τ12 = η γ̇, whatever came before."""
    tested, rate, dt = water(viscosity=0.5), 20.0, 1e-5
    tested.stretch(0.1, -0.1, 0.0)
    for _ in range(3):
        tau = tested.step(np.array([[1, rate * dt, 0], [0, 1, 0], [0, 0, 1]]), dt)
    assert tau[0, 1] == pytest.approx(0.5 * rate, rel=1e-3)


def test_rotation_makes_no_viscous_stress():
    tested = water(viscosity=0.5)
    c, s = math.cos(0.3), math.sin(0.3)
    tau = tested.step(np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]), 1e-3)
    assert np.abs(tau).max() <= 4 * np.finfo(float).eps * (2e6 + 0.5 / 1e-3)  # rounding of J and of the rate


def test_uniform_compression_makes_no_viscous_stress():
    quiet, viscous = water(), water(viscosity=10.0)
    for tested in (quiet, viscous):
        tested.stretch(-0.01, -0.01, -0.01, 1e-3)
    np.testing.assert_allclose(viscous.tau, quiet.tau, rtol=1e-9, atol=1e-6)
