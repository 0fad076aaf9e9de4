"""Runs whose frames contain poses of obstacles, chosen by a test."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from spume.fields import OBSTACLE_POSES
from spume.frames.poses import FIELDS, ObstaclePoses
from spume.geometry.motion import pose
from spume.runs.folder import RunFolder
from spume.runs.manifest import Manifest, population_entries
from spume.runs.storage import read_checked, stored_arrays, write_arrays


def add_poses(folder: Path, poses: Callable[[float], ObstaclePoses]) -> Path:
    """Write the poses at the time of each frame into the frames of a run; they replace those that are there."""
    place = RunFolder(folder)
    manifest = Manifest.read(place.manifest)
    for entry in manifest.frames:
        about, arrays = read_checked(place.frame(entry["frame"]))
        now = poses(entry["time"])
        arrays |= stored_arrays({OBSTACLE_POSES.name: {field: getattr(now, field) for field in FIELDS}})
        write_arrays(place.frame(entry["frame"]), arrays, about)
    others = [each for each in manifest.declarations() if each.name != OBSTACLE_POSES.name]
    replace(manifest, populations=population_entries((*others, OBSTACLE_POSES))).write(place.manifest)
    return folder


def poses_of_scene(scene: Any) -> Callable[[float], ObstaclePoses]:
    """The poses of the motions of a scene."""

    def at(time: float) -> ObstaclePoses:
        each = [pose(obstacle.motion, time, scene.dimension) for obstacle in scene.obstacle]
        return ObstaclePoses(*(np.array(values) for values in zip(*each)))

    return at


def swung(time: float) -> ObstaclePoses:
    """A ground at rest, and a second obstacle that turns about z and moves as no scene tells it to."""
    angle = 3.0 * time
    turned = np.array([[np.cos(angle), -np.sin(angle), 0.0], [np.sin(angle), np.cos(angle), 0.0], [0.0, 0.0, 1.0]])
    shifted = np.array([0.05 - time, 0.3 * time, 0.0])
    still = np.zeros((2, 3))
    return ObstaclePoses(np.array([np.eye(3), turned]), np.array([np.zeros(3), shifted]), still, still)
