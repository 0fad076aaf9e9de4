"""Von Mises plasticity against closed forms."""

import numpy as np
import pytest
from one_point import OnePoint, deviator_norm

from spume.materials.von_mises import VON_MISES, VonMisesParameters

E, NU, YIELD = 2e5, 0.3, 1e3
MU = E / (2 * (1 + NU))


def point(hardening: float = 0.0) -> OnePoint:
    return OnePoint(
        VON_MISES,
        VonMisesParameters(density=1e3, youngs_modulus=E, poisson_ratio=NU, yield_stress=YIELD, hardening=hardening),
    )


@pytest.mark.parametrize("hardening", [0.0, 5e4])
@pytest.mark.parametrize("steps", [1, 7])
def test_pure_shear_has_its_closed_form_in_any_number_of_steps(hardening: float, steps: int):
    """Principal strains a, −a, 0: ‖dev τ‖ = √(2/3) (σY + H α) with 2 μ (√2 a − √(3/2) α) on the left."""
    tested, a = point(hardening), 0.05
    for _ in range(steps):
        tau = tested.stretch(a / steps, -a / steps, 0.0)
    alpha = (2 * MU * np.sqrt(2) * a - np.sqrt(2 / 3) * YIELD) / (np.sqrt(6) * MU + np.sqrt(2 / 3) * hardening)
    assert tested.field("plastic_strain") == pytest.approx(alpha, rel=1e-12)
    assert deviator_norm(tau) == pytest.approx(np.sqrt(2 / 3) * (YIELD + hardening * alpha), rel=1e-12)


def test_uniaxial_stress_yields_at_the_yield_stress():
    """Strains (1, −ν, −ν) σ/E are uniaxial stress: elastic just below σY, flowing just above."""
    for stress, flows in ((0.999 * YIELD, False), (1.001 * YIELD, True)):
        tested = point()
        tau = tested.stretch(stress / E, -NU * stress / E, -NU * stress / E)
        assert (tested.field("plastic_strain") > 0.0) is flows
        if not flows:
            np.testing.assert_allclose(tau, np.diag([stress, 0, 0]), rtol=0, atol=1e-9 * E)


def test_never_outside_the_yield_surface_and_keeps_the_volume():
    rng = np.random.default_rng(1)
    tested, J = point(), 1.0
    for _ in range(200):
        f = np.eye(3) + 0.1 * rng.uniform(-1, 1, (3, 3))
        J *= np.linalg.det(f)
        assert deviator_norm(tested.step(f)) <= np.sqrt(2 / 3) * YIELD + 1e-12 * E
        assert tested.volume_ratio() == pytest.approx(J, rel=1e-12)


def test_hardening_remembers():
    """Unloaded and loaded again, the point flows only beyond the stress it reached before."""
    tested = point(5e4)
    reached = deviator_norm(tested.stretch(0.02, -0.02, 0.0))
    plastic = tested.field("plastic_strain")
    elastic = reached / (2 * MU) / np.sqrt(2)
    tested.stretch(-elastic, elastic, 0.0)
    tested.stretch(0.999 * elastic, -0.999 * elastic, 0.0)
    assert tested.field("plastic_strain") == plastic
    tested.stretch(0.01 * elastic, -0.01 * elastic, 0.0)
    assert tested.field("plastic_strain") > plastic
