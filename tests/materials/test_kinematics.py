"""The deformation of one step from its velocity gradient."""

import numpy as np
import pytest

from spume.materials.kinematics import first_order_deformation, second_order_deformation


@pytest.mark.parametrize(
    ("deformation", "growth"), [(first_order_deformation, 0.03**2), (second_order_deformation, 0.03**4 / 4)]
)
def test_a_rotation_swells_by_the_error_of_the_order(deformation, growth):
    """det f = 1 + (Δt ω)² to first order and 1 + (Δt ω)⁴/4 to second order."""
    L = np.array([[0, -3.0, 0], [3.0, 0, 0], [0, 0, 0]])
    f = np.reshape(deformation(0.01, tuple(L.ravel())), (3, 3))
    assert np.linalg.det(f) - 1 == pytest.approx(growth, rel=1e-6)


def test_a_uniform_expansion_is_the_exponential_to_second_order():
    f = np.reshape(second_order_deformation(0.1, tuple(np.eye(3).ravel())), (3, 3))
    assert np.allclose(f, (1 + 0.1 + 0.005) * np.eye(3), rtol=1e-15)
