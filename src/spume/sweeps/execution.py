"""Many jobs at once, in processes on this machine or on a cluster, with one progress display and stopped together."""

import signal
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, wait
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

from spume.children import process_pool
from spume.cluster import each_on_cluster
from spume.cores import cores, most_threads
from spume.memory import available_memory
from spume.methods import method_class
from spume.runs.folder import RunFolder
from spume.runs.progress import readable_time
from spume.scene.common import Scene
from spume.sweeps.jobs import Job, JobResult, work

INTERVAL = 5.0
"""Interval of progress lines [s]."""
LOSSES = 2
"""How often a job may lose its process, without having written a frame, before it gets a process of its own."""

Note = Callable[[str], None]


def suitable_processes(scenes: Sequence[Scene], processes: int | None = None) -> tuple[int, int]:
    """Number of simultaneous runs and the threads of each, limited by the number of cores, by
    NUMBA_NUM_THREADS and by memory."""
    if processes is None:
        most = max(method_class(scene.method).estimate(scene).memory for scene in scenes)
        fit = int(available_memory()[0] // max(most, 1))
        processes = max(1, min(len(scenes), cores(), fit))
    return processes, max(1, min(cores() // processes, most_threads()))


def execute(
    jobs: Sequence[Job],
    frames: int,
    note: Note,
    processes: int = 1,
    cluster: str | None = None,
    on_done: Callable[[Job, JobResult], None] = lambda job, result: None,
) -> dict[str, JobResult]:
    """Make all runs, `processes` at once or on the `cluster`; returns how each ended, by folder.

    `frames` is the number of frames of all jobs together. Ctrl-C stops all runs at their next frame, and raises
    KeyboardInterrupt when they have stopped.
    """
    if not jobs:
        return {}
    stop = Path(jobs[0].stop_file)
    stop.unlink(missing_ok=True)
    results: dict[str, JobResult] = {}

    def done(job: Job, result: JobResult) -> None:
        results[job.folder] = result
        on_done(job, result)

    with _Watcher(jobs, frames, note):
        try:
            if cluster is None and processes == 1:
                _execute_here(jobs, done)
            elif cluster is None:
                _execute_locally(jobs, processes, note, done)
            else:
                for job, result in each_on_cluster(cluster, work, jobs, note):
                    done(job, result)
        except KeyboardInterrupt:
            stop.touch()
            raise
    if any(result.status == "interrupted" for result in results.values()):
        raise KeyboardInterrupt
    return results


def _execute_here(jobs: Sequence[Job], done: Callable[[Job, JobResult], None]) -> None:
    """One after another in this process, which Ctrl-C stops after the current step."""
    for job in jobs:
        result = work(job)
        done(job, result)
        if result.status == "interrupted":
            return


def _ignore_interrupts() -> None:
    """A process that waits for work ignores Ctrl-C; runs have their own handlers, which stop them."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _execute_locally(jobs: Sequence[Job], processes: int, note: Note, done: Callable[[Job, JobResult], None]) -> None:
    left = {job.folder: job for job in jobs}
    lost = dict.fromkeys(left, 0)
    while left:
        before = {folder: _frames(folder) for folder in left}
        try:
            _in_pool(left, processes, note, done)
        except BrokenProcessPool:
            note("a process was lost; its run continues from its last checkpoint")
            for folder in list(left):
                if Path(folder).exists():  # it had begun
                    lost[folder] = 0 if _frames(folder) > before[folder] else lost[folder] + 1
            for folder in [folder for folder in left if lost[folder] >= LOSSES]:
                # It is unknown which of the running jobs ended the process: run each in its own process.
                job = left[folder]
                try:
                    _in_pool({folder: job}, 1, note, done)
                except BrokenProcessPool:
                    reason = f"its process was lost {LOSSES + 1} times without a frame: is there too little memory?"
                    done(job, JobResult("failed", reason))
                del left[folder]


def _in_pool(left: dict[str, Job], processes: int, note: Note, done: Callable[[Job, JobResult], None]) -> None:
    """Make the runs in `left`, and remove those that are done. Raises BrokenProcessPool when a process is lost."""
    with process_pool(processes, _ignore_interrupts) as pool:
        try:
            futures = {pool.submit(work, job): job for job in left.values()}
        except OSError as error:  # a process ended while the next one was started
            raise BrokenProcessPool(str(error)) from error
    waiting = set(futures)
    try:
        while waiting:
            finished, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            for future in finished:
                job = futures[future]
                done(job, future.result())
                del left[job.folder]
    except KeyboardInterrupt:
        note("stopping all runs; once more stops at once")
        Path(next(iter(futures.values())).stop_file).touch()
        pool.shutdown(wait=False, cancel_futures=True)
        wait(waiting)
        raise
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _frames(folder: str) -> int:
    return len(RunFolder(folder).frames_on_disk())


class _Watcher:
    """Prints the progress of all runs at intervals, from the frames on disk."""

    def __init__(self, jobs: Sequence[Job], frames: int, note: Note) -> None:
        self._folders = [job.folder for job in jobs]
        self._frames, self._note = max(frames, 1), note
        self._ended = threading.Event()

    def __enter__(self) -> None:
        self._began, self._first = time.monotonic(), self._count()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def __exit__(self, *error: object) -> None:
        self._ended.set()
        self._thread.join()

    def _count(self) -> int:
        return sum(_frames(folder) for folder in self._folders)

    def _watch(self) -> None:
        while not self._ended.wait(INTERVAL):
            done = self._count()
            line = f"{len(self._folders)} runs: {done} of {self._frames} frames ({done / self._frames:.0%})"
            if done > self._first:
                spent = time.monotonic() - self._began
                line += f", {readable_time(spent * max(self._frames - done, 0) / (done - self._first))} left"
            self._note(line)
