"""Stress of points whose history has been put together from others."""

import numpy as np
from numpy.typing import NDArray

from spume.mpm.state import State


def recompute_stress(state: State, index: NDArray[np.int64]) -> None:
    """Stress of the points `index` by their laws: an average of stresses is not the stress of the averaged history."""
    particles = state.particles
    material = particles.material[index]
    stress = particles.stress[index]
    for use in state.laws:
        history = tuple(array[index] for array in use.history(particles))
        use.law.stress(material, use.mine, use.rows, stress, *history)
    particles.stress[index] = stress
