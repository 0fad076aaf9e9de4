"""The loop over frames: build or restore a method, advance it frame by frame, leave everything on disk.

After every frame the order on disk is frame, checkpoint, manifest. Killed at any moment, a run has lost at most the
frame under way: a frame beyond the checkpoint is computed again to the same bits, and a manifest behind the checkpoint
is completed from what the frames themselves say.
"""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from spume.errors import CacheError, RunFailed, SceneError
from spume.run.folder import RunFolder
from spume.run.manifest import Manifest, field_entries
from spume.run.memory import refuse_without_disk, refuse_without_memory
from spume.run.method import Method, method_class
from spume.run.progress import Display, Silent
from spume.run.stopping import StopRequest, stop_on_signals
from spume.run.storage import DiskFull, plain, read_arrays, read_metadata, verify_arrays, write_arrays
from spume.scene.common import Scene
from spume.version import __version__

SECONDS = "seconds"
"""The key of a method's diagnostics that holds wall times [s]. They differ from run to run, so they go into the
manifest and not into the frames, whose files are the same bits whenever the scene is run."""


@dataclass(frozen=True)
class Outcome:
    """How a run ended."""

    status: Literal["complete", "interrupted"]
    folder: Path
    frames: int
    """Frames on disk, frame 0 included."""
    time: float
    """Simulated time reached [s]."""


def start_run(
    scene: Scene,
    folder: str | Path,
    *,
    name: str | None = None,
    overwrite: bool = False,
    threads: int | None = None,
    display: Display | None = None,
) -> Outcome:
    """Run `scene` from its beginning and leave the frames in `folder`."""
    place, shown = RunFolder(folder), display or Silent()
    with _session(place, threads, shown) as stop:
        chosen = method_class(scene.method)
        estimate = chosen.estimate(scene)
        refuse_without_memory(estimate)
        refuse_without_disk(estimate, place.path)
        place.prepare(overwrite)
        method = chosen(scene)
        manifest = Manifest(
            name=name or place.path.name,
            method=scene.method,
            scene=plain(scene.resolved()),
            version=__version__,
            fields=field_entries(method.declarations()),
        )
        return _start(method, scene, place, manifest, shown, stop)


def resume_run(folder: str | Path, *, threads: int | None = None, display: Display | None = None) -> Outcome:
    """Go on where the run in `folder` stopped, however it stopped."""
    place, shown = RunFolder(folder), display or Silent()
    if not place.path.is_dir():
        raise CacheError(f"there is no folder '{place.path}'")
    with _session(place, threads, shown) as stop:
        place.remove_partial_files()
        manifest, checkpoint = _recover(place)
        scene = Scene(**manifest.scene)
        if manifest.complete:
            return Outcome("complete", place.path, len(manifest.frames), scene.duration)
        if manifest.version != __version__:
            shown.note(f"begun by spume {manifest.version}, resumed by {__version__}: the last digits may differ")
        method = method_class(scene.method)(scene)
        if checkpoint is None:
            return _start(method, scene, place, manifest, shown, stop)
        method.restore(read_arrays(place.checkpoint), checkpoint["values"])
        manifest = _catch_up(manifest, checkpoint["frame"], scene, place, shown)
        return _advance(method, scene, place, manifest, shown, stop)


@contextlib.contextmanager
def _session(place: RunFolder, threads: int | None, display: Display) -> Iterator[StopRequest]:
    """Everything that must be undone when the loop is left."""
    from spume.numerics.jit import compilation_listener

    use_threads(threads)
    with place.locked(), stop_on_signals(display.note) as stop, compilation_listener(display.compiling):
        try:
            yield stop
        except DiskFull as error:
            then = f"'spume resume {place.path}'" if place.manifest.exists() else "run the scene again"
            raise DiskFull(f"{error}; what is there stays good: make room, then {then}") from error
        finally:
            display.end()


def use_threads(threads: int | None) -> None:
    """Let the kernels use so many threads; all cores when None."""
    if threads is None:
        return
    import numba

    most: int = numba.config.NUMBA_NUM_THREADS  # type: ignore[attr-defined]  # set at run time
    if not 1 <= threads <= most:
        raise SceneError(f"--threads {threads}: this machine has 1 to {most} threads to give")
    numba.set_num_threads(threads)


