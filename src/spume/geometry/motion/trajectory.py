"""Poses of a motion: position, orientation and velocities of a rigid body as analytic functions of time."""

import math
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spume.errors import SceneError
from spume.geometry.motion import models
from spume.geometry.motion.interpolation import KeyframedVector
from spume.geometry.motion.models import MotionModel
from spume.geometry.motion.paths import polyline_path, spiral_path
from spume.geometry.shapes.parts import check_vector

Triple = tuple[float, float, float]
Matrix = tuple[Triple, Triple, Triple]
ZERO: Triple = (0.0, 0.0, 0.0)
IDENTITY: Matrix = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


class Pose(NamedTuple):
    """Pose and velocities of a rigid body: world = R local + p; a world point x moves with v + omega × (x − p)."""

    R: NDArray[np.float64]
    """rotation, shape (3, 3)"""
    p: NDArray[np.float64]
    """displacement [m], shape (3,)"""
    v: NDArray[np.float64]
    """velocity of p [m/s], shape (3,)"""
    omega: NDArray[np.float64]
    """angular velocity [rad/s], shape (3,)"""


class Rigid(NamedTuple):
    """A pose as tuples of floats, which are several times faster than arrays of three components."""

    R: Matrix = IDENTITY
    p: Triple = ZERO
    v: Triple = ZERO
    omega: Triple = ZERO


Trajectory = Callable[[float], Rigid]
"""Pose as a function of time [s]."""


def pose(motion: MotionModel | None, time: float, dimension: int) -> Pose:
    """Pose of `motion` (None: fixed) at `time` [s]."""
    rigid = trajectory(motion, dimension)(time)
    return Pose(np.array(rigid.R), np.array(rigid.p), np.array(rigid.v), np.array(rigid.omega))


@lru_cache(maxsize=256)
def trajectory(motion: MotionModel | None, dimension: int) -> Trajectory:
    """Pose of `motion` as a function of time. Raises SceneError if `motion` cannot be used in `dimension`."""
    check_motion(motion, dimension)
    match motion:
        case models.Velocity():
            return _velocity(motion)
        case models.Oscillate():
            return _oscillation(motion)
        case models.Turn():
            return _rotation(motion)
        case models.Keyframes():
            return _keyframes(motion)
        case models.Spiral():
            return _displacement(spiral_path(motion))
        case models.Polyline():
            return _displacement(polyline_path(motion))
        case models.Combine():
            return _combination([trajectory(part, dimension) for part in motion.of])
    return lambda time: Rigid()


def check_motion(motion: MotionModel | None, dimension: int) -> None:
    """Raise SceneError if `motion` cannot be used in a scene of `dimension`."""
    if isinstance(motion, models.Combine):
        for part in motion.of:
            check_motion(part, dimension)
        return
    for key, vector in _vectors(motion):
        check_vector(vector, dimension, f"'{key}' of the motion")
    if isinstance(motion, models.Turn | models.Spiral) and (motion.axis is None) != (dimension == 2):
        what = "turns in its plane and takes no 'axis'" if dimension == 2 else "needs an 'axis'"
        name = "rotate" if isinstance(motion, models.Turn) else "spiral"
        raise SceneError(f"the motion '{name}' in a {dimension}D scene {what}")
    if isinstance(motion, models.Spiral) and dimension == 2 and motion.rise != 0:
        raise SceneError(f"the motion 'spiral' stays in the plane of a 2D scene, and its rise is {motion.rise:g} m")
    if isinstance(motion, models.Keyframes):
        for rotation in motion.rotations or ():
            if isinstance(rotation, tuple) != (dimension == 3):
                what = "an angle" if dimension == 2 else "a vector of 3 components"
                raise SceneError(f"a rotation of keyframes is {what} in a {dimension}D scene, and one is {rotation}")


def _vectors(motion: MotionModel | None) -> list[tuple[str, tuple[float, ...]]]:
    keys = ("linear", "direction", "axis", "about")
    found = [(key, getattr(motion, key)) for key in keys if getattr(motion, key, None) is not None]
    lists = ("positions", "points")
    return found + [(key, vector) for key in lists for vector in getattr(motion, key, None) or ()]


def _triple(vector: tuple[float, ...] | None) -> Triple:
    if vector is None:
        return ZERO
    return vector[0], vector[1], vector[2] if len(vector) == 3 else 0.0


def _unit(vector: tuple[float, ...]) -> Triple:
    x, y, z = _triple(vector)
    length = math.hypot(x, y, z)
    return x / length, y / length, z / length


def _velocity(motion: models.Velocity) -> Trajectory:
    x, y, z = _triple(motion.linear)
    start, stop = motion.start, math.inf if motion.stop is None else motion.stop

    def at(time: float) -> Rigid:
        t = min(max(time, start), stop) - start
        return Rigid(p=(t * x, t * y, t * z), v=(x, y, z) if start <= time < stop else ZERO)

    return at


def _oscillation(motion: models.Oscillate) -> Trajectory:
    x, y, z = _unit(motion.direction)
    rate, phase = 2.0 * math.pi * motion.frequency, math.radians(motion.phase)

    def at(time: float) -> Rigid:
        s = motion.amplitude * math.sin(rate * time + phase)
        v = motion.amplitude * rate * math.cos(rate * time + phase)
        return Rigid(p=(s * x, s * y, s * z), v=(v * x, v * y, v * z))

    return at


