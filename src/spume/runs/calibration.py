"""Expected wall times on this machine, from timing a few steps of the scene or of a coarser version.

The time of a step depends on the machine, its load and the scene (law, spline, obstacles) far more than an estimate can
know in advance. The ratio of the measured to the expected time of a step corrects the estimate. Steps become shorter
when material becomes fast, and take longer when it spreads or meets obstacles: a rehearsal of a coarse version to its
end, or for some seconds, shows by how much. If kernels are missing, the times of earlier runs of such scenes are used
instead, and the time to compile is added.
"""

import math
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from spume.errors import SpumeError
from spume.methods import Estimate, method_class
from spume.numerics.jit import compilation_listener
from spume.runs.machine import compilation_time, known_ratio
from spume.scene.common import Scene

TRIAL_POINTS = 60_000
"""A scene with more points is made coarser before it is timed."""
WARM_UP = 5
"""Steps before timing starts, in which memory is allocated and kernels are loaded."""
TRIAL_STEPS = 100
"""Timed steps, which include stages that run every 50 steps twice."""
TRIAL_SECONDS = 2.0
LEAST_STEPS = 5
REHEARSAL = 10.0
"""Maximum duration of the rehearsal [s]."""
REHEARSAL_POINTS = 3000
"""The version that is rehearsed has no more points than this on average."""

Clock = Callable[[], float]


class _NotCompiled(Exception):
    """A kernel would have to be compiled."""


@dataclass(frozen=True)
class Trial:
    """The timing of some steps."""

    points: int
    """Average number of points."""
    steps: int
    seconds: float
    first: int = 0
    """Points in the first steps."""
    times: tuple[float, ...] = ()
    """Simulated times at which the steps began, and of the end [s]."""
    clock: tuple[float, ...] = ()
    """Readings of the clock at these times [s]."""

    def step_until(self, time: float) -> float:
        """Mean duration of the steps that began before the simulated `time` [s], at least LEAST_STEPS of them."""
        count = max(sum(begun < time for begun in self.times[:-1]), LEAST_STEPS)
        return (self.clock[count] - self.clock[0]) / count


def calibrated(scene: Scene, estimate: Estimate, clock: Clock = time.perf_counter) -> Estimate:
    """`estimate` with the expected time corrected by trials on this machine, and a note on its basis."""
    if estimate.step_seconds == 0.0:
        return estimate
    try:
        trial, expected = _trial(scene, estimate, TRIAL_POINTS, TRIAL_SECONDS, TRIAL_STEPS, clock)
    except _NotCompiled:
        return _not_compiled(scene, estimate)
    except SpumeError as error:
        return _not_timed(scene, estimate, f"steps could not be timed: {error}")
    if trial is None:
        return _not_timed(scene, estimate, "there are too few steps to time")
    try:
        small, _ = scene.coarser()
        smaller = method_class(small.method).estimate(small)
        rehearsal, coarse = _trial(small, smaller, REHEARSAL_POINTS, REHEARSAL, math.inf, clock)
    except (_NotCompiled, SpumeError):
        rehearsal = None  # a coarse version may fail where the scene does not
    return _corrected(scene, estimate, trial, expected, rehearsal, coarse if rehearsal else None)


def _corrected(
    scene: Scene,
    estimate: Estimate,
    trial: Trial,
    expected: Estimate,
    rehearsal: Trial | None,
    coarse: Estimate | None,
) -> Estimate:
    """The estimate with the times of `trial`, in which `expected` was expected, and of a coarse `rehearsal`."""
    ratio = trial.seconds / trial.steps / expected.seconds_of_step(trial.points)
    note = f"time: measured on this machine in {trial.steps:,} steps of {trial.points:,} points"
    steps = float(estimate.steps)
    if rehearsal is not None and coarse is not None:
        note += f" and, with a coarser grid, {rehearsal.steps:,} steps of {rehearsal.points:,} points"
        whole = rehearsal.seconds / rehearsal.steps / coarse.seconds_of_step(rehearsal.points)
        if trial.points < 0.5 * expected.mean_points:
            ratio = whole  # a flow that has hardly begun says little about the time when all of it is there
        else:
            ratio *= whole * coarse.seconds_of_step(rehearsal.first) / rehearsal.step_until(trial.times[-1])
        covered = (rehearsal.times[-1] - rehearsal.times[0]) / scene.duration
        steps *= rehearsal.steps / (coarse.steps * covered)
    else:
        note += "; a coarser version could not be rehearsed, so later steps may take longer"
    seconds = ratio * estimate.seconds * steps / estimate.steps
    return replace(estimate, steps=round(steps), seconds=seconds, notes=(*estimate.notes, note))


def _trial(
    scene: Scene, estimate: Estimate, points: int, seconds: float, steps: float, clock: Clock
) -> tuple[Trial | None, Estimate]:
    """A trial of the scene, or of a coarser version with about `points` at most, and the estimate for that version."""
    small, expected = scene, estimate
    while expected.mean_points > points:
        small, _ = small.coarser()
        expected = method_class(small.method).estimate(small)
    return time_steps(small, seconds, steps, clock), expected


def _not_compiled(scene: Scene, estimate: Estimate) -> Estimate:
    """Expected time from earlier runs of such scenes, and the time to compile."""
    compilation = compilation_time(scene)
    basis, seconds = _from_earlier_runs(scene, estimate)
    note = f"time: {basis}, and {compilation:.0f} s to compile the kernels, once"
    return replace(estimate, seconds=seconds + compilation, notes=(*estimate.notes, note))


def _not_timed(scene: Scene, estimate: Estimate, reason: str) -> Estimate:
    basis, seconds = _from_earlier_runs(scene, estimate)
    return replace(estimate, seconds=seconds, notes=(*estimate.notes, f"time: {basis}, since {reason}"))


def _from_earlier_runs(scene: Scene, estimate: Estimate) -> tuple[str, float]:
    ratio = known_ratio(scene)
    if ratio is None:
        return "a guess for two cores of 2021", estimate.seconds
    return "from earlier runs of such scenes on this machine", ratio * estimate.seconds


def time_steps(
    scene: Scene, seconds: float = TRIAL_SECONDS, steps: float = TRIAL_STEPS, clock: Clock = time.perf_counter
) -> Trial | None:
    """Time the first steps of `scene`, for about `seconds` [s] and at most `steps` steps; None if it has hardly any.
    Raises _NotCompiled rather than compile a kernel."""
    times: list[float] = []
    readings: list[float] = []
    points: list[int] = []

    def stop() -> bool:
        """Asked before every step."""
        times.append(method.time)
        readings.append(clock())
        taken = len(times) - 1 - WARM_UP
        return taken >= steps or (taken >= LEAST_STEPS and readings[-1] - readings[WARM_UP] > seconds)

    with compilation_listener(_refuse):
        method = method_class(scene.method)(scene)
        frames = (scene.frame_time(number) for number in range(1, scene.frame_count + 1))
        # frame by frame, as in a run, because steps end at frames
        if all(method.advance(until, stop, lambda progress: points.append(progress.points)) for until in frames):
            times.append(method.time)
            readings.append(clock())
    taken = len(times) - 1 - WARM_UP
    points = points or [int(method.diagnostics().get("points", 0))]
    mean = round(statistics.mean(points))
    if taken < LEAST_STEPS or mean == 0:
        return None
    times, readings = times[WARM_UP:], readings[WARM_UP:]
    return Trial(mean, taken, readings[-1] - readings[0], points[0], tuple(times), tuple(readings))


def _refuse(kernel: str) -> None:
    raise _NotCompiled(kernel)
