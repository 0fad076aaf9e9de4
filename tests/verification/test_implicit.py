"""Implicit steps and damping against closed forms, and against explicit steps of the same scene."""

import numpy as np
import pytest

from spume import Scene
from spume.foam.plain import MaterialPointMethod
from spume.mpm.diagnostics import angular_momentum


def run_to(method, time):
    method.advance(time, lambda: False, lambda progress: None)


def test_a_cantilever_sags_under_its_weight_like_a_timoshenko_beam():
    """w = ρ g A L⁴/(8 E' I) + ρ g L²/(2 k G), plane strain: E' = E/(1 − ν²), k = 5/6; 8 cells thick, within 5 %.

    Steps of 2.7/ω reach the rest state: backward Euler damps the first mode by 1/√(1 + 2.7²) in each.
    """
    length, height, E, nu, density, gravity = 1.0, 0.2, 1e6, 0.3, 1000.0, 0.05
    scene = Scene(
        title="cantilever", method="mpm", dimension=2, duration=20.0, gravity=[0.0, -gravity],
        grid={"cell": height / 8, "spline": "quadratic"}, time={"integrator": "implicit", "dt": 0.4},
        implicit={"solver": "newton", "iterations": 20, "tolerance": 1e-6, "linear_iterations": 1000},
        material={"m": {"law": "hencky", "density": density, "youngs_modulus": E, "poisson_ratio": nu}},
        body=[{"material": "m", "shape": {"rectangle": {"center": [length / 2 - 0.05, 0.0],
                                                        "size": [length + 0.1, height]}}}],
        obstacle=[{"shape": {"half_plane": {"point": [0.0, 0.0], "normal": [1.0, 0.0]}}, "contact": "stick"}],
    )  # fmt: skip
    method = MaterialPointMethod(scene)
    p = method.particles
    tip = p.id[p.x[:, 0] > length - height / 8]
    before = p.x[np.isin(p.id, tip), 1].mean()
    for _ in range(8):
        method.take_step(0.4)
    sag = before - p.x[np.isin(p.id, tip), 1].mean()
    plane, shear = E / (1 - nu**2), E / (2 * (1 + nu))
    bending = density * gravity * height * length**4 / (8 * plane * height**3 / 12)
    assert sag == pytest.approx(bending + density * gravity * length**2 / (2 * 5 / 6 * shear), rel=0.05)


def test_spins_decay_at_the_rate_of_the_square_of_the_angular_velocity_times_the_step():
    """A stiff disc in free flight turns by θ = ω Δt in a step and by θ' in the next, 2 sin θ' = sin(θ + θ'), so that
    ω decays at the rate ω² Δt, to the order θ. The first step stretches the disc until it pulls its rim inwards."""
    omega, dt, steps = 10.0, 5e-3, 10
    scene = Scene(
        title="spin", method="mpm", dimension=2, duration=1.0, gravity=[0.0, 0.0],
        grid={"cell": 0.05, "spline": "quadratic"}, time={"integrator": "implicit", "dt": dt},
        implicit={"solver": "newton", "tolerance": 1e-9, "linear_iterations": 2000},
        material={"m": {"law": "hencky", "density": 1000.0, "youngs_modulus": 1e7, "poisson_ratio": 0.3}},
        body=[{"material": "m", "shape": {"circle": {"center": [0.0, 0.0], "radius": 0.2}}, "spin": omega}],
    )  # fmt: skip
    method = MaterialPointMethod(scene)
    method.take_step(dt)
    first = angular_momentum(method.world)[2]
    for _ in range(steps):
        method.take_step(dt)
    rate = np.log(first / angular_momentum(method.world)[2]) / (steps * dt)
    assert rate == pytest.approx(omega**2 * dt, rel=2.0 * omega * dt)


CELLS, STEPS, STEP = 64, 10, 1e-3
"""Cells in a wavelength of 1 m; steps, and their length [s]."""


def amplitude_after_damping(spline, damping):
    """What is left of a shear wave in the middle of a sheet after STEPS steps, of its first amplitude."""
    first = 1e-4  # m/s: nothing moves by more than a thousandth of a cell
    scene = Scene(
        title="wave", method="mpm", dimension=2, duration=1.0, gravity=[0.0, 0.0],
        grid={"cell": 1.0 / CELLS, "spline": spline}, time={"dt": STEP}, damping=damping,
        material={"m": {"law": "neo-hookean", "density": 1.0, "bulk_modulus": 1e-9, "shear_modulus": 1e-9}},
        body=[{"material": "m", "shape": {"rectangle": {"center": [0.0, 0.0], "size": [1.5, 0.4]}},
               "wave": {"velocity": [0.0, first], "wave_vector": [2 * np.pi, 0.0]}}],
    )  # fmt: skip
    method = MaterialPointMethod(scene)
    for _ in range(STEPS):
        method.take_step(STEP)
    p = method.particles
    # one wavelength, away from the edges by more than the √(2 ν t) that they are felt
    middle = (np.abs(p.x[:, 0]) < 0.5) & (np.abs(p.x[:, 1]) < 0.08)
    shape = np.sin(2 * np.pi * p.x[middle, 0])
    return (p.v[middle, 1] @ shape) / (shape @ shape) / first


