"""Grains whose friction grows with the rate: μ(I) in steady shear, the equations of a step, the limit of slow flow."""

import math
from typing import Any

import numpy as np
import pytest
from one_point import OnePoint, deviator_norm
from scipy.optimize import brentq

from spume.materials.drucker_prager import DRUCKER_PRAGER, DruckerPragerParameters
from spume.materials.granular_flow import GRANULAR_FLOW, GranularFlowParameters, _pack, friction_at, project
from spume.scene.material import MaterialTable, resolve_materials

E, NU, DIAMETER, GRAIN = 1e7, 0.3, 5e-4, 2500.0
BULK = E / (1 - 2 * NU)


def beads(**changes: Any) -> GranularFlowParameters:
    given = {
        "density": 1500.0, "youngs_modulus": E, "poisson_ratio": NU, "friction_angle": 21.0,
        "fast_friction_angle": 33.0, "inertial_number": 0.28, "grain_diameter": DIAMETER, "grain_density": GRAIN,
    }  # fmt: skip
    return GranularFlowParameters(**(given | changes))


@pytest.mark.parametrize("inertial_number", [1e-3, 0.05, 0.28, 2.0, 50.0])
@pytest.mark.parametrize("strain", [1e-4, 1e-3])
def test_steady_shear_has_the_friction_of_its_inertial_number(inertial_number, strain):
    """In steady flow the plastic strain of a step is that of the step, whatever its length, so μ(I) is exact but for
    the rotation by elastic strains of P/E = 1e-3."""
    pressure, parameters = 1e4, beads()
    point = OnePoint(GRANULAR_FLOW, parameters)
    point.stretch(*(3 * [-pressure / BULK]))
    rate = inertial_number / (DIAMETER * math.sqrt(GRAIN / pressure))
    for _ in range(int(0.05 / strain)):
        tau = point.step(np.array([[1, strain, 0], [0, 1, 0], [0, 0, 1]]), dt=strain / rate)
    friction = deviator_norm(tau) / math.sqrt(2.0) / (-np.trace(tau) / 3.0)
    assert friction == pytest.approx(friction_at(parameters, inertial_number), rel=2e-3)


def test_a_step_solves_its_equations():
    """Against a bracketing root finder, over eight decades of dt."""
    rng = np.random.default_rng(1)
    parameters = beads(cohesion=20.0)
    numbers = _pack(parameters)
    mu = numbers[0]
    for _ in range(200):
        pressure, dt = 10.0 ** rng.uniform(0, 5), 10.0 ** rng.uniform(-7, 1)
        d = rng.normal(size=3)
        d -= d.mean()
        size = rng.uniform(1.01, 10.0) * (friction_at(parameters, 0.0) * pressure + 20.0) / (math.sqrt(2.0) * mu)
        strain = -pressure / BULK + d * size / np.linalg.norm(d)
        after, _ = project(numbers, 0.0, tuple(strain), dt)

        def excess(r, size=size, pressure=pressure, dt=dt):
            inertial = math.sqrt(2.0) * (size - r) / dt * DIAMETER * math.sqrt(GRAIN / pressure)
            return r - (friction_at(parameters, inertial) * pressure + 20.0) / (math.sqrt(2.0) * mu)

        expected = brentq(excess, 0.0, size, xtol=1e-18, rtol=1e-14)
        found = np.array(after)
        assert found.sum() == pytest.approx(strain.sum(), rel=1e-12)
        assert np.linalg.norm(found - found.mean()) == pytest.approx(expected, rel=1e-9)


def test_slow_flow_is_that_of_sand_with_the_cone_of_plane_strain():
    """sin φ = tan θ_s; steps of a year."""
    friction = friction_at(beads(), 0.0)
    sand = DruckerPragerParameters(
        density=1500.0, youngs_modulus=E, poisson_ratio=NU, cone="plane-strain",
        friction_angle=math.degrees(math.asin(friction)),
    )  # fmt: skip
    slow, plain = OnePoint(GRANULAR_FLOW, beads()), OnePoint(DRUCKER_PRAGER, sand)
    rng = np.random.default_rng(3)
    for point in (slow, plain):
        point.stretch(*(3 * [-1e-3]))
    for _ in range(50):
        f = np.eye(3) + 1e-3 * rng.normal(size=(3, 3))
        assert slow.step(f, dt=3e7) == pytest.approx(plain.step(f, dt=3e7), rel=1e-6, abs=1e-3)
    assert slow.field("gained_volume") == pytest.approx(plain.field("gained_volume"), rel=1e-6)
    assert slow.field("dissipation") == pytest.approx(plain.field("dissipation"), rel=1e-6)


def test_a_fast_angle_below_the_slow_one_is_named():
    table = {
        "law": "granular-flow", "density": 1500.0, "youngs_modulus": E, "poisson_ratio": NU, "friction_angle": 30.0,
        "fast_friction_angle": 20.0, "grain_diameter": DIAMETER,
    }  # fmt: skip
    _, problems = resolve_materials({"beads": MaterialTable(**table)}, [])
    assert any("fast_friction_angle is 20: it should be at least friction_angle, 30" in str(p) for p in problems)
