"""Reading a run from disk. Needs only the folder: no method, no running simulation."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, lru_cache, partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationError

from spume.errors import CacheError
from spume.fields import Field, Population
from spume.frames.appearances import appearances, with_appearances
from spume.frames.derived import Derived
from spume.frames.frame_checks import check_indices, check_kind, check_metadata, check_shapes, malformed
from spume.frames.measurements import MeasuredSeries, measured_series
from spume.frames.populations import FramePopulations, PopulationArrays
from spume.methods import Shapes, method_shapes
from spume.runs.changes import scene_at
from spume.runs.folder import RunFolder
from spume.runs.manifest import Manifest
from spume.runs.parts import metadata_of_whole, read_whole, stamps, verify_whole, whole_shapes
from spume.runs.storage import folder_inside
from spume.scene.common import Scene
from spume.scene.measure import MeasureTable
from spume.scene.overrides import Changes
from spume.scene.problems import describe
from spume.terminal import printable

if TYPE_CHECKING:
    import pandas
    import xarray


class Frame(FramePopulations):
    """One frame: `frame["points"].x`, or short `frame["x"]` and `frame.x`, is an array, read from disk on access and
    not kept."""

    def __init__(
        self,
        path: Path,
        declarations: Iterable[Population],
        shapes: Shapes | None = None,
        scene_at: Callable[[float], Scene] | None = None,
    ) -> None:
        """`scene_at` gives the scene at a time [s], for what is derived from the laws of its materials."""
        about = metadata_of_whole(path)
        check_metadata(about, path)
        self.path = path
        self.number: int = about["frame"]
        self.time: float = about["time"]
        """Simulated time [s]."""
        self.diagnostics: dict[str, Any] = about["diagnostics"]
        derived = None if scene_at is None else Derived(partial(scene_at, self.time))
        super().__init__(_populations(path, tuple(declarations), derived))
        if shapes is not None:
            made = _Made(path, shapes, dict(self.populations))
            for each in shapes.declarations:
                names = [field.name for field in each.fields]
                self.populations[each.name] = PopulationArrays(each, names, partial(made, each.name))

    def __repr__(self) -> str:
        return f"Frame({self.number}, time={self.time:g} s, {'; '.join(map(repr, self.populations.values()))})"


def _populations(
    path: Path, declarations: tuple[Population, ...], derived: Derived | None
) -> Iterator[PopulationArrays]:
    """The populations in the file at `path`, as described by `declarations`."""
    shapes = whole_shapes(path)
    stored = frozenset(shapes)
    plain = not any("/" in name for name in stored)  # format 1: fields without the name of their population
    for declared in declarations:
        prefix = "" if plain else f"{declared.name}/"
        names = [field.name for field in declared.fields if prefix + field.name in stored]
        check_shapes(declared, {name: shapes[prefix + name] for name in names}, path)
        # Frames of format 1 hold F and not J.
        if plain and "J" not in stored and "F" in stored and any(field.name == "J" for field in declared.fields):
            names.append("J")
        count = shapes[f"{prefix}x"][0] if declared.kind != "table" else 0
        yield PopulationArrays(declared, sorted(names), _Reader(path, prefix, stored, declared, count), derived)


class _Reader:
    """Reads single arrays of one population from a file."""

    def __init__(self, path: Path, prefix: str, stored: frozenset[str], declared: Population, count: int) -> None:
        self.path, self.prefix, self.stored = path, prefix, stored
        self.kind, self.count = declared.kind, count
        self.fields = {each.name: each for each in declared.fields}

    def __call__(self, field: str) -> NDArray[Any]:
        name = self.prefix + field
        if name not in self.stored and field == "J":
            return np.asarray(np.linalg.det(self("F")))
        values = read_whole(self.path, [name])[name]
        check_kind(self.fields[field], values, self.path)
        check_indices(self.kind, field, values, self.count, self.path)
        return values


class _Made:
    """Makes the shapes of a frame when the first of their arrays is accessed, and keeps them."""

    def __init__(self, path: Path, shapes: Shapes, stored: dict[str, PopulationArrays]) -> None:
        self.path, self.shapes, self.stored = path, shapes, stored
        self.arrays: dict[str, dict[str, NDArray[Any]]] | None = None

    def __call__(self, population: str, field: str) -> NDArray[Any]:
        if self.arrays is None:
            try:
                self.arrays = self.shapes.make(FramePopulations(self.stored.values()))
            except (LookupError, ValueError, TypeError, ArithmeticError) as error:
                raise malformed(self.path, f"its tables do not fit together ({error})") from error
        return self.arrays[population][field]


BodySkin = Literal["embedded", "reconstructed"]
"""What shows bodies with an embedded surface: their mesh, or a skin around their points as for all others."""


class Run:
    """A run on disk: `run[k]` is frame k, and a loop over the run yields its frames."""

    def __init__(self, folder: str | Path, skin: BodySkin = "embedded", looks: Changes = ()) -> None:
        self._folder = RunFolder(folder)
        self.skin = skin
        """With "reconstructed", the run reads as if none of its bodies had an embedded surface."""
        self.looks = appearances(looks)
        """Camera, backdrop and looks that differ from those of the scene, by their paths in it."""
        self.path = self._folder.path
        if not self.path.is_dir():
            raise CacheError(f"there is no folder '{self.path}'")
        if not self._folder.manifest.exists():
            raise CacheError(f"'{self.path}' holds no run: it has no manifest.json")
        try:
            self._manifest = Manifest.read(self._folder.manifest)
        except CacheError as error:
            raise CacheError(f"{error}; 'spume resume {self.path}' rebuilds it from the checkpoint") from None
        self._verified: dict[int, list[tuple[int, int]]] = {}
        """Sizes and modification times of the files of the frames whose checksums were verified."""
        self._scenes: dict[int, Scene] = {}
        """The scene after so many of the changes during the run."""

    @property
    def name(self) -> str:
        """Short name of the scene."""
        return printable(self._manifest.name)

    @property
    def title(self) -> str:
        """Title of the scene."""
        return printable(self._manifest.scene["title"])

    @property
    def method(self) -> str:
        """Name of the method."""
        return self._manifest.method

    @property
    def version(self) -> str:
        """Version of spume that wrote the run."""
        return self._manifest.version

    @property
    def complete(self) -> bool:
        """Whether the run reached the end of its scene."""
        return self._manifest.complete

    @cached_property
    def scene(self) -> Scene:
        """The scene with which the run began, validated on first access. Obstacles have the motions that changes during
        the run gave them, which contain their motions before the change."""
        motions = {
            path: value
            for change in self._manifest.changes
            for path, value in change["values"].items()
            if path.startswith("obstacle.") and path.endswith(".motion")
        }
        tables = self._manifest.scene
        if self.skin == "reconstructed" and "body" in tables:
            tables = tables | {"body": [_without_mesh(body) for body in tables["body"]]}
        scene = Scene(**tables)
        scene = scene.changed(motions) if motions else scene
        return with_appearances(scene, self.looks) if self.looks else scene

    def output(self, *names: str) -> Path:
        """A folder inside the run's for pictures and the like."""
        return folder_inside(self.path, *names)

    def reconstructed(self) -> "Run":
        """The same run with skins around the points instead of embedded surfaces."""
        return Run(self.path, "reconstructed", self.looks)

    @property
    def changes(self) -> list[dict[str, Any]]:
        """Changes of the scene during the run: "time" [s], "values" by their paths in the scene."""
        return list(self._manifest.changes)

    @cached_property
    def populations(self) -> tuple[Population, ...]:
        """The declarations of a frame's populations: kind, point spacing, fields; for a method whose frames contain
        tables also those made from them for viewers and exporters."""
        shapes = method_shapes(self.method)
        return self.stored_populations + (shapes.declarations if shapes else ())

    @cached_property
    def stored_populations(self) -> tuple[Population, ...]:
        """The declarations of the populations that are on disk, without embedded surfaces if skins replace them."""
        declared = self._manifest.declarations()
        if self.skin == "embedded":
            return declared
        return tuple(each for each in declared if each.kind != "mesh")

    @property
    def fields(self) -> tuple[Field, ...]:
        """The declarations behind the short names of a frame: shape, unit, description."""
        short: dict[str, Field] = {}
        for population in self.populations:
            short = {field.name: field for field in population.fields} | short
        return tuple(short.values())

    @property
    def diagnostics(self) -> list[dict[str, Any]]:
        """Number, time and diagnostics of every frame."""
        return list(self._manifest.frames)

    @property
    def measurements(self) -> dict[str, MeasuredSeries]:
        """The measurements of the scene by name: `.values` over `.times`, and one `.value`."""
        tables = self._manifest.scene.get("measure", ())  # a run can be told about without its method
        return measured_series(tuple(self._measure(table) for table in tables), self._manifest.frames)

    def _measure(self, table: dict[str, Any]) -> MeasureTable:
        try:
            return MeasureTable.model_validate(table)
        except ValidationError as error:
            problem = describe(error, MeasureTable, table)[0]
            raise CacheError(f"'{self._folder.manifest}' is malformed: scene.measure: {problem}") from None

    def to_pandas(self) -> "pandas.DataFrame":
        """The diagnostics and measurements of every frame, indexed by time [s]; components of vectors are columns of
        their own, such as "momentum.x". Needs pandas."""
        from spume.frames.tables import to_pandas

        return to_pandas(self)

    def to_xarray(self) -> "xarray.Dataset":
        """The diagnostics and measurements of every frame along the dimension "time"; vectors keep their components
        in a dimension of their own. Needs xarray."""
        from spume.frames.tables import to_xarray

        return to_xarray(self)

    def __len__(self) -> int:
        return len(self._manifest.frames)

    @overload
    def __getitem__(self, number: int) -> Frame: ...

    @overload
    def __getitem__(self, number: slice) -> "Frames": ...

    def __getitem__(self, number: int | slice) -> "Frame | Frames":
        if isinstance(number, slice):
            return Frames(self, range(len(self))[number])
        if not -len(self) <= number < len(self):
            raise IndexError(f"'{self.path}' has frames 0 to {len(self) - 1}, not {number}")
        number %= len(self)
        path = self._folder.frame(number)
        stamp = stamps(path)
        if stamp is None or self._verified.get(number) != stamp:
            verify_whole(path)
        if stamp is not None:
            self._verified[number] = stamp
        return self.frame_in(path)

    def frame_in(self, path: Path) -> Frame:
        """The frame in a file, which need not be one of the run's frames."""
        return Frame(path, self.stored_populations, method_shapes(self.method), self.scene_at)

    def scene_at(self, time: float) -> Scene:
        """The scene with the changes during the run that were made before `time` [s]."""
        changes = [change for change in self._manifest.changes if change["time"] < time]
        count = len(changes)
        if count not in self._scenes:
            self._scenes[count] = scene_at(self.scene, changes, time)
        return self._scenes[count]

    def __iter__(self) -> Iterator[Frame]:
        return (self[number] for number in range(len(self)))

    def __repr__(self) -> str:
        state = "complete" if self.complete else "unfinished"
        return f"Run('{self.path}', {self.name}, {len(self)} frames, {state})"

    def _repr_html_(self) -> str:
        from spume.frames.notebook import run_html

        return run_html(self)

    def film(self, **options: Any) -> Any:
        """Draw the frames and return their film, which a notebook plays; options as for `spume.render`."""
        # functions that draw are to the right of the frames and found by name
        return import_module("spume.api").film(self, **options)

    def __reduce__(self) -> tuple[Any, ...]:
        """A process that is sent a run opens it only once, for any number of frames."""
        return _opened_once, (str(self.path.resolve()), len(self), self.skin, json.dumps(self.looks))


