"""Other energies, friction and several relaxation times of the viscoelastic law."""

import math
from typing import Any

import numpy as np
import pytest
from one_point import OnePoint, deviator_norm
from pydantic import ValidationError

from spume.materials.drucker_prager import cone_coefficients
from spume.materials.springs import spring
from spume.materials.viscoelastic import PLAIN, VISCOELASTIC
from spume.materials.viscoelastic_forms import viscoelastic_law
from spume.materials.viscoelastic_parameters import ViscoelasticParameters

GIVEN = {
    "density": 1e3, "shear_modulus": 2e3, "lame_modulus": 5e3,
    "viscous_shear_modulus": 4e3, "viscous_lame_modulus": 3e3, "deviatoric_viscosity": 8e3, "volumetric_viscosity": 6e3,
}  # fmt: skip
OGDEN: dict[str, Any] = {
    "elasticity": "ogden", "ogden_exponents": [1.3, 5.0, -2.0], "ogden_weights": [0.9, 0.04, 0.06]
}  # fmt: skip
NEO_HOOKEAN = {"elasticity": "neo-hookean"}
PART = {"shear_modulus": 1e3, "lame_modulus": 5e2, "deviatoric_viscosity": 1e2, "volumetric_viscosity": 1e2}
STIFF = {"lame_modulus": 1e7, "viscous_shear_modulus": 0.0, "viscous_lame_modulus": 0.0}
energies = pytest.mark.parametrize("energy", [NEO_HOOKEAN, OGDEN], ids=["neo-hookean", "ogden"])
every_energy = pytest.mark.parametrize("energy", [{}, NEO_HOOKEAN, OGDEN], ids=["hencky", "neo-hookean", "ogden"])


def solid(**changes: Any) -> OnePoint:
    parameters = ViscoelasticParameters.model_validate(GIVEN | changes, strict=True)
    return OnePoint(VISCOELASTIC.of(parameters), parameters)


def test_the_plain_form_is_the_law_of_the_paper():
    """Its kernels are those of the law without forms."""
    assert VISCOELASTIC.of(ViscoelasticParameters(**GIVEN)) is VISCOELASTIC
    assert VISCOELASTIC.of(ViscoelasticParameters(**GIVEN, yield_stress=1.0)) is VISCOELASTIC


def test_the_general_form_of_hencky_is_the_law_of_the_paper():
    """The same motion through both implementations; rounding of principal decompositions."""
    plain = solid(yield_stress=900.0)
    muE, lamE, muN, lamN, nud, nuv, k = plain.packed
    general = OnePoint(viscoelastic_law(PLAIN, VISCOELASTIC), plain.law.parameters(**GIVEN, yield_stress=900.0))
    general.packed = (muE, lamE, k, 0.0, 0.0, muN, lamN, nud, nuv)
    rng = np.random.default_rng(5)
    for _ in range(20):
        f = np.eye(3) + 0.1 * rng.uniform(-1, 1, (3, 3))
        np.testing.assert_allclose(general.step(f, 0.05), plain.step(f, 0.05), rtol=0, atol=1e-9 * muE)
        assert general.energy() == pytest.approx(plain.energy(), rel=1e-10)
        assert general.field("dissipation") == pytest.approx(plain.field("dissipation"), rel=1e-9)


def pulled(stretch: float, **changes: Any) -> float:
    """Nominal stress of a nearly incompressible material in uniaxial tension, P = τ/λ."""
    tested = solid(**STIFF | changes)
    axial, lateral = math.log(stretch), -0.5 * math.log(stretch)
    for _ in range(50):  # lateral strain for which the lateral stress vanishes
        point = solid(**STIFF | changes)
        tau = point.stretch(axial, lateral, lateral)
        lateral -= 0.5 * tau[1, 1] / 1e7
        if abs(tau[1, 1]) < 1e-7 * GIVEN["shear_modulus"]:
            break
    tested.stretch(axial, lateral, lateral)
    return float(tested.tau[0, 0]) / stretch


