"""A step as a list of stages.

A stage is a function of the world and the length of the step, with what else it needs given when the list is made. The
driver runs the list, times each stage by its name, moves the clock and repeats a step that fails.
"""

from collections.abc import Callable, Iterable
from typing import Any

from spume.matter.world import World


class StepFailed(Exception):
    """A stage cannot complete the step, and has not changed the points: the driver repeats it with half the length."""

    def __init__(self, what: str, reason: str, advice: str) -> None:
        """`what` names the step in messages ("an implicit step")."""
        super().__init__(f"{what} failed: {reason}; {advice}")
        self.what, self.reason, self.advice = what, reason, advice


class Stage:
    """A named function of (world, dt, *needs)."""

    def __init__(
        self,
        name: str,
        function: Callable[..., None],
        *needs: Any,
        when: bool = True,
        rehearse: Callable[..., None] | None = None,
        energy: str | None = None,
    ) -> None:
        """
        name: in the timings of a run; stages with the same name are timed together.
        function: called with the world, the length of the step [s] and `needs`.
        when: whether the scene uses the stage; the step leaves out those that it does not.
        rehearse: called likewise to compile the kernels of the stage, on a world that no step has been taken in, before
            any other stage but those after it. It may leave the points in any state. None: not rehearsed.
        energy: term of the energy budget (`matter/energy_terms.py`) that has what the stage changes; None: a stage of
            the method itself, which the budget knows, or one that changes no energy.
        """
        self.name, self.function, self.needs, self.when = name, function, needs, when
        self.energy = energy
        self._rehearse = rehearse

    def run(self, world: World[Any], dt: float) -> None:
        """Apply the stage in a step of dt [s]."""
        with world.timed(self.name):
            self.function(world, dt, *self.needs)

    def rehearse(self, world: World[Any], dt: float) -> None:
        """Compile the kernels of the stage, if it can be rehearsed."""
        if self._rehearse is not None:
            self._rehearse(world, dt, *self.needs)

    def __repr__(self) -> str:
        return f"Stage({self.name!r}, {self.function.__name__})"


class Step:
    """The stages of a step, in their order."""

    def __init__(self, stages: Iterable[Stage], before: Iterable[Stage] = (), after: Iterable[Stage] = ()) -> None:
        """
        stages: repeated with half the length when one raises StepFailed.
        before: applied once before them, with the whole length, and not repeated: they change points.
        after: likewise, after them.
        """
        self.stages, self.before, self.after = (_used(listed) for listed in (stages, before, after))

    @property
    def listed(self) -> tuple[Stage, ...]:
        """All stages."""
        return (*self.before, *self.stages, *self.after)


def _used(stages: Iterable[Stage]) -> tuple[Stage, ...]:
    return tuple(stage for stage in stages if stage.when)


def rehearse(step: Step, world: World[Any]) -> None:
    """Walk through the stages from the last to the first, to compile their kernels while another process, which takes
    the first step, compiles them from the first to the last. The world is meaningless afterwards."""
    for stage in reversed(step.listed):
        stage.rehearse(world, 1e-9)