def _start(
    method: Method, scene: Scene, place: RunFolder, manifest: Manifest, display: Display, stop: StopRequest
) -> Outcome:
    # A manifest without frames comes first: it makes a run that is killed at once one that can be resumed.
    manifest.write(place.manifest)
    manifest = _save(method, 0, 0.0, place, manifest, complete=False)
    return _advance(method, scene, place, manifest, display, stop)


def _advance(
    method: Method, scene: Scene, place: RunFolder, manifest: Manifest, display: Display, stop: StopRequest
) -> Outcome:
    """All frames after those the manifest has."""
    done, last = len(manifest.frames) - 1, scene.frame_count
    display.begin(done, last, method.time, scene.duration)
    for number in range(done + 1, last + 1):
        time = scene.frame_time(number)
        try:
            if not method.advance(time, stop, display.step):
                _write_checkpoint(method, number - 1, place, manifest)
                return Outcome("interrupted", place.path, number, method.time)
            manifest = _save(method, number, time, place, manifest, complete=number == last)
        except RunFailed as error:
            raise RunFailed(f"{error}; frames 0 to {number - 1} are good, in '{place.path}'") from error
        display.frame(number)
    if not manifest.complete:
        manifest = replace(manifest, complete=True)
        manifest.write(place.manifest)
    return Outcome("complete", place.path, last + 1, scene.duration)


def _save(method: Method, number: int, time: float, place: RunFolder, manifest: Manifest, complete: bool) -> Manifest:
    """Put frame, checkpoint and manifest on disk, in this order."""
    diagnostics = plain(method.diagnostics())
    wall_times = {SECONDS: diagnostics.pop(SECONDS)} if SECONDS in diagnostics else {}
    about = {"frame": number, "time": time, "diagnostics": diagnostics}
    write_arrays(place.frame(number), method.frame(), about)
    _write_checkpoint(method, number, place, manifest)
    manifest = replace(manifest.with_frame(_entry(about) | wall_times), complete=complete)
    manifest.write(place.manifest)
    return manifest


def _entry(about: dict[str, Any]) -> dict[str, Any]:
    """A frame's entry of the manifest, from the metadata of its file."""
    place_in_run = {"frame": about["frame"], "time": about["time"]}
    return place_in_run | about["diagnostics"] | place_in_run


def _write_checkpoint(method: Method, frame: int, place: RunFolder, manifest: Manifest) -> None:
    arrays, values = method.checkpoint()
    write_arrays(place.checkpoint, arrays, {"frame": frame, "values": values, "manifest": manifest.header()})


def _recover(place: RunFolder) -> tuple[Manifest, dict[str, Any] | None]:
    """The manifest and the metadata of the checkpoint (None before the first one), as far as they can be had."""
    checkpoint = None
    if place.checkpoint.exists():
        try:
            verify_arrays(place.checkpoint)
            checkpoint = read_metadata(place.checkpoint)
        except CacheError as error:
            raise CacheError(f"{error}; the run cannot go on from it: start it again with --overwrite") from None
    try:
        return Manifest.read(place.manifest), checkpoint
    except CacheError:
        if checkpoint is None:
            raise
    return Manifest.from_dict(checkpoint["manifest"], place.checkpoint), checkpoint


def _catch_up(manifest: Manifest, frame: int, scene: Scene, place: RunFolder, display: Display) -> Manifest:
    """The manifest with the frames up to the checkpoint's, entries it lacks taken from the frames' own metadata."""
    known = {entry["frame"]: entry for entry in manifest.frames}
    entries = []
    for number in range(frame + 1):
        try:
            about = read_metadata(place.frame(number))
            entries.append(known.get(number) or _entry(about))
        except CacheError as error:
            display.note(f"{error}; it stays so, since only a run from the start could write it again")
            entries.append(known.get(number) or {"frame": number, "time": scene.frame_time(number)})
    return replace(manifest, frames=entries, complete=False)
