"""Work on a Dask cluster: tasks are submitted to a scheduler, and submitted again when workers are lost.

All workers must see the files of a run under the same path. A task must give the same result when it is restarted. The
scheduler reassigns the tasks of lost workers; if the scheduler itself is lost, all unfinished tasks are submitted again
once it is back.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from spume.errors import SceneError
from spume.extras import require

Item = TypeVar("Item")
Result = TypeVar("Result")

FIRST_ANSWER = 10.0
"""Timeout of the first connection to a scheduler [s]."""
PATIENCE = 600.0
"""Timeout for a lost scheduler to return [s]."""
PAUSE = 0.5
ATTEMPTS = 10
"""Number of times a task is restarted after losing several workers in turn."""


@contextmanager
def connected(address: str, patience: float = 0.0) -> Iterator[Any]:
    """A client of the scheduler at `address`; waits for it up to `patience` [s]."""
    distributed = require("distributed", "work on a cluster")
    limit = time.monotonic() + patience
    while True:
        try:
            client = distributed.Client(address, timeout=FIRST_ANSWER, set_as_default=False)
            break
        except ValueError as error:
            raise SceneError(f"--cluster {address}: this is not the address of a scheduler: {error}") from None
        except (OSError, TimeoutError):
            if time.monotonic() >= limit:
                raise SceneError(
                    f"--cluster {address}: no Dask scheduler answers there; start one with 'dask scheduler' and its "
                    "workers with 'dask worker ADDRESS', and give its address such as tcp://host:8786"
                ) from None
            time.sleep(PAUSE)
    try:
        yield client
    finally:
        client.close(timeout=2)


def each_on_cluster(
    address: str, task: Callable[[Item], Result], items: Sequence[Item], note: Callable[[str], None]
) -> Iterator[tuple[Item, Result]]:
    """Each of `items` with the result of `task`, in order of completion.

    An exception of a task is raised here. `note` is called with a sentence about each loss.
    """
    pending = list(range(len(items)))
    killed = dict.fromkeys(pending, 0)
    patience = 0.0
    while pending:
        with connected(address, patience) as client:
            patience = PATIENCE
            for index, outcome, value in _round(client, task, items, pending):
                if outcome == "done":
                    pending.remove(index)
                    yield items[index], value
                elif outcome == "killed":
                    killed[index] += 1
                    if killed[index] >= ATTEMPTS:
                        raise SceneError(f"--cluster {address}: {killed[index]} times all workers of a task were lost")
                    note("workers were lost; their work is given to others")
                else:
                    note("the scheduler was lost; waiting for it to come back")
                    break


def _round(
    client: Any, task: Callable[[Item], Result], items: Sequence[Item], pending: list[int]
) -> Iterator[tuple[int, str, Any]]:
    """The outcome of each pending task: done with its value, killed, or lost together with the scheduler."""
    from concurrent.futures import CancelledError

    from distributed import KilledWorker, as_completed
    from distributed.comm import CommClosedError

    futures = {client.submit(task, items[index], pure=False): index for index in pending}
    waiting = as_completed(list(futures), loop=client.loop)
    try:
        for future in waiting:
            index = futures[future]
            try:
                yield index, "done", future.result()
            except KilledWorker:
                again = client.submit(task, items[index], pure=False)
                futures[again] = index
                waiting.add(again)
                yield index, "killed", None
            except (CancelledError, CommClosedError, OSError):
                yield index, "lost", None
                return
    except BaseException:
        client.cancel(list(futures))
        raise