@pytest.mark.parametrize(
    ("spline", "moment"), [("quadratic", 8), pytest.param("cubic", 6, marks=pytest.mark.slow_suite)]
)
def test_a_round_trip_damps_a_long_shear_wave_like_its_viscosity(spline, moment):
    """exp(−ν k² Δt) a trip with ν = h²/(8 Δt) (quadratic) or h²/(6 Δt) (cubic), within 3 %; the next term is smaller by
    (k h)² = 1 %."""
    ratio = amplitude_after_damping(spline, {"rpic_iterations": 2}) / amplitude_after_damping(spline, {})
    assert -np.log(ratio) / (2 * STEPS) == pytest.approx((2 * np.pi / CELLS) ** 2 / moment, rel=0.03)


def test_a_viscosity_is_reached_by_partial_trips():
    """exp(−ν k² t), within 3 %, for a viscosity of 1.4 trips a step."""
    viscosity = 1.4 / CELLS**2 / 8 / STEP
    ratio = amplitude_after_damping("quadratic", {"viscosity": viscosity}) / amplitude_after_damping("quadratic", {})
    assert -np.log(ratio) == pytest.approx(viscosity * (2 * np.pi) ** 2 * STEPS * STEP, rel=0.03)


def test_round_trips_keep_linear_and_angular_momentum():
    scene = Scene(
        title="spin", method="mpm", dimension=2, duration=1.0, gravity=[0.0, 0.0],
        grid={"cell": 0.05, "spline": "quadratic"}, time={"dt": 1e-4}, damping={"rpic_iterations": 7},
        material={"m": {"law": "neo-hookean", "density": 1.0, "bulk_modulus": 1e-9, "shear_modulus": 1e-9}},
        body=[{"material": "m", "shape": {"circle": {"center": [0.3, 0.1], "radius": 0.4}}, "spin": 3.0,
               "velocity": [1.0, 2.0], "wave": {"velocity": [0.5, 1.0], "wave_vector": [9.0, 4.0]}}],
    )  # fmt: skip
    method = MaterialPointMethod(scene)
    p = method.particles
    linear, angular = p.mass @ p.v, angular_momentum(method.world)[2]
    for _ in range(3):
        method.take_step(1e-4)
    assert p.mass @ p.v == pytest.approx(linear, rel=1e-12)
    assert angular_momentum(method.world)[2] == pytest.approx(angular, rel=1e-11)


def pulled_block(integrator, dt):
    """A viscoelastic block between two sticking plates that part, stop and leave; its length after pulling and after
    recovery."""
    plates = [
        {"shape": {"rectangle": {"center": [side * 0.6, 0.0], "size": [0.4, 1.0]}}, "contact": "stick",
         "motion": {"keyframes": {"times": [0.0, 0.5, 0.80005, 0.8001], "interpolation": "linear",
                                  "positions": [[0.0, 0.0], [side * 0.1, 0.0], [side * 0.1, 0.0], [side * 9.0, 0.0]]}}}
        for side in (-1.0, 1.0)
    ]  # fmt: skip
    scene = Scene(
        title="pull", method="mpm", dimension=2, duration=2.0, gravity=[0.0, 0.0],
        grid={"cell": 0.05, "spline": "quadratic"}, time={"integrator": integrator} | dt,
        material={"m": {"law": "viscoelastic", "density": 1000.0, "shear_modulus": 900.0, "lame_modulus": 9000.0,
                        "viscous_shear_modulus": 9000.0, "viscous_lame_modulus": 9000.0,
                        "deviatoric_viscosity": 5000.0, "volumetric_viscosity": 5000.0}},
        body=[{"material": "m", "shape": {"rectangle": {"center": [0.0, 0.0], "size": [1.0, 0.3]}}}],
        obstacle=plates,
    )  # fmt: skip
    method = MaterialPointMethod(scene)
    found = []
    for time in (0.8, 1.2):
        run_to(method, time)
        x = method.particles.x[:, 0]
        found.append(x.max() - x.min())
    return found


@pytest.mark.slow_suite
def test_implicit_and_explicit_steps_pull_and_release_a_block_alike():
    explicit = pulled_block("explicit", {})
    for dt in (1e-2, 2.5e-3):
        assert pulled_block("implicit", {"dt": dt}) == pytest.approx(explicit, rel=0.03)


@pytest.mark.parametrize("friction", [0.0, 0.3])
def test_a_block_slides_against_coulomb_friction(friction):
    """v = v0 − μ g t: the friction is that of the weight of the whole block, which reaches the ground as stress."""
    scene = Scene(
        title="slide", method="mpm", dimension=2, duration=1.0,
        grid={"cell": 0.05, "spline": "quadratic"}, time={"integrator": "implicit", "dt": 2e-3},
        material={"m": {"law": "hencky", "density": 1000.0, "youngs_modulus": 1e6, "poisson_ratio": 0.3}},
        body=[{"material": "m", "shape": {"rectangle": {"center": [0.0, 0.15], "size": [0.6, 0.3]}},
               "velocity": [1.0, 0.0]}],
        obstacle=[{"shape": {"half_plane": {"point": [0.0, 0.0], "normal": [0.0, 1.0]}}, "contact": "separate",
                   "friction": friction}],
    )  # fmt: skip
    method = MaterialPointMethod(scene)
    run_to(method, 0.1)
    p = method.particles
    assert p.mass @ p.v[:, 0] / p.mass.sum() == pytest.approx(1.0 - friction * 9.81 * 0.1, rel=0.02)
