"""The law of the point-based method: stress of eq. (9), plastic flow against its closed form. Validation number 37."""

import math
from typing import Any

import numpy as np
import pytest
from one_point import OnePoint

from spume.materials.corotated_plastic import COROTATED_PLASTIC, CorotatedPlasticParameters

E, NU = 1e5, 0.25
MU, LAM = E / (2 * (1 + NU)), E * NU / ((1 + NU) * (1 - 2 * NU))


def clay(**changes: Any) -> OnePoint:
    given = {"density": 1e3, "youngs_modulus": E, "poisson_ratio": NU, "flow_rate": 0.0, "yield_stress": 1e3} | changes
    return OnePoint(COROTATED_PLASTIC, CorotatedPlasticParameters(**given))


def piola(stretches: np.ndarray) -> np.ndarray:
    """[Gerszewski09] eq. (9)."""
    return 2 * MU * (stretches - 1) + LAM * (stretches - 1).sum()


def test_stress_is_that_of_the_paper():
    """τ = P F with P of eq. (9); with squared stretches half of F P(F²)."""
    stretches = np.array([1.3, 0.9, 1.05])
    tau = clay().step(np.diag(stretches))
    np.testing.assert_allclose(np.diag(tau), stretches * piola(stretches), rtol=1e-12)
    tau = clay(stretches="squared").step(np.diag(stretches))
    np.testing.assert_allclose(np.diag(tau), 0.5 * stretches**2 * piola(stretches**2), rtol=1e-12)


@pytest.mark.parametrize("stretches", ["plain", "squared"])
def test_youngs_modulus_is_the_stiffness_at_rest(stretches: str):
    """Uniaxial stress: strain (1, −ν, −ν) e gives E e."""
    e = 1e-6
    tau = clay(stretches=stretches).stretch(e, -NU * e, -NU * e)
    np.testing.assert_allclose(np.diag(tau), [E * e, 0, 0], rtol=0, atol=1e-5 * E * e)


@pytest.mark.parametrize("reference", [None, 500.0])
@pytest.mark.parametrize("dt", [1e-3, 0.05, 10.0])
def test_flow_has_its_closed_form(reference: float | None, dt: float):
    """[Bargteil07]: γ = ν Δt (‖P‖ − P_Y − K α)/‖P‖ within 0 and 1, F_p = (F/J^(1/3))^γ, F_e = F F_p⁻¹; α is ‖Δε_p‖."""
    nu, yielding, K = 20.0, 1e3, 2e4
    tested = clay(flow_rate=nu, yield_stress=yielding, hardening=K, reference_stress=reference)
    F, alpha = np.eye(3), 0.0
    for stretches in ([1.05, 0.98, 1.0], [1.02, 1.0, 0.97], [1.03, 0.99, 1.01]):
        F = np.diag(stretches) @ F
        s = np.diag(F)
        P = np.linalg.norm(piola(s))
        rate = nu * dt * (1.0 if reference is None else reference / P)
        gamma = min(max(rate * (P - yielding - K * alpha) / P, 0.0), 1.0)
        plastic = (s / np.prod(s) ** (1 / 3)) ** gamma
        alpha += np.linalg.norm(np.log(plastic))
        F = np.diag(s / plastic)
        tau = tested.step(np.diag(stretches), dt)
        np.testing.assert_allclose(np.diag(tau), np.diag(F) * piola(np.diag(F)), rtol=0, atol=1e-10 * E)
        assert tested.field("hardened") == pytest.approx(alpha, rel=1e-11)
    assert alpha > 0.0


def test_flow_of_a_held_strain_does_not_depend_on_the_step():
    """Relaxation of a held shear over 0.1 s: first-order in the step, since ν is a rate."""
    left = []
    for steps in (200, 400):
        tested = clay(flow_rate=10.0)
        tested.stretch(0.05, -0.05, 0.0, 1e-12)
        for _ in range(steps):
            tested.step(np.eye(3), 0.1 / steps)
        left.append(np.linalg.norm(tested.tau))
    assert left[0] == pytest.approx(left[1], rel=0.01)


def test_volume_is_kept_unless_relaxed():
    rng = np.random.default_rng(1)
    for limit in (None, 0.05):
        tested, J = clay(flow_rate=100.0, volume_limit=limit), 1.0
        for _ in range(100):
            f = np.eye(3) + 0.05 * rng.uniform(-1, 1, (3, 3))
            J *= np.linalg.det(f)
            tested.step(f, 1e-2)
            assert tested.volume_ratio() == pytest.approx(J, rel=1e-12)
        assert bool(tested.field("flowed_volume")) is (limit is not None)


@pytest.mark.parametrize("reference_stress", [None, 1e-3])
def test_volume_beyond_the_limit_flows_with_the_shape(reference_stress):
    """Uniform swelling of ln J = 0.3 with a limit of 0.12: the excess falls to the part 1 − γ, also where the flow of
    shapes is slow because its rate is divided by the stress."""
    tested = clay(flow_rate=1.0, yield_stress=0.0, volume_limit=0.12, reference_stress=reference_stress)
    tested.stretch(0.1, 0.1, 0.1, 0.25)
    assert tested.field("flowed_volume") == pytest.approx(0.25 * (0.3 - 0.12), rel=1e-12)
    assert tested.volume_ratio() == pytest.approx(math.exp(0.3), rel=1e-12)


def test_hardening_stops_the_flow():
    """Held at a shear, the flow ends where ‖P‖ = P_Y + K α."""
    tested = clay(flow_rate=50.0, hardening=1e4)
    tested.stretch(0.05, -0.05, 0.0, 1e-12)
    for _ in range(2000):
        tested.step(np.eye(3), 1e-2)
    stretches = np.sqrt(np.array(tested.field("b"))[:3])
    assert np.linalg.norm(piola(stretches)) == pytest.approx(1e3 + 1e4 * tested.field("hardened"), rel=1e-6)


def test_flow_never_raises_the_energy():
    """Deep in compression the energy of eq. (9) falls with the shear: no flow there, and none that creates energy."""
    rng = np.random.default_rng(2)
    for _ in range(200):
        tested = clay(flow_rate=1e3, yield_stress=0.0)
        elastic = clay()
        strain = rng.uniform(-3.0, 0.5, 3)
        tested.stretch(*strain, 1.0)
        elastic.stretch(*strain, 1.0)
        assert tested.energy() <= elastic.energy() * (1 + 1e-12)
        assert tested.field("dissipation") >= 0.0