@pytest.mark.parametrize("stretch", [0.5, 1.5, 3.0, 6.0])
def test_uniaxial_tension_of_neo_hookean_and_ogden(stretch: float):
    """Incompressible: P = μ (λ − λ⁻²) and P = Σ (2 μ w/α) (λ^(α−1) − λ^(−α/2−1)). With λE/μ = 5000 the volume changes
    by P λ/κ, and the stress by as many parts of itself: a few per mille at the largest stress."""
    mu = GIVEN["shear_modulus"]
    bound = 4 * mu * stretch**2 / 1e7 + 1e-5
    assert pulled(stretch, **NEO_HOOKEAN) == pytest.approx(mu * (stretch - stretch**-2), rel=bound)
    expected = sum(
        2 * mu * w / a * (stretch ** (a - 1) - stretch ** (-a / 2 - 1))
        for a, w in zip(OGDEN["ogden_exponents"], OGDEN["ogden_weights"])
    )
    assert pulled(stretch, **OGDEN) == pytest.approx(expected, rel=6 * bound)


def test_hencky_loses_force_beyond_a_stretch_of_e_and_the_others_do_not():
    for energy, grows in (({}, False), (NEO_HOOKEAN, True), (OGDEN, True)):
        assert (pulled(4.0, **energy) > pulled(3.0, **energy)) is grows


def test_ogden_with_exponent_two_is_neo_hookean():
    """Energy, stress, relaxation and yield of the springs of the two, which are all that their laws differ in."""
    one, other, mu = spring("neo-hookean", 0), spring("ogden", 1), 3.0
    rng = np.random.default_rng(6)
    for _ in range(5):
        d = rng.uniform(-1, 1, 3)
        d = tuple(d - d.mean())
        assert one.shape_energy((), mu, d) == pytest.approx(other.shape_energy((2.0, 1.0), mu, d), rel=1e-12)
        s, a = one.shape((), mu, d)
        np.testing.assert_allclose((*s, *a), np.concatenate(other.shape((2.0, 1.0), mu, d)), rtol=1e-12, atol=1e-12)
        for ours, theirs in (
            (one.relax_shape((), mu, 0.3, d), other.relax_shape((2.0, 1.0), mu, 0.3, d)),
            (one.limit((), mu, 0.1, d), other.limit((2.0, 1.0), mu, 0.1, d)),
        ):
            for left, right in zip(ours, theirs):
                np.testing.assert_allclose(left, right, rtol=1e-9, atol=1e-12)


@energies
def test_moduli_at_small_strain_are_those_of_hencky(energy: dict[str, Any]):
    """Differences are of second order in the strain, with a factor of the order of the exponents."""
    for strain in ((1e-5, 0.0, 0.0), (1e-5, 2e-5, -3e-5)):
        ours, hencky = solid(**energy).stretch(*strain, 1e-3), solid().stretch(*strain, 1e-3)
        np.testing.assert_allclose(ours, hencky, rtol=0, atol=10 * np.abs(strain).max() * np.abs(hencky).max())


@every_energy
def test_relaxation_is_that_of_its_differential_equation(energy: dict[str, Any]):
    """dev ε' = −dev τ/νd and tr ε' = −2/3 tr τ/νv from a strain of 0.8, by the classical Runge-Kutta method: the error
    of the implicit steps halves with them."""
    p = ViscoelasticParameters.model_validate(GIVEN | energy, strict=True)
    law = VISCOELASTIC.of(p)
    branch, packed, history = law.branches[1], law.pack(p), solid(**energy).history
    start = np.array([0.8, -0.3, 0.1])

    def rate(strain):
        tau = np.array(branch.principal_stress(packed, history, tuple(strain))[0])
        return -(tau - tau.mean()) / p.deviatoric_viscosity - 2.0 / 9.0 * tau.sum() / p.volumetric_viscosity

    exact, h = start, 1e-3
    for _ in range(200):
        a = rate(exact)
        b = rate(exact + 0.5 * h * a)
        c = rate(exact + 0.5 * h * b)
        exact = exact + h / 6.0 * (a + 2 * b + 2 * c + rate(exact + h * c))
    errors = []
    for steps in (100, 200):
        strain = tuple(start)
        for _ in range(steps):
            strain, _ = branch.return_map(packed, history, strain, 0.2 / steps)
        errors.append(np.abs(np.array(strain) - exact).max())
    assert errors[1] < 2e-3
    assert errors[0] / errors[1] == pytest.approx(2.0, rel=0.05)


