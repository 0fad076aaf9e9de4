"""The loop over frames: build or restore a method, advance it frame by frame, write everything to disk.

Files are written in the order frame, checkpoint, manifest. A run killed at any moment loses at most the current frame:
a frame newer than the checkpoint is computed again to the same bits, and a manifest older than the checkpoint is
completed from the metadata of the frames.
"""

import contextlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from numpy.typing import NDArray

from spume.errors import CacheError, CompilationStopped, RunFailed, SceneError
from spume.memory import refuse_without_disk, refuse_without_memory
from spume.methods import Method, method_class
from spume.numerics.clock import compilation_time, working_time
from spume.runs.compile_ahead import CompileAhead
from spume.runs.folder import RunFolder
from spume.runs.machine import record_compilation, record_run
from spume.runs.manifest import Manifest, population_entries
from spume.runs.progress import Display, Silent
from spume.runs.stopping import StopRequest, stop_on_signals
from spume.runs.storage import DiskFull, plain, read_checked, read_metadata, verify_arrays, write_arrays
from spume.scene.common import Scene
from spume.scene.loading import load_laws_of
from spume.version import __version__

SECONDS = "seconds"
"""The key of a method's diagnostics that holds wall times [s]. They differ from run to run, so they are stored in the
manifest and not in the frames, whose files are bit-for-bit reproducible."""

WARNINGS = "warnings"
"""The key of a method's diagnostics that holds sentences for the user, by a short name of what they are about."""

DAMAGES_LISTED = 5
"""Maximum number of damaged frames named in a message."""


@dataclass(frozen=True)
class Outcome:
    """How a run ended."""

    status: Literal["complete", "interrupted"]
    folder: Path
    frames: int
    """Frames on disk, frame 0 included. A run stopped while it was being prepared has none."""
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
    """Run `scene` from the start and write the frames to `folder`."""
    place, shown = RunFolder(folder), display or Silent()
    with _session(place, threads, shown, scene) as stop:
        chosen = method_class(scene.method)
        estimate = chosen.estimate(scene)
        refuse_without_memory(estimate)
        refuse_without_disk(estimate, place.path)
        for note in scene.notes():
            shown.note(note)
        place.prepare(overwrite)
        try:
            method = chosen(scene)
            manifest = Manifest(
                name=name or place.path.name,
                method=scene.method,
                scene=plain(scene.resolved()),
                version=__version__,
                populations=population_entries(method.declarations()),
            )
            began = working_time()
            outcome = _start(method, scene, place, manifest, shown, stop)
            if outcome.status == "complete":
                record_run(scene, estimate.steps, working_time() - began, estimate.seconds)
            record_compilation(scene, compilation_time())
            return outcome
        except CompilationStopped:
            return _as_on_disk(place)


def resume_run(folder: str | Path, *, threads: int | None = None, display: Display | None = None) -> Outcome:
    """Continue the run in `folder` from its last checkpoint."""
    place, shown = RunFolder(folder), display or Silent()
    if not place.path.is_dir():
        raise CacheError(f"there is no folder '{place.path}'")
    with _session(place, threads, shown) as stop:
        place.remove_partial_files()
        manifest, checkpoint = _recover(place, shown)
        load_laws_of(manifest.scene)
        scene = Scene(**manifest.scene)
        if manifest.complete:
            return Outcome("complete", place.path, len(manifest.frames), scene.duration)
        if manifest.version != __version__:
            shown.note(f"begun by spume {manifest.version}, resumed by {__version__}: the last digits may differ")
        try:
            method = method_class(scene.method)(scene)
            if checkpoint is None:
                return _start(method, scene, place, manifest, shown, stop)
            method.restore(checkpoint.arrays, checkpoint.values)
            # Frames from now on hold the populations of this version, whichever version began the run.
            manifest = replace(manifest, populations=population_entries(method.declarations()))
            manifest = _catch_up(manifest, checkpoint.frame, scene, place, shown)
            return _advance(method, scene, place, manifest, shown, stop)
        except CompilationStopped:
            return _as_on_disk(place)


@contextlib.contextmanager
def _session(
    place: RunFolder, threads: int | None, display: Display, scene: Scene | None = None
) -> Iterator[StopRequest]:
    """Everything that must be undone when the loop is left. Two processes compile the kernels of a new `scene`."""
    from spume.numerics.jit import compilation_listener

    use_threads(threads)
    with (
        place.locked(),
        stop_on_signals(display.note) as stop,
        contextlib.nullcontext() if scene is None else CompileAhead(scene) as ahead,
        compilation_listener(_compiling(display, ahead), display.note, stop),
    ):
        try:
            yield stop
        except KeyboardInterrupt as stopped:
            how = "while kernels were compiled" if isinstance(stopped, CompilationStopped) else "at once"
            raise KeyboardInterrupt(f"stopped {how}; {_how_to_go_on(place)}") from None
        except DiskFull as error:
            then = f"'spume resume {place.path}'" if place.manifest.exists() else "run the scene again"
            raise DiskFull(f"{error}; what is there stays good: make room, then {then}") from error
        finally:
            display.end()


def _compiling(display: Display, ahead: CompileAhead | None) -> Callable[[str], None]:
    def tell(kernel: str) -> None:
        display.compiling(kernel)
        if ahead is not None:
            ahead.start()

    return tell


def _how_to_go_on(place: RunFolder) -> str:
    """How a stopped run can be continued."""
    if place.checkpoints():
        return f"the last checkpoint is good: continue with 'spume resume {place.path}'"
    if place.manifest.exists():
        return f"there is no checkpoint yet: 'spume resume {place.path}' starts over"
    return "nothing is on disk yet: run the scene again"


