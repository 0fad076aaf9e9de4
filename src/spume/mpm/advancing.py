"""From frame to frame: what the methods with points share of `spume.methods.Method`."""

import math
from collections.abc import Callable
from typing import Any, Protocol

from spume.methods import Progress
from spume.mpm import health
from spume.mpm.held_layers import HeldLayers
from spume.mpm.sources import Release
from spume.mpm.time_step import TimeStep
from spume.mpm.workload import Workload

REPORT_INTERVAL = 10
"""Steps between two reports of progress."""


class Advancing(Protocol):
    """A method whose points are released from sources and advance in steps."""

    state: Any
    """With `time`, `steps`, `speed`, `count`, `time_step`, `seconds`, `obstacle_loads`, `passages` and
    `forget_clearances`."""
    releases: list[Release]
    released: int
    workload: Workload
    held: HeldLayers

    def step(self, dt: float) -> None:
        """Advance by dt [s]."""

    def hold(self) -> None:
        """Move what is in the barrels of nozzles."""

    def release_due(self) -> None:
        """Add the points whose time of release has come."""

    def check_health(self) -> None:
        """Raise an error if the state is not physical."""


def next_release(method: Advancing) -> float:
    """Time of the next release [s], infinite after the last."""
    return method.releases[method.released].time if method.released < len(method.releases) else math.inf


def advance_to(
    method: Advancing, until: float, interrupted: Callable[[], bool], report: Callable[[Progress], None]
) -> bool:
    """Advance to `until` [s]; see `spume.methods.Method`. Steps end at releases."""
    state = method.state
    state.forget_clearances()
    while state.time < until:
        if interrupted():
            return False
        stop = min(until, next_release(method))
        if state.count == 0:
            state.time = stop
        else:
            remaining = stop - state.time
            dt = TimeStep.cut(state.time_step.choose(state.speed, state.time), remaining)
            method.hold()
            method.step(dt)
            if dt == remaining:
                state.time = stop
            if state.steps % health.INTERVAL == 0 or state.time >= until:
                method.check_health()
            if state.steps % REPORT_INTERVAL == 0:
                report(_progress(method, dt))
        method.release_due()
    report(_progress(method, state.time_step.last))
    return True


def _progress(method: Advancing, dt: float) -> Progress:
    state = method.state
    return Progress(state.time, state.count, state.steps, dt, method.workload.done(state.time))


def checkpoint_values(method: Advancing) -> dict[str, Any]:
    """JSON-serialisable values of a checkpoint that the methods have in common."""
    state = method.state
    return {
        "time": state.time,
        "steps": state.steps,
        "speed": state.speed,
        "last_dt": state.time_step.last,
        "allowed_dt": state.time_step.allowed if math.isfinite(state.time_step.allowed) else None,
        "released": method.released,
        "held": method.held.layers,
        "seconds": state.seconds,
        "loads": state.obstacle_loads.report(),
        "passed": state.passages.mass,
    }


def restore_values(method: Advancing, values: dict[str, Any]) -> None:
    """Restore what `checkpoint_values` returned."""
    state = method.state
    state.time = values["time"]
    state.steps = values["steps"]
    state.speed = values["speed"]
    state.time_step.last = values["last_dt"]
    allowed = values.get("allowed_dt")  # absent from checkpoints of earlier versions
    state.time_step.allowed = math.inf if allowed is None else allowed
    state.seconds = dict(values["seconds"])
    state.obstacle_loads.restore(values.get("loads", {}))
    state.passages.restore(values.get("passed", {}))
    method.released = values["released"]
    method.held.layers = [(layer[0], layer[1], layer[2]) for layer in values["held"]]
