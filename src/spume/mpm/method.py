"""The explicit material point method as the frame loop sees it."""

import math
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from spume.fields import Field
from spume.geometry.obstacles.obstacle_set import ObstacleSet
from spume.geometry.shapes.primitives import HalfSpace
from spume.materials.law import Law, Parameters
from spume.mpm import health
from spume.mpm.cost import estimate_cost
from spume.mpm.diagnostics import diagnose
from spume.mpm.grid import SparseGrid
from spume.mpm.particles import Particles, point_fields
from spume.mpm.sources import Source, build_sources, releases
from spume.mpm.state import State
from spume.mpm.step import explicit_step
from spume.mpm.time_step import TimeStep
from spume.run.method import Estimate, Progress

ORDERS = {"quadratic": 2, "cubic": 3}
REPORT_INTERVAL = 10
"""Steps between two reports of progress."""


class MaterialPointMethod:
    """Builds a state from a scene and advances it."""

    name: ClassVar[str] = "mpm"

    def __init__(self, scene: Any) -> None:
        self.scene = scene
        self.sources = build_sources(scene)
        self.releases = releases(self.sources)
        self.released = 0
        """Releases that have happened."""
        self.walls = wall_corners(scene)
        materials = [(material.law, material.parameters) for material in scene.materials]
        affine = scene.transfer.scheme == "apic"
        laws = {law.name: law for law, _ in materials}
        particles = Particles(
            [point_fields(scene.dimension, affine), *(law.fields for law in laws.values()), self.extra_fields()]
        )
        self.state = State(
            particles=particles,
            grid=SparseGrid(scene.dimension, scene.grid.cell, ORDERS[scene.grid.spline], affine),
            obstacles=build_obstacles(scene),
            gravity=gravity_function(scene),
            materials=materials,
            time_step=build_time_step(scene, materials),
            flip=scene.transfer.blend,
        )
        self._release_due()

    def extra_fields(self) -> tuple[Field, ...]:
        """What points carry beside the fields of MPM and of their laws: a method built on this one may need more."""
        return ()

    def step(self, dt: float) -> None:
        """Advance by dt [s]: what a method built on this one replaces."""
        explicit_step(self.state, dt)

    @property
    def time(self) -> float:
        """Simulated time [s]."""
        return self.state.time

    @property
    def particles(self) -> Particles:
        """The points and their fields."""
        return self.state.particles

    def advance(self, until: float, interrupted: Callable[[], bool], report: Callable[[Progress], None]) -> bool:
        """Advance to `until` [s]; see `run.method.Method`."""
        state = self.state
        state.clearances.forget()
        while state.time < until:
            if interrupted():
                return False
            stop = min(until, self._next_release())
            if len(state.particles) == 0:
                state.time = stop
            else:
                remaining = stop - state.time
                dt = TimeStep.cut(state.time_step.choose(state.speed, state.time), remaining)
                self.step(dt)
                if dt == remaining:
                    state.time = stop
                if state.steps % health.INTERVAL == 0 or state.time >= until:
                    health.check(state, self.walls)
                if state.steps % REPORT_INTERVAL == 0:
                    report(Progress(state.time, len(state.particles), state.steps, dt))
            self._release_due()
        report(Progress(state.time, len(state.particles), state.steps, state.time_step.last))
        return True

    def declarations(self) -> tuple[Field, ...]:
        """The fields of a frame."""
        return tuple(field for field in self.state.particles.fields if field.in_frames)

    def frame(self) -> dict[str, NDArray[Any]]:
        """The arrays of a frame."""
        return {field.name: getattr(self.state.particles, field.name) for field in self.declarations()}

    def diagnostics(self) -> dict[str, Any]:
        """Numbers about the present state."""
        return diagnose(self.state)

    def checkpoint(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Everything a bit-for-bit continuation needs."""
        state = self.state
        values = {
            "time": state.time,
            "steps": state.steps,
            "speed": state.speed,
            "last_dt": state.time_step.last,
            "released": self.released,
            "seconds": state.seconds,
        }
        return state.particles.arrays(), values

    def restore(self, arrays: dict[str, NDArray[Any]], values: dict[str, Any]) -> None:
        """Take the state of `checkpoint()` on."""
        state = self.state
        state.particles.replace(arrays)
        state.time = values["time"]
        state.steps = values["steps"]
        state.speed = values["speed"]
        state.time_step.last = values["last_dt"]
        state.seconds = dict(values["seconds"])
        self.released = values["released"]

    def _next_release(self) -> float:
        return self.releases[self.released].time if self.released < len(self.releases) else math.inf

    def _release_due(self) -> None:
        while self._next_release() <= self.state.time:
            release = self.releases[self.released]
            self._add(self.sources[release.source], release.source)
            self.released += 1

    def _add(self, source: Source, index: int) -> None:
        state = self.state
        points = source.points()
        new = state.particles.add(source.count, **points, material=source.material, body=index)
        if source.estimate_volume:
            estimate_volumes(state, new)
        state.speed = max(state.speed, float(np.linalg.norm(points["v"], axis=1).max()))

    @classmethod
    def estimate(cls, scene: Any) -> Estimate:
        """Points, memory, steps, time and disk space of a scene."""
        materials = [(material.law, material.parameters) for material in scene.materials]
        return estimate_cost(scene, build_time_step(scene, materials))


def wall_corners(scene: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """Lower and upper corner of the walls, if the scene has any."""
    walls = scene.grid.walls
    return None if walls is None else (np.array(walls.lower), np.array(walls.upper))


def build_obstacles(scene: Any) -> ObstacleSet:
    """The scene's obstacles and, as half spaces, its walls."""
    listed = [(o.shape, o.contact, o.friction, o.motion, o.name) for o in scene.obstacle]
    walls = scene.grid.walls
    if walls is not None:
        for axis in range(scene.dimension):
            for corner, sign, side in ((walls.lower, 1.0, "lower"), (walls.upper, -1.0, "upper")):
                normal = [0.0] * scene.dimension
                normal[axis] = sign
                shape = HalfSpace(point=corner, normal=tuple(normal))
                listed.append((shape, walls.contact, walls.friction, None, f"{side} wall {'xyz'[axis]}"))
    return ObstacleSet(listed, scene.dimension, scene.folder)


def gravity_function(scene: Any) -> Callable[[float], NDArray[np.float64]]:
    """Gravity at a time with three components; constant gravity costs nothing per step."""
    times, values = scene.gravity_keyframes
    constant = np.pad(values[0], (0, 3 - scene.dimension))
    if len(times) == 1:
        return lambda time: constant
    return lambda time: np.pad(scene.gravity_at(time), (0, 3 - scene.dimension))


def build_time_step(scene: Any, materials: list[tuple[Law, Parameters]]) -> TimeStep:
    """The scene's choice of time step, with the fastest elastic wave of its materials."""
    wave = max(law.wave_speed(parameters) for law, parameters in materials)
    fixed = None if scene.time.dt == "auto" else scene.time.dt
    largest = math.inf if scene.time.max_dt is None else scene.time.max_dt
    return TimeStep(scene.grid.cell, wave, fixed, scene.time.courant, scene.time.growth, largest)


def estimate_volumes(state: State, new: slice) -> None:
    """Rest volume of new points as [Yue15] algorithm 5 estimates it: V = m/ρ with ρ = Σ w m_i / h³.

    Too large at free surfaces, where the nodes see less mass; for points that come without a volume of their own.
    """
    p = state.particles
    alone = Particles([p.fields])
    count = new.stop - new.start
    alone.add(count, x=p.x[new], mass=p.mass[new])
    grid = SparseGrid(state.grid.dimension, state.grid.cell, state.grid.order, affine=False)
    grid.find_cells(alone.x)
    grid.add_points(alone.x, alone.v, alone.mass, alone.volume, alone.stress, np.zeros((0, 1, 1)))
    grid.values[:, 1] = grid.values[:, 0]  # gathered like a velocity, the mass of the nodes gives ρ h^d at the points
    gathered = np.zeros_like(alone.v)
    grid.gather(alone.x, 0.0, gathered, np.zeros((count, 3, 3)), np.zeros((0, 1, 1)))
    p.volume[new] = p.mass[new] * state.grid.cell**state.grid.dimension / gathered[:, 0]
