"""Work on many frames: a progress bar, in several processes where that helps, cut short cleanly."""

import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import as_completed
from concurrent.futures.process import BrokenProcessPool
from typing import TextIO, TypeVar

from spume.children import process_pool
from spume.errors import SpumeError
from spume.terminal import lasting, tell

Result = TypeVar("Result")
PLAIN_INTERVAL = 5.0
"""Seconds between two lines of progress where there is no terminal."""


def each_frame(
    task: Callable[[int], Result],
    numbers: list[int],
    label: str,
    processes: int = 1,
    stream: TextIO | None = None,
    cluster: str | None = None,
) -> dict[int, Result]:
    """The result of `task` for each of `numbers`. With several processes, or on a cluster, the task must be a function
    of a module, or a partial of one. `cluster` is the address of a Dask scheduler. Progress is printed on `stream`, by
    default stderr."""
    if cluster is not None:
        from spume.cluster import each_on_cluster

        done = each_on_cluster(cluster, task, numbers, lambda text: tell(text, stream))
        found = dict(_shown(done, len(numbers), label, stream))
        return {number: found[number] for number in numbers}
    if processes <= 1 or len(numbers) <= 2:
        return dict(_shown(((number, task(number)) for number in numbers), len(numbers), label, stream))
    # An interrupt is this process's to handle: the others finish the frames they have begun.
    ignore = (signal.SIGINT, signal.SIG_IGN)
    with process_pool(processes, signal.signal, ignore) as made, made as pool:
        waiting = {pool.submit(task, number): number for number in numbers}
        try:
            finished = ((waiting[future], future.result()) for future in as_completed(waiting))
            results = dict(_shown(finished, len(numbers), label, stream))
        except BrokenProcessPool:
            raise SpumeError(
                f"{label}: a process was lost, perhaps for want of memory: the same command does what is missing; "
                "--processes 1 needs the least memory"
            ) from None
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return {number: results[number] for number in numbers}


def _shown(items: Iterable[Result], total: int, label: str, stream: TextIO | None) -> Iterator[Result]:
    chosen = lasting(sys.stderr if stream is None else stream)
    return _live(items, total, label, chosen) if chosen.isatty() else _plain(items, total, label, chosen)


def _live(items: Iterable[Result], total: int, label: str, stream: TextIO) -> Iterator[Result]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(bar_width=30), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(file=stream), disable=total == 0) as bar:
        yield from bar.track(items, total=total, description=label)


def _plain(items: Iterable[Result], total: int, label: str, stream: TextIO) -> Iterator[Result]:
    began = printed = time.monotonic()
    for done, item in enumerate(items, start=1):
        now = time.monotonic()
        if done == total or now - printed >= PLAIN_INTERVAL:
            printed = now
            tell(f"{label}: {done} of {total} frames, {now - began:.1f} s", stream)
        yield item
