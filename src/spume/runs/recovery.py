"""Recovery of a run from its files: the last good checkpoint, and the records that are missing."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from spume.errors import CacheError
from spume.methods import Method
from spume.runs.crew import Crew
from spume.runs.folder import RunFolder
from spume.runs.manifest import Manifest
from spume.runs.parts import metadata_of_whole, part_files, read_checked_whole
from spume.runs.progress import Display
from spume.runs.restoring import DOES_NOT_FIT, restore_checked
from spume.scene.common import MOST_FRAMES, Scene

DAMAGES_LISTED = 5
"""Maximum number of damaged frames named in a message."""


@dataclass(frozen=True)
class Checkpoint:
    """The state from which a run continues."""

    path: Path
    frame: int
    """The last complete frame."""
    values: dict[str, Any]
    manifest: dict[str, Any]
    arrays: dict[str, NDArray[Any]] | None
    """None: they are in parts, which the ranks read."""

    def restore(self, method: Method, scene: Scene, crew: Crew | None = None) -> None:
        """Let `method`, built from `scene` by `crew` (None: this process alone), continue from here. Raises CacheError
        if this is not a state of the scene: the checksum is good, but somebody else may have written the file."""
        try:
            if self.arrays is None:
                (crew or Crew()).restore_parts(method, self.path, self.values)
            else:
                restore_checked(method, self.arrays, self.values)
            if not scene.frame_time(self.frame) <= method.time <= scene.frame_time(self.frame + 1):
                raise ValueError(f"its time is {method.time:g} s, and that of frame {self.frame} is another")
        except DOES_NOT_FIT as error:
            raise CacheError(f"'{self.path}' does not fit the scene of its run: {error}") from error


def recover(place: RunFolder, display: Display, crew: Crew) -> tuple[Manifest, Checkpoint | None]:
    """The manifest and the checkpoint (None before the first one), as far as they can be read. Several ranks of
    `crew` read the parts of a checkpoint."""
    checkpoint = _latest_checkpoint(place, display, crew)
    try:
        return Manifest.read(place.manifest), checkpoint
    except CacheError:
        if checkpoint is None:
            raise
    return Manifest.from_dict(checkpoint.manifest, place.checkpoint), checkpoint


def _latest_checkpoint(place: RunFolder, display: Display, crew: Crew) -> Checkpoint | None:
    damages: list[CacheError] = []
    for file in place.checkpoints():
        try:
            checkpoint = _checkpoint(file, *_contents(file, crew))
        except CacheError as error:
            damages.append(error)
            continue
        for damage in damages:
            display.note(f"{damage}; going on from the checkpoint before it, after frame {checkpoint.frame}")
        return checkpoint
    if damages:
        raise CacheError(f"{damages[0]}; the run cannot continue from it: start it again with --overwrite")
    return None


def _contents(file: Path, crew: Crew) -> tuple[dict[str, Any], dict[str, NDArray[Any]] | None]:
    """Metadata and arrays of a checkpoint, checked."""
    if crew.size > 1 and part_files(file):
        crew.verify(file)
        return metadata_of_whole(file), None
    return read_checked_whole(file)


def _checkpoint(file: Path, about: dict[str, Any], arrays: dict[str, NDArray[Any]] | None) -> Checkpoint:
    kinds = {"frame": int, "values": dict, "manifest": dict}
    for key, kind in kinds.items():
        if not isinstance(about.get(key), kind) or isinstance(about[key], bool):
            raise CacheError(f"'{file}' is damaged: it has no {key}")
    if not 0 <= about["frame"] <= MOST_FRAMES:
        raise CacheError(f"'{file}' is damaged: its frame is {about['frame']}")
    return Checkpoint(file, about["frame"], about["values"], about["manifest"], arrays)


def catch_up(manifest: Manifest, frame: int, scene: Scene, place: RunFolder, display: Display, crew: Crew) -> Manifest:
    """The manifest with the frames up to the checkpoint; missing entries are taken from the frames' metadata."""
    known = {entry["frame"]: entry for entry in manifest.frames}
    entries, damages = [], []
    for number in range(frame + 1):
        try:
            crew.verify(place.frame(number))
            entries.append(known.get(number) or record_of(metadata_of_whole(place.frame(number))))
        except CacheError as error:
            damages.append(str(error))
            entries.append(known.get(number) or {"frame": number, "time": scene.frame_time(number)})
    if damages:
        listed = "; ".join(damages[:DAMAGES_LISTED])
        more = f"; and {len(damages) - DAMAGES_LISTED} more" if len(damages) > DAMAGES_LISTED else ""
        display.note(f"{listed}{more}: only a run from the start could write such a frame again")
    return replace(manifest, frames=entries, complete=False)


def record_of(about: dict[str, Any]) -> dict[str, Any]:
    """The record of a frame, from the metadata of its file."""
    place_in_run = {"frame": about["frame"], "time": about["time"]}
    return place_in_run | about["diagnostics"] | place_in_run
