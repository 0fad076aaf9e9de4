"""Motion: what scenes write (`Motion`), and the pose it gives at a time (`pose`)."""

from spume.geometry.motion_models import MOTIONS, Combine, Fixed, Keyframes, Motion, Oscillate, Turn, Velocity
from spume.geometry.track import Track
from spume.geometry.trajectory import Pose, check_motion, pose, trajectory

__all__ = [
    "MOTIONS",
    "Combine",
    "Fixed",
    "Keyframes",
    "Motion",
    "Oscillate",
    "Pose",
    "Track",
    "Turn",
    "Velocity",
    "check_motion",
    "pose",
    "trajectory",
]
