"""Velocity gradients for laws that do not take the deformation of the step yet."""

import numpy as np
from numba import prange
from numpy.typing import NDArray

from spume.materials.kinematics import load, store, velocity_gradient_of
from spume.numerics.jit import compiled


def velocity_gradients(deformation: NDArray[np.float64], dt: float) -> NDArray[np.float64]:
    """The L whose second-order deformation over dt [s] is `deformation`, shape (n, 3, 3)."""
    gradient = np.empty_like(deformation)
    _convert(deformation, dt, gradient)
    return gradient


@compiled(parallel=True)
def _convert(deformation, dt, gradient):
    for p in prange(gradient.shape[0]):
        store(gradient, p, velocity_gradient_of(dt, load(deformation, p)))
