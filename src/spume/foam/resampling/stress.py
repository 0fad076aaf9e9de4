"""Stress of points whose history was averaged from other points."""

import numpy as np
from numpy.typing import NDArray

from spume.foam.resampling.sampled import Sampled


def recompute_stress(world: Sampled, index: NDArray[np.int64]) -> None:
    """Recompute the stress of the points `index` by their laws, as averaged stresses do not fit averaged histories."""
    particles = world.particles
    chosen = {"material", *(field.name for field in world.model.fields)}
    arrays = {name: array[index] for name, array in particles.arrays().items() if name in chosen}
    stress = particles.stress[index]
    world.model.stress(arrays, stress)
    particles.stress[index] = stress
