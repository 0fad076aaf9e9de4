"""Poses of the obstacles in frames and checkpoints."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from spume.fields import OBSTACLE_POSES, Population, obstacle_vertices
from spume.geometry.shapes.sequences import placed_sequence
from spume.matter.world import World
from spume.scene.material_scene import MaterialScene


def pose_declarations(scene: MaterialScene) -> tuple[Population, ...]:
    """The population of the poses, and one for the vertices of each obstacle that deforms; none for a scene without
    obstacles."""
    if not scene.obstacle:
        return ()
    return (OBSTACLE_POSES, *(obstacle_vertices(k) for k in _deforming(scene)))


def _deforming(scene: MaterialScene) -> list[int]:
    return [k for k, obstacle in enumerate(scene.obstacle) if placed_sequence(obstacle.shape) is not None]


def pose_arrays(scene: MaterialScene, world: World[Any]) -> dict[str, dict[str, NDArray[np.float64]]]:
    """The poses of the scene's obstacles and the vertices of those that deform at the present time, by population and
    field."""
    count = len(scene.obstacle)
    if count == 0:
        return {}
    poses = world.obstacles.at(world.time).poses[:count]  # the walls come last
    fields = OBSTACLE_POSES.fields
    ends = np.cumsum([np.prod(field.shape) for field in fields])
    parts = np.split(poses, ends[:-1], axis=1)
    arrays = {field.name: part.reshape(count, *field.shape).copy() for field, part in zip(fields, parts)}
    found = {OBSTACLE_POSES.name: arrays}
    for k in _deforming(scene):
        x, v = world.obstacles.vertices(k, world.time)
        found[obstacle_vertices(k).name] = {"x": x.copy(), "v": v.copy()}
    return found


def checkpoint_poses(world: World[Any]) -> list[list[float]]:
    """The present poses of all obstacles and walls, for a checkpoint."""
    poses: list[list[float]] = world.obstacles.at(world.time).poses.tolist()
    return poses


def restore_poses(world: World[Any], poses: list[list[float]] | None) -> None:
    """Restore what `checkpoint_poses` returned; None, as in checkpoints of earlier versions, and those of another
    number of obstacles leave the obstacles to their motions."""
    if poses is not None and len(poses) == len(world.obstacles):
        world.obstacles.restore(poses)
