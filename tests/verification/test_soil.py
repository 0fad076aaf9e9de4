"""Triaxial compression and shear box of sand against Mohr and Coulomb (validation case 20), within 0.1 %."""

import math

import numpy as np
import pytest

from spume.rheology.choosing import choose_material
from spume.rheology.soil import shear_box, triaxial


@pytest.mark.parametrize("angle", [20.0, 35.0, 45.0])
@pytest.mark.parametrize("cohesion", [0.0, 500.0])
def test_triaxial_compression(angle: float, cohesion: float):
    """q = (6 sin φ p + 6 c cos φ)/(3 − sin φ) at failure, at a constant lateral stress; elastic before: q = E ε."""
    pressure = 1e3
    sand = choose_material("dry sand", [f"friction_angle={angle}", f"cohesion={cohesion}"])
    found = triaxial(sand, pressure, 0.01).columns
    q, p = found["deviator_stress"], found["mean_stress"]
    sine, cosine = math.sin(math.radians(angle)), math.cos(math.radians(angle))
    assert q[-1] == pytest.approx((6 * sine * p[-1] + 6 * cohesion * cosine) / (3 - sine), rel=1e-3)
    np.testing.assert_allclose(p - q / 3, pressure, rtol=1e-6)  # the lateral stress
    assert q[1] == pytest.approx(1e7 * found["axial_strain"][1], rel=1e-2)
    assert found["failure_deviator_stress"][-1] == pytest.approx(q[-1], rel=1e-3)
    # flow keeps the volume: after failure the volumetric strain stays
    assert found["volumetric_strain"][-1] == pytest.approx(found["volumetric_strain"][-20], rel=1e-6)


@pytest.mark.parametrize("angle", [20.0, 35.0])
@pytest.mark.parametrize("cohesion", [0.0, 500.0])
def test_shear_box(angle: float, cohesion: float):
    """τ = c cos φ + σ sin φ with the plane-strain cone."""
    changes = [f"friction_angle={angle}", f"cohesion={cohesion}", "cone=plane-strain"]
    found = shear_box(choose_material("dry sand", changes), 1e3, 0.05).columns
    expected = cohesion * math.cos(math.radians(angle)) + 1e3 * math.sin(math.radians(angle))
    assert found["shear_stress"][-1] == pytest.approx(expected, rel=1e-3)
    np.testing.assert_allclose(found["normal_stress"], 1e3, rtol=1e-6)


def test_metal_yields_at_its_yield_stress_at_any_pressure():
    for pressure in (0.0, 1e4):
        q = triaxial(choose_material("toy metal"), pressure, 0.01).columns["deviator_stress"]
        assert q[-1] == pytest.approx(4e4, rel=1e-3)


def test_elastic_solid_in_triaxial_compression():
    """Hencky: q = E ε/J in uniaxial stress; volumetric strain (1 − 2ν) ε."""
    found = triaxial(choose_material("foam rubber"), 0.0, 0.02).columns
    strain = found["axial_strain"]
    np.testing.assert_allclose(found["volumetric_strain"], 0.6 * strain, rtol=1e-6, atol=1e-12)
    np.testing.assert_allclose(found["deviator_stress"], 5e4 * strain * np.exp(0.6 * strain), rtol=1e-6, atol=1e-6)