def _as_on_disk(place: RunFolder) -> Outcome:
    """The outcome of a run that was stopped in the middle of a step, after the last checkpoint."""
    if not place.manifest.exists():
        return Outcome("interrupted", place.path, 0, 0.0)
    frames = Manifest.read(place.manifest).frames
    return Outcome("interrupted", place.path, len(frames), frames[-1]["time"] if frames else 0.0)


def use_threads(threads: int | None) -> None:
    """Set the number of threads of the kernels; all cores when None."""
    if threads is None:
        return
    import numba

    most: int = numba.config.NUMBA_NUM_THREADS  # type: ignore[attr-defined]  # set at run time
    if not 1 <= threads <= most:
        raise SceneError(f"--threads {threads}: this machine allows 1 to {most} threads")
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
    """Compute all frames that the manifest does not list yet."""
    done, last = len(manifest.frames) - 1, scene.frame_count
    display.begin(done, last, method.time, scene.duration)
    for number in range(done + 1, last + 1):
        time = scene.frame_time(number)
        try:
            if not method.advance(time, stop, display.step):
                _write_checkpoint(method, number - 1, place, manifest)
                return Outcome("interrupted", place.path, number, method.time)
            manifest = _save(method, number, time, place, manifest, complete=number == last)
            _tell_new_warnings(manifest, display)
        except RunFailed as error:
            raise RunFailed(f"{error}; frames 0 to {number - 1} are good, in '{place.path}'") from error
        display.frame(number)
    if not manifest.complete:
        manifest = replace(manifest, complete=True)
        manifest.write(place.manifest)
    return Outcome("complete", place.path, last + 1, scene.duration)


def _tell_new_warnings(manifest: Manifest, display: Display) -> None:
    """Report the warnings of the last frame whose kind no earlier frame has reported."""
    *earlier, last = manifest.frames
    told = {name for entry in earlier for name in entry.get(WARNINGS, {})}
    for name, sentence in last.get(WARNINGS, {}).items():
        if name not in told:
            display.note(f"warning: {sentence}")


def _save(method: Method, number: int, time: float, place: RunFolder, manifest: Manifest, complete: bool) -> Manifest:
    """Write frame, checkpoint and manifest to disk, in this order."""
    place.keep_lock()
    try:
        return _write_all(method, number, time, place, manifest, complete)
    except CacheError:
        place.keep_lock()  # another process that took the folder meanwhile is the better reason
        raise


def _write_all(
    method: Method, number: int, time: float, place: RunFolder, manifest: Manifest, complete: bool
) -> Manifest:
    diagnostics = plain(method.diagnostics())
    wall_times = {SECONDS: diagnostics.pop(SECONDS)} if SECONDS in diagnostics else {}
    about = {"frame": number, "time": time, "diagnostics": diagnostics}
    write_arrays(place.frame(number), stored_arrays(method.frame()), about)
    _write_checkpoint(method, number, place, manifest)
    manifest = replace(manifest.with_frame(_entry(about) | wall_times), complete=complete)
    manifest.write(place.manifest)
    return manifest


def stored_arrays(populations: Mapping[str, Mapping[str, NDArray[Any]]]) -> dict[str, NDArray[Any]]:
    """The arrays of a frame under the names they have on disk, such as "points/x"."""
    return {f"{name}/{field}": array for name, fields in populations.items() for field, array in fields.items()}


def _entry(about: dict[str, Any]) -> dict[str, Any]:
    """A frame's entry of the manifest, from the metadata of its file."""
    place_in_run = {"frame": about["frame"], "time": about["time"]}
    return place_in_run | about["diagnostics"] | place_in_run


def _write_checkpoint(method: Method, frame: int, place: RunFolder, manifest: Manifest) -> None:
    arrays, values = method.checkpoint()
    place.keep_lock()
    write_arrays(place.next_checkpoint, arrays, {"frame": frame, "values": values, "manifest": manifest.header()})
    place.rotate_checkpoints()


@dataclass(frozen=True)
class Checkpoint:
    """The state from which a run continues, read from one file."""

    frame: int
    """The last complete frame."""
    values: dict[str, Any]
    manifest: dict[str, Any]
    arrays: dict[str, NDArray[Any]]


def _recover(place: RunFolder, display: Display) -> tuple[Manifest, Checkpoint | None]:
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
            checkpoint = Checkpoint(about["frame"], about["values"], about["manifest"], arrays)
        except CacheError as error:
            damages.append(error)
            continue
        except KeyError as error:
            damages.append(CacheError(f"'{file}' is damaged: it has no {error}"))
            continue
        for damage in damages:
            display.note(f"{damage}; going on from the checkpoint before it, after frame {checkpoint.frame}")
        return checkpoint
    if damages:
        raise CacheError(f"{damages[0]}; the run cannot continue from it: start it again with --overwrite")
    return None


def _catch_up(manifest: Manifest, frame: int, scene: Scene, place: RunFolder, display: Display) -> Manifest:
    """The manifest with the frames up to the checkpoint; missing entries are taken from the frames' metadata."""
    known = {entry["frame"]: entry for entry in manifest.frames}
    entries, damages = [], []
    for number in range(frame + 1):
        try:
            verify_arrays(place.frame(number))
            entries.append(known.get(number) or _entry(read_metadata(place.frame(number))))
        except CacheError as error:
            damages.append(str(error))
            entries.append(known.get(number) or {"frame": number, "time": scene.frame_time(number)})
    if damages:
        listed = "; ".join(damages[:DAMAGES_LISTED])
        more = f"; and {len(damages) - DAMAGES_LISTED} more" if len(damages) > DAMAGES_LISTED else ""
        display.note(f"{listed}{more}: only a run from the start could write such a frame again")
    return replace(manifest, frames=entries, complete=False)
