"""Obstacles: shapes in motion, and what contact with them does to a velocity.

Contact, for a point inside an obstacle or on its surface, in terms of its velocity relative to the obstacle's there:

stick     it becomes zero
slip      its normal component becomes zero, the tangential one is kept
separate  if the point approaches, its normal component becomes zero and Coulomb friction acts on the tangential one, as
          in [Stomakhin13] section 8; if it leaves, nothing happens

Where obstacles overlap, sticking wins: the point takes the velocity of the first sticking obstacle it is in, whatever
the others are. Otherwise the others act in the order of the scene, over and over until none changes anything, so that
the velocity ends up acceptable to all of them at once (in a wedge, along its edge).
"""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from spume.errors import SceneError
from spume.geometry.codes import join
from spume.geometry.contact import Contact
from spume.geometry.pointers import open_arrays
from spume.geometry.program import run_rows
from spume.geometry.shapes import ShapePart, bounds, compile_shape
from spume.geometry.table import Part
from spume.geometry.trajectory import trajectory
from spume.numerics.jit import compiled

STICK, SLIP, SEPARATE = range(3)

SWEEPS = 32
"""How often overlapping obstacles act in turn. Each sweep into a wedge of angle α leaves cos² α of the approach."""


class Obstacle(NamedTuple):
    """One obstacle, as ObstacleSet takes it."""

    shape: ShapePart
    contact: Contact = "stick"
    friction: float = 0.0
    """Coulomb's coefficient [1]; "separate" only"""
    motion: Part | None = None
    name: str = ""


class ObstacleArrays(NamedTuple):
    """All obstacles at one time, for compiled code. Flat, because parallel loops take no tuples within tuples: the
    first five are those of the ShapeProgram of all shapes, each in its own frame."""

    rows: NDArray[np.int64]
    numbers: NDArray[np.float64]
    starts: NDArray[np.int64]
    voxels: NDArray[np.float64]
    dimension: int
    poses: NDArray[np.float64]
    """(n, 18): rotation (9, row by row), displacement [m], velocity [m/s], angular velocity [rad/s]"""
    balls: NDArray[np.float64]
    """(n, 4): centre in the obstacle's own frame and radius of a ball that holds it, infinite for a half space [m]"""
    contact: NDArray[np.int64]
    friction: NDArray[np.float64]
    number: int
    """how many obstacles there are"""


class ObstacleSet:
    """The obstacles of a scene."""

    def __init__(
        self,
        obstacles: Sequence[Obstacle | tuple[ShapePart, Contact, float, Part | None, str]],
        dimension: int,
        folder: Path | None = None,
    ) -> None:
        given = [Obstacle(*obstacle) for obstacle in obstacles]
        for obstacle in given:
            _check(obstacle)
        self.names = [obstacle.name for obstacle in given]
        self._trajectories = [trajectory(obstacle.motion, dimension) for obstacle in given]
        self._moving = [k for k, obstacle in enumerate(given) if obstacle.motion is not None]
        program = join([compile_shape(obstacle.shape, dimension, folder) for obstacle in given], dimension)
        balls = np.array([_ball(obstacle.shape, dimension, folder) for obstacle in given]).reshape(-1, 4)
        self._arms = np.linalg.norm(balls[:, :3], axis=1) + balls[:, 3]  # from the origin of the obstacle's own frame
        self._arrays = ObstacleArrays(
            *program,
            np.zeros((len(given), 18)),
            balls,
            np.array([get_args(Contact).index(obstacle.contact) for obstacle in given], dtype=np.int64),
            np.array([obstacle.friction for obstacle in given], dtype=np.float64),
            len(given),
        )
        self.travelled = 0.0
        """no point of an obstacle has come farther than this, summed over all calls of `at` [m]"""
        self._place(range(len(given)), 0.0)
        self.travelled = 0.0  # to their first places they have not come from anywhere

    def __len__(self) -> int:
        return len(self.names)

    def at(self, time: float) -> ObstacleArrays:
        """The obstacles at `time` [s]. The arrays are those of the call before, with new poses in them."""
        self._place(self._moving, time)
        return self._arrays

    def _place(self, which: Sequence[int], time: float) -> None:
        farthest = 0.0
        for k in which:
            R, p, v, omega = self._trajectories[k](time)
            pose, before = self._arrays.poses[k], self._arrays.poses[k].copy()
            pose[:] = (*R[0], *R[1], *R[2], *p, *v, *omega)
            way = pose - before
            turned = math.hypot(*way[:9])
            farthest = max(farthest, math.hypot(*way[9:12]) + (turned * self._arms[k] if turned > 0.0 else 0.0))
        self.travelled += farthest


def _check(obstacle: Obstacle) -> None:
    where = f"the obstacle '{obstacle.name}'" if obstacle.name else "an obstacle"
    if obstacle.contact not in get_args(Contact):
        known = ", ".join(get_args(Contact))
        raise SceneError(f"the contact of {where} is '{obstacle.contact}', and it can be one of {known}")
    if not (0.0 <= obstacle.friction < math.inf):
        raise SceneError(f"the friction of {where} is {obstacle.friction}, and it must be 0 or more")
    if obstacle.friction > 0.0 and obstacle.contact != "separate":
        raise SceneError(f"{where} has friction, which belongs to contact = 'separate', not '{obstacle.contact}'")


def _ball(shape: ShapePart, dimension: int, folder: Path | None) -> tuple[float, ...]:
    lower, upper = bounds(shape, dimension, folder)
    if not (np.isfinite(lower).all() and np.isfinite(upper).all()):
        return 0.0, 0.0, 0.0, math.inf
    center = np.zeros(3)
    center[:dimension] = (lower + upper) / 2
    return (*center.tolist(), float(np.linalg.norm(upper - lower)) / 2)


