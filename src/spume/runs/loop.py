"""The loop over frames: build or restore a method, advance it frame by frame, write everything to disk.

Files are written in the order frame, checkpoint, record of the frame. A run killed at any moment loses at most the
current frame: a frame newer than the checkpoint is computed again to the same bits, and records that are missing are
made from the metadata of the frames.
"""

import contextlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from spume.cores import most_threads
from spume.errors import CacheError, CompilationStopped, RunFailed, SceneError
from spume.memory import refuse_without_disk, refuse_without_memory
from spume.numerics.clock import compilation_time, working_time
from spume.runs.compile_ahead import CompileAhead
from spume.runs.crew import Crew
from spume.runs.folder import RunFolder
from spume.runs.machine import record_compilation, record_run
from spume.runs.manifest import Manifest, population_entries
from spume.runs.progress import Display, Silent
from spume.runs.recovery import catch_up, record_of, recover
from spume.runs.steering import Restart, Steering, Unsteered
from spume.runs.stopping import StopRequest, stop_on_signals
from spume.runs.storage import plain
from spume.runs.under_way import RunUnderWay
from spume.scene.common import Scene
from spume.scene.loading import load_laws_of
from spume.version import __version__
from spume.whole_files import DiskFull

SECONDS = "seconds"
"""The key of a method's diagnostics that holds wall times [s]. They differ from run to run, so they are stored in the
manifest and not in the frames, whose files are bit-for-bit reproducible."""

RANKS = "ranks"
"""The key of the record of a frame that holds what its ranks did, likewise."""

WARNINGS = "warnings"
"""The key of a method's diagnostics that holds sentences for the user, by a short name of what they are about."""


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
    changes: Iterable[dict[str, Any]] = (),
    steering: Steering | None = None,
    crew: Crew | None = None,
) -> Outcome:
    """Run `scene` from the start and write the frames to `folder`.

    changes: as in a manifest, what changes in the scene during the run.
    steering: pauses, changes and restarts the run on request.
    crew: the processes that share the points; default: this one alone.
    """
    crew = crew or Crew()
    place, shown = RunFolder(folder), display or Silent()
    with _session(place, threads, shown, scene if crew.size == 1 else None) as stop:
        estimate = crew.estimate(scene)
        refuse_without_memory(estimate, crew.share)
        refuse_without_disk(estimate, place.path)
        for note in scene.notes():
            shown.note(note)
        place.prepare(overwrite)
        try:
            method = crew.build(scene)
            while True:
                manifest = Manifest(
                    name=name or place.path.name,
                    method=scene.method,
                    scene=plain(scene.resolved()),
                    version=__version__,
                    populations=population_entries(method.declarations()),
                    changes=[plain(change) for change in changes],
                    kernels=[_kernels()],
                )
                began = working_time()
                try:
                    run = RunUnderWay(method, scene, place, manifest, shown, stop, steering or Unsteered(), crew)
                    outcome = _start(run)
                except Restart as asked:
                    scene, method, changes = asked.scene, asked.method, ()
                    place.prepare(overwrite=True)
                    continue
                # a run that was paused or changed says nothing about how long the scene takes
                alone = steering is None and crew.size == 1
                if outcome.status == "complete" and alone and not manifest.changes:
                    record_run(scene, estimate.steps, working_time() - began, estimate.seconds)
                record_compilation(scene, compilation_time())
                return outcome
        except CompilationStopped:
            return _as_on_disk(place)


def replay_run(
    folder: str | Path,
    out: str | Path,
    *,
    overwrite: bool = False,
    threads: int | None = None,
    display: Display | None = None,
    trust: bool = False,
    crew: Crew | None = None,
) -> Outcome:
    """Run the scene of the run in `folder` again from the start, with the changes its manifest records at the same
    steps, and write the frames to `out`. They are the same bits. `trust`: execute the files of laws that it names, even
    if the user has not run them before. `crew` as in `start_run`."""
    original = RunFolder(folder)
    if Path(out).resolve() == original.path.resolve():
        raise SceneError(f"'{out}' is the run to repeat: give another folder as --out")
    manifest = Manifest.read(original.manifest)
    load_laws_of(manifest.scene, trust)
    _note_other_versions(manifest, display or Silent(), "run", "repeated")
    return start_run(
        Scene(**manifest.scene), out, name=manifest.name, overwrite=overwrite, threads=threads, display=display,
        changes=manifest.changes, crew=crew,
    )  # fmt: skip


def resume_run(
    folder: str | Path,
    *,
    threads: int | None = None,
    display: Display | None = None,
    trust: bool = False,
    crew: Crew | None = None,
) -> Outcome:
    """Continue the run in `folder` from its last checkpoint. `trust` as in `replay_run`, `crew` as in `start_run`; it
    may have another size than before."""
    crew = crew or Crew()
    place, shown = RunFolder(folder), display or Silent()
    if not place.path.is_dir():
        raise CacheError(f"there is no folder '{place.path}'")
    with _session(place, threads, shown) as stop:
        place.refuse_links()
        place.remove_partial_files()
        manifest, checkpoint = recover(place, shown, crew)
        load_laws_of(manifest.scene, trust)
        scene = Scene(**manifest.scene)
        if manifest.complete:
            return Outcome("complete", place.path, len(manifest.frames), scene.duration)
        _note_other_versions(manifest, shown, "begun", "resumed")
        manifest = manifest.with_kernels(_kernels())
        try:
            method = crew.build(scene)
            run = RunUnderWay(method, scene, place, manifest, shown, stop, Unsteered(), crew)
            if checkpoint is None:
                return _start(run)
            checkpoint.restore(method, scene, crew)
            # Frames from now on hold the populations of this version, whichever version began the run.
            run.manifest = replace(manifest, populations=population_entries(method.declarations()))
            run.manifest = catch_up(run.manifest, checkpoint.frame, scene, place, shown, crew)
            place.keep_lock()
            run.manifest.write(place.manifest)
            return _advance(run)
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


