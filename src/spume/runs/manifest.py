"""The manifest of a run: its scene, the version of spume, and the diagnostics of every frame so far.

The diagnostics are in a file of their own, frames.jsonl, to which a line is appended for every frame: a long run does
not write them again and again. The number of frames is in manifest.json once the run is complete."""

from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from spume.errors import CacheError
from spume.fields import VOLUME_RATIO, Population
from spume.runs.manifest_checks import check_manifest, population
from spume.runs.storage import append_record, read_json, read_records, write_json, write_records

FORMAT = 3
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
    """Changes of the scene during the run: "time" [s], the start of the first step to which they apply, and "values" by
    their paths in the scene."""
    kernels: list[dict[str, str]] = field(default_factory=list)
    """With what the kernels were compiled: "numba", its version, and "cache", whose cache kept them ("spume" or
    "numba"). A run that was resumed with something else has several entries, one of an older version of spume none."""
    complete: bool = False
    format: int = FORMAT

    def header(self) -> dict[str, Any]:
        """The part that does not change during a run. Checkpoints hold it too, to rebuild a damaged manifest from."""
        return asdict(replace(self, frames=[], complete=False)) | {"frames": 0}

    def declarations(self) -> tuple[Population, ...]:
        """The declared populations of a frame."""
        return tuple(population(entry) for entry in self.populations)

    def with_frame(self, entry: dict[str, Any], path: Path) -> "Manifest":
        """The manifest at `path` with one more frame, which is recorded on disk."""
        append_record(records_file(path), entry)
        return replace(self, frames=[*self.frames, entry])

    def with_change(self, time: float, values: dict[str, Any]) -> "Manifest":
        """The manifest with another change; later values of one time replace earlier ones."""
        changes = list(self.changes)
        if changes and changes[-1]["time"] == time:
            values = changes.pop()["values"] | values
        return replace(self, changes=[*changes, {"time": time, "values": values}])

    def with_kernels(self, entry: dict[str, str]) -> "Manifest":
        """The manifest with what kernels are compiled with from now on."""
        return self if self.kernels[-1:] == [entry] else replace(self, kernels=[*self.kernels, entry])

    def write(self, path: Path) -> None:
        """Write the records of all frames, then the manifest, each in one atomic move."""
        write_records(records_file(path), self.frames)
        self.write_header(path)

    def write_header(self, path: Path) -> None:
        """Write the manifest, but not the records of its frames, which are on disk."""
        frames = len(self.frames) if self.complete else 0
        write_json(path, self.header() | {"complete": self.complete, "frames": frames})

    @classmethod
    def read(cls, path: Path) -> "Manifest":
        """The manifest at `path` and the records of its frames, checked."""
        data = read_json(path)
        if data.get("format") != FORMAT:
            return cls.from_dict(data, path)
        records = records_file(path)
        entries = read_records(records)
        if type(data.get("frames")) is not int:
            raise CacheError(
                f"'{path}' is malformed: frames is {data.get('frames')!r:.40}: it should be a whole number"
            )
        if len(entries) < data["frames"]:
            raise CacheError(f"'{records}' is damaged: it has {len(entries)} of {data['frames']} frames")
        return cls.from_dict(data, path, entries)

    @classmethod
    def read_header(cls, path: Path) -> "Manifest":
        """The manifest at `path` without the records of its frames."""
        return cls.from_dict(read_json(path), path)

    @classmethod
    def from_dict(cls, data: dict[str, Any], path: Path, entries: list[dict[str, Any]] | None = None) -> "Manifest":
        """The manifest from its JSON object, which was read from `path`, and the records of its frames."""
        found = data.get("format")
        if isinstance(found, bool) or found not in range(1, FORMAT + 1):
            raise CacheError(f"'{path}' has format {found}, of another version of spume; this one reads 1 to {FORMAT}")
        if found == FORMAT:
            data = data | {"frames": entries or []}
        check_manifest(data, path)
        present = _from_format_1(data) if found == 1 else data
        return cls(**present | {"format": FORMAT})


def records_file(manifest: Path) -> Path:
    """The file of the records of the frames beside a manifest."""
    return manifest.with_name("frames.jsonl")


def population_entries(declarations: tuple[Population, ...]) -> list[dict[str, Any]]:
    """Declarations as JSON-serialisable tables."""
    return [asdict(declaration) for declaration in declarations]


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