@compiled
def _distance_and_normal(o, k, x, y, z, margin):
    """Signed distance [m] of a world point from obstacle k, and the unit normal out of it; that of the ball around the
    obstacle when the point is further than `margin` from the ball."""
    rows, numbers, starts, voxels, dimension, poses, balls = o[0], o[1], o[2], o[3], o[4], o[5], o[6]
    m = 18 * k
    x, y, z = x - poses[m + 9], y - poses[m + 10], z - poses[m + 11]
    R00, R01, R02 = poses[m], poses[m + 1], poses[m + 2]
    R10, R11, R12 = poses[m + 3], poses[m + 4], poses[m + 5]
    R20, R21, R22 = poses[m + 6], poses[m + 7], poses[m + 8]
    u, v, w = R00 * x + R10 * y + R20 * z, R01 * x + R11 * y + R21 * z, R02 * x + R12 * y + R22 * z
    a, b, c, reach = u - balls[4 * k], v - balls[4 * k + 1], w - balls[4 * k + 2], balls[4 * k + 3] + margin
    s = a * a + b * b + c * c
    if s > reach * reach:
        s = math.sqrt(s)
        d, a, b, c = s - balls[4 * k + 3], a / s, b / s, c / s
    else:
        d, a, b, c = run_rows(rows, numbers, voxels, starts[k], starts[k + 1], u, v, w if dimension == 3 else 0.0)
    return d, R00 * a + R01 * b + R02 * c, R10 * a + R11 * b + R12 * c, R20 * a + R21 * b + R22 * c


@compiled
def _surface_velocity(o, k, x, y, z):
    poses = o[5]
    m = 18 * k
    x, y, z = x - poses[m + 9], y - poses[m + 10], z - poses[m + 11]
    wx, wy, wz = poses[m + 15], poses[m + 16], poses[m + 17]
    return poses[m + 12] + wy * z - wz * y, poses[m + 13] + wz * x - wx * z, poses[m + 14] + wx * y - wy * x


@compiled
def obstacle_distance_and_normal(obstacles, k, x, y, z):
    """Signed distance [m] of a world point from obstacle k, negative inside, and the unit normal out of it."""
    return _distance_and_normal(open_arrays(obstacles), k, x, y, z, math.inf)


@compiled
def bounded_distance_and_normal(obstacles, k, x, y, z):
    """As `obstacle_distance_and_normal`, but outside the ball around the obstacle the distance and normal of the ball:
    a lower bound, at a fraction of the cost."""
    return _distance_and_normal(open_arrays(obstacles), k, x, y, z, 0.0)


@compiled
def obstacle_velocity(obstacles, k, x, y, z):
    """Velocity [m/s] of obstacle k at a world point: v + omega × (x − p)."""
    return _surface_velocity(open_arrays(obstacles), k, x, y, z)


@compiled
def resolve(contact, friction, nx, ny, nz, vx, vy, vz):
    """The relative velocity after contact with a surface of normal n."""
    if contact == STICK:
        return 0.0, 0.0, 0.0
    vn = vx * nx + vy * ny + vz * nz
    if contact == SEPARATE and vn >= 0.0:
        return vx, vy, vz
    tx, ty, tz = vx - vn * nx, vy - vn * ny, vz - vn * nz
    if contact == SLIP or friction == 0.0:
        return tx, ty, tz
    vt = math.sqrt(tx * tx + ty * ty + tz * tz)
    if vt <= -friction * vn:
        return 0.0, 0.0, 0.0
    s = 1.0 + friction * vn / vt
    return s * tx, s * ty, s * tz


@compiled
def _resolve_moving(o, k, nx, ny, nz, x, y, z, vx, vy, vz):
    contact, friction = o[7], o[8]
    sx, sy, sz = _surface_velocity(o, k, x, y, z)
    vx, vy, vz = resolve(contact[k], friction[k], nx, ny, nz, vx - sx, vy - sy, vz - sz)
    return vx + sx, vy + sy, vz + sz


@compiled
def _resolve_overlap(o, x, y, z, vx, vy, vz):
    """A point inside several obstacles, none of which sticks."""
    for _ in range(SWEEPS):
        bx, by, bz = vx, vy, vz
        for k in range(o[9]):
            d, nx, ny, nz = _distance_and_normal(o, k, x, y, z, 0.0)
            if d <= 0.0:
                vx, vy, vz = _resolve_moving(o, k, nx, ny, nz, x, y, z, vx, vy, vz)
        if abs(vx - bx) + abs(vy - by) + abs(vz - bz) <= 1e-14 * (abs(vx) + abs(vy) + abs(vz)):
            break
    return vx, vy, vz


@compiled
def collide(obstacles, x, y, z, vx, vy, vz):
    """The velocity [m/s] of a point after contact with all the obstacles it is inside of, and a distance [m] that it is
    away from all of them at least, 0 when it is inside of one."""
    o = open_arrays(obstacles)
    contact = o[7]
    hits, hit = 0, 0
    nx = ny = nz = 0.0
    clearance = math.inf
    for k in range(o[9]):
        d, a, b, c = _distance_and_normal(o, k, x, y, z, 0.0)
        clearance = min(clearance, d)
        if d <= 0.0:
            if contact[k] == STICK:
                sx, sy, sz = _surface_velocity(o, k, x, y, z)
                return sx, sy, sz, 0.0
            hits, hit = hits + 1, k
            nx, ny, nz = a, b, c
    if hits == 0:
        return vx, vy, vz, clearance
    if hits == 1:
        vx, vy, vz = _resolve_moving(o, hit, nx, ny, nz, x, y, z, vx, vy, vz)
    else:
        vx, vy, vz = _resolve_overlap(o, x, y, z, vx, vy, vz)
    return vx, vy, vz, 0.0
