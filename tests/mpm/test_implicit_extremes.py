"""Every implicit solver with steps, stiffness and loads over six decades: a result, shorter steps or a sentence, never
another exception, a warning of NumPy, or numbers that are not finite."""

import warnings

import numpy as np
import pytest

from spume import Scene
from spume.errors import SpumeError
from spume.foam.plain import MaterialPointMethod
from spume.matter import driver

SOLVERS = {
    "admm": {"time": {"integrator": "implicit"}},
    "newton": {"time": {"integrator": "implicit"}, "implicit": {"solver": "newton"}},
    "semi-implicit": {"time": {"integrator": "semi-implicit"}},
}
STEPS, MODULI, GRAVITIES, SPEEDS = (1e-5, 1e-2, 10.0), (1e2, 1e5, 1e8), (1e-2, 1e1, 1e4), (0.0, 100.0)
SQUARE = [
    (dt, E, GRAVITIES[(i + j) % 3], SPEEDS[(i + 2 * j) % 2]) for i, dt in enumerate(STEPS) for j, E in enumerate(MODULI)
]
"""Each two values of step, modulus and gravity meet once."""


def beam(solver, dt, E, gravity, speed, cells=3, length=0.6):
    """A beam that sticks to a wall, above a rough floor."""
    height = cells * 0.1
    tables = SOLVERS[solver] | {"time": SOLVERS[solver]["time"] | {"dt": dt}}
    return MaterialPointMethod(Scene(
        title="beam", method="mpm", dimension=2, duration=8 * dt, frame_rate=1.0 / dt, gravity=[0.0, -gravity],
        grid={"cell": 0.1, "spline": "quadratic"},
        material={"m": {"law": "hencky", "density": 1000.0, "youngs_modulus": E, "poisson_ratio": 0.3}},
        body=[{"material": "m", "velocity": [speed, -speed],
               "shape": {"rectangle": {"center": [0.5 * length - 0.1, 0.5 * height], "size": [length, height]}}}],
        obstacle=[
            {"shape": {"half_plane": {"point": [0.0, 0.0], "normal": [1.0, 0.0]}}, "contact": "stick"},
            {"shape": {"half_plane": {"point": [0.0, -0.02], "normal": [0.0, 1.0]}}, "contact": "separate",
             "friction": 0.5},
        ],
        **tables,
    ))  # fmt: skip


def assert_sound(solver, steps, *case):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            method = beam(solver, *case)
            method.advance(steps * case[0], lambda: False, lambda progress: None)
        except SpumeError:
            return
    for name, array in method.particles.arrays().items():
        assert np.isfinite(array).all(), name


@pytest.mark.parametrize("case", SQUARE, ids=lambda case: "-".join(f"{x:g}" for x in case))
@pytest.mark.parametrize("solver", SOLVERS)
def test_steps_stiffness_and_loads_over_six_decades(monkeypatch, solver, case):
    monkeypatch.setattr(driver, "SHORTEST", 2.0**-4)  # a hopeless step ends sooner
    assert_sound(solver, 1, *case)


@pytest.mark.parametrize(("E", "dt"), [(1e2, 1.0), (1e3, 0.3)])
@pytest.mark.parametrize("solver", SOLVERS)
def test_a_very_soft_cantilever_with_long_steps(monkeypatch, solver, E, dt):
    """It falls by many times its length: the stresses of points that one iteration crushes overflowed."""
    monkeypatch.setattr(driver, "SHORTEST", 2.0**-4)
    assert_sound(solver, 2, dt, E, 9.81, 0.0)
