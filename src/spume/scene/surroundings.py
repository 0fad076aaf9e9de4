"""What pictures and exports need from a scene in addition to its frames: materials, obstacles, walls, gravity.

Scenes without material points have none of these.
"""

import numpy as np
from numpy.typing import NDArray

from spume.materials.table import Material
from spume.scene.bodies import Body, ObstacleTable, Walls
from spume.scene.common import Scene
from spume.scene.followers import moving_obstacles
from spume.scene.material_scene import MaterialScene


def materials(scene: Scene) -> tuple[Material, ...]:
    """The materials in the order of the points' material indices."""
    return scene.materials if isinstance(scene, MaterialScene) else ()


def materials_of(scene: Scene, population: str) -> tuple[int, ...]:
    """Indices of the materials that members of a population can have, including those whose species is unknown."""
    if not isinstance(scene, MaterialScene):
        return ()
    listed = enumerate(scene.materials)
    own = tuple(k for k, each in listed if scene.species_of(each.base or each.name) in (population, ""))
    return own or tuple(range(len(scene.materials)))


def bodies(scene: Scene) -> tuple[Body, ...]:
    """The bodies."""
    return scene.body if isinstance(scene, MaterialScene) else ()


def obstacles(scene: Scene) -> tuple[ObstacleTable, ...]:
    """The obstacles, with the motions of what they follow."""
    return moving_obstacles(scene) if isinstance(scene, MaterialScene) else ()


def walls(scene: Scene) -> Walls | None:
    """The walls."""
    return scene.walls if isinstance(scene, MaterialScene) else None


def gravity(scene: Scene) -> NDArray[np.float64]:
    """Gravity at the start [m/s²]."""
    return scene.gravity_at(0.0) if isinstance(scene, MaterialScene) else np.zeros(3)
