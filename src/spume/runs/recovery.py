"""Recovery of a run from its files: the last good checkpoint, and the records that are missing."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from spume.errors import CacheError
from spume.methods import Method
from spume.runs.folder import RunFolder
from spume.runs.manifest import Manifest
from spume.runs.progress import Display
from spume.runs.storage import read_checked, read_metadata, verify_arrays
from spume.scene.common import MOST_FRAMES, Scene

MAY_LACK = frozenset({"allowed_dt", "poses", "energy_budget", "kinetic"})
"""Values of a checkpoint that are None at times, or in those of earlier versions."""

DAMAGES_LISTED = 5
"""Maximum number of damaged frames named in a message."""


@dataclass(frozen=True)
class Checkpoint:
    """The state from which a run continues, read from one file."""

    path: Path
    frame: int
    """The last complete frame."""
    values: dict[str, Any]
    manifest: dict[str, Any]
    arrays: dict[str, NDArray[Any]]

    def restore(self, method: Method, scene: Scene) -> None:
        """Let `method`, built from `scene`, continue from here. Raises CacheError if this is not a state of the scene:
        the checksum is good, but somebody else may have written the file."""
        arrays, values = method.checkpoint()
        try:
            for name, array in self.arrays.items():
                if name in arrays and not _fits(array, arrays[name]):
                    raise ValueError(f"the array '{name}' has another shape or type")
            _check_kinds(self.values, values, "values")
            method.restore(self.arrays, self.values)
            if not scene.frame_time(self.frame) <= method.time <= scene.frame_time(self.frame + 1):
                raise ValueError(f"its time is {method.time:g} s, and that of frame {self.frame} is another")
        except (KeyError, IndexError, TypeError, ValueError, AttributeError, OverflowError) as error:
            raise CacheError(f"'{self.path}' does not fit the scene of its run: {error}") from error


def _fits(array: NDArray[Any], wanted: NDArray[Any]) -> bool:
    return array.dtype.kind == wanted.dtype.kind and array.ndim == wanted.ndim and array.shape[1:] == wanted.shape[1:]


def _check_kinds(found: object, wanted: object, where: str, may_lack: bool = False) -> None:
    """Raise ValueError if values of a checkpoint are of another kind than those of the initial state."""
    if isinstance(wanted, dict) and isinstance(found, dict):
        for key in wanted.keys() & found.keys():
            _check_kinds(found[key], wanted[key], f"{where}.{key}", key in MAY_LACK or where == "values.surfaces")
    elif wanted is not None and _kind(found) != _kind(wanted) and not (found is None and may_lack):
        raise ValueError(f"{where} is {found!r:.40}")
    elif isinstance(wanted, list | tuple) and isinstance(found, list | tuple) and wanted:
        for k, item in enumerate(found):
            _check_kinds(item, wanted[min(k, len(wanted) - 1)], f"{where}[{k}]", may_lack)


def _kind(value: object) -> str:
    if isinstance(value, bool | str):
        return type(value).__name__
    if isinstance(value, int | float):
        return "number"
    return "nothing" if value is None else "list" if isinstance(value, list | tuple) else "table"


def recover(place: RunFolder, display: Display) -> tuple[Manifest, Checkpoint | None]:
    """The manifest and the checkpoint (None before the first one), as far as they can be read."""
    checkpoint = _latest_checkpoint(place, display)
    try:
        return Manifest.read(place.manifest), checkpoint
    except CacheError:
        if checkpoint is None:
            raise
    return Manifest.from_dict(checkpoint.manifest, place.checkpoint), checkpoint


def _latest_checkpoint(place: RunFolder, display: Display) -> Checkpoint | None:
    damages: list[CacheError] = []
    for file in place.checkpoints():
        try:
            about, arrays = read_checked(file)
            checkpoint = _checkpoint(file, about, arrays)
        except CacheError as error:
            damages.append(error)
            continue
        for damage in damages:
            display.note(f"{damage}; going on from the checkpoint before it, after frame {checkpoint.frame}")
        return checkpoint
    if damages:
        raise CacheError(f"{damages[0]}; the run cannot continue from it: start it again with --overwrite")
    return None


def _checkpoint(file: Path, about: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Checkpoint:
    kinds = {"frame": int, "values": dict, "manifest": dict}
    for key, kind in kinds.items():
        if not isinstance(about.get(key), kind) or isinstance(about[key], bool):
            raise CacheError(f"'{file}' is damaged: it has no {key}")
    if not 0 <= about["frame"] <= MOST_FRAMES:
        raise CacheError(f"'{file}' is damaged: its frame is {about['frame']}")
    return Checkpoint(file, about["frame"], about["values"], about["manifest"], arrays)


def catch_up(manifest: Manifest, frame: int, scene: Scene, place: RunFolder, display: Display) -> Manifest:
    """The manifest with the frames up to the checkpoint; missing entries are taken from the frames' metadata."""
    known = {entry["frame"]: entry for entry in manifest.frames}
    entries, damages = [], []
    for number in range(frame + 1):
        try:
            verify_arrays(place.frame(number))
            entries.append(known.get(number) or record_of(read_metadata(place.frame(number))))
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