def _rotation(motion: models.Turn) -> Trajectory:
    x, y, z = _unit(motion.axis or (0.0, 0.0, 1.0))
    about = _triple(motion.about)
    rate = motion.rate if motion.rate is not None else 2.0 * math.pi * (motion.revolutions_per_second or 0.0)
    start, stop = motion.start, math.inf if motion.stop is None else motion.stop

    def at(time: float) -> Rigid:
        angle = rate * (min(max(time, start), stop) - start)
        omega = (rate * x, rate * y, rate * z) if start <= time < stop else ZERO
        return _turned((angle * x, angle * y, angle * z), omega, about, ZERO, ZERO)

    return at


def _keyframes(motion: models.Keyframes) -> Trajectory:
    """Trajectory of keyframes. Rotations are interpolated as rotation vectors: about a fixed axis this interpolates the
    angle, including full turns; between different axes the path is smooth but not the shortest."""
    about = _triple(motion.about)
    still = [ZERO] * len(motion.times)
    positions = [_triple(position) for position in motion.positions or still]
    degrees = [r if isinstance(r, tuple) else (0.0, 0.0, r) for r in motion.rotations or still]
    rotations = [tuple(math.radians(angle) for angle in vector) for vector in degrees]
    moves = KeyframedVector(motion.times, positions, motion.interpolation)
    turns = KeyframedVector(motion.times, rotations, motion.interpolation)

    def at(time: float) -> Rigid:
        shift, speed = moves.at(time)
        theta, rate = (_triple(vector) for vector in turns.at(time))
        return _turned(theta, _angular_velocity(theta, rate), about, _triple(shift), _triple(speed))

    return at


def _displacement(path: Callable[[float], tuple[Triple, Triple]]) -> Trajectory:
    def at(time: float) -> Rigid:
        place, speed = path(time)
        return Rigid(p=place, v=speed)

    return at


def _combination(trajectories: list[Trajectory]) -> Trajectory:
    def at(time: float) -> Rigid:
        first = Rigid()
        for next_one in trajectories:
            first = _after(first, next_one(time))
        return first

    return at


def _after(a: Rigid, b: Rigid) -> Rigid:
    """Composition of two motions: first a, then b."""
    p, v, omega = _times(b.R, a.p), _times(b.R, a.v), _times(b.R, a.omega)
    swept = _cross(b.omega, p)
    columns = [_times(b.R, _triple(column)) for column in zip(*a.R)]
    rows = [_triple(row) for row in zip(*columns)]
    return Rigid((rows[0], rows[1], rows[2]), _sum(p, b.p), _sum(_sum(v, swept), b.v), _sum(omega, b.omega))


def _turned(theta: Triple, omega: Triple, about: Triple, shift: Triple, speed: Triple) -> Rigid:
    """Rotation about a point by the rotation vector theta [rad], then displacement: p = about − R about + shift."""
    R = _rotation_matrix(theta)
    x, y, z = _times(R, about)
    arm = (-x, -y, -z)
    return Rigid(R, _sum(_sum(about, arm), shift), _sum(_cross(omega, arm), speed), omega)


def _rotation_matrix(theta: Triple) -> Matrix:
    """Rodrigues' formula for a rotation vector [rad]."""
    angle = math.hypot(*theta)
    if angle == 0.0:
        return IDENTITY
    x, y, z = theta[0] / angle, theta[1] / angle, theta[2] / angle
    c, s = math.cos(angle), math.sin(angle)
    t = 2.0 * math.sin(0.5 * angle) ** 2
    return (
        (c + t * x * x, t * x * y - s * z, t * x * z + s * y),
        (t * y * x + s * z, c + t * y * y, t * y * z - s * x),
        (t * z * x - s * y, t * z * y + s * x, c + t * z * z),
    )


def _angular_velocity(theta: Triple, rate: Triple) -> Triple:
    """omega = θ' + (1 − cos θ)/θ² θ × θ' + (θ − sin θ)/θ³ θ × (θ × θ') for the rotation exp(θ)."""
    angle = math.hypot(*theta)
    if angle < 1e-3:
        # Next terms of the series: angle⁴/720 and angle⁴/5040, below rounding.
        a, b = 0.5 - angle**2 / 24.0, 1.0 / 6.0 - angle**2 / 120.0
    else:
        a = 2.0 * (math.sin(0.5 * angle) / angle) ** 2
        b = (angle - math.sin(angle)) / angle**3
    once = _cross(theta, rate)
    twice = _cross(theta, once)
    x, y, z = (r + a * c + b * d for r, c, d in zip(rate, once, twice))
    return x, y, z


def _times(R: Matrix, u: Triple) -> Triple:
    x, y, z = u
    (a, b, c), (d, e, f), (g, h, i) = R
    return a * x + b * y + c * z, d * x + e * y + f * z, g * x + h * y + i * z


def _cross(a: Triple, b: Triple) -> Triple:
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


def _sum(a: Triple, b: Triple) -> Triple:
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]
