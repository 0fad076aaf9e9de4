"""Expected wall times on this machine, from timing a few steps of the scene or of a coarser version.

The time of a step depends on the machine, its load and the scene (law, spline, obstacles) far more than an estimate can
know in advance. The ratio of the measured to the expected time of a step corrects the estimate. It cannot predict that
steps become shorter when material becomes fast. A flow, which begins with hardly any points, is rehearsed in a coarse
version. If kernels are missing, earlier runs of scenes of the same kind have to do, and the time to compile is added.
"""

import math
import statistics
import time
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
"""Maximum duration of the rehearsal of a flow [s]."""
REHEARSAL_POINTS = 3000
"""A flow with more points on average is made coarser before it is rehearsed."""


class _NotCompiled(Exception):
    """A kernel would have to be compiled."""


@dataclass(frozen=True)
class Trial:
    """The timing of some steps."""

    points: int
    """Average number of points."""
    steps: int
    seconds: float


def calibrated(scene: Scene, estimate: Estimate) -> Estimate:
    """`estimate` with the expected time corrected by a trial on this machine, and a note on its basis."""
    if estimate.step_seconds == 0.0:
        return estimate
    try:
        trial, expected = _trial(scene, estimate, TRIAL_POINTS, TRIAL_SECONDS)
        # A flow that has hardly begun says little about the time when all of it is there.
        if trial is None or trial.points < 0.5 * expected.mean_points:
            trial, expected = _trial(scene, estimate, REHEARSAL_POINTS, REHEARSAL, math.inf)
    except _NotCompiled:
        return _not_compiled(scene, estimate)
    except SpumeError as error:
        return _not_timed(scene, estimate, f"steps could not be timed: {error}")
    if trial is None:
        return _not_timed(scene, estimate, "there are too few steps to time")
    ratio = trial.seconds / trial.steps / expected.seconds_of_step(trial.points)
    note = f"time: from {trial.steps:,} steps of {trial.points:,} points on this machine"
    return replace(estimate, seconds=ratio * estimate.seconds, notes=(*estimate.notes, note))


def _trial(
    scene: Scene, estimate: Estimate, points: int, seconds: float, steps: float = TRIAL_STEPS
) -> tuple["Trial | None", Estimate]:
    """A trial of the scene, or of a coarser version with about `points` at most, and the estimate for that version."""
    small, expected = scene, estimate
    while expected.mean_points > points:
        small, _ = small.coarser()
        expected = method_class(small.method).estimate(small)
    return time_steps(small, seconds, steps), expected


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
    return "from an earlier run of such a scene on this machine", ratio * estimate.seconds


def time_steps(scene: Scene, seconds: float = TRIAL_SECONDS, steps: float = TRIAL_STEPS) -> Trial | None:
    """Time the first steps of `scene`, for about `seconds` [s] and at most `steps` steps; None if it has hardly any.
    Raises _NotCompiled rather than compile a kernel."""
    taken = 0
    began = ended = 0.0
    points: list[int] = []

    def stop() -> bool:
        """Asked before every step."""
        nonlocal taken, began, ended
        ended = time.perf_counter()
        if taken == WARM_UP:
            began = ended
        taken += 1
        enough = ended - began > seconds and taken > WARM_UP + LEAST_STEPS
        return taken > WARM_UP and (enough or taken > WARM_UP + steps)

    with compilation_listener(_refuse):
        method = method_class(scene.method)(scene)
        is_over = method.advance(scene.duration, stop, lambda progress: points.append(progress.points))
    ended = time.perf_counter() if is_over else ended
    counted = taken - WARM_UP - (not is_over)
    mean = round(statistics.mean(points or [int(method.diagnostics().get("points", 0))]))
    return Trial(mean, counted, ended - began) if counted >= LEAST_STEPS and mean > 0 else None


def _refuse(kernel: str) -> None:
    raise _NotCompiled(kernel)
