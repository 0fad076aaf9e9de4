"""The methods: the contract that every method fulfils, and the one table in which each is registered.

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
    frames: int = 0
    """Frames on disk, frame 0 included."""
    disk: int = 0
    """Expected size of all frames [bytes]."""
    mean_points: float = 0.0
    """Points that the scene has released, on average over the run."""
    step_seconds: float = 0.0
    """Expected wall time of a step with the points that the scene releases on average [s]; 0 where steps differ so much
    that timing a few of them says little about all."""


class Method(Protocol):
    """A simulation that can be advanced, looked at, saved and restored. The frame loop knows nothing else of it."""

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

    def declarations(self) -> tuple[Population, ...]:
        """The populations of a frame with their fields. The first one is what `frame.x` means to a reader."""

    def frame(self) -> dict[str, dict[str, NDArray[Any]]]:
        """The arrays of a frame, by population and field name."""

    def diagnostics(self) -> dict[str, Any]:
        """Numbers about the present state, JSON-serialisable. All follow from the scene alone, but for wall times [s],
        under the key "seconds": the loop keeps those out of the frames, whose bits are the same in every run. Under the
        key "warnings", sentences for the user by a short name of what they are about; each is told when its name comes
        up for the first time in a run."""

    def checkpoint(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Everything a bit-for-bit continuation needs: arrays, and JSON-serialisable values (random state included)."""

    def restore(self, arrays: dict[str, NDArray[Any]], values: dict[str, Any]) -> None:
        """Replace the state by that of `checkpoint()`; called on a method built from the same scene."""


@dataclass(frozen=True)
class MethodEntry:
    """What makes a method known to scenes, runs, pictures and docs. Each part is named as "module:attribute"."""

    name: str
    """The word scenes give as `method`."""
    scene_model: str
    """The model that checks its scenes."""
    method: str
    """The class that simulates them."""
    drawer: str = "spume.look.pictures.points_drawer:make_drawer"
    """`make_drawer(run, options)` for its pictures."""
    late_stages: str = ""
    """`late_stages(method)` calls what a step needs last, on a method that is thrown away; see `runs.compile_ahead`."""
    shapes: str = ""
    """Of a method whose frames hold tables only: a `Shapes`, which makes populations with positions of them."""


@dataclass(frozen=True)
class Shapes:
    """Populations with positions that are made of a frame when it is read, for viewers and exporters."""

    declarations: tuple[Population, ...]
    make: Callable[[Any], dict[str, dict[str, NDArray[Any]]]]
    """The arrays by population and field, of a frame's arrays by field."""


METHODS = {
    entry.name: entry
    for entry in (
        MethodEntry("mpm", "spume.scene.mpm:MpmScene", "spume.mpm.method:MaterialPointMethod"),
        MethodEntry(
            "continuum-foam",
            "spume.scene.continuum_foam:ContinuumFoamScene",
            "spume.foam.method:ContinuumFoam",
            late_stages="spume.foam.late_stages:call_late_stages",
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
"""All methods, by the name scenes give."""


def register_method(entry: MethodEntry) -> None:
    """Make a further method known."""
    METHODS[entry.name] = entry


def load(place: str) -> Any:
    """What stands at `place`, a "module:attribute"."""
    module, _, attribute = place.partition(":")
    return getattr(import_module(module), attribute)


def method_entry(name: str) -> MethodEntry:
    """The entry of the method called `name` in scenes. Raises SceneError when there is none."""
    if name not in METHODS:
        raise SceneError(f"this version of spume has no method '{name}': it has {', '.join(METHODS)}")
    return METHODS[name]


def method_shapes(name: str) -> Shapes | None:
    """The `Shapes` of the method called `name`, if it has some and is known here."""
    entry = METHODS.get(name)
    found: Shapes | None = load(entry.shapes) if entry is not None and entry.shapes else None
    return found


def method_class(name: str) -> type[Method]:
    """The class of the method called `name` in scenes."""
    found: type[Method] = load(method_entry(name).method)
    return found
