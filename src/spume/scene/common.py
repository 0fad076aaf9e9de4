"""What the scenes of every method have in common."""

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Annotated, Any, Self, TypeVar

from pydantic import Field, ValidationError

from spume.scene.camera import Backdrop, Camera
from spume.scene.overrides import Changes, apply_overrides
from spume.scene.problems import Problem, SceneProblems, describe
from spume.scene.registry import scene_model
from spume.scene.skin_table import SkinTable
from spume.tables import DEEPEST, Table, depth

Positive = Annotated[float, Field(strict=True, gt=0)]
NotNegative = Annotated[float, Field(strict=True, ge=0)]
Tolerance = Annotated[float, Field(strict=True, gt=0, lt=1)]
Count = Annotated[int, Field(strict=True, ge=1, le=10**12)]

T = TypeVar("T")

SHORTEST = 1e-12
"""Smallest duration of a scene [s]: below it a continuum does not move."""
MOST_FRAMES = 1_000_000


class Scene(Table):
    """A validated scene. `Scene(method="mpm", ...)` makes one of that method from the same tables as a scene file."""

    title: Annotated[str, Field(min_length=1)] = Field(description="one line that says what happens")
    method: str = Field(description="name of the simulation method")
    duration: Positive = Field(description="simulated time [s]")
    frame_rate: Positive = Field(default=30.0, description="frames per simulated second [1/s]")
    seed: Annotated[int, Field(strict=True, ge=0, lt=2**63)] = Field(
        default=0, description="seed of all random numbers"
    )
    camera: Camera | None = Field(default=None, description="where pictures are taken from")
    backdrop: Backdrop = Field(default=Backdrop(), description="what is seen around the scene")
    skin: SkinTable = Field(default=SkinTable(), description="skins of points in pictures and exports")

    def __new__(cls, /, **tables: Any) -> "Scene":
        chosen = scene_model(tables.get("method")) if cls is Scene else cls
        return super().__new__(chosen)

    def __init__(self, /, **tables: Any) -> None:
        if depth(tables) > DEEPEST:
            raise SceneProblems([Problem("", f"the tables and lists are nested more than {DEEPEST} levels deep")])
        try:
            super().__init__(**tables)
        except ValidationError as error:
            raise SceneProblems(describe(error, type(self), tables)) from None
        if problems := [*self._time_problems(), *self.problems()]:
            raise SceneProblems(problems)

    def _time_problems(self) -> Iterator[Problem]:
        if self.duration < SHORTEST:
            yield Problem("duration", f"is {self.duration:g} s: it should be at least {SHORTEST:g} s, a picosecond")
        frames = self.duration * self.frame_rate
        if frames > MOST_FRAMES:
            yield Problem(
                "frame_rate",
                f"is {self.frame_rate:g} 1/s: that makes {frames:.3g} frames in {self.duration:g} s, and "
                f"{MOST_FRAMES:,} is the most",
            )

    def problems(self) -> list[Problem]:
        """Problems of the scene as a whole, beyond the validity of single values."""
        return []

    def notes(self) -> list[str]:
        """Remarks on settings of the scene that have no effect, which are not errors."""
        return []

    def resolved(self) -> dict[str, Any]:
        """The scene as self-contained JSON-serialisable tables: `Scene(**scene.resolved())` is the same scene, even if
        the table of named materials changes in a later version."""
        return self.model_dump(mode="json", exclude_none=True)

    def changed(self, changes: Changes) -> "Scene":
        """A copy of the scene with changes such as {"grid.cell": 0.01, "material.foam.yield_stress": 20.0}, checked.

        The parameters of all materials in use, including named ones, are under "material".
        """
        return Scene(**apply_overrides(self.resolved(), changes, type(self)))

    def __getstate__(self) -> dict[Any, Any]:
        """The fields alone: cached materials hold functions of laws, which other processes look up themselves."""
        state = super().__getstate__()
        own = {name: value for name, value in state["__dict__"].items() if name in type(self).model_fields}
        return state | {"__dict__": own}

    def __repr__(self) -> str:
        listed = [(len(getattr(self, key, ())), key) for key in ("body", "emitter", "obstacle", "measure")]
        contents = ", ".join(f"{count} × {key}" for count, key in listed if count)
        dimension = f"{self.dimension}D, " if hasattr(self, "dimension") else ""
        about = f"method='{self.method}', {dimension}{self.duration:g} s, {self.frame_count + 1} frames"
        return f"Scene('{self.title}', {about}{f', {contents}' if contents else ''})"

    __str__ = __repr__

    def coarser(self) -> tuple["Scene", str]:
        """A coarser version of the scene for a preview, and a sentence describing it."""
        raise SceneProblems([Problem("method", f"is '{self.method}': its scenes have no preview")])

    @cached_property
    def _derived(self) -> dict[Callable[..., Any], Any]:
        return {}

    def derived(self, make: Callable[[Self], T]) -> T:
        """The result of `make(scene)`, computed at the first call and kept with the scene."""
        if make not in self._derived:
            self._derived[make] = make(self)
        found: T = self._derived[make]
        return found

    @property
    def frame_count(self) -> int:
        """Frames after frame 0."""
        frames = self.duration * self.frame_rate
        whole = round(frames)
        return whole if abs(frames - whole) < 1e-6 and whole >= 1 else int(frames) + 1

    def frame_time(self, frame: int) -> float:
        """Time of a frame [s]; the last one is at `duration`, even if the last interval is shorter."""
        return self.duration if frame >= self.frame_count else frame / self.frame_rate
