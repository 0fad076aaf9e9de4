"""Drucker-Prager plasticity against Mohr and Coulomb, and the volume correction: validation numbers 20 and 21."""

import math
from typing import Any

import numpy as np
import pytest
from one_point import OnePoint, deviator_norm

from spume.materials.drucker_prager import (
    DRUCKER_PRAGER,
    DruckerPragerParameters,
    cone_coefficients,
    plane_strain_angle,
)
from spume.scene.material import MaterialTable, resolve_materials

E, NU = 1e7, 0.3
MU, BULK = E / (2 * (1 + NU)), E / (1 - 2 * NU)  # BULK = 2 μ + 3 λ


def sand(**changes: Any) -> OnePoint:
    given = {"density": 1600.0, "youngs_modulus": E, "poisson_ratio": NU, "friction_angle": 35.0} | changes
    return OnePoint(DRUCKER_PRAGER, DruckerPragerParameters(**given))


def press(point: OnePoint, pressure: float) -> None:
    """To a hydrostatic Kirchhoff pressure, from rest."""
    point.stretch(*(3 * [-pressure / BULK]))


@pytest.mark.parametrize("angle", [10.0, 30.0, 35.0, 45.0])
@pytest.mark.parametrize("cohesion", [0.0, 2e3])
def test_triaxial_compression_fails_where_mohr_and_coulomb_do(angle: float, cohesion: float):
    """q = (6 sin φ p + 6 c cos φ)/(3 − sin φ) with the compression cone."""
    tested = sand(friction_angle=angle, cohesion=cohesion, cone="compression")
    press(tested, 5e3)
    for _ in range(40):  # isochoric compression along the axis
        tau = tested.stretch(-2e-4, 1e-4, 1e-4)
    q, p = tau[1, 1] - tau[0, 0], -np.trace(tau) / 3
    sine, cosine = math.sin(math.radians(angle)), math.cos(math.radians(angle))
    assert tested.field("dissipation") > 0.0
    assert q == pytest.approx((6 * sine * p + 6 * cohesion * cosine) / (3 - sine), rel=1e-9)


@pytest.mark.parametrize("angle", [10.0, 30.0, 35.0, 50.0])
@pytest.mark.parametrize("cohesion", [0.0, 2e3])
def test_plane_strain_flow_has_the_friction_angle_of_its_cone(angle: float, cohesion: float):
    """(τ1 − τ3)/2 = c cos φ + sin φ p in the plane, once isochoric flow has settled."""
    tested = sand(friction_angle=angle, cohesion=cohesion, cone="plane-strain")
    press(tested, 5e3)
    shear = np.array([[1, 1e-3, 0], [0, 1, 0], [0, 0, 1]])
    for _ in range(300):
        tau = tested.step(shear)
    in_plane = np.linalg.eigvalsh(tau[:2, :2])
    sine, cosine = math.sin(math.radians(angle)), math.cos(math.radians(angle))
    assert (in_plane[1] - in_plane[0]) / 2 == pytest.approx(cohesion * cosine - sine * in_plane.mean(), rel=1e-3)


def test_compression_cone_is_far_stronger_in_plane_strain():
    """35° acts like sin φ_eff = 3 c_F/√2, 55°; above 42.2° there is no such angle."""
    tested = sand(cone="compression")
    press(tested, 5e3)
    for _ in range(300):
        tau = tested.step(np.array([[1, 1e-3, 0], [0, 1, 0], [0, 0, 1]]))
    low, high = np.linalg.eigvalsh(tau[:2, :2])
    measured = math.degrees(math.asin((high - low) / -(high + low)))
    c_F, _ = cone_coefficients(35.0, 0.0, "compression")
    assert measured == pytest.approx(plane_strain_angle(c_F), rel=1e-3)
    assert plane_strain_angle(c_F) == pytest.approx(55.0, abs=0.5)
    assert plane_strain_angle(cone_coefficients(42.1, 0.0, "compression")[0]) is not None
    assert plane_strain_angle(cone_coefficients(42.3, 0.0, "compression")[0]) is None


@pytest.mark.parametrize("cone", ["compression", "plane-strain"])
@pytest.mark.parametrize("cohesion", [0.0, 2e3])
@pytest.mark.parametrize("correction", [True, False])
def test_random_cycles_stay_in_the_cone_and_dissipate(cone: str, cohesion: float, correction: bool):
    """Never outside the cone, never beyond the tip, dissipation never falls, ln J = tr ε + v_c."""
    rng = np.random.default_rng(2)
    c_F, c_C = cone_coefficients(35.0, cohesion, cone)
    tested, J = sand(cone=cone, cohesion=cohesion, volume_correction=correction), 1.0
    dissipated, separated, forgiven = 0.0, 0, 0
    for k in range(600):
        f = np.eye(3) * (1 + 2e-3 * math.sin(0.05 * k)) + 2e-3 * rng.uniform(-1, 1, (3, 3))
        J *= np.linalg.det(f)
        before = tested.field("gained_volume")
        tau = tested.step(f)
        assert deviator_norm(tau) + c_F * np.trace(tau) - c_C <= 1e-12 * E
        assert np.trace(tau) <= c_C / c_F + 1e-12 * E
        assert tested.field("dissipation") >= dissipated
        assert tested.volume_ratio() == pytest.approx(J, rel=1e-11)
        dissipated = tested.field("dissipation")
        separated += tested.field("gained_volume") > before
        forgiven += tested.field("gained_volume") < before - 1e-12  # not by rounding
    assert separated
    assert bool(forgiven) is correction