class Frames(Sequence[Frame]):
    """Some frames of a run, as `run[::10]` selects them. Each is read on access."""

    def __init__(self, run: Run, numbers: range) -> None:
        self.run = run
        self.numbers = numbers
        """Numbers of the frames in the run."""

    @property
    def times(self) -> NDArray[np.float64]:
        """Times of the frames [s]."""
        return np.array([self.run.diagnostics[number]["time"] for number in self.numbers])

    def __len__(self) -> int:
        return len(self.numbers)

    @overload
    def __getitem__(self, index: int) -> Frame: ...

    @overload
    def __getitem__(self, index: slice) -> "Frames": ...

    def __getitem__(self, index: int | slice) -> "Frame | Frames":
        if isinstance(index, slice):
            return Frames(self.run, self.numbers[index])
        return self.run[self.numbers[index]]

    def __repr__(self) -> str:
        return f"Frames({self.run!r}, {self.numbers})"


@lru_cache(maxsize=16)
def _opened_once(folder: str, frames: int, skin: BodySkin, looks: str) -> Run:
    """The run in `folder` when it had so many frames."""
    return Run(folder, skin, json.loads(looks))


def _without_mesh(body: dict[str, Any]) -> dict[str, Any]:
    """The table of a body, without an embedded surface."""
    return {key: value for key, value in body.items() if key != "surface"}


def open_run(folder: str | Path, skin: BodySkin = "embedded", looks: Changes = ()) -> Run:
    """Open the run in `folder` for reading. Raises CacheError if the folder contains no run, or a damaged one.

    - skin: "reconstructed" shows bodies with an embedded surface by a skin around their points, which follows tears.
    - looks: values of the scene's camera, backdrop and looks to use instead, such as {"camera.fov": 20}.
    """
    return Run(folder, skin, looks)
