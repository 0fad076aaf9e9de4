"""The deformation of one step and its inverse."""

import numpy as np
import pytest

from spume.materials.kinematics import increment, velocity_gradient_of


def test_a_rotation_hardly_swells():
    """det f = 1 + (Δt ω)⁴/4 for a rotation; I + Δt L alone would give 1 + (Δt ω)²."""
    L = np.array([[0, -3.0, 0], [3.0, 0, 0], [0, 0, 0]])
    f = np.reshape(increment(0.01, tuple(L.ravel())), (3, 3))
    assert np.linalg.det(f) - 1 == pytest.approx(0.03**4 / 4, rel=1e-6)


def test_a_uniform_expansion_is_the_exponential_to_second_order():
    f = np.reshape(increment(0.1, tuple(np.eye(3).ravel())), (3, 3))
    assert np.allclose(f, (1 + 0.1 + 0.005) * np.eye(3), rtol=1e-15)


@pytest.mark.parametrize("size", [1e-6, 1e-3, 0.1])
def test_the_velocity_gradient_of_an_increment_leads_back_to_it(size):
    rng = np.random.default_rng(2)
    for _ in range(20):
        f = np.eye(3) + size * rng.uniform(-1, 1, (3, 3))
        L = velocity_gradient_of(1e-3, tuple(f.ravel()))
        assert np.allclose(np.reshape(increment(1e-3, L), (3, 3)), f, rtol=0, atol=4e-16)