def test_side_projection_keeps_the_volume_of_the_elastic_strain():
    packed = sand(cohesion=1e3).packed
    rng = np.random.default_rng(3)
    checked = 0
    for _ in range(200):
        strain = 1e-3 * rng.uniform(-1, 1, 3) - 1e-3
        after, _ = DRUCKER_PRAGER.branches[0].return_map(packed, sand().history, tuple(strain), 1.0)
        if np.ptp(after) > 0.0:
            assert sum(after) == pytest.approx(strain.sum(), rel=1e-15, abs=1e-18)
            checked += 1
    assert checked > 100


def test_tip_is_where_cohesion_ends():
    """Extension ends at tr τ = c_C/c_F; without friction there is no tip."""
    tested = sand(cohesion=1e3)
    c_F, c_C = cone_coefficients(35.0, 1e3, "compression")
    tau = tested.stretch(0.1, 0.05, 0.02)
    np.testing.assert_allclose(tau, np.eye(3) * c_C / c_F / 3, rtol=0, atol=1e-12 * E)
    clay = sand(friction_angle=0.0, cohesion=1e3)
    tau = clay.stretch(0.1, 0.05, 0.02)
    assert np.trace(tau) == pytest.approx(BULK * 0.17, rel=1e-12)
    assert deviator_norm(tau) == pytest.approx(math.sqrt(8 / 3) * 1e3, rel=1e-9)


@pytest.mark.parametrize("expansion", [1e-4, 0.1, 1.0])
def test_separated_dry_sand_is_free_of_stress_until_its_volume_is_back(expansion: float):
    tested = sand()
    tested.stretch(expansion, expansion / 2, 0.0)
    for _ in range(9):
        tau = tested.stretch(-0.1 * expansion, -0.05 * expansion, 0.0)
        assert np.all(tau == 0.0)
    tested.stretch(-0.1 * expansion, -0.05 * expansion, 0.0)
    assert np.abs(tested.tau).max() <= 1e-12 * E
    tau = tested.stretch(-1e-4, -1e-4, -1e-4)
    np.testing.assert_allclose(tau, -1e-4 * BULK * np.eye(3), rtol=1e-9, atol=1e-9 * E)


def test_without_correction_separated_sand_resists_at_once():
    tested = sand(volume_correction=False)
    tested.stretch(0.01, 0.01, 0.01)
    tau = tested.stretch(-1e-3, -1e-3, -1e-3)
    np.testing.assert_allclose(tau, -1e-3 * BULK * np.eye(3), rtol=1e-9, atol=1e-9 * E)


def test_cohesive_sand_unloads_its_tension_first():
    """From the tip the tension falls elastically to zero; then the gained volume is given back without stress."""
    tested = sand(cohesion=1e3)
    c_F, c_C = cone_coefficients(35.0, 1e3, "compression")
    tip = c_C / c_F / BULK
    tested.stretch(0.01, 0.01, 0.01)
    assert tested.field("gained_volume") == pytest.approx(0.03 - tip, rel=1e-12)
    tau = tested.stretch(*(3 * [-tip / 6]))
    np.testing.assert_allclose(tau, 0.5 * BULK * tip / 3 * np.eye(3), rtol=1e-9, atol=1e-9 * E)
    tested.stretch(*(3 * [-tip / 6]))
    tau = tested.stretch(-0.005, -0.005, -0.005)
    assert np.abs(tau).max() <= 1e-12 * E
    left = tested.field("gained_volume")
    tau = tested.stretch(*(3 * [-left / 3 - 1e-5]))
    np.testing.assert_allclose(tau, -1e-5 * BULK * np.eye(3), rtol=1e-6, atol=1e-9 * E)


def test_cone_follows_the_dimension_of_the_scene():
    table = MaterialTable.model_validate({"base": "dry sand"})
    chosen = {d: resolve_materials({"mine": table}, [], d)[0]["mine"].parameters.cone for d in (2, 3)}
    assert chosen == {2: "plane-strain", 3: "compression"}
    fixed = MaterialTable.model_validate({"base": "dry sand", "cone": "compression"})
    assert resolve_materials({"mine": fixed}, [], 2)[0]["mine"].parameters.cone == "compression"


def test_cohesion_factor_weakens_the_sand():
    """Half of the cohesion: half of the tip's stress, at the next step."""
    tested = sand(cohesion=1e3)
    tau = tested.stretch(0.01, 0.01, 0.01)
    full = np.trace(tau)
    b, gained, _, dissipation = tested.history
    tested.history = (b, gained, 0.5, dissipation)
    assert np.trace(tested.step(np.eye(3))) == pytest.approx(0.5 * full, rel=1e-12)
