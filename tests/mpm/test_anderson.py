"""Anderson acceleration of ADMM. That it does not change the solution is tested in test_admm_convergence.py."""

import numpy as np
import pytest
from implicit_beams import beam, stir

from spume.grid.cells import Cells
from spume.mpm.implicit.anderson import GROWTH, Memory
from spume.mpm.implicit.step import Integrator
from spume.ranks.ranks import ALONE

CELLS = Cells(2, 1.0, 0.0)
CELLS.sort(np.linspace(0.0, 9.0, 6).reshape(3, 2), np.arange(3))


@pytest.fixture
def affine():
    """A contraction q → A q + b of two branches of three points, which mixes only four directions, and its volumes and
    weights."""
    rng = np.random.default_rng(4)
    basis = np.linalg.qr(rng.normal(size=(54, 4)))[0]
    A = basis @ np.diag([0.9, 0.7, -0.5, 0.2]) @ basis.T
    b = rng.normal(size=54)
    return A, b, rng.uniform(1.0, 2.0, 3), [rng.uniform(1.0, 2.0, 3) for _ in range(2)]


def iterate(memory, q, A, b, volume, weights):
    """One accelerated iteration from q, of each branch (points, 3, 3); the "velocities" are linear in the result."""
    result = (A @ np.concatenate([x.ravel() for x in q]) + b).reshape(2, 3, 3, 3)
    for branch, x in enumerate(q):
        g, f = memory.present(branch)
        g[:], f[:] = result[branch], result[branch] - x
    assert not memory.assess(ALONE, CELLS, volume, weights)
    memory.keep(result[0, :, 0, :])
    return memory.combine(q)


def test_an_affine_map_is_solved_after_as_many_iterations_as_it_has_eigenvalues(affine):
    """Anderson acceleration is then equivalent to GMRES [Walker11], and one iteration behind it: five eigenvalues, one
    of them zero, take six iterations. The error is that of the normal equations, the square root of their
    regularisation, 1e-5."""
    A, b, volume, weights = affine
    exact = np.linalg.solve(np.eye(54) - A, b)
    q = [np.zeros((3, 3, 3)) for _ in range(2)]
    memory = Memory(5, 2, 3, (3, 3))
    for _ in range(6):
        v = iterate(memory, q, A, b, volume, weights)
    found = np.concatenate([x.ravel() for x in q])
    assert found == pytest.approx(exact, abs=1e-5 * np.abs(exact).max())
    assert v == pytest.approx(q[0][:, 0, :], rel=1e-9)


def test_the_oldest_iteration_is_replaced_when_the_memory_is_full(affine):
    """With a memory of one the combination is that of the last two results: the secant method."""
    A, b, volume, weights = affine
    q = [np.zeros((3, 3, 3)) for _ in range(2)]
    memory = Memory(1, 2, 3, (3, 3))
    W = np.repeat(np.concatenate([volume * w for w in weights]), 9)
    pairs = []
    for _ in range(4):
        start = np.concatenate([x.ravel() for x in q])
        pairs.append((A @ start + b, A @ start + b - start))
        iterate(memory, q, A, b, volume, weights)
    (g1, f1), (g0, f0) = pairs[-1], pairs[-2]
    c = (W * (f1 - f0)) @ f1 / ((W * (f1 - f0)) @ (f1 - f0))
    assert np.concatenate([x.ravel() for x in q]) == pytest.approx(g1 - c * (g1 - g0), rel=1e-6)


def test_an_iteration_whose_residual_has_grown_is_discarded(affine):
    """Relative to the smallest residual, which is the second one of a contraction."""
    A, b, volume, weights = affine
    q = [np.zeros((3, 3, 3)) for _ in range(2)]
    memory = Memory(2, 2, 3, (3, 3))
    for _ in range(2):
        iterate(memory, q, A, b, volume, weights)
    smallest = [memory._f[branch, 1].reshape(3, 3, 3).copy() for branch in range(2)]
    latest = [memory._g[branch, 1].copy() for branch in range(2)]
    for factor, poor in ((0.99 * GROWTH, False), (1.01 * GROWTH, True)):
        for branch in range(2):
            g, f = memory.present(branch)
            g[:], f[:] = 7.0, factor * smallest[branch]
        assert memory.assess(ALONE, CELLS, volume, weights) == poor
    v = memory.go_back(q)
    for x, wanted in zip(q, latest):
        assert np.array_equal(x.reshape(3, 9), wanted)
    assert np.array_equal(v, q[0][:, 0, :])
    iterate(memory, q, A, b, volume, weights)  # begins anew: the combination of one result is that result
    start = np.concatenate([x.ravel() for x in latest])
    assert np.concatenate([x.ravel() for x in q]) == pytest.approx(A @ start + b, rel=1e-12)


def iterations(memory):
    method = beam(implicit={"anderson_memory": memory, "iterations": 400, "tolerance": 1e-6})
    stir(method, 0.5)
    method.take_step(1e-2)
    outcome = method.part(Integrator).last
    assert outcome.converged
    return len(outcome.primal)


def test_acceleration_saves_iterations():
    assert iterations(2) < iterations(0)