@energies
@pytest.mark.parametrize("size", [1e-8, 1e-3, 0.3, 3.0])
def test_flow_solves_its_equations_for_every_multiplier(energy: dict[str, Any], size: float):
    """d + c ∂Ŵ/∂d = d_trial to rounding, from elastic (c = 0) to fully relaxed, and ‖∂Ŵ/∂d‖ = k at yield."""
    terms = len(energy.get("ogden_exponents", ()))
    found = spring(energy["elasticity"], terms)
    parameters = (*energy.get("ogden_exponents", ()), *energy.get("ogden_weights", ()))
    rng = np.random.default_rng(7)
    mu = 3.0
    for _ in range(20):
        d = size * rng.uniform(-1, 1, 3)
        d -= d.mean()
        for c in (0.0, 1e-3, 0.3, 1e3, 1e12):
            after, _ = found.relax_shape(parameters, mu, c, tuple(d))
            s = np.array(found.shape(parameters, mu, after)[0])
            np.testing.assert_allclose(np.array(after) + c * s, d, rtol=0, atol=1e-12 * np.abs(d).max())
        s = np.linalg.norm(found.shape(parameters, mu, tuple(d))[0])
        for part in (1e-6, 0.1, 0.9):
            after, _, _, flows = found.limit(parameters, mu, part * s, tuple(d))
            assert flows
            assert np.linalg.norm(found.shape(parameters, mu, after)[0]) == pytest.approx(part * s, rel=1e-10)


@every_energy
def test_the_equilibrium_part_yields_by_von_mises(energy: dict[str, Any]):
    """Held until the other part has relaxed, the Kirchhoff stress is at √(2/3) σY for each energy."""
    tested = solid(yield_stress=300.0, **energy)
    tested.stretch(0.6, -0.5, -0.1, 1e-3)
    for _ in range(60):
        tested.step(np.eye(3), 1.0)
    assert deviator_norm(tested.tau) == pytest.approx(math.sqrt(2 / 3) * 300.0, rel=1e-9)


@every_energy
def test_the_equilibrium_part_yields_as_sand(energy: dict[str, Any]):
    """Sheared under pressure until the other part has relaxed: ‖dev τ‖ = c_C − c_F tr τ, and tension only up to the
    tip of the cone."""
    tested = solid(friction_angle=30.0, cohesion=100.0, **energy)
    c_F, c_C = cone_coefficients(30.0, 100.0, "auto")
    tested.stretch(-0.06, -0.06, -0.06, 1e-3)
    tested.stretch(0.3, -0.2, -0.1, 1e-3)
    for _ in range(60):
        tested.step(np.eye(3), 1.0)
    assert deviator_norm(tested.tau) == pytest.approx(c_C - c_F * np.trace(tested.tau), rel=1e-9)
    tested.stretch(0.3, 0.3, 0.3, 1e-3)
    for _ in range(60):
        tested.step(np.eye(3), 1.0)
    np.testing.assert_allclose(tested.tau, c_C / (3 * c_F) * np.eye(3), rtol=0, atol=1e-6 * c_C)