def _kernels() -> dict[str, str]:
    """With what kernels are compiled in this process, as an entry of the manifest."""
    import numba

    from spume.numerics.jit import CACHE

    return {"numba": numba.__version__, "cache": CACHE}


def _note_other_versions(manifest: Manifest, display: Display, then: str, now: str) -> None:
    """Say if the run was done `then` (a participle) by other versions than those that are at work `now`."""
    if manifest.version != __version__:
        display.note(f"{then} by spume {manifest.version}, {now} by {__version__}: the last digits may differ")
    elif manifest.kernels and manifest.kernels[-1] != _kernels():
        before, present = (
            f"Numba {k['numba']} and the cache of {k['cache']}" for k in (manifest.kernels[-1], _kernels())
        )
        display.note(f"{then} with {before}, {now} with {present}: the last digits may differ")


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

    if not 1 <= threads <= (most := most_threads()):
        raise SceneError(f"--threads {threads}: this machine allows 1 to {most} threads")
    numba.set_num_threads(threads)


def _start(run: RunUnderWay) -> Outcome:
    # A manifest without frames comes first: it makes a run that is killed at once one that can be resumed.
    run.manifest = replace(run.manifest, frames=[])
    run.place.records.unlink(missing_ok=True)
    run.manifest.write_header(run.place.manifest)
    run.manifest = _save(run, 0, 0.0)
    return _advance(run)


def _advance(run: RunUnderWay) -> Outcome:
    """Compute all frames that the manifest does not list yet."""
    place, display, scene = run.place, run.display, run.scene
    done, last = len(run.manifest.frames) - 1, scene.frame_count
    display.begin(done, last, run.method.time, scene.duration)
    for number in range(done + 1, last + 1):
        time = scene.frame_time(number)
        try:
            if not _reach(run, time):
                _write_checkpoint(run, number - 1)
                return Outcome("interrupted", place.path, number, run.method.time)
            run.manifest = _save(run, number, time)
            if number == last:
                _complete(run)
            _tell_new_warnings(run.manifest, display)
        except RunFailed as error:
            failure = RunFailed(f"{error}; frames 0 to {number - 1} are good, in '{place.path}'")
            run.steering.finish(run, failure)
            raise failure from error
        display.frame(number)
        run.steering.frame_done(run)
    if not run.manifest.complete:
        _complete(run)
    run.steering.finish(run)
    return Outcome("complete", place.path, last + 1, scene.duration)


def _complete(run: RunUnderWay) -> None:
    run.place.keep_lock()
    run.manifest = replace(run.manifest, complete=True)
    run.manifest.write_header(run.place.manifest)


def _reach(run: RunUnderWay, time: float) -> bool:
    """Advance to `time` [s], with what is due on the way; False if the run was asked to stop."""
    while True:
        run.make_due_changes()
        run.steering.attend(run)
        if run.stop():
            return False
        if run.method.advance(time, run.waits, run.display.step):
            return True
        if run.crew.size > 1 and not run.waits():
            run.stop.ask_for_peer()


def _tell_new_warnings(manifest: Manifest, display: Display) -> None:
    """Report the warnings of the last frame whose kind no earlier frame has reported."""
    *earlier, last = manifest.frames
    if WARNINGS not in last:
        return
    told = {name for entry in earlier for name in entry.get(WARNINGS, {})}
    for name, sentence in last[WARNINGS].items():
        if name not in told:
            display.note(f"warning: {sentence}")


def _save(run: RunUnderWay, number: int, time: float) -> Manifest:
    """Write frame, checkpoint and record to disk, in this order."""
    run.place.keep_lock()
    try:
        return _write_all(run, number, time)
    except CacheError:
        run.place.keep_lock()  # another process that took the folder meanwhile is the better reason
        raise


def _write_all(run: RunUnderWay, number: int, time: float) -> Manifest:
    place = run.place
    diagnostics = plain(run.method.diagnostics())
    wall_times = {SECONDS: diagnostics.pop(SECONDS)} if SECONDS in diagnostics else {}
    if report := run.crew.report():
        wall_times[RANKS] = report
    about = {"frame": number, "time": time, "diagnostics": diagnostics}
    run.crew.write(run.method, "frame", place.frame(number), lambda: place.make_parts_of_frame(number), about)
    _write_checkpoint(run, number)
    place.keep_lock()
    return run.manifest.with_frame(record_of(about) | wall_times, place.manifest)


def _write_checkpoint(run: RunUnderWay, frame: int) -> None:
    place, about = run.place, {"frame": frame, "manifest": run.manifest.header()}
    place.keep_lock()
    run.crew.write(run.method, "checkpoint", place.next_checkpoint, place.make_parts_of_checkpoint, about)
    place.rotate_checkpoints()
