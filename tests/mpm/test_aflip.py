"""APIC whose damping is a rate per time: what it conserves, reproduces and damps."""

import numpy as np
import pytest

from spume.foam.plain import MaterialPointMethod
from spume.mpm.diagnostics import angular_momentum
from spume.scene.common import Scene
from spume.scene.problems import SceneProblems

CELL = 0.01


def method_of(transfer, dt=1e-4, modulus=1e4, dimension=2, **body):
    """A free disc or ball; without stiffness (1e-9 Pa) nothing but the transfers changes its velocities."""
    ball = "circle" if dimension == 2 else "sphere"
    shape = {ball: {"center": [0.003, 0.001, 0.002][:dimension], "radius": 0.05}}
    gel = {"law": "neo-hookean", "density": 1.0, "bulk_modulus": modulus, "shear_modulus": modulus}
    scene = Scene(
        title="free",
        method="mpm",
        dimension=dimension,
        duration=1e-3,
        gravity=[0.0] * dimension,
        grid={"cell": CELL, "spline": "quadratic" if dimension == 2 else "cubic"},
        time={"dt": dt},
        transfer=transfer,
        material={"gel": gel},
        body=[{"material": "gel", "shape": shape, **body}],
    )
    return MaterialPointMethod(scene)


@pytest.mark.parametrize("dimension", [2, pytest.param(3, marks=pytest.mark.slow_suite)])
@pytest.mark.parametrize("rate", [0.0, 5e3])
def test_momentum_and_angular_momentum_are_conserved(dimension, rate):
    """Elastic, with random velocities and affine velocities: both are sums of some hundred or thousand terms a step."""
    method = method_of({"scheme": "aflip", "damping_rate": rate}, dt=2e-5, modulus=10.0, dimension=dimension)
    p, rng = method.particles, np.random.default_rng(3)
    p.v[:] = rng.normal(size=p.v.shape)
    p.C[:] = 20.0 * rng.normal(size=p.C.shape)
    momentum, spin, mass = p.mass @ p.v, angular_momentum(method.world), p.mass.sum()
    for _ in range(10):
        method.take_step(2e-5)
    np.testing.assert_allclose(p.mass @ p.v, momentum, rtol=0, atol=1e-13 * mass)
    np.testing.assert_allclose(angular_momentum(method.world), spin, rtol=0, atol=1e-13 * mass * 0.05)


def test_an_affine_field_is_reproduced():
    """Whatever the rate, since neither APIC nor what it keeps changes such a field."""
    method = method_of({"scheme": "aflip", "damping_rate": 1e3}, modulus=1e-9)
    p = method.particles
    A, b = np.array([[1.0, -2.0], [0.5, 0.3]]), np.array([0.2, -0.1])
    p.v[:], p.C[:] = p.x @ A.T + b, A
    method.take_step(1e-6)
    # the points have moved by 1e-6 s times A; nodes far from all of them have masses and weights of 1e-10 of others
    np.testing.assert_allclose(p.v, (p.x - 1e-6 * p.v) @ A.T + b, rtol=0, atol=1e-13)
    np.testing.assert_allclose(p.C, np.broadcast_to(A, p.C.shape), rtol=0, atol=1e-10)


def decay_rate(transfer, dt, time=1e-3):
    """Rate [1/s] at which a shear wave of four cells decays over `time` [s], with points that hardly move."""
    wave = {"velocity": [0.0, 1e-6], "wave_vector": [2 * np.pi / (4 * CELL), 0.0]}
    method = method_of(transfer, dt, modulus=1e-9, wave=wave)

    def amplitude():
        p = method.particles
        inner = np.linalg.norm(p.x - p.x.mean(axis=0), axis=1) < 0.025  # the surface reaches two cells inwards
        return (p.v[:, 1] * np.sin(2 * np.pi / (4 * CELL) * p.x[:, 0]))[inner].sum()

    start = amplitude()
    for _ in range(round(time / dt)):
        method.take_step(dt)
    return np.log(start / amplitude()) / time


@pytest.mark.parametrize("scheme", ["aflip", "flip"])
def test_a_mode_is_damped_at_a_rate_per_time_whatever_the_step(scheme):
    """In a step the mode loses the part (1 − e^(−r Δt)) (1 − g), with g what is left of it after a round trip: the rate
    r (1 − g) up to a relative error of r Δt. Without a rate it is (1 − g)/Δt."""
    rate = 1e3
    long, short = (decay_rate({"scheme": scheme, "damping_rate": rate}, dt) for dt in (5e-5, 1.25e-5))
    assert 0.0 < short < rate
    assert short == pytest.approx(long, rel=rate * 5e-5)


def test_apic_damps_a_mode_by_step():
    """What the damping rate is for: with a quarter of the step the same number of steps damps as much, in a quarter of
    the time. Points move by 1e-10 m."""
    long, short = (decay_rate({"scheme": "apic"}, dt, 4 * dt) for dt in (5e-5, 1.25e-5))
    assert long > 0.0
    assert short == pytest.approx(4 * long, rel=1e-5)


@pytest.mark.parametrize(
    ("transfer", "word"),
    [
        ({"scheme": "apic", "damping_rate": 1.0}, "aflip"),
        ({"scheme": "flip", "flip": 0.9, "damping_rate": 1.0}, "both"),
        ({"scheme": "aflip", "flip": 0.9}, "flip"),
    ],
)
def test_rates_and_blends_that_do_not_go_together_are_refused(transfer, word):
    with pytest.raises(SceneProblems, match=word):
        method_of(transfer)
