"""The methods: the contract of every method, and the table in which each is registered.

A new method is a folder and an entry of `METHODS`. The modules an entry names are imported only when they are needed,
so that short commands stay quick.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, ClassVar, Protocol

from numpy.typing import NDArray

from spume.errors import SceneError
from spume.fields import Population


@dataclass(frozen=True)
class Progress:
    """Progress reported by a method while it advances."""

    time: float
    """Simulated time [s]."""
    points: int
    """Number of points, or of other members (bubbles)."""
    steps: int
    """Steps since the start of the simulation."""
    dt: float
    """Last time step [s]."""
    done: float | None = None
    """Completed fraction of the work, 0 to 1, if it is not proportional to the simulated time."""


@dataclass(frozen=True)
class Estimate:
    """Estimated points, memory, disk space and time of a scene."""

    points: int
    memory: int
    """Expected peak memory [bytes]."""
    steps: int
    seconds: float
    """Expected wall time on this machine [s]."""
    notes: tuple[str, ...] = field(default=())
    """For example the mass of each body and the volume error of its points."""
    frames: int = 0
    """Frames on disk, frame 0 included."""
    disk: int = 0
    """Expected size of all frames [bytes]."""
    mean_points: float = 0.0
    """Average number of points over the run, with those that resampling adds."""
    step_seconds: float = 0.0
    """Expected wall time of a step with `mean_points` [s]; 0 if steps differ so much that the time of a few of them is
    not representative."""
    point_seconds: float = 0.0
    """Increase of `step_seconds` per point [s]."""

    def seconds_of_step(self, points: float) -> float:
        """Expected wall time of a step with so many points [s]."""
        return self.step_seconds + self.point_seconds * (points - self.mean_points)


class Method(Protocol):
    """A simulation that can be advanced, inspected, saved and restored: all that the frame loop uses."""

    name: ClassVar[str]
    time: float

    def __init__(self, scene: Any) -> None:
        """Build the initial state at time 0 from a checked scene."""

    @classmethod
    def estimate(cls, scene: Any) -> Estimate:
        """Estimate the cost of `scene` without building the state."""

    def advance(self, until: float, interrupted: Callable[[], bool], report: Callable[[Progress], None]) -> bool:
        """Advance to exactly `until` [s] and return True, or stop after the current step if `interrupted()` is true and
        return False. Raises RunFailed if the simulation fails."""

    def declarations(self) -> tuple[Population, ...]:
        """The populations of a frame with their fields. `frame.x` refers to the first one."""

    def frame(self) -> dict[str, dict[str, NDArray[Any]]]:
        """The arrays of a frame, by population and field name."""

    def diagnostics(self) -> dict[str, Any]:
        """JSON-serialisable values describing the current state. All are determined by the scene except wall times [s],
        under the key "seconds", which the loop does not store in frames, since these are bit-for-bit reproducible. The
        key "warnings" holds sentences for the user by a short name; each name is reported once per run."""

    def checkpoint(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Everything needed for a bit-for-bit continuation: arrays, and JSON-serialisable values (including random
        states)."""

    def restore(self, arrays: dict[str, NDArray[Any]], values: dict[str, Any]) -> None:
        """Replace the state by the result of `checkpoint()`; called on a method built from the same scene."""


@dataclass(frozen=True)
class MethodEntry:
    """Registration of a method for scenes, runs, pictures and docs. Each part is given as "module:attribute"."""

    name: str
    """The name that scenes give as `method`."""
    scene_model: str
    """The model that validates its scenes."""
    method: str
    """The class that simulates them."""
    drawer: str = "spume.look.pictures.points_drawer:make_drawer"
    """`make_drawer(run, options)` for its pictures."""
    shapes: str = ""
    """For a method whose frames contain tables only: a `Shapes`, which makes populations with positions from them."""


@dataclass(frozen=True)
class Shapes:
    """Populations with positions that are made from a frame when it is read, for viewers and exporters."""

    declarations: tuple[Population, ...]
    make: Callable[[Any], dict[str, dict[str, NDArray[Any]]]]
    """The arrays by population and field, from a frame's arrays by field."""


METHODS = {
    entry.name: entry
    for entry in (
        MethodEntry("mpm", "spume.scene.mpm:MpmScene", "spume.foam.plain:MaterialPointMethod"),
        MethodEntry(
            "continuum-foam",
            "spume.scene.continuum_foam:ContinuumFoamScene",
            "spume.foam.method:ContinuumFoam",
        ),
        MethodEntry("sand-water", "spume.scene.sand_water:SandWaterScene", "spume.mixture.method:SandWater"),
        MethodEntry("point-based", "spume.scene.point_based:PointBasedScene", "spume.points.method:PointBased"),
        MethodEntry(
            "dry-foam",
            "spume.scene.dry_foam:DryFoamScene",
            "spume.dryfoam.method:DryFoamMethod",
            drawer="spume.look.pictures.dry_foam_drawer:make_drawer",
            shapes="spume.dryfoam.shapes:SHAPES",
        ),
    )
}
"""All methods, by their names in scenes."""


def register_method(entry: MethodEntry) -> None:
    """Register another method."""
    METHODS[entry.name] = entry


def load(place: str) -> Any:
    """The object at `place`, a "module:attribute"."""
    module, _, attribute = place.partition(":")
    return getattr(import_module(module), attribute)


def method_entry(name: str) -> MethodEntry:
    """The entry of the method called `name` in scenes. Raises SceneError when there is none."""
    if name not in METHODS:
        raise SceneError(f"this version of spume has no method '{name}': it has {', '.join(METHODS)}")
    return METHODS[name]


def method_shapes(name: str) -> Shapes | None:
    """The `Shapes` of the method called `name`, if it is registered and has them."""
    entry = METHODS.get(name)
    found: Shapes | None = load(entry.shapes) if entry is not None and entry.shapes else None
    return found


def method_class(name: str) -> type[Method]:
    """The class of the method called `name` in scenes."""
    found: type[Method] = load(method_entry(name).method)
    return found
