"""The manifest of a run: its scene, the version of spume, and the diagnostics of every frame so far."""

from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from spume.errors import CacheError
from spume.fields import VOLUME_RATIO, Field, Population
from spume.runs.storage import read_json, write_json

FORMAT = 2
"""Incremented whenever older runs must be converted on reading."""


@dataclass(frozen=True)
class Manifest:
    """Contents of manifest.json."""

    name: str
    """Short name of the scene."""
    method: str
    scene: dict[str, Any]
    """The resolved scene with which the run began; `Scene(**scene)` recreates it."""
    version: str
    """Version of spume that wrote the run."""
    populations: list[dict[str, Any]]
    """The declarations of a frame's populations."""
    frames: list[dict[str, Any]] = field(default_factory=list)
    """Number, time and diagnostics of every frame."""
    changes: list[dict[str, Any]] = field(default_factory=list)
    """Changes of the scene during the run: "time" [s], of the step from which on they hold, and "values" by their paths
    in the scene."""
    complete: bool = False
    format: int = FORMAT

    def header(self) -> dict[str, Any]:
        """The part that does not change during a run. Checkpoints hold it too, to rebuild a damaged manifest from."""
        return asdict(replace(self, frames=[], complete=False))

    def declarations(self) -> tuple[Population, ...]:
        """The declared populations of a frame."""
        return tuple(_population(entry) for entry in self.populations)

    def with_frame(self, entry: dict[str, Any]) -> "Manifest":
        """The manifest with one more frame."""
        return replace(self, frames=[*self.frames, entry])

    def with_change(self, time: float, values: dict[str, Any]) -> "Manifest":
        """The manifest with another change; later values of one time replace earlier ones."""
        changes = list(self.changes)
        if changes and changes[-1]["time"] == time:
            values = changes.pop()["values"] | values
        return replace(self, changes=[*changes, {"time": time, "values": values}])

    def write(self, path: Path) -> None:
        """Write the manifest atomically."""
        write_json(path, asdict(self))

    @classmethod
    def read(cls, path: Path) -> "Manifest":
        """The manifest at `path`, checked."""
        return cls.from_dict(read_json(path), path)

    @classmethod
    def from_dict(cls, data: dict[str, Any], path: Path) -> "Manifest":
        """The manifest from its JSON object, which was read from `path`."""
        found = data.get("format")
        if found == 1:
            return cls(**_from_format_1(data))
        if found != FORMAT:
            raise CacheError(f"'{path}' has format {found}, of another version of spume; this one reads 1 to {FORMAT}")
        return cls(**data)


def population_entries(declarations: tuple[Population, ...]) -> list[dict[str, Any]]:
    """Declarations as JSON-serialisable tables."""
    return [asdict(declaration) for declaration in declarations]


def _population(entry: dict[str, Any]) -> Population:
    return Population(**{**entry, "fields": tuple(_field(each) for each in entry["fields"])})


def _field(entry: dict[str, Any]) -> Field:
    values: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in entry.items()}
    return Field(**values)


def _from_format_1(data: dict[str, Any]) -> dict[str, Any]:
    """The object of a format 1 manifest, as version 0.1.0 wrote it at first, in the present format.

    Frames held the fields of a single, unnamed population. Points were drawn as if two of them lay along the edge of a
    cell, and the volume ratio J was not stored beside the deformation gradient F.
    """
    kept = {key: value for key, value in data.items() if key not in ("fields", "format")}
    fields: list[dict[str, Any]] = data["fields"]
    names = {entry["name"] for entry in fields}
    if "x" not in names:
        return kept | {"populations": [{"name": "foam", "fields": fields, "kind": "table"}]}
    if "F" in names and "J" not in names:
        fields = [*fields, asdict(VOLUME_RATIO)]
    cell = data["scene"].get("grid", {}).get("cell")
    return kept | {"populations": [{"name": "points", "fields": fields, "spacing": cell and cell / 2}]}
