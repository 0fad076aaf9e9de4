"""What implicit solvers ask of every law: principal stresses and return maps with their derivatives."""

from typing import Any

import numpy as np
import pytest
from law_cases import CASES, EPS, Array, Points, every_material, stiffness

from spume.materials import Law, Parameters

BRANCHES = [
    pytest.param(law, parameters, k, id=f"{case.id}, branch {k}", marks=case.marks)
    for case in CASES
    for law, parameters in [case.values]
    for k in range(len(law.branches))
]
every_branch = pytest.mark.parametrize(("law", "parameters", "k"), BRANCHES)


def principal_strains(rng: np.random.Generator, count: int, size: float) -> Array:
    """Well apart, so that the flow is smooth in each."""
    return size * (rng.uniform(-1, 1, (count, 3)) + np.array([0.0, 0.5, -0.4]))


def derivative(function: Any, strain: Array, delta: float) -> Array:
    """Central differences of a map of 3-tuples, row i, column j = d/dε_j of component i."""
    columns = []
    for j in range(3):
        step = np.zeros(3)
        step[j] = delta
        ahead, back = np.array(function(tuple(strain + step))), np.array(function(tuple(strain - step)))
        columns.append((ahead - back) / (2 * delta))
    return np.array(columns).T


TAME = {"cam-clay": {"swelling_index": 5.0, "compression_index": 10.0}}
"""Parameters of laws whose stress grows faster than e^(2ε), on which the tolerance below relies."""


@every_branch
def test_principal_stress_has_its_derivative(law: Law, parameters: Parameters, k: int):
    """dτ/dε by central differences: truncation δ² of third derivatives (8 moduli for e^(2ε)), rounding ε/δ."""
    parameters = parameters.model_copy(update=TAME.get(law.name, {}))
    branch, packed = law.branches[k], law.pack(parameters)
    history = Points(law, parameters, 1).history(0)
    rng, delta = np.random.default_rng(20), 1e-5
    scale = stiffness(law, parameters)
    for strain in principal_strains(rng, 20, 0.2):
        _, found = branch.principal_stress(packed, history, tuple(strain))
        expected = derivative(lambda e: branch.principal_stress(packed, history, e)[0], strain, delta)
        np.testing.assert_allclose(
            np.reshape(found, (3, 3)), expected, rtol=0, atol=scale * (100 * delta**2 + 10 * EPS / delta)
        )


@every_branch
def test_the_left_tensor_is_that_of_the_elastic_deformation(law: Law, parameters: Parameters, k: int):
    """b = Fe Feᵀ after a large deformation, for branches that give b directly; rounding of a spectral decomposition."""
    branch, packed = law.branches[k], law.pack(parameters)
    if branch.left is None:
        pytest.skip("b is computed from the deformation")
    history = Points(law, parameters, 1).history(0)
    f = (1.2, 0.1, -0.05, 0.03, 0.9, 0.1, 0.0, -0.1, 1.1)
    _, history = law.update(f, 1e-3, packed, history)
    Fe = np.reshape(branch.deformation(packed, history), (3, 3))
    expected = (Fe @ Fe.T)[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
    np.testing.assert_allclose(branch.left(packed, history), expected, rtol=0, atol=100 * EPS * np.abs(expected).max())


@every_branch
@pytest.mark.parametrize("rate", [0.1, 10.0, 1e3])
def test_return_map_has_its_derivative(law: Law, parameters: Parameters, k: int, rate: float):
    """dε/dε_trial by Richardson's extrapolation of central differences with two steps, where these agree: a point whose
    trial strains straddle the yield surface or an edge of it has no derivative to compare with."""
    branch, packed = law.branches[k], law.pack(parameters)
    if branch.return_map is None:
        pytest.skip("the branch never flows")
    history = Points(law, parameters, 1).history(0)
    rng = np.random.default_rng(21)
    compared = 0
    for size in (1e-3, 0.05, 0.3):
        for strain in principal_strains(rng, 20, size):
            dt = size / rate
            delta = 1e-4 * size
            coarse, fine = (
                derivative(lambda e, dt=dt: branch.return_map(packed, history, e, dt)[0], strain, d)
                for d in (delta, delta / 2)
            )
            scale = max(1.0, np.abs(fine).max())  # the map of a viscous fluid gives rates, in 1/dt
            error = np.abs(fine - coarse).max() / scale
            if error < 1e-5:
                _, found = branch.return_map(packed, history, tuple(strain), dt)
                extrapolated = fine + (fine - coarse) / 3
                np.testing.assert_allclose(np.reshape(found, (3, 3)), extrapolated, rtol=0, atol=scale * (1e-7 + error))
                compared += 1
    assert compared > 30


@every_material
@pytest.mark.parametrize("rate", [0.1, 10.0, 1e3])
def test_branches_give_the_stress_of_the_update(law: Law, parameters: Parameters, rate: float):
    """Explicit and implicit solvers integrate the same law: the trial deformation f Fe of each branch, its return map
    and its principal stress, summed over the branches, give the stress that `update` writes."""
    if not law.branches:
        pytest.skip("the law has no branches: it works with explicit steps only")
    rng = np.random.default_rng(22)
    packed, size = law.pack(parameters), 0.02
    points = Points(law, parameters, 20)
    for _ in range(6):
        increment = np.eye(3) + size * rng.uniform(-1, 1, (20, 3, 3))
        expected = np.zeros((20, 3, 3))
        for p in range(20):
            history = points.history(p)
            for branch in law.branches:
                trial = increment[p] @ np.reshape(branch.deformation(packed, history), (3, 3))
                squares, V = np.linalg.eigh(trial @ trial.T)
                strain = tuple((0.5 * np.log(squares)).tolist())
                if branch.return_map is not None:
                    strain, _ = branch.return_map(packed, history, strain, size / rate)
                tau, _ = branch.principal_stress(packed, history, strain)
                expected[p] += V @ np.diag(tau) @ V.T
        stress = points.step(increment, size / rate)
        # the flow amplifies differences of the excess over yield by 1/h
        np.testing.assert_allclose(stress, expected, rtol=0, atol=1e-11 * stiffness(law, parameters))
