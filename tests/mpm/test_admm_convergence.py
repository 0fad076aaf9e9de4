"""ADMM converges with every choice of weights, penalty and relaxation, also where the energy is concave."""

import functools

import numpy as np
import pytest

from spume import Simulation, load_scene
from spume.materials import LAWS
from spume.mpm.implicit.concavity import CONCAVITY
from spume.mpm.implicit.principal_newton import flowed_stress
from spume.mpm.implicit.step import Integrator

STEPS = {"elastic-balls": 0.35, "roller": 1.0}
"""Scenes and the times [s] of steps in which points are compressed to half their width."""
CHOICES = {
    "defaults": (),
    "bulk modulus": ("implicit.weights='bulk-modulus'",),
    "unit": ("implicit.weights='unit'", "implicit.rho=4.2e4"),
    "equilibrated": ("implicit.weights='ruiz'",),
    "small penalty": ("implicit.rho=0.1",),
    "balanced": ("implicit.balancing='residual'", "implicit.rho=0.02"),
    "relaxed 1.4": ("implicit.over_relaxation=1.4",),
    "relaxed 1.6": ("implicit.over_relaxation=1.6",),
    "relaxed 1.9": ("implicit.over_relaxation=1.9",),
    "from the velocities without stress": ("implicit.start='free'",),
    "not accelerated": ("implicit.anderson_memory=0",),
    "accelerated more": ("implicit.anderson_memory=6",),
}

ACCURATE = ("implicit.iterations=2000", "implicit.tolerance=1e-9")


@pytest.fixture(scope="module")
def restored():
    """Makes simulations of a scene at its time in STEPS."""
    made = {}

    def make(name, *changes):
        if name not in made:
            simulation = Simulation(load_scene(name, preset="draft"))
            simulation.advance(STEPS[name])
            arrays, values = simulation.method.checkpoint()
            made[name] = {key: array.copy() for key, array in arrays.items()}, values
        arrays, values = made[name]
        simulation = Simulation(load_scene(name, list(changes), preset="draft"))
        fields = simulation.particles.arrays()
        simulation.method.restore({k: a.copy() for k, a in arrays.items() if k.partition("/")[2] in fields}, values)
        return simulation

    return make


def step(simulation):
    """The outcome of a step, and the new velocities of the points."""
    simulation.method.take_step(simulation.scene.time.max_dt)
    p = simulation.particles
    return simulation.method.part(Integrator).last, p.v[np.argsort(p.id)]


@pytest.mark.parametrize("name", STEPS)
@pytest.mark.parametrize("choice", CHOICES)
def test_every_choice_converges_within_the_default_number_of_iterations(restored, name, choice):
    outcome, _ = step(restored(name, *CHOICES[choice]))
    assert outcome.converged
    assert len(outcome.primal) < 60


@pytest.fixture(scope="module")
def exact(restored):
    """The accurate step of a scene with default settings, taken once."""
    return functools.cache(lambda name: step(restored(name, *ACCURATE)))


@pytest.mark.parametrize("name", STEPS)
@pytest.mark.parametrize("choice", CHOICES)
def test_every_choice_tends_to_the_same_solution(restored, exact, name, choice):
    """Residuals of 1e-9 of the strains; errors of the solution may be a hundred times larger."""
    by_default, wanted = exact(name)
    outcome, found = step(restored(name, *ACCURATE, *CHOICES[choice]))
    assert by_default.converged
    assert outcome.converged
    assert np.sqrt(((found - wanted) ** 2).sum()) <= 1e-7 * np.sqrt((wanted**2).sum())


@pytest.mark.parametrize("dimension", [2, 3])
def test_concavity_is_the_lowest_eigenvalue_of_the_second_derivative_of_the_energy(dimension):
    """The derivative of P(X) = U (τ/s) Vᵀ by central differences of 1e-5, whose error is about 1e-9 of the modulus."""
    law, d = LAWS["hencky"], dimension
    parameters = law.pack(law.parameters(density=1.0, youngs_modulus=1.0, poisson_ratio=0.3))
    stress = flowed_stress(law.branches[0])
    rng = np.random.default_rng(2)

    def first_piola(X):
        U, s, Vt = np.linalg.svd(X)
        padded = (*s, 1.0)[:3] if d == 2 else tuple(s)
        tau, _ = stress(parameters, (), False, tuple(np.log(padded)), 1.0)
        return U @ np.diag(np.array(tau)[:d] / s) @ Vt

    for _ in range(20):
        s = rng.uniform(0.2, 4.0, d)
        X = np.linalg.qr(rng.normal(size=(d, d)))[0] @ np.diag(s) @ np.linalg.qr(rng.normal(size=(d, d)))[0]
        columns = []
        for k in range(d * d):
            step = np.zeros(d * d)
            step[k] = 1e-5
            step = step.reshape(d, d)
            columns.append(((first_piola(X + step) - first_piola(X - step)) / 2e-5).ravel())
        hessian = np.array(columns)
        lowest = np.linalg.eigvalsh(0.5 * (hessian + hessian.T))[0]
        padded = (*s, 1.0)[:3] if d == 2 else tuple(s)
        tau, K = stress(parameters, (), False, tuple(np.log(padded)), 1.0)
        scale = np.abs(hessian).max()
        assert CONCAVITY[d](tau, K, padded) == pytest.approx(-lowest, abs=1e-6 * scale)
