"""The kernels: normalised in space and in the plane, and their slopes those of their values."""

import math

import numpy as np
import pytest
from scipy.integrate import quad

from spume.points.kernels import elastic_constant, elastic_kernel, elastic_slope, squared_weight

H = 0.7
MEASURE = {2: lambda r: 2 * math.pi * r, 3: lambda r: 4 * math.pi * r * r}
"""Length of the circle and area of the sphere of radius r."""


@pytest.mark.parametrize("dimension", [2, 3])
def test_the_elastic_kernel_integrates_to_one(dimension):
    c = elastic_constant(dimension, H)
    integral, _ = quad(lambda r: MEASURE[dimension](r) * elastic_kernel(r * r, H, c), 0, H, epsabs=1e-13)
    assert integral == pytest.approx(1.0, abs=1e-10)


@pytest.mark.parametrize("dimension", [2, 3])
def test_poly6_integrates_to_one(dimension):
    a = 315.0 / (64.0 * math.pi * H**9) if dimension == 3 else 4.0 / (math.pi * H**8)  # eq. (7)
    # squared_weight is ((1 − r²/h²)³)²
    integral, _ = quad(
        lambda r: MEASURE[dimension](r) * a * H**6 * math.sqrt(squared_weight(r * r, 1 / H**2)), 0, H, epsabs=1e-13
    )
    assert integral == pytest.approx(1.0, abs=1e-10)


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
    assert elastic_kernel(beyond, H, c) == elastic_slope(beyond, H, c) == squared_weight(beyond, 1 / H**2) == 0.0
