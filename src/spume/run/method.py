"""The contract between the frame loop and a method. The loop knows nothing else of the physics.

A method class is looked up by the scene's `method` in `METHODS`, and imported only then.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, ClassVar, Protocol

from numpy.typing import NDArray

from spume.fields import Field

METHODS = {
    "mpm": "spume.mpm.method:MaterialPointMethod",
    "continuum-foam": "spume.foam.method:ContinuumFoam",
    "sand-water": "spume.mixture.method:SandWater",
    "dry-foam": "spume.dryfoam.method:DryFoamMethod",
}
"""Where each method's class is."""


@dataclass(frozen=True)
class Progress:
    """What a method tells while it advances."""

    time: float
    """Simulated time [s]."""
    points: int
    """Points, or whatever the method counts (bubbles)."""
    steps: int
    """Steps since the start of the simulation."""
    dt: float
    """Last time step [s]."""
    done: float | None = None
    """Part of the work that is done, 0 to 1, where it does not go with the simulated time."""


@dataclass(frozen=True)
class Estimate:
    """What a scene will cost, before anything is spent."""

    points: int
    memory: int
    """Expected peak memory [bytes]."""
    steps: int
    seconds: float
    """Expected wall time on this machine [s]."""
    notes: tuple[str, ...] = field(default=())
    """For example each body's mass and how far its points miss the shape's volume."""


class Method(Protocol):
    """A simulation that can be advanced, looked at, saved and restored."""

    name: ClassVar[str]
    time: float

    def __init__(self, scene: Any) -> None:
        """Build the initial state at time 0 from a checked scene."""

    @classmethod
    def estimate(cls, scene: Any) -> Estimate:
        """The cost of `scene`, without building the state."""

    def advance(self, until: float, interrupted: Callable[[], bool], report: Callable[[Progress], None]) -> bool:
        """Advance to exactly `until` [s] and return True, or stop after the current step when `interrupted()` says so
        and return False. Raises RunFailed when the simulation goes wrong."""

    def declarations(self) -> tuple[Field, ...]:
        """The fields of a frame."""

    def frame(self) -> dict[str, NDArray[Any]]:
        """The arrays of a frame, by field name."""

    def diagnostics(self) -> dict[str, Any]:
        """Numbers about the present state, JSON-serialisable. All follow from the scene alone, but for wall times [s],
        under the key "seconds": the loop keeps those out of the frames, whose bits are the same in every run."""

    def checkpoint(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Everything a bit-for-bit continuation needs: arrays, and JSON-serialisable values (random state included)."""

    def restore(self, arrays: dict[str, NDArray[Any]], values: dict[str, Any]) -> None:
        """Take the state of `checkpoint()` on; called on a method built from the same scene."""


def method_class(name: str) -> type[Method]:
    """The class of the method called `name` in scenes."""
    module, _, attribute = METHODS[name].partition(":")
    found: type[Method] = getattr(import_module(module), attribute)
    return found
