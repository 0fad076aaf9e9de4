"""Uniform B-splines, against their piecewise definition and the moments that make transfers exact.

Weights are at most 1, polynomials of degree at most 3 with a handful of roundings: hence TOLERANCE.
"""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from spume.numerics import bspline

Array = NDArray[np.float64]

TOLERANCE = 20 * np.finfo(float).eps


def quadratic_spline(d: Array) -> Array:
    """N(d) of [Steffen08], quadratic."""
    d = np.abs(d)
    return np.where(d < 0.5, 0.75 - d**2, np.where(d < 1.5, 0.5 * (1.5 - d) ** 2, 0.0))


def cubic_spline(d: Array) -> Array:
    """N(d) of [Yue15], appendix E.1."""
    d = np.abs(d)
    return np.where(d < 1, 0.5 * d**3 - d**2 + 2 / 3, np.where(d < 2, -(d**3) / 6 + d**2 - 2 * d + 4 / 3, 0.0))


SPLINES: dict[str, tuple[Callable[[Array], Array], float]] = {
    "quadratic": (quadratic_spline, 1 / 4),
    "cubic": (cubic_spline, 1 / 3),
}

# Inside cells, on nodes, on borders between the nodes' territories and a rounding away from them, of either sign.
POINTS = np.concatenate(
    [
        np.random.default_rng(7).uniform(-20, 20, 2000),
        *[np.nextafter(np.arange(-4, 4.5, 0.5), towards) for towards in (-np.inf, np.inf)],
        np.arange(-4, 4.5, 0.5),
        [1e-300, -1e-300],
    ]
)


@pytest.fixture(params=list(SPLINES))
def spline(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def evaluate(name: str, points: Array) -> tuple[Array, Array, Array]:
    """Nodes, weights and derivatives, each (n, 3 or 4)."""
    begin = np.floor(points) if name == "cubic" else np.floor(points - 0.5) + 0.5
    first = begin - (1.0 if name == "cubic" else 0.5)
    found = [getattr(bspline, name)(float(t)) for t in points - begin]
    w = np.array([w for w, _ in found])
    return first[:, None] + np.arange(w.shape[1]), w, np.array([d for _, d in found])


def test_weights_agree_with_the_piecewise_definition(spline: str) -> None:
    nodes, w, _ = evaluate(spline, POINTS)
    # The oracle rounds x − i, of size up to 2, and its terms of size up to 4 cancel.
    np.testing.assert_allclose(w, SPLINES[spline][0](POINTS[:, None] - nodes), 0, 2 * TOLERANCE)


def test_no_node_with_weight_is_left_out(spline: str) -> None:
    nodes, _, _ = evaluate(spline, POINTS)
    for beside in (nodes[:, 0] - 1, nodes[:, -1] + 1):
        assert np.all(SPLINES[spline][0](POINTS - beside) < TOLERANCE)


def test_weights_are_a_partition_of_unity_and_not_negative(spline: str) -> None:
    _, w, d = evaluate(spline, POINTS)
    np.testing.assert_allclose(w.sum(axis=1), 1, 0, TOLERANCE)
    np.testing.assert_allclose(d.sum(axis=1), 0, 0, TOLERANCE)
    assert np.all(w >= 0)


def test_linear_functions_are_reproduced_with_their_slope(spline: str) -> None:
    nodes, w, d = evaluate(spline, POINTS)
    distance = nodes - POINTS[:, None]
    np.testing.assert_allclose((w * distance).sum(axis=1), 0, 0, 20 * TOLERANCE)  # positions up to 20 are rounded
    np.testing.assert_allclose((d * distance).sum(axis=1), 1, 0, 20 * TOLERANCE)


def test_second_moment_is_constant(spline: str) -> None:
    """Σ w (xi − x)² = 1/4 for quadratic and 1/3 for cubic splines, everywhere: APIC's inertia [Jiang15]."""
    nodes, w, _ = evaluate(spline, POINTS)
    moment = (w * (nodes - POINTS[:, None]) ** 2).sum(axis=1)
    np.testing.assert_allclose(moment, SPLINES[spline][1], 0, 20 * TOLERANCE)


def test_derivatives_agree_with_central_differences(spline: str) -> None:
    """Inside one piece of degree p <= 3 a central difference errs by step² |N'''|/6 <= step²/2, and 2 eps/step."""
    step = 1e-5
    t = np.linspace(0.01, 0.99, 99) + (0.5 if spline == "quadratic" else 0.0)
    _, _, d = evaluate(spline, t)
    _, after, _ = evaluate(spline, t + step)
    _, before, _ = evaluate(spline, t - step)
    np.testing.assert_allclose(d, (after - before) / (2 * step), 0, step**2 + TOLERANCE / step)


def test_weights_and_derivatives_are_continuous_across_borders(spline: str) -> None:
    """Over a distance of 2e-9 a weight changes by at most 2e-9 |N'| and its derivative by 2e-9 |N''|, at most 2."""
    borders = np.arange(-3, 4) + (0.5 if spline == "quadratic" else 0.0)
    after = evaluate(spline, borders + 1e-9)
    before = evaluate(spline, borders - 1e-9)
    assert np.array_equal(after[0][:, 0], before[0][:, 0] + 1)
    for k in (1, 2):
        np.testing.assert_allclose(after[k][:, :-1], before[k][:, 1:], 0, 4e-9 + TOLERANCE)
        np.testing.assert_allclose(after[k][:, -1], 0, 0, 4e-9 + TOLERANCE)
        np.testing.assert_allclose(before[k][:, 0], 0, 0, 4e-9 + TOLERANCE)


def test_values_by_distance_are_those_of_the_piecewise_definition(spline: str) -> None:
    value = getattr(bspline, f"{spline}_value")
    found = np.array([value(float(d)) for d in POINTS])
    assert np.abs(found - SPLINES[spline][0](POINTS)).max() <= TOLERANCE
