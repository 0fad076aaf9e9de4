"""The fit: exact for affine motion, refused where it cannot be trusted. validation.md 34."""

import numpy as np
import pytest
from clouds import jittered_lattice

from spume.points.deformation import CRUSHED, FITTED, ILL_CONDITIONED, INVERTED, TOO_FEW, fit_deformation, keep_volume
from spume.points.neighbours import NeighbourLists

H = 1.95


def fitted(x, y, least=6, condition=1e3):
    """f, outcomes and neighbour counts."""
    n, d = x.shape
    lists = NeighbourLists(d, H, 30, 0.1)
    lists.build(x)
    f, number, outcome = np.zeros((n, 3, 3)), np.zeros(n, np.int32), np.zeros(n, np.int64)
    fit_deformation(lists, x, y, least, condition, np.zeros((n + 1, 8)), f, number, outcome)
    return f, outcome, number


@pytest.mark.parametrize("dimension", [2, 3])
def test_affine_motion_is_found_exactly(dimension, rng):
    x = jittered_lattice(5, dimension, rng)
    A = np.eye(3)
    A[:dimension, :dimension] += rng.normal(scale=0.3, size=(dimension, dimension))
    assert np.linalg.det(A) > 0
    f, outcome, _ = fitted(x, x @ A[:dimension, :dimension].T + rng.normal(size=dimension), least=3)
    assert (outcome == FITTED).all()
    # rounding of A⁻¹, whose condition number is below 1e3 by the rule: 1e3 × 1e-16, and the size of the motion
    np.testing.assert_allclose(f, np.broadcast_to(A, f.shape), atol=1e-12)


def test_the_fit_minimises_the_weighted_squares(rng):
    # eq. (6) written out: columns of X and Y multiplied by the weights, then the normal equations
    x = jittered_lattice(4, 3, rng)
    y = x + 0.1 * rng.normal(size=x.shape)
    f, _, number = fitted(x, y)
    for i in (0, 21, 42):
        near = [j for j in range(len(x)) if j != i and np.linalg.norm(x[j] - x[i]) < H]
        near = sorted(near, key=lambda j: np.linalg.norm(x[j] - x[i]))
        w = np.array([(1 - (np.linalg.norm(x[j] - x[i]) / H) ** 2) ** 3 for j in near])
        X, Y = ((a[near] - a[i]).T * w for a in (x, y))
        expected = np.linalg.solve(X @ X.T, X @ Y.T).T
        assert number[i] == len(near) <= 30
        np.testing.assert_allclose(f[i], expected, atol=1e-12)


def test_a_point_with_too_few_neighbours_is_not_deformed(rng):
    x = jittered_lattice(2, 3, rng, 0.1)[:5]
    f, outcome, number = fitted(x, 2.0 * x)
    assert (outcome == TOO_FEW).all()
    assert (number < 6).all()
    np.testing.assert_array_equal(f, np.broadcast_to(np.eye(3), f.shape))


def test_points_of_a_plane_are_ill_conditioned(rng):
    plane = np.pad(jittered_lattice(5, 2, rng), ((0, 0), (0, 1)))
    f, outcome, number = fitted(plane, 2.0 * plane)
    assert (outcome[number >= 6] == ILL_CONDITIONED).all()
    assert (number >= 6).any()
    np.testing.assert_array_equal(f, np.broadcast_to(np.eye(3), f.shape))


def test_a_motion_that_turns_the_neighbourhood_inside_out_is_refused(rng):
    x = jittered_lattice(4, 3, rng)
    f, outcome, _ = fitted(x, x * [1.0, -1.0, 1.0])
    assert (outcome[outcome != TOO_FEW] == INVERTED).all()
    np.testing.assert_array_equal(f, np.broadcast_to(np.eye(3), f.shape))


def test_points_are_not_crushed_below_the_least_volume():
    """Compression stops where J det f would be too small; expansion of such a point is allowed."""
    f = np.array([scale * np.eye(3) for scale in (0.9, 0.9, 1.1)])
    outcome = np.full(3, FITTED)
    keep_volume(np.array([0.5, 0.12, 0.05]), 0.1, f, outcome)
    np.testing.assert_array_equal(f, [0.9 * np.eye(3), np.eye(3), 1.1 * np.eye(3)])
    assert outcome.tolist() == [FITTED, CRUSHED, FITTED]
