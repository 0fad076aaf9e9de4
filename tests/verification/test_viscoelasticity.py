"""The viscoelastic law on the rheometer against the standard linear solid (validation case 28), within 1 %."""

import math
from typing import Any

import numpy as np
import pytest

from spume.materials.table import Material
from spume.materials.viscoelastic import VISCOELASTIC, ViscoelasticParameters
from spume.rheology import standard_linear_solid
from spume.rheology.rheometer import creep, flow_curve, frequency_sweep, start_up, step_strain

MU_E, MU_N, TAU = 3e3, 7e3, 0.2
GIVEN = {
    "density": 1e3, "shear_modulus": MU_E, "lame_modulus": 2e4, "viscous_shear_modulus": MU_N,
    "viscous_lame_modulus": 1e4, "deviatoric_viscosity": 2 * MU_N * TAU, "volumetric_viscosity": 5e2,
}  # fmt: skip


def rubber(**changes: Any) -> Material:
    return Material("rubber", VISCOELASTIC, ViscoelasticParameters(**GIVEN | changes))


def test_relaxation_modulus():
    """G(t) = μE + μN exp(−t/τ)."""
    curve = step_strain(rubber(), 1e-3)
    expected = 1e-3 * (MU_E + MU_N * np.exp(-curve.values / TAU))
    np.testing.assert_allclose(curve.shear_stress, expected, rtol=0.01)
    assert curve.values[-1] > 5 * TAU


@pytest.mark.parametrize("equilibrium", [0.0, MU_E])
def test_storage_and_loss_modulus(equilibrium: float):
    """G' = μE + μN ω²τ²/(1 + ω²τ²), G'' = μN ωτ/(1 + ω²τ²), over six decades of ωτ."""
    omega = np.array([1e-3, 0.1, 1.0, 10.0, 1e3]) / TAU
    found = frequency_sweep(rubber(shear_modulus=equilibrium), omega).columns
    x = omega * TAU
    np.testing.assert_allclose(found["loss_modulus"], MU_N * x / (1 + x * x), rtol=0.01)
    expected = equilibrium + MU_N * x * x / (1 + x * x)
    # where it is small beside the loss modulus, the storage modulus has the error of the whole
    magnitude = np.hypot(expected, found["loss_modulus"])
    np.testing.assert_array_less(np.abs(found["storage_modulus"] - expected), 2e-3 * magnitude)


def test_creep_of_the_solid():
    """γ/σ = 1/μE − μN/(μE (μE + μN)) exp(−t/τc), τc = τ (μE + μN)/μE."""
    found = creep(rubber(), 3.0).columns
    expected = 3.0 / MU_E * (1 - MU_N / (MU_E + MU_N) * np.exp(-found["time"] / TAU * MU_E / (MU_E + MU_N)))
    np.testing.assert_allclose(found["shear_strain"], expected, rtol=0.01)
    assert found["shear_strain"][-1] > 2.5 * found["shear_strain"][0]


def test_creep_of_the_fluid():
    """γ/σ = 1/μN + t/(μN τ)."""
    found = creep(rubber(shear_modulus=0.0), 0.5).columns
    np.testing.assert_allclose(found["shear_strain"], 0.5 / MU_N * (1 + found["time"] / TAU), rtol=0.01)


def test_start_up_and_flow_curve_of_the_fluid():
    """μN γ̇ τ (1 − exp(−t/τ)), steady at νd/2 γ̇, while γ̇ τ is small."""
    fluid, rate = rubber(shear_modulus=0.0), 0.05
    curve = start_up(fluid, rate)
    expected = -MU_N * rate * TAU * np.expm1(-curve.values / TAU)
    np.testing.assert_allclose(curve.shear_stress, expected, rtol=0, atol=0.01 * expected.max())
    (steady,) = flow_curve(fluid, np.array([rate])).shear_stress
    assert steady == pytest.approx(MU_N * TAU * rate, rel=0.01)


