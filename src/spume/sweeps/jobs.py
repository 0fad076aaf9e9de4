"""One run among many, started or resumed in any process."""

import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from spume.consent import accept
from spume.errors import CacheError, SpumeError
from spume.runs.folder import RunFolder
from spume.runs.loop import resume_run, start_run
from spume.runs.manifest import Manifest
from spume.runs.progress import Silent
from spume.scene.common import Scene
from spume.scene.loading import load_laws_of

Status = Literal["complete", "interrupted", "failed", "waiting"]
LOCK_PATIENCE = 120.0
"""Timeout for a folder that another process is writing [s]: a worker that the scheduler has given up may still be
running."""
PAUSE = 0.5
_ONE_RUN = threading.Lock()
"""Workers of a cluster may have several threads. Kernels use all cores of a process themselves, so runs take turns."""


@dataclass(frozen=True)
class Job:
    """A run to be made."""

    folder: str
    name: str
    scene: dict[str, Any]
    """Resolved tables of the scene."""
    stop_file: str
    """The run stops after a frame when this file exists."""
    threads: int | None = None
    trusted: tuple[str, ...] = ()
    """Hashes of the Python files that may be executed, see `consent`."""


@dataclass(frozen=True)
class JobResult:
    """How a job ended."""

    status: Status
    sentence: str = ""
    """Why it failed."""
    seconds: float = 0.0
    """Wall time of this attempt."""


class _Stopped(Exception):
    """All runs were asked to stop."""


class _Watch(Silent):
    """A display that shows nothing, and ends the run after a frame when it should stop."""

    def __init__(self, stop_file: str) -> None:
        self._stop_file = Path(stop_file)

    def frame(self, number: int) -> None:
        """A frame is on disk, and its checkpoint with it."""
        if self._stop_file.exists():
            raise _Stopped


def work(job: Job) -> JobResult:
    """Make the run of `job`, from its last checkpoint if it has one. A failed run is a result, too."""
    began = time.monotonic()
    with _ONE_RUN:
        try:
            status = _patiently(job)
            sentence = ""
        except _Stopped:
            status, sentence = "interrupted", ""
        except SpumeError as error:
            status, sentence = "failed", str(error)
    return JobResult(status, sentence, time.monotonic() - began)


def _patiently(job: Job) -> Status:
    limit = time.monotonic() + LOCK_PATIENCE
    while True:
        try:
            return _run(job)
        except CacheError as error:
            if "being written by another process" not in str(error) or time.monotonic() > limit:
                raise
            time.sleep(PAUSE)


def _run(job: Job) -> Status:
    if Path(job.stop_file).exists():
        raise _Stopped
    accept(job.trusted)
    watch = _Watch(job.stop_file)
    place = RunFolder(job.folder)
    if place.manifest.exists() or place.checkpoints():
        return resume_run(job.folder, threads=job.threads, display=watch).status
    load_laws_of(job.scene, trust=False)
    scene = Scene(**job.scene)
    # Frames without a manifest are left from a run that was killed at its very beginning.
    return start_run(scene, job.folder, name=job.name, overwrite=True, threads=job.threads, display=watch).status


def state_of(folder: Path) -> tuple[Status, int]:
    """Status and number of frames of the run in `folder`, from its files."""
    place = RunFolder(folder)
    if not place.manifest.exists():
        return "waiting", 0
    try:
        manifest = Manifest.read(place.manifest)
    except CacheError:
        return "interrupted", len(place.frames_on_disk())
    return ("complete" if manifest.complete else "interrupted"), len(manifest.frames)
