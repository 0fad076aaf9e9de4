"""Reading a run from disk. Needs nothing but the folder: no method, no running simulation."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from spume.errors import CacheError
from spume.fields import Field
from spume.run.folder import RunFolder
from spume.run.manifest import Manifest
from spume.run.storage import open_arrays, read_arrays, read_metadata, verify_arrays
from spume.scene.common import Scene


class Frame(Mapping[str, NDArray[Any]]):
    """One frame: `frame["x"]` or `frame.x` is the array of a field, read from disk when asked for and not kept."""

    def __init__(self, path: Path) -> None:
        verify_arrays(path)
        about = read_metadata(path)
        self.path = path
        self.number: int = about["frame"]
        self.time: float = about["time"]
        """Simulated time [s]."""
        self.diagnostics: dict[str, Any] = about["diagnostics"]
        with open_arrays(path) as file:
            self._names = tuple(sorted(file.keys()))

    def __getitem__(self, name: str) -> NDArray[Any]:
        if name not in self._names:
            raise KeyError(f"frame {self.number} has no field '{name}': it has {', '.join(self._names)}")
        return read_arrays(self.path, [name])[name]

    def __getattr__(self, name: str) -> NDArray[Any]:
        if name.startswith("_") or name not in self._names:
            raise AttributeError(f"a frame has no field '{name}'")
        return self[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __repr__(self) -> str:
        return f"Frame({self.number}, time={self.time:g} s, fields: {', '.join(self._names)})"


class Run:
    """A run on disk: `run[k]` is frame k, and a loop over the run yields its frames."""

    def __init__(self, folder: str | Path) -> None:
        self._folder = RunFolder(folder)
        self.path = self._folder.path
        if not self.path.is_dir():
            raise CacheError(f"there is no folder '{self.path}'")
        if not self._folder.manifest.exists():
            raise CacheError(f"'{self.path}' holds no run: it has no manifest.json")
        try:
            self._manifest = Manifest.read(self._folder.manifest)
        except CacheError as error:
            raise CacheError(f"{error}; 'spume resume {self.path}' rebuilds it from the checkpoint") from None

    @property
    def name(self) -> str:
        """Short name of the scene."""
        return self._manifest.name

    @property
    def title(self) -> str:
        """The line with which the scene says what happens."""
        return str(self._manifest.scene["title"])

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

    @property
    def scene(self) -> Scene:
        """The scene that was run."""
        return Scene(**self._manifest.scene)

    @property
    def fields(self) -> tuple[Field, ...]:
        """The declarations of a frame's fields: shape, unit, description."""
        return self._manifest.declarations()

    @property
    def diagnostics(self) -> list[dict[str, Any]]:
        """Of every frame: number, time and the numbers its method reports."""
        return list(self._manifest.frames)

    def __len__(self) -> int:
        return len(self._manifest.frames)

    def __getitem__(self, number: int) -> Frame:
        if not -len(self) <= number < len(self):
            raise IndexError(f"'{self.path}' has frames 0 to {len(self) - 1}, not {number}")
        return Frame(self._folder.frame(number % len(self)))

    def __iter__(self) -> Iterator[Frame]:
        return (self[number] for number in range(len(self)))

    def __repr__(self) -> str:
        state = "complete" if self.complete else "unfinished"
        return f"Run('{self.path}', {self.name}, {len(self)} frames, {state})"


def open_run(folder: str | Path) -> Run:
    """The run in `folder`, for reading. Raises CacheError when the folder holds none, or a damaged one."""
    return Run(folder)
