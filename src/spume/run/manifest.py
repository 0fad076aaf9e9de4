"""The manifest of a run: what was run, by which version, and the diagnostics of every frame so far."""

from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from spume.errors import CacheError
from spume.fields import Field
from spume.run.storage import read_json, write_json

FORMAT = 1
"""Raised whenever older runs can no longer be read."""


@dataclass(frozen=True)
class Manifest:
    """Contents of manifest.json."""

    name: str
    """Short name of the scene."""
    method: str
    scene: dict[str, Any]
    """The resolved scene; `Scene(**scene)` makes it again."""
    version: str
    """Version of spume that wrote the run."""
    fields: list[dict[str, Any]]
    """The declarations of a frame's fields."""
    frames: list[dict[str, Any]] = field(default_factory=list)
    """Of every frame: number, time and diagnostics."""
    complete: bool = False
    format: int = FORMAT

    def header(self) -> dict[str, Any]:
        """The part that does not change during a run. Checkpoints hold it too, to rebuild a damaged manifest from."""
        return asdict(replace(self, frames=[], complete=False))

    def declarations(self) -> tuple[Field, ...]:
        """The declared fields of a frame."""
        return tuple(_declaration(entry) for entry in self.fields)

    def with_frame(self, entry: dict[str, Any]) -> "Manifest":
        """The manifest with one more frame."""
        return replace(self, frames=[*self.frames, entry])

    def write(self, path: Path) -> None:
        """Put the manifest in place atomically."""
        write_json(path, asdict(self))

    @classmethod
    def read(cls, path: Path) -> "Manifest":
        """The manifest at `path`, checked."""
        return cls.from_dict(read_json(path), path)

    @classmethod
    def from_dict(cls, data: dict[str, Any], path: Path) -> "Manifest":
        """The manifest from its JSON object, `path` being where that was read."""
        if data.get("format") != FORMAT:
            found = data.get("format")
            raise CacheError(f"'{path}' has format {found}, of another version of spume; this one reads {FORMAT}")
        return cls(**data)


def _declaration(entry: dict[str, Any]) -> Field:
    values: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in entry.items()}
    return Field(**values)


def field_entries(declarations: tuple[Field, ...]) -> list[dict[str, Any]]:
    """Declarations as JSON-serialisable tables."""
    return [asdict(declaration) for declaration in declarations]
