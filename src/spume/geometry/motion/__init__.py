"""Rigid motion: the type in scenes (`Motion`) and its pose at a time (`pose`)."""

from spume.geometry.motion.interpolation import KeyframedVector
from spume.geometry.motion.models import (
    MOTIONS,
    Combine,
    Fixed,
    Keyframes,
    Motion,
    MotionModel,
    Oscillate,
    Polyline,
    Spiral,
    Turn,
    Velocity,
)
from spume.geometry.motion.trajectory import Pose, check_motion, pose, trajectory

__all__ = [
    "MOTIONS",
    "Combine",
    "Fixed",
    "KeyframedVector",
    "Keyframes",
    "Motion",
    "MotionModel",
    "Oscillate",
    "Polyline",
    "Pose",
    "Spiral",
    "Turn",
    "Velocity",
    "check_motion",
    "pose",
    "trajectory",
]
