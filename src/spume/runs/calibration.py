"""Expected wall times on this machine, from timing a few steps of the scene or of a coarser version.

The time of a step depends on the machine, its load and the scene (law, spline, obstacles) far more than an estimate can
know in advance. The ratio of the measured to the expected time of a step corrects the estimate. It cannot predict that
steps become shorter when material becomes fast.
"""

import time
from dataclasses import dataclass, replace

from spume.errors import SpumeError
from spume.methods import Estimate, method_class
from spume.numerics.jit import compilation_listener
from spume.scene.common import Scene

TRIAL_POINTS = 60_000
"""A scene with more points is made coarser before it is timed."""
WARM_UP = 5
"""Steps before timing starts, in which memory is allocated and kernels are loaded."""
TRIAL_STEPS = 100
"""Timed steps, which include stages that run every 50 steps twice."""
TRIAL_SECONDS = 2.0
LEAST_STEPS = 5
COMPILATION = 120.0
"""Time to compile the kernels of a method [s]: about that on two cores of 2021."""


class _NotCompiled(Exception):
    """A kernel would have to be compiled."""


@dataclass(frozen=True)
class Trial:
    """The timing of some steps."""

    points: int
    steps: int
    seconds: float


def calibrated(scene: Scene, estimate: Estimate) -> Estimate:
    """`estimate` with the expected time corrected by a trial on this machine, and a note on its basis."""
    if estimate.step_seconds == 0.0:
        return estimate
    try:
        small, expected = scene, estimate
        while expected.points > TRIAL_POINTS:
            small, _ = small.coarser()
            expected = method_class(small.method).estimate(small)
        trial = time_steps(small)
    except _NotCompiled:
        note = f"time: a guess for two cores of 2021, and {COMPILATION:.0f} s to compile the kernels, once"
        return replace(estimate, seconds=estimate.seconds + COMPILATION, notes=(*estimate.notes, note))
    except SpumeError as error:
        return _not_timed(estimate, f"steps could not be timed: {error}")
    # A flow that has hardly begun says nothing about the time when all of it is there.
    if trial is None or not 0.5 <= trial.points / max(expected.mean_points, 1) <= 2.0:
        return _not_timed(estimate, "there is too little material at the start to time its steps")
    ratio = trial.seconds / trial.steps / expected.step_seconds
    note = f"time: from {trial.steps} steps of {trial.points:,} points on this machine"
    return replace(estimate, seconds=ratio * estimate.seconds, notes=(*estimate.notes, note))


def _not_timed(estimate: Estimate, reason: str) -> Estimate:
    return replace(estimate, notes=(*estimate.notes, f"time: a guess for two cores of 2021, since {reason}"))


def time_steps(scene: Scene) -> Trial | None:
    """Time the first steps of `scene`; None if it has hardly any. Raises _NotCompiled rather than compile a kernel."""
    taken = 0
    began = ended = 0.0

    def stop() -> bool:
        """Asked before every step."""
        nonlocal taken, began, ended
        ended = time.perf_counter()
        if taken == WARM_UP:
            began = ended
        taken += 1
        enough = ended - began > TRIAL_SECONDS and taken > WARM_UP + LEAST_STEPS
        return taken > WARM_UP and (enough or taken > WARM_UP + TRIAL_STEPS)

    with compilation_listener(_refuse):
        method = method_class(scene.method)(scene)
        method.advance(scene.duration, stop, lambda progress: None)
    steps = taken - WARM_UP - 1
    points = int(method.diagnostics().get("points", 0))
    return Trial(points, steps, ended - began) if steps >= LEAST_STEPS and points > 0 else None


def _refuse(kernel: str) -> None:
    raise _NotCompiled(kernel)
