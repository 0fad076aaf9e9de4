"""The obstacles of a scene: shapes, poses, motions and kinds of contact, as arrays for compiled code."""

import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spume.errors import SceneError
from spume.geometry.motion.models import MotionModel
from spume.geometry.motion.trajectory import trajectory
from spume.geometry.obstacles.contact import PASS, Contact
from spume.geometry.obstacles.deforming import BEGIN, STEP, deforming_obstacles, lattices_of
from spume.geometry.obstacles.flowing import FlowingSurface, SurfaceFlow
from spume.geometry.sdf.compiler import compile_shape
from spume.geometry.sdf.operations import join
from spume.geometry.shapes import ShapeModel
from spume.geometry.shapes.extent import bounds


class Obstacle(NamedTuple):
    """A shape with its kind of contact and its motion."""

    shape: ShapeModel
    contact: Contact = "stick"
    friction: float = 0.0
    """Coulomb friction coefficient [1]; for "separate" only"""
    motion: MotionModel | None = None
    name: str = ""
    flow: SurfaceFlow | None = None
    """what flows out of its surface"""


class ObstacleArrays(NamedTuple):
    """All obstacles at one time, for compiled code. Flat, because parallel loops accept no nested tuples: the first
    five fields are those of the ShapeProgram of all shapes, each in its own frame."""

    rows: NDArray[np.int64]
    numbers: NDArray[np.float64]
    starts: NDArray[np.int64]
    voxels: NDArray[np.float64]
    dimension: int
    poses: NDArray[np.float64]
    """(n, 18): rotation (9, row-major), displacement [m], velocity [m/s], angular velocity [rad/s]"""
    balls: NDArray[np.float64]
    """(n, 4): centre (in the obstacle's own frame) and radius of a bounding ball [m], infinite for a half space"""
    contact: NDArray[np.int64]
    friction: NDArray[np.float64]
    number: int
    """number of obstacles"""
    moves: NDArray[np.float64]
    """(n, 12): rigid map x ↦ A x + b of each obstacle during the step, A (9, row-major) and b [m]"""
    moved: NDArray[np.int64]
    """(n,): 1 where that map is not the identity, or the obstacle deforms or has a flow"""
    lattices: NDArray[np.float64]
    """(n, 21) for obstacles that deform or have a flow: origin (3), rotation (9, row-major), first place (3), spacing
    (1) and counts (3) of the lattice of velocities, where its values begin in `currents`, −1 for others, and the
    length of the step [s]"""
    currents: NDArray[np.float64]
    """these velocities, in the obstacles' own frames [m/s]"""


AT_REST = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0)
"""The rigid map of an obstacle that does not move."""


class ContactLaws(NamedTuple):
    """How each obstacle acts on the points of a species."""

    contact: NDArray[np.int64]
    """STICK, SLIP, SEPARATE or PASS, see `collision`"""
    friction: NDArray[np.float64]
    """Coulomb friction coefficient [1]"""


