"""Poses of the obstacles in a run."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spume.errors import CacheError
from spume.fields import OBSTACLE_POSES, obstacle_vertices
from spume.frames.reader import Frame, Run
from spume.frames.selection import spread
from spume.geometry.motion import pose
from spume.runs.folder import RunFolder
from spume.scene.material_scene import MaterialScene
from spume.scene.surroundings import obstacles

Floats = NDArray[np.float64]
FIELDS = tuple(field.name for field in OBSTACLE_POSES.fields)
SAMPLES = 25
"""Number of times at which the positions over a whole run are found."""


class ObstaclePoses(NamedTuple):
    """Poses of the n obstacles of a scene, in its order: world = rotation · own + position."""

    rotation: Floats
    """shape (n, 3, 3)"""
    position: Floats
    """[m], shape (n, 3)"""
    velocity: Floats
    """of `position` [m/s], shape (n, 3)"""
    angular_velocity: Floats
    """[rad/s], shape (n, 3)"""
    vertices: Mapping[int, tuple[Floats, Floats]] = {}
    """by number, for obstacles that deform: vertices in their own frames [m] and their velocities [m/s], (m, 3) each"""


def obstacle_poses(run: Run, frame: Frame) -> ObstaclePoses:
    """The poses in a frame of the run. Frames of earlier versions contain none: theirs are those of the scene's motions
    at the time of the frame."""
    count = len(obstacles(run.scene))
    stored = frame.populations.get(OBSTACLE_POSES.name)
    if not stored:
        return _scripted(run, frame.time)
    if missing := [field for field in FIELDS if field not in stored]:
        raise CacheError(f"'{frame.path}' has poses of obstacles without {', '.join(missing)}")
    poses = _poses([np.asarray(stored[field], dtype=np.float64) for field in FIELDS])
    if len(poses.position) != count:
        raise CacheError(f"'{frame.path}' has the poses of {len(poses.position)} obstacles, but the scene has {count}")
    return poses._replace(vertices=_vertices(frame, count))


def _vertices(frame: Frame, count: int) -> dict[int, tuple[Floats, Floats]]:
    found = {}
    for k in range(count):
        if stored := frame.populations.get(obstacle_vertices(k).name):
            found[k] = np.asarray(stored["x"], dtype=np.float64), np.asarray(stored["v"], dtype=np.float64)
    return found


def poses_in_frames(run: Run, numbers: Sequence[int]) -> list[ObstaclePoses]:
    """The poses in several frames. Only they are read and not the points, so that checksums are not verified."""
    if not obstacles(run.scene):
        return [_scripted(run, 0.0)] * len(numbers)
    place, declared = RunFolder(run.path), run.stored_populations
    return [obstacle_poses(run, Frame(place.frame(number), declared)) for number in numbers]


def positions_over_run(run: Run) -> Floats:
    """Positions of the obstacles [m] at some times from start to end, shape (times, n, 3)."""
    if len(run) and any(each.name == OBSTACLE_POSES.name for each in run.stored_populations):
        poses = poses_in_frames(run, spread(list(range(len(run))), SAMPLES))
    else:
        poses = [_scripted(run, float(time)) for time in np.linspace(0.0, run.scene.duration, SAMPLES)]
    return np.array([each.position for each in poses])


def moved(poses: ObstaclePoses, dt: float) -> ObstaclePoses:
    """The poses after a time `dt` [s] with the present velocities."""
    from scipy.spatial.transform import Rotation  # slow to import

    turn = Rotation.from_rotvec(dt * poses.angular_velocity).as_matrix() if len(poses.position) else poses.rotation
    vertices = {k: (x + dt * v, v) for k, (x, v) in poses.vertices.items()}
    return poses._replace(
        rotation=turn @ poses.rotation, position=poses.position + dt * poses.velocity, vertices=vertices
    )


def _scripted(run: Run, time: float) -> ObstaclePoses:
    """The poses of the scene's motions at a time [s]."""
    scene = run.scene
    dimension = scene.dimension if isinstance(scene, MaterialScene) else 3
    poses = [pose(obstacle.motion, time, dimension) for obstacle in obstacles(scene)]
    shapes = ((3, 3), (3,), (3,), (3,))
    return _poses([np.array([each[k] for each in poses]).reshape(-1, *shape) for k, shape in enumerate(shapes)])


def _poses(parts: list[Floats]) -> ObstaclePoses:
    rotation, position, velocity, angular_velocity = parts
    return ObstaclePoses(rotation, position, velocity, angular_velocity)
