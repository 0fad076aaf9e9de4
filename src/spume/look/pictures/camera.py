"""The camera of pictures: the scene's own, or one that shows the whole run."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spume.scene import surroundings
from spume.scene.camera import angle_at, place_at
from spume.scene.common import Scene

Vector = NDArray[np.float64]
AUTOMATIC_ANGLE = 30.0
"""Vertical angle of view of an automatic camera, if the scene gives none [degrees]."""
MARGIN = 1.08
"""Margin that an automatic camera leaves around what it shows."""


class View(NamedTuple):
    """A camera."""

    position: Vector
    target: Vector
    up: Vector
    angle: float
    """vertical angle of view [degrees]"""
    aperture: float = 0.0
    """diameter of the lens [m]; 0: everything is in focus"""
    focus: float = 0.0
    """distance in focus, along the view [m]"""


def up_axis(scene: Scene) -> Vector:
    """The up axis: opposite to gravity at the start, y without gravity."""
    gravity = surroundings.gravity(scene)
    up = np.array([0.0, 1.0, 0.0])
    if np.any(gravity):
        axis = int(np.argmax(np.abs(gravity)))
        up = -np.sign(gravity[axis]) * np.eye(3)[axis]
    return up


def scene_view(scene: Scene, time: float = 0.0) -> View | None:
    """The scene's own 3D camera at a time [s], if it has one."""
    camera = scene.camera
    if camera is None or camera.position is None or camera.target is None:
        return None
    if len(place_at(camera.position, 0.0)) != 3:
        return None
    position, target = np.array(place_at(camera.position, time)), np.array(place_at(camera.target, time))
    sharp = target if camera.focus is None else np.array(place_at(camera.focus, time))
    forward = (target - position) / (float(np.linalg.norm(target - position)) or 1.0)
    focus = float((sharp - position) @ forward)
    return View(position, target, np.array(camera.up), angle_at(camera.fov, time), camera.aperture, focus)


def automatic_angle(scene: Scene) -> float:
    """The vertical angle of view of an automatic camera [degrees]."""
    camera = scene.camera
    return AUTOMATIC_ANGLE if camera is None or camera.position is not None else angle_at(camera.fov, 0.0)


def automatic_view(lower: Vector, upper: Vector, up: Vector, aspect: float, angle: float = AUTOMATIC_ANGLE) -> View:
    """A camera from the front, a little from the right and above, near enough for the box to fill the picture."""
    forward_axis = np.eye(3)[2] if abs(up[2]) < 0.5 else np.eye(3)[1]
    side = np.cross(up, forward_axis)
    direction = 0.38 * side + 0.30 * up + (1.0 if abs(up[2]) < 0.5 else -1.0) * forward_axis
    direction /= np.linalg.norm(direction)
    target = 0.5 * (lower + upper)
    right = np.cross(up, direction)
    right /= np.linalg.norm(right)
    above = np.cross(direction, right)
    half = np.tan(np.radians(angle) / 2)
    corners = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)]) * (upper - lower) + lower - target
    across, over, towards = corners @ right, corners @ above, corners @ direction
    needed = towards + MARGIN * np.maximum(np.abs(across) / (half * aspect), np.abs(over) / half)
    return View(target + needed.max() * direction, target, up, angle)