@every_energy
def test_separated_grains_close_without_stress(energy: dict[str, Any]):
    """Pulled apart without cohesion and pushed together again: J is that of the motion, and there is no stress before
    the volume is restored."""
    tested = solid(friction_angle=30.0, viscous_shear_modulus=0.0, viscous_lame_modulus=0.0, **energy)
    for _ in range(10):
        tested.stretch(0.02, 0.02, 0.02)
    assert tested.volume_ratio() == pytest.approx(math.exp(0.6), rel=1e-12)
    for _ in range(9):
        tested.stretch(-0.02, -0.02, -0.02)
    np.testing.assert_allclose(tested.tau, 0.0, atol=1e-9)
    for _ in range(2):
        tested.stretch(-0.02, -0.02, -0.02)
    kappa = GIVEN["lame_modulus"] + 2 / 3 * GIVEN["shear_modulus"]
    expected = kappa * -0.06 if not energy else 0.5 * kappa * math.expm1(-0.12)
    assert tested.tau[0, 0] == pytest.approx(expected, rel=1e-9)
    assert tested.volume_ratio() == pytest.approx(math.exp(-0.06), rel=1e-12)


@every_energy
def test_steady_flow_has_the_viscosity_of_the_flowing_part(energy: dict[str, Any]):
    """τ12 = νd/2 γ̇ for slow shear; the correction is of second order in the elastic strain, 2.5e-3."""
    assert slow_shear(1e-3, **energy) == pytest.approx(0.5 * 8e3 * 1e-3, rel=1e-3)


def test_steady_flow_has_the_viscosity_of_all_parts():
    """τ12 = Σ νd/2 γ̇. Parts are added in the same way for every energy."""
    assert slow_shear(1e-3, further_parts=[PART]) == pytest.approx(0.5 * (8e3 + 1e2) * 1e-3, rel=1e-3)


def slow_shear(rate: float, **changes: Any) -> float:
    """Shear stress [Pa] after long shearing of a fluid."""
    fluid, dt = solid(shear_modulus=0.0, **changes), 0.05
    for _ in range(400):
        fluid.step(np.array([[1, rate * dt, 0], [0, 1, 0], [0, 0, 1]]), dt)
    return float(fluid.tau[0, 1])


def test_several_parts_are_a_prony_series():
    """G(t) = μE + Σ μk exp(−t/τk) with τ = 1 and 0.05 s; the error of the steps is of first order."""
    gamma, errors = 1e-5, []
    for steps in (100, 200):
        tested = solid(further_parts=[PART])
        tested.step(np.array([[1, gamma, 0], [0, 1, 0], [0, 0, 1]]), 1e-9)
        for _ in range(steps):
            tested.step(np.eye(3), 0.1 / steps)
        exact = 2e3 + 4e3 * math.exp(-0.1) + 1e3 * math.exp(-2.0)
        errors.append(abs(tested.tau[0, 1] / gamma - exact))
    assert errors[1] < 0.005 * 1e3
    assert errors[0] / errors[1] == pytest.approx(2.0, rel=0.03)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"elasticity": "ogden"}, "ogden_exponents are missing"),
        ({"ogden_exponents": [2.0]}, "are given with elasticity 'hencky'"),
        ({"elasticity": "ogden", "ogden_exponents": [2.0, 0.0], "ogden_weights": [0.5, 0.5]}, "contain 0"),
        ({"elasticity": "ogden", "ogden_exponents": [2.0, 1.0]}, "are 0 numbers for 2 exponents"),
        (OGDEN | {"ogden_weights": [0.9, 0.2, 0.1]}, "add up to 1.2"),
        ({"friction_angle": 30.0, "yield_stress": 1.0}, "are both given"),
        ({"friction_angle": 30.0, "shear_modulus": 0.0}, "a fluid has no friction"),
        ({"cohesion": 1.0}, "without a friction_angle"),
        ({"further_parts": [PART | {"shear_modulus": -1.0}]}, "greater than or equal to 0"),
        ({"further_parts": [PART | {"colour": 1.0}]}, "not permitted"),
    ],
)
def test_contradictions_are_refused(changes: dict[str, Any], sentence: str):
    with pytest.raises(ValidationError, match=sentence):
        ViscoelasticParameters.model_validate(GIVEN | changes, strict=True)
