"""The kernels: normalised in space and in the plane, and their slopes those of their values."""

import math

import numpy as np
import pytest
from scipy.integrate import quad

from spume.numerics.jit import compiled
from spume.numerics.lanes import load_lanes, store_lanes
from spume.points.kernels import elastic_constant, elastic_kernel, elastic_slope, squared_weights

H = 0.7
MEASURE = {2: lambda r: 2 * math.pi * r, 3: lambda r: 4 * math.pi * r * r}
"""Length of the circle and area of the sphere of radius r."""


@compiled
def store_squared_weights(squares, inverse_square, result):
    store_lanes(result, 0, squared_weights(load_lanes(squares, 0), inverse_square))


def weights_of_the_fit(r):
    """w at eight radii."""
    result = np.empty(8)
    store_squared_weights(r * r, 1 / H**2, result)
    return np.sqrt(result)


@pytest.mark.parametrize("dimension", [2, 3])
def test_the_elastic_kernel_integrates_to_one(dimension):
    c = elastic_constant(dimension, H)
    integral, _ = quad(lambda r: MEASURE[dimension](r) * elastic_kernel(r * r, H, c), 0, H, epsabs=1e-13)
    assert integral == pytest.approx(1.0, abs=1e-10)


@pytest.mark.parametrize("dimension", [2, 3])
def test_poly6_integrates_to_one(dimension):
    a = 315.0 / (64.0 * math.pi * H**9) if dimension == 3 else 4.0 / (math.pi * H**8)  # eq. (7)
    # h⁶ w is (h² − r²)³; eight points of Gauss integrate polynomials of degree 15 exactly
    points, parts = np.polynomial.legendre.leggauss(8)
    r = 0.5 * H * (1 + points)
    integral = 0.5 * H * np.sum(parts * MEASURE[dimension](r) * a * H**6 * weights_of_the_fit(r))
    assert integral == pytest.approx(1.0, abs=1e-14)


def test_the_kernel_is_that_of_equation_12():
    c = elastic_constant(3, H)
    for r in np.linspace(0, H, 11):
        printed = c * 2 * H / math.pi * math.cos((r + H) * math.pi / (2 * H)) + c * 2 * H / math.pi
        assert elastic_kernel(r * r, H, c) == pytest.approx(printed, abs=1e-13 * c)


def test_the_slope_is_the_derivative_of_the_kernel():
    # closed form: W' = −c cos(π r/2h); the series of the cosine is cut off below rounding
    c = elastic_constant(3, H)
    for r in np.linspace(0.01, 0.999, 50) * H:
        assert elastic_slope(r * r, H, c) * r == pytest.approx(c * math.cos(math.pi * r / (2 * H)), rel=1e-12)


def test_nothing_acts_beyond_the_radius():
    c = elastic_constant(3, H)
    beyond = (1.0001 * H) ** 2
    assert elastic_kernel(beyond, H, c) == elastic_slope(beyond, H, c) == 0.0
    np.testing.assert_array_equal(weights_of_the_fit(np.linspace(1.0001, 2.0, 8) * H), 0.0)
