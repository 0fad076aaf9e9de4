"""The inverse cube root against NumPy's long double; its error is a few roundings, whichever branch is taken."""

import numpy as np
import pytest

from spume.numerics.roots import inverse_cube_root


@pytest.mark.parametrize("spread", [1e-12, 1e-3, 0.0499, 0.0501, 0.9])
def test_inverse_cube_root_is_right_to_three_roundings(spread):
    x = 1.0 + np.random.default_rng(5).uniform(-spread, spread, 2000)
    found = np.array([inverse_cube_root(value) for value in x])
    exact = x.astype(np.longdouble) ** (np.longdouble(-1) / 3)
    assert np.abs(found / exact - 1.0).max() <= 3 * 2.0**-53


@pytest.mark.parametrize("x", [1e-150, 1e-3, 0.95, 1.05, 50.0, 1e150])
def test_inverse_cube_root_covers_all_magnitudes(x):
    assert inverse_cube_root(x) == pytest.approx(x ** (-1 / 3), rel=1e-15)


def test_a_negative_determinant_gives_nan():
    assert np.isnan(inverse_cube_root(-1.0))
    assert np.isnan(inverse_cube_root(np.nan))