class ObstacleSet:
    """The obstacles of a scene with their poses, which their motions set, or stages of a step by `place`."""

    def __init__(
        self,
        obstacles: Sequence[Obstacle | tuple[ShapeModel, Contact, float, MotionModel | None, str]],
        dimension: int,
        folder: Path | None = None,
    ) -> None:
        given = [Obstacle(*obstacle) for obstacle in obstacles]
        for obstacle in given:
            _check(obstacle)
        self.names = [obstacle.name for obstacle in given]
        self._placed: list[int] = []
        """Obstacles to which stages give their poses."""
        self._trajectories = [trajectory(obstacle.motion, dimension) for obstacle in given]
        self._moving = [k for k, obstacle in enumerate(given) if obstacle.motion is not None]
        flows = {k: each.flow for k, each in enumerate(given) if each.flow is not None}
        surfaces = {k: FlowingSurface(given[k].shape, flow, dimension, folder) for k, flow in flows.items()}
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
            np.tile(AT_REST, (len(given), 1)),
            np.zeros(len(given), dtype=np.int64),
            *_with_flows(surfaces, *lattices_of([obstacle.shape for obstacle in given], folder)),
        )
        self._flowing = surfaces
        self._deforming = deforming_obstacles([obstacle.shape for obstacle in given], self._arrays, folder)
        self.travelled = 0.0
        """upper bound of the path length of any point of an obstacle, accumulated over all movements [m]"""
        self._follow(range(len(given)), 0.0)
        for mesh in self._deforming.values():
            mesh.deform(0.0)
        self.travelled = 0.0  # the initial placement is not a movement
        self._before = self.poses.copy()
        """Poses at the start of the present step."""
        self._step = (0.0, 0.0)
        """Start and end of the present step [s]; not a number if the poses are of an unknown time."""

    def __len__(self) -> int:
        return len(self.names)

    @property
    def poses(self) -> NDArray[np.float64]:
        """The present poses: rotation, displacement, velocity, angular velocity, shape (n, 18), see ObstacleArrays."""
        return self._arrays.poses

    def vertices(self, k: int, time: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Vertices [m] and their velocities [m/s] of obstacle k, which deforms, in its own frame at a time [s]."""
        return self._deforming[k].vertices(time)

    def laws(self, passed: Iterable[int], friction: bool) -> ContactLaws:
        """Contacts for a species that the obstacles `passed` let pass, with the friction of the scene or none."""
        contact = self._arrays.contact.copy()
        contact[list(passed)] = PASS
        return ContactLaws(contact, self._arrays.friction if friction else np.zeros(len(self)))

    def restore(self, poses: ArrayLike) -> None:
        """Set the poses, shape (n, 18). From the next step on, obstacles with a motion follow it again."""
        self.poses[:] = np.reshape(poses, self.poses.shape)
        self._step = (math.nan, math.nan)

    def leave_to_stages(self, k: int) -> None:
        """From now on obstacle k follows no motion: it stays where it is unless a stage calls `place`."""
        self._moving = [j for j in self._moving if j != k]
        self._placed.append(k)

    def begin(self, start: float) -> NDArray[np.float64]:
        """Poses at the start of a step at `start` [s], shape (n, 18), also if the step is repeated."""
        begun, reached = self._step
        if start != begun:
            if start != reached:  # the clock was set, if only by a rounding error
                scripted = [k for k in range(len(self)) if k not in self._placed]
                self._follow(scripted if math.isnan(reached) else self._moving, start)
            self._before[:] = self.poses
        return self._before

    def place(self, k: int, pose: ArrayLike, start: float, end: float) -> None:
        """Give an obstacle that was left to stages its pose, shape (18,), at the end of the step from `start` to `end`
        [s]. A stage does so before any other stage of the step asks for the obstacles."""
        assert k in self._placed, f"the obstacle '{self.names[k]}' follows its motion"
        self.during(start, end)
        self.travelled += self._way_to(k, pose)
        self._find_move(k, end - start)
        self._mark_moved()

    def at(self, time: float, laws: ContactLaws | None = None) -> ObstacleArrays:
        """Move the obstacles to `time` [s] and return them, without a movement in this step; see `during`."""
        return self.during(time, time, laws)

    def during(self, start: float, end: float, laws: ContactLaws | None = None) -> ObstacleArrays:
        """Move the obstacles to `end` [s] and return them, with their rigid maps from their poses at `start`. The map
        of an obstacle that jumps is the identity: it does not carry material with it. Every call returns the same
        arrays, with the poses overwritten.

        A step begins with the poses at the end of the last one. It may be repeated with another length.

        laws: contacts and friction for a species; None: those of the scene.
        """
        if self._step != (start, end):
            before = self.begin(start)
            self._follow(self._moving, end)
            for k in self._placed:  # a failed step that is repeated may have put it elsewhere
                self.travelled += self._way_to(k, before[k])
            self._step = (start, end)
            for k in (*self._moving, *self._placed):
                self._find_move(k, end - start)
            for k, surface in self._flowing.items():
                first = int(self._arrays.lattices[k, BEGIN])
                currents = self._arrays.currents[first : first + 3 * surface.size].reshape(-1, 3)
                self._arrays.lattices[k, STEP] = end - start if surface.flow(end, currents) else 0.0
            for k, mesh in self._deforming.items():
                self.travelled += mesh.deform(end)
                self._arrays.lattices[k, STEP] = end - start if mesh.is_moving else 0.0
            self._mark_moved()
        return self._arrays if laws is None else self._arrays._replace(contact=laws.contact, friction=laws.friction)

    def _find_move(self, k: int, dt: float) -> None:
        """Find the rigid map of an obstacle in a step of dt [s]."""
        A, b = self._map(k) if dt != 0.0 and not self._jumps(k, dt) else (np.eye(3), np.zeros(3))
        self._arrays.moves[k] = (*A.ravel(), *b)

    def _mark_moved(self) -> None:
        self._arrays.moved[:] = (self._arrays.moves != AT_REST).any(axis=1) | (self._arrays.lattices[:, STEP] > 0.0)

    def _jumps(self, k: int, dt: float) -> bool:
        """Whether an obstacle moves in the step by more than its own size and by more than its velocities before and
        after it explain."""
        before, now = self._before[k], self.poses[k]
        explained = (math.hypot(*before[12:15]) + math.hypot(*now[12:15])) * dt
        return math.dist(now[9:12], before[9:12]) > explained + 2.0 * self._arrays.balls[k, 3]

    def _map(self, k: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Map x ↦ A x + b from the pose before the step to the present one: A = R₁ R₀ᵀ, b = p₁ − A p₀."""
        before, now = self._before[k], self.poses[k]
        if np.array_equal(now[:9], before[:9]):
            return np.eye(3), now[9:12] - before[9:12]
        A = now[:9].reshape(3, 3) @ before[:9].reshape(3, 3).T
        return A, now[9:12] - A @ before[9:12]

    def _follow(self, which: Sequence[int], time: float) -> None:
        """Set the poses of some obstacles to those of their motions at `time` [s]."""
        farthest = 0.0
        for k in which:
            R, p, v, omega = self._trajectories[k](time)
            farthest = max(farthest, self._way_to(k, (*R[0], *R[1], *R[2], *p, *v, *omega)))
        self.travelled += farthest

    def _way_to(self, k: int, pose: ArrayLike) -> float:
        """Set the pose of an obstacle; returns an upper bound of the path length of its points [m]."""
        way = np.asarray(pose) - self.poses[k]
        self.poses[k] = pose
        turned = math.hypot(*way[:9])
        return math.hypot(*way[9:12]) + (turned * self._arms[k] if turned > 0.0 else 0.0)


def _with_flows(
    surfaces: dict[int, FlowingSurface], lattices: NDArray[np.float64], currents: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The arrays `lattices` and `currents` with those of obstacles that have a flow."""
    for k, surface in surfaces.items():
        lattices[k, :BEGIN] = surface.numbers
        lattices[k, BEGIN] = len(currents)
        currents = np.append(currents, np.zeros(3 * surface.size))
    return lattices, currents


def _check(obstacle: Obstacle) -> None:
    where = f"the obstacle '{obstacle.name}'" if obstacle.name else "an obstacle"
    if obstacle.contact not in get_args(Contact):
        known = ", ".join(get_args(Contact))
        raise SceneError(f"the contact of {where} is '{obstacle.contact}', and it can be one of {known}")
    if not (0.0 <= obstacle.friction < math.inf):
        raise SceneError(f"the friction of {where} is {obstacle.friction}, and it must be 0 or more")
    if obstacle.friction > 0.0 and obstacle.contact != "separate":
        raise SceneError(f"{where} has friction, which belongs to contact = 'separate', not '{obstacle.contact}'")


def _ball(shape: ShapeModel, dimension: int, folder: Path | None) -> tuple[float, ...]:
    lower, upper = bounds(shape, dimension, folder)
    if not (np.isfinite(lower).all() and np.isfinite(upper).all()):
        return 0.0, 0.0, 0.0, math.inf
    center = np.zeros(3)
    center[:dimension] = (lower + upper) / 2
    return (*center.tolist(), float(np.linalg.norm(upper - lower)) / 2)
