"""Hard cases of implicit steps in space, with default settings: every step ends with an accepted residual, and nothing
is ever infinite or inside out. All in the slow suite: implicit steps in space have kernels that no fast test needs."""

import numpy as np
import pytest

from spume import Scene
from spume.foam.plain import MaterialPointMethod
from spume.scene.time_stepping import Implicit

pytestmark = pytest.mark.slow_suite


def elastic(E, nu):
    return {"law": "hencky", "density": 1000.0, "youngs_modulus": E, "poisson_ratio": nu}


def metal(E, nu):
    return elastic(E, nu) | {"law": "von-mises", "yield_stress": 0.02 * E}


def viscoelastic(E, nu):
    """A weak spring beside a strong one that relaxes within 25 ms."""
    mu, lam = E / (2.0 + 2.0 * nu), E * nu / ((1.0 + nu) * (1.0 - 2.0 * nu))
    return {
        "law": "viscoelastic", "density": 1000.0, "shear_modulus": 0.1 * mu, "lame_modulus": 0.1 * lam,
        "viscous_shear_modulus": mu, "viscous_lame_modulus": lam,
        "deviatoric_viscosity": 0.05 * mu, "volumetric_viscosity": 0.05 * mu,
    }  # fmt: skip


LAWS = {"hencky": elastic, "von-mises": metal, "viscoelastic": viscoelastic}


def method(materials, bodies, dt, **more):
    tables = {
        "title": "hard", "method": "mpm", "dimension": 3, "duration": 1.0,
        "grid": {"cell": 0.1, "spline": "quadratic"}, "time": {"integrator": "implicit", "dt": dt},
        "material": materials, "body": bodies,
    }  # fmt: skip
    return MaterialPointMethod(Scene(**tables, **more))


def stirred_beam(material, dt, speed):
    """Clamped at one end, with smooth velocities of different directions, so that every point deforms."""
    beam = {"material": "m", "shape": {"box": {"center": [0.5, 0.2, 0.2], "size": [1.0, 0.4, 0.4]}}}
    clamp = {"shape": {"half_space": {"point": [0.15, 0.0, 0.0], "normal": [1.0, 0.0, 0.0]}}, "contact": "stick"}
    made = method({"m": material}, [beam], dt, obstacle=[clamp])
    a = np.random.default_rng(1).normal(size=(3, 3)) * speed
    made.particles.v[:] = np.sin(4.0 * made.particles.x) @ a
    return made


def assert_sound(made):
    assert made.diagnostics()["worst_residual"] <= Implicit().accepted_residual
    arrays = made.particles.arrays()
    assert all(np.isfinite(array).all() for array in arrays.values())
    if "F" in arrays:
        assert np.linalg.det(arrays["F"]).min() > 0.0
    for name in {"b", "b_viscous"} & set(arrays):  # xx, yy, zz, xy, xz, yz
        b = arrays[name][:, [0, 3, 4, 3, 1, 5, 4, 5, 2]].reshape(-1, 3, 3)
        assert np.linalg.eigvalsh(b).min() > 0.0, "a point was crushed"


CASES = {
    "steps of 0.1 s": ((1e5, 0.3), 0.1, 1.0),
    "Poisson ratio 0.49": ((1e5, 0.49), 1e-2, 1.0),
    "1e10 Pa": ((1e10, 0.3), 1e-2, 1.0),
    "velocities that would invert points": ((1e6, 0.3), 1e-2, 50.0),
}


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("case", CASES)
def test_a_stirred_beam(case, law):
    moduli, dt, speed = CASES[case]
    made = stirred_beam(LAWS[law](*moduli), dt, speed)
    for _ in range(3):
        made.take_step(dt)
    assert_sound(made)


@pytest.mark.parametrize("law", LAWS)
def test_bodies_whose_stiffness_differs_by_a_million_meet(law):
    bodies = [
        {
            "material": name,
            "velocity": [speed, 0.0, 0.0],
            "shape": {"box": {"center": [x, 0.2, 0.2], "size": [0.4] * 3}},
        }
        for name, x, speed in (("soft", 0.2, 1.0), ("hard", 0.6, -1.0))
    ]
    made = method({"soft": LAWS[law](1e4, 0.3), "hard": LAWS[law](1e10, 0.3)}, bodies, 5e-3)
    for _ in range(5):
        made.take_step(5e-3)
    assert_sound(made)