def test_yielding_rubber_flows_at_its_yield_stress():
    """Slow shear of a solid with yield: σY/√3 + νd/2 γ̇."""
    (steady,) = flow_curve(rubber(yield_stress=30.0), np.array([1e-3])).shear_stress
    assert steady == pytest.approx(30.0 / math.sqrt(3.0) + MU_N * TAU * 1e-3, rel=0.01)


PARTS = [
    {"shear_modulus": 2e3, "deviatoric_viscosity": 8e3, "volumetric_viscosity": 8e3},  # 2 s
    {"shear_modulus": 4e3, "deviatoric_viscosity": 160.0, "volumetric_viscosity": 160.0},  # 0.02 s
]
SERIES = [(MU_N, TAU), (2e3, 2.0), (4e3, 0.02)]


def series(**changes: Any) -> Material:
    parameters = ViscoelasticParameters.model_validate(GIVEN | {"further_parts": PARTS} | changes, strict=True)
    return Material("series", VISCOELASTIC, parameters)


def test_several_relaxation_times_are_a_prony_series():
    """G(t) = μE + Σ μk exp(−t/τk), G' = μE + Σ μk ω²τk²/(1 + ω²τk²), G'' = Σ μk ωτk/(1 + ω²τk²)."""
    curve = step_strain(series(), 1e-3)
    expected = MU_E + sum(mu * np.exp(-curve.values / tau) for mu, tau in SERIES)
    np.testing.assert_allclose(curve.shear_stress, 1e-3 * expected, rtol=0.01)
    omega = np.array([0.1, 1.0, 10.0, 100.0])
    found = frequency_sweep(series(), omega).columns
    storage = MU_E + sum(mu * (omega * tau) ** 2 / (1 + (omega * tau) ** 2) for mu, tau in SERIES)
    loss = sum(mu * omega * tau / (1 + (omega * tau) ** 2) for mu, tau in SERIES)
    np.testing.assert_allclose(found["loss_modulus"], loss, rtol=0.01)
    np.testing.assert_allclose(found["storage_modulus"], storage, rtol=0.01)


def test_creep_of_a_prony_series():
    """The exact solution of the springs and dashpots, which is also that of one part split into two equal ones."""
    found = creep(series(), 3.0).columns
    np.testing.assert_allclose(found["shear_strain"], found["small_strain_theory"], rtol=0.01)
    half = {"viscous_shear_modulus": MU_N / 2, "deviatoric_viscosity": MU_N * TAU}
    part = {"shear_modulus": MU_N / 2, "deviatoric_viscosity": MU_N * TAU, "volumetric_viscosity": 5e2}
    for equilibrium in (0.0, MU_E):
        whole = ViscoelasticParameters(**GIVEN | {"shear_modulus": equilibrium})
        split = ViscoelasticParameters.model_validate(
            GIVEN | {"shear_modulus": equilibrium, "further_parts": [part]} | half, strict=True
        )
        times = np.linspace(0.0, 3.0, 7)
        np.testing.assert_allclose(
            standard_linear_solid.creep(split, 3.0, times), standard_linear_solid.creep(whole, 3.0, times), rtol=1e-10
        )


@pytest.mark.parametrize("elasticity", ["neo-hookean", pytest.param("ogden", marks=pytest.mark.slow_suite)])
def test_small_strains_do_not_know_the_energy(elasticity: str):
    """Storage and loss modulus of the standard linear solid; the strain of the oscillation is small."""
    exponents = {"ogden_exponents": [4.0]} if elasticity == "ogden" else {}
    omega = np.array([0.1, 1.0, 10.0]) / TAU
    found = frequency_sweep(series(elasticity=elasticity, further_parts=[], **exponents), omega).columns
    np.testing.assert_allclose(found["storage_modulus"], found["storage_modulus_theory"], rtol=0.01)
    np.testing.assert_allclose(found["loss_modulus"], found["loss_modulus_theory"], rtol=0.01)
