"""Estimate of the cost of a scene before it runs: points, memory, steps, time and disk space."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from spume.fields import Field
from spume.matter.particles import Particles, paint_fields, point_fields
from spume.matter.sources import BASE_MEMORY, BYTES_PER_POINT, source_names, sources_of
from spume.matter.time_step import TimeStep
from spume.methods import Estimate
from spume.scene.common import Scene
from spume.scene.material_scene import MaterialScene
from spume.scene.mpm import MpmScene

PARTICLE_STEPS_PER_SECOND = {2: 6.0e6, 3: 3.0e6}
"""Speed of two cores of 2021."""
FIXED_STEP = 4e-4
"""Time of a step [s] with very few points."""
IMPLICIT_ITERATION = 3.0
"""Time of an iteration of an implicit step relative to an explicit step."""
TENSORS, BRANCH, REMEMBERED, ROWS_PER_CELL = 430, 152, 144, 2.0
"""Bytes per point of an implicit step, of each branch of a law, and of each iteration of a branch in memory; active
nodes per cell with material."""
SEMI_IMPLICIT = 60.0
"""Time of a semi-implicit step relative to an explicit step."""
HEADER = 3000
"""Bytes of a frame in addition to its arrays."""


class Growth(NamedTuple):
    """Average number of points of a run over the number released, by when they are released."""

    at_start: float
    later: float


NO_GROWTH = Growth(1.0, 1.0)


def estimate_cost(
    scene: MaterialScene,
    time_step: TimeStep,
    extra: Sequence[Field] = (),
    step_cost: float = 1.0,
    resampled: Growth = NO_GROWTH,
) -> Estimate:
    """Estimate the cost of `scene`.

    extra: fields that the method adds to points.
    step_cost: time of a step relative to plain MPM.
    resampled: points that the method adds.

    Points count from their release on, so a flow costs less than the same material present from the start.
    """
    sources = sources_of(scene)
    points = sum(source.count * len(source.times) for source in sources)
    steps = _steps(scene, time_step.choose(0.0, 0.0))
    present = sum(source.count * sum(scene.duration - time for time in source.times) for source in sources)
    first = scene.duration * sum(source.count * sum(time == 0.0 for time in source.times) for source in sources)
    mean = present / scene.duration
    growth = (resampled.at_start * first + resampled.later * (present - first)) / present if present else 1.0
    if isinstance(scene, MpmScene) and scene.time.integrator == "implicit":
        step_cost *= IMPLICIT_ITERATION * scene.implicit_settings.iterations
    elif scene.time.integrator == "semi-implicit":
        step_cost *= SEMI_IMPLICIT
    most = points + 2.0 * (growth - 1.0) * points  # their number grows about linearly
    rate = PARTICLE_STEPS_PER_SECOND[scene.dimension]
    seconds = steps * step_cost * (growth * mean / rate + FIXED_STEP)
    released = sum(
        source.count * sum(scene.frame_count + 1 - _first_frame(scene, time) for time in source.times)
        for source in sources
    )
    disk = int(growth * released) * _frame_bytes(scene, extra) + (scene.frame_count + 1) * HEADER
    return Estimate(
        points,
        int((BYTES_PER_POINT + solver_bytes(scene)) * most) + BASE_MEMORY,
        steps,
        seconds,
        tuple(source.note(name) for source, name in zip(sources, source_names(scene))),
        frames=scene.frame_count + 1,
        disk=disk,
        mean_points=growth * mean,
        step_seconds=step_cost * (growth * mean / rate + FIXED_STEP),
        point_seconds=step_cost / rate,
    )


def _steps(scene: Scene, dt: float) -> int:
    """Steps of at most dt [s], a whole number of them in each frame."""
    intervals = 1.0 / scene.frame_rate, scene.duration - scene.frame_time(scene.frame_count - 1)
    in_frame, in_last = (math.ceil(min(interval / dt, 1e15) - 1e-9) for interval in intervals)
    return (scene.frame_count - 1) * in_frame + in_last


def solver_bytes(scene: MaterialScene) -> float:
    """Additional bytes per point of an implicit step: tensors of each point, three arrays for each branch of the laws
    and two for each iteration in memory, and the stored matrix, which has about two rows per cell with points."""
    if not isinstance(scene, MpmScene) or scene.time.integrator != "implicit":
        return 0.0
    branches = max(len(material.law.branches) for material in scene.materials)
    order = {"quadratic": 2, "cubic": 3}[scene.grid.spline]
    row = 12.0 * float((2 * order + 1) ** scene.dimension)
    settings = scene.implicit_settings
    memory = settings.anderson_memory if settings.solver == "admm" else 0
    of_branch = BRANCH + (REMEMBERED * (memory + 1) if memory else 0)
    return TENSORS + of_branch * branches + ROWS_PER_CELL * row / 2**scene.dimension


def _first_frame(scene: Scene, time: float) -> int:
    """First frame that contains the points released at `time` [s]."""
    return min(math.ceil(time * scene.frame_rate), scene.frame_count + 1)


def _frame_bytes(scene: MaterialScene, extra: Sequence[Field]) -> int:
    """Bytes of one point in a frame."""
    laws = {material.law.name: material.law for material in scene.materials}
    affine = scene.affine
    own = (law.fields for law in laws.values())
    fields = Particles([point_fields(scene.dimension, affine), *own, paint_fields(scene), extra]).fields
    return sum(math.prod(field.shape) * np.dtype(field.dtype).itemsize for field in fields if field.in_frames)
