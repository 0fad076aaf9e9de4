"""An obstacle that the material pushes, made by a stage in front of those of a scene's own method."""

from dataclasses import replace
from typing import Any

import numpy as np

from spume.matter.stages import Stage, Step
from spume.matter.world import World
from spume.methods import method_class

BODY = "body"
"""Name of the obstacle that is pushed."""
MASS = 2.0
"""[kg/m]"""
INERTIA = 1e-3
"""About its own position, which is its centre of mass [kg m²/m]."""
VELOCITY = np.array([0.3, 0.0, 0.0])
"""Before it is pushed [m/s]."""


def push(world: World[Any], dt: float) -> None:
    """Move the body by its momentum: that of the start, and the impulses of all species since then."""
    k, loads = world.obstacles.names.index(BODY), world.obstacle_loads
    pose = world.obstacles.begin(world.time)[k].copy()
    momentum = MASS * VELOCITY
    momentum[: world.dimension] += loads.impulse[loads.places[BODY]]
    spin = loads.angular_impulse[loads.places[BODY]] - np.cross(pose[9:12], momentum)
    velocity, rate = momentum / MASS, spin[2] / INERTIA
    c, s = np.cos(rate * dt), np.sin(rate * dt)
    pose[:9] = (np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]) @ pose[:9].reshape(3, 3)).ravel()
    pose[9:12] += dt * velocity
    pose[12:15], pose[15:18] = velocity, (0.0, 0.0, rate)
    world.obstacles.place(k, pose, world.time, world.time + dt)


def pushed(name: str) -> type[Any]:
    """The method `name`, with the stage before all others."""

    class Pushed(method_class(name)):  # type: ignore[misc]  # classes by name are not known to mypy
        def assemble(self, scene: Any) -> Any:
            found = super().assemble(scene)
            found.world.obstacles.leave_to_stages(found.world.obstacles.names.index(BODY))
            step = found.step
            return replace(found, step=Step((Stage("bodies", push), *step.stages), step.before, step.after))

    return Pushed


Mpm, SandWater, PointBased = (pushed(name) for name in ("mpm", "sand-water", "point-based"))
CLASSES = {"mpm": "pushed:Mpm", "sand-water": "pushed:SandWater", "point-based": "pushed:PointBased"}
"""Where `spume.methods` finds them."""
