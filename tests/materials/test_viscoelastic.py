"""The viscoelastic law against the paper's corrector, the standard linear solid, and its limits."""

import math
from typing import Any

import numpy as np
import pytest
from one_point import OnePoint, deviator_norm
from pydantic import ValidationError

from spume.materials.viscoelastic import VISCOELASTIC, ViscoelasticParameters

GIVEN = {
    "density": 1e3, "shear_modulus": 2e3, "lame_modulus": 5e3,
    "viscous_shear_modulus": 4e3, "viscous_lame_modulus": 3e3, "deviatoric_viscosity": 8e3, "volumetric_viscosity": 6e3,
}  # fmt: skip


def solid(**changes: Any) -> OnePoint:
    return OnePoint(VISCOELASTIC, ViscoelasticParameters(**GIVEN | changes))


def test_corrector_is_that_of_the_paper():
    """[Fang19] eq. (8) with d = 3, as printed."""
    mu, lam, nud, nuv, d = 4e3, 3e3, 8e3, 6e3, 3
    alpha = 2 * mu / nud
    beta = 2 * (2 * mu + lam * d) / (9 * nuv) - 2 * mu / (nud * d)
    for dt in (1e-3, 0.1, 10.0):
        A, B = 1 / (1 + dt * alpha), dt * beta / (1 + dt * (alpha + d * beta))
        trial = np.array([0.3, -0.1, 0.25])
        after, derivative = VISCOELASTIC.branches[1].return_map(solid().packed, solid().history, tuple(trial), dt)
        np.testing.assert_allclose(after, A * (trial - B * trial.sum()), rtol=1e-13)
        np.testing.assert_allclose(np.reshape(derivative, (3, 3)), A * (np.eye(3) - B), rtol=1e-12, atol=1e-15)


def test_relaxation_of_shear_tends_to_the_standard_linear_solid():
    """G(t) = μE + μN exp(−t/τ), τ = νd/(2 μN) = 1 s; the error of the step is of first order and halves with it."""
    gamma, errors = 1e-5, []
    for steps in (50, 100):
        tested = solid()
        tested.step(np.array([[1, gamma, 0], [0, 1, 0], [0, 0, 1]]), 1e-9)
        for _ in range(steps):
            tested.step(np.eye(3), 1.0 / steps)
        errors.append(tested.tau[0, 1] / gamma - (2e3 + 4e3 * math.exp(-1.0)))
    assert abs(errors[1]) < 0.01 * 2e3
    assert errors[0] / errors[1] == pytest.approx(2.0, rel=0.02)


def test_volume_relaxes_with_its_own_viscosity():
    """Uniform compression: τ = (2 μ + 3 λ)/3 tr ε of both parts, the second falling at rate 2 (2 μN + 3 λN)/(3 νv)."""
    tested, strain, steps = solid(), 1e-5, 400
    tested.stretch(-strain, -strain, -strain, 1e-9)
    for _ in range(steps):
        tested.step(np.eye(3), 0.5 / steps)
    rate = 2 * (2 * 4e3 + 3 * 3e3) / (3 * 6e3)
    expected = -strain * ((2 * 2e3 + 3 * 5e3) + (2 * 4e3 + 3 * 3e3) * math.exp(-0.5 * rate))
    assert tested.tau[0, 0] == pytest.approx(expected, rel=5e-3)


def test_steady_flow_of_a_fluid_has_half_the_deviatoric_viscosity():
    """τ12 = νd/2 γ̇ for slow shear (γ̇ τ small)."""
    fluid, rate, dt = solid(shear_modulus=0.0), 1e-3, 0.05
    for _ in range(400):
        fluid.step(np.array([[1, rate * dt, 0], [0, 1, 0], [0, 0, 1]]), dt)
    assert fluid.tau[0, 1] == pytest.approx(0.5 * 8e3 * rate, rel=1e-3)


def test_fluid_remembers_its_volume_only():
    """A hundred shears of one: the equilibrium part holds a sphere, and its volume is right."""
    fluid = solid(shear_modulus=0.0)
    for _ in range(100):
        fluid.step(np.array([[1, 1.0, 0], [0, 1, 0], [0, 0, 1]]), 1.0)
    fluid.stretch(0.02, 0.0, 0.0)
    assert fluid.volume_ratio() == pytest.approx(math.exp(0.02), rel=1e-11)
    b = fluid.field("b")
    np.testing.assert_allclose(b, [math.exp(0.04 / 3)] * 3 + [0.0] * 3, rtol=1e-11, atol=1e-11)


def test_equilibrium_part_yields_and_keeps_the_shape():
    """Held until the other part has relaxed, the stress is at √(2/3) σY; released, the body stays deformed."""
    tested = solid(yield_stress=300.0)
    tested.stretch(0.3, -0.3, 0.0, 1e-3)
    for _ in range(60):
        tested.step(np.eye(3), 1.0)
    assert deviator_norm(tested.tau) == pytest.approx(math.sqrt(2 / 3) * 300.0, rel=1e-9)


def test_energy_is_stored_or_dissipated_over_a_closed_cycle():
    """A cycle of pure shear: the work done is what was dissipated plus what is stored."""
    tested, work, n = solid(), 0.0, 4000
    for k in range(n):
        da = 0.05 * (math.sin(2 * math.pi * (k + 1) / n) - math.sin(2 * math.pi * k / n))
        before = tested.tau
        after = tested.stretch(da, -da, 0.0, 1.0 / n)
        work += 0.5 * da * ((before + after)[0, 0] - (before + after)[1, 1])
    assert tested.field("dissipation") > 0.0
    assert tested.energy() + tested.field("dissipation") == pytest.approx(work, rel=5e-3)


def test_a_material_without_any_stiffness_is_refused():
    with pytest.raises(ValidationError, match="one of them should be positive"):
        ViscoelasticParameters(**GIVEN | {"shear_modulus": 0.0, "lame_modulus": 0.0})
