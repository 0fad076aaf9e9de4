"""What pictures and exports need from a scene in addition to its frames: materials, obstacles, walls, gravity, camera.

Scenes of some methods have none of these.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray


def materials(scene: Any) -> tuple[Any, ...]:
    """The materials in the order of the points' material indices."""
    return tuple(getattr(scene, "materials", ()))


def materials_of(scene: Any, population: str) -> tuple[int, ...]:
    """Indices of the materials that members of a population can have."""
    listed = materials(scene)
    own = tuple(k for k, each in enumerate(listed) if scene.species_of(each.base or each.name) == population)
    return own or tuple(range(len(listed)))


def obstacles(scene: Any) -> tuple[Any, ...]:
    """The obstacles."""
    return tuple(getattr(scene, "obstacle", ()))


def walls(scene: Any) -> Any | None:
    """The walls."""
    return getattr(getattr(scene, "grid", None), "walls", None)


def gravity(scene: Any) -> NDArray[np.float64]:
    """Gravity at the start [m/s²]."""
    return np.asarray(scene.gravity_at(0.0)) if hasattr(scene, "gravity_at") else np.zeros(3)
