"""What surrounds the material of a scene: obstacles, walls and gravity."""

import math
from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from spume.geometry.motion.interpolation import KeyframedVector
from spume.geometry.obstacles.flowing import SurfaceFlow
from spume.geometry.obstacles.obstacle_set import Obstacle, ObstacleSet
from spume.geometry.shapes.combinations import dilated
from spume.geometry.shapes.primitives import HalfSpace
from spume.scene.bodies import Body, ObstacleTable
from spume.scene.emitter import Emitter
from spume.scene.followers import moving_obstacles
from spume.scene.material_scene import MaterialScene
from spume.scene.measure import obstacle_labels


def build_obstacles(scene: MaterialScene, distance: float = 0.0) -> ObstacleSet:
    """The scene's obstacles and, as half spaces, its walls. They act up to `distance` from their surfaces [m]."""
    listed = [
        Obstacle(o.shape, o.contact, o.friction, o.motion, label, _flow_out_of(o, scene))
        for o, label in zip(moving_obstacles(scene), obstacle_labels(scene))
    ]
    walls = scene.walls
    if walls is not None:
        for axis in range(scene.dimension):
            for corner, sign, side in ((walls.lower, 1.0, "lower"), (walls.upper, -1.0, "upper")):
                normal = [0.0] * scene.dimension
                normal[axis] = sign
                shape = HalfSpace(point=corner, normal=tuple(normal))
                label = f"{side} wall {'xyz'[axis]}"
                listed.append(Obstacle(shape, walls.contact, walls.friction, None, label))
    if distance > 0.0:
        listed = [obstacle._replace(shape=dilated(obstacle.shape, distance)) for obstacle in listed]
    return ObstacleSet(listed, scene.dimension, scene.folder)


def _flow_out_of(obstacle: ObstacleTable, scene: MaterialScene) -> SurfaceFlow | None:
    """The flow of an emitter out of the surface of an obstacle that has its shape and its motion, if there is one."""
    for emitter in scene.emitter:
        track = emitter.outflow_track
        if track is not None and leaves_surface(emitter, obstacle):
            stop = math.inf if emitter.stop is None else emitter.stop
            return SurfaceFlow(partial(_speed, track, emitter.start, stop), emitter.within, 0.5 * scene.cell)
    return None


def leaves_surface(source: Body | Emitter, obstacle: ObstacleTable) -> bool:
    """Whether material flows out of the surface of an obstacle, which has the shape and the motion of its emitter."""
    flows = isinstance(source, Emitter) and source.outflow is not None
    return flows and (source.shape, getattr(source, "motion", None)) == (obstacle.shape, obstacle.motion)


def _speed(track: KeyframedVector, start: float, stop: float, time: float) -> float:
    """Speed of a flow at a time [m/s], which is zero before its start and after its stop."""
    return float(track.at(time)[0][0]) if start <= time <= stop else 0.0


def wall_corners(scene: MaterialScene) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """Lower and upper corner of the walls, if the scene has any."""
    return None if scene.walls is None else (np.array(scene.walls.lower), np.array(scene.walls.upper))


def gravity_function(scene: MaterialScene) -> Callable[[float], NDArray[np.float64]]:
    """Gravity at a time with three components; constant gravity costs nothing per step."""
    times, values = scene.gravity_keyframes
    constant = np.pad(values[0], (0, 3 - scene.dimension))
    if len(times) == 1:
        return lambda time: constant
    return lambda time: np.pad(scene.gravity_at(time), (0, 3 - scene.dimension))
