"""Krylov solvers against dense solves, and sums that do not depend on the number of threads."""

import numba
import numpy as np
import pytest

from spume.numerics.krylov import conjugate_gradient, gmres, minres
from spume.numerics.sums import CHUNK, dot, total, weighted_total


class Dense:
    """A dense matrix with Jacobi's preconditioner and some components held at their first value."""

    def __init__(self, A, held=()):
        self.A, self.held = A, list(held)

    def multiply(self, x):
        return self.A @ x

    def precondition(self, r):
        return r / np.abs(np.diag(self.A))

    def project(self, x):
        x[self.held] = 0.0

    def dots(self, pairs):
        return [float(a @ b) for a, b in pairs]


def symmetric(eigenvalues, seed=0):
    rng = np.random.default_rng(seed)
    q, _ = np.linalg.qr(rng.normal(size=(len(eigenvalues), len(eigenvalues))))
    return q @ np.diag(eigenvalues) @ q.T


POSITIVE = symmetric(np.geomspace(1.0, 100.0, 40)) + np.diag(np.linspace(0.0, 50.0, 40))
INDEFINITE = symmetric(np.concatenate([np.linspace(-5.0, -1.0, 15), np.linspace(1.0, 20.0, 25)]))


@pytest.mark.parametrize(("solve", "beside"), [(conjugate_gradient, 1), (minres, 2)])
def test_inner_products_travel_together(solve, beside):
    """Twice per iteration and `beside` that: each time, processes that share the vectors wait for each other."""
    calls = []

    class Counted(Dense):
        def dots(self, pairs):
            calls.append(len(pairs))
            return super().dots(pairs)

    found = solve(Counted(POSITIVE), np.ones(40), tolerance=1e-10)
    assert found.converged
    assert len(calls) == 2 * found.iterations + beside


@pytest.mark.parametrize(("solve", "A"), [(conjugate_gradient, POSITIVE), (minres, POSITIVE), (minres, INDEFINITE)])
@pytest.mark.parametrize("held", [[], [0, 7, 39]])
def test_solutions_are_those_of_a_dense_solve(solve, A, held):
    rng = np.random.default_rng(2)
    b, expected = rng.normal(size=40), np.zeros(40)
    found = solve(Dense(A, held), b, tolerance=1e-12, limit=400)
    free = np.setdiff1d(np.arange(40), held)
    expected[free] = np.linalg.solve(A[np.ix_(free, free)], b[free])
    assert found.converged
    # the error of a solution is the residual times the condition number at most
    bound = 1e-11 * np.linalg.cond(A[np.ix_(free, free)]) * np.linalg.norm(expected)
    assert np.linalg.norm(found.x - expected) <= bound
    assert not found.x[held].any()


@pytest.mark.parametrize("held", [[], [0, 7, 39]])
@pytest.mark.parametrize("memory", [60, 12])
@pytest.mark.parametrize("A", [POSITIVE, POSITIVE + 3.0 * np.triu(np.ones((40, 40)), 1)])
def test_gmres_solves_systems_that_are_not_symmetric(A, memory, held):
    """With restarts and without: the residual, relative to the right-hand side, and what is held."""
    b = np.random.default_rng(2).normal(size=40)
    found = gmres(Dense(A, held), b, tolerance=1e-10, limit=2000, memory=memory)
    free = np.setdiff1d(np.arange(40), held)
    assert found.converged
    assert np.linalg.norm((A @ found.x - b)[free]) <= 1e-10 * np.linalg.norm(b[free])
    assert not found.x[held].any()


@pytest.mark.parametrize("solve", [conjugate_gradient, gmres, minres])
def test_a_system_of_n_different_eigenvalues_takes_n_iterations(solve):
    """In exact arithmetic; with four of them rounding has no time to interfere."""
    A = symmetric(np.repeat([1.0, 2.0, 5.0, 9.0], 10))
    system = Dense(A)
    system.precondition = lambda r: r.copy()
    found = solve(system, np.random.default_rng(0).normal(size=40), tolerance=1e-10)
    assert found.converged
    assert found.iterations == 4


@pytest.mark.parametrize("solve", [conjugate_gradient, minres])
def test_a_zero_right_hand_side_needs_no_iteration(solve):
    found = solve(Dense(POSITIVE), np.zeros(40))
    assert found.iterations == 0
    assert np.all(found.x == 0.0)


def test_an_indefinite_matrix_is_told_to_conjugate_gradients():
    with pytest.raises(ArithmeticError, match="not positive definite"):
        conjugate_gradient(Dense(-POSITIVE), np.ones(40))


@pytest.mark.parametrize("solve", [conjugate_gradient, minres])
def test_too_few_iterations_are_reported_with_the_true_residual(solve):
    b = np.random.default_rng(3).normal(size=40)
    found = solve(Dense(POSITIVE), b, tolerance=1e-12, limit=5)
    assert not found.converged
    assert found.iterations == 5
    assert found.residual == pytest.approx(np.linalg.norm(b - POSITIVE @ found.x) / np.linalg.norm(b), rel=1e-10)


@pytest.mark.parametrize("size", [0, 1, CHUNK, CHUNK + 1, 7 * CHUNK + 13])
def test_sums_are_right_and_have_the_same_bits_for_any_number_of_threads(size):
    rng = np.random.default_rng(size)
    a, b = rng.normal(size=size), rng.normal(size=size)
    before = numba.get_num_threads()
    results = []
    try:
        for threads in {1, numba.config.NUMBA_NUM_THREADS}:
            numba.set_num_threads(threads)
            results.append((total(a), dot(a, b)))
    finally:
        numba.set_num_threads(before)
    assert len(set(results)) == 1
    # rounding of a sum of n terms by chunks: far below n eps times the sum of their sizes
    eps = np.finfo(float).eps
    assert abs(results[0][0] - np.sum(a)) <= 100 * eps * np.abs(a).sum()
    assert abs(results[0][1] - np.sum(a * b)) <= 100 * eps * np.abs(a * b).sum()


def test_weighted_totals_keep_the_shape_of_the_values():
    rng = np.random.default_rng(1)
    w, q = rng.normal(size=50), rng.normal(size=(50, 2, 3))
    np.testing.assert_allclose(weighted_total(w, q), np.tensordot(w, q, axes=1), rtol=1e-12)


def test_arrays_of_different_shapes_have_no_product():
    with pytest.raises(ValueError, match="shapes"):
        dot(np.zeros(3), np.zeros(4))
