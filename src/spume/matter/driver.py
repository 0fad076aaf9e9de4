"""The driver: runs the stages of steps, moves the clock, and repeats steps that fail."""

import math
from collections.abc import Callable, Iterable
from typing import Any, Protocol

from spume.errors import RunFailed
from spume.matter.poses import checkpoint_poses, restore_poses
from spume.matter.stages import Stage, Step, StepFailed
from spume.matter.time_step import TimeStep
from spume.matter.world import World
from spume.methods import Progress

REPORT_INTERVAL = 10
"""Steps between two reports of progress."""
HEALTH_INTERVAL = 32
"""Steps between two checks of the points; a check costs about a hundredth of a step."""
ROUNDING = 2.0**-49
"""Relative difference of two times, such as those of a frame and of a release, that are taken as the same."""
SHORTEST = 2.0**-12
"""Fraction of the length of a step at which one that keeps failing ends the run."""


class Driven(Protocol):
    """What the driver asks of a method."""

    step: Step

    @property
    def world(self) -> World[Any]:
        """What steps change."""

    def next_release(self) -> float:
        """Time of the next release of points [s], infinite after the last."""

    def release_due(self) -> None:
        """Add the points whose time of release has come."""

    def hold(self) -> None:
        """Move what is in the barrels of nozzles."""

    def check_health(self) -> None:
        """Raise an error, on all ranks, if the world is not physical."""

    def done(self) -> float | None:
        """Completed fraction of the work; None if it follows the simulated time."""


def advance_to(
    method: Driven, until: float, interrupted: Callable[[], bool], report: Callable[[Progress], None]
) -> bool:
    """Advance to `until` [s]; see `spume.methods.Method`. Steps end at releases."""
    world = method.world
    world.forget_clearances()
    while world.time < until:
        stops, points = world.ranks.counts(int(interrupted()), world.count)
        if stops:
            return False
        stop = min(until, method.next_release())
        remaining = stop - world.time
        if points == 0 or remaining <= ROUNDING * abs(stop):
            world.time = stop
        else:
            dt = TimeStep.cut(world.time_step.choose(world.speed, world.time), remaining)
            method.hold()
            take_step(world, method.step, dt)
            if dt == remaining:
                world.time = stop
            if world.steps % REPORT_INTERVAL == 0:
                report(_progress(method, dt))
        if points > 0 and (world.steps % HEALTH_INTERVAL == 0 or world.time >= until):
            method.check_health()
        method.release_due()
    report(_progress(method, world.time_step.last))
    return True


def take_step(world: World[Any], step: Step, dt: float) -> None:
    """Advance by dt [s], in several shorter steps if one fails."""
    _run(step.before, world, dt)
    control = world.time_step
    end, remaining = world.time + dt, dt
    while remaining > 0.0:
        h = control.part(remaining)
        try:
            _run(step.stages, world, h)
        except StepFailed as failure:
            control.repeat(h)
            if control.allowed < SHORTEST * dt:
                raise RunFailed(
                    f"{failure.what} at t = {world.time:.6g} s fails even at {h:.3g} s: {failure.reason}; "
                    f"{failure.advice}"
                ) from None
            continue
        world.time += h
        world.steps += 1
        remaining = 0.0 if h == remaining else remaining - h
    world.time = end
    _run(step.after, world, dt)


def _run(stages: Iterable[Stage], world: World[Any], dt: float) -> None:
    for stage in stages:
        stage.run(world, dt)


def _progress(method: Driven, dt: float) -> Progress:
    world = method.world
    return Progress(world.time, world.ranks.count(world.count), world.steps, dt, method.done())


def checkpoint_values(world: World[Any]) -> dict[str, Any]:
    """JSON-serialisable values of a checkpoint that all methods with points have."""
    return {
        "time": world.time,
        "steps": world.steps,
        "speed": world.speed,
        "last_dt": world.time_step.last,
        "stretch": world.time_step.stretch,
        "allowed_dt": world.time_step.allowed if math.isfinite(world.time_step.allowed) else None,
        "repeated_steps": world.time_step.repeated,
        "seconds": world.seconds,
        "loads": world.obstacle_loads.report(),
        "passed": world.passages.mass,
        "poses": checkpoint_poses(world),
    }


def _from(values: dict[str, Any], name: str, least: float) -> Any:
    """A finite number of a checkpoint that is not below `least`."""
    if not least <= values[name] < math.inf:
        raise ValueError(f"its {name} is {values[name]:g}")
    return values[name]


def restore_values(world: World[Any], values: dict[str, Any]) -> None:
    """Restore what `checkpoint_values` returned. Raises ValueError for what no simulation writes."""
    world.time = values["time"]
    world.steps = _from(values, "steps", 0)
    world.speed = _from(values, "speed", 0.0)
    world.time_step.last = _from(values, "last_dt", 0.0)
    # earlier versions had no limit of explicit steps, and another name for that of semi-implicit ones
    allowed = values["allowed_dt"] if "allowed_dt" in values else values.get("longest_step")
    world.time_step.allowed = math.inf if allowed is None else allowed
    if not world.time + world.time_step.allowed > world.time:
        raise ValueError(f"its longest step is {allowed:g} s")
    world.time_step.stretch = values.get("stretch", 1.0)
    if not 0.0 < world.time_step.stretch < math.inf:
        raise ValueError(f"its smallest stretch is {world.time_step.stretch:g}")
    world.time_step.repeated = values.get("repeated_steps", 0)
    world.seconds = {str(stage): float(spent) for stage, spent in values["seconds"].items()}
    world.obstacle_loads.restore(values.get("loads", {}))
    world.passages.restore(values.get("passed", {}))
    restore_poses(world, values.get("poses"))
