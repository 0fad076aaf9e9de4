"""The stage in which the laws of materials turn the deformation of a step into stress."""

from typing import Any

import numpy as np

from spume.matter.world import World


def update_material(world: World[Any], dt: float) -> None:
    """Update the history and the stress of all points by their laws."""
    for species in world.species:
        p = species.particles
        species.model.update(p.arrays(), dt, species.deformation, p.stress)


def rehearse_material(world: World[Any], dt: float) -> None:
    """Update the material without a deformation of the step."""
    for species in world.species:
        species.fit_deformation()
        species.deformation[:] = np.eye(3)
    update_material(world, dt)
