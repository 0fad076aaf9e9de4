"""Work on a Dask cluster: tasks are given to the workers of a scheduler, and given again when something is lost.

Folders are the memory of a cluster: all workers must see the files of a run under the same path. A task must give the
same result when it is begun again. Lost workers are the scheduler's business, which gives their tasks to others; a lost
scheduler is waited for, and gets all unfinished tasks again.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from spume.errors import MissingExtra, SceneError

Item = TypeVar("Item")
Result = TypeVar("Result")

FIRST_ANSWER = 10.0
"""How long a scheduler may take to answer at first [s]."""
PATIENCE = 600.0
"""How long a scheduler that was there is waited for [s]."""
PAUSE = 0.5
ATTEMPTS = 10
"""How often a task is begun again after it lost several workers in turn."""


@contextmanager
def connected(address: str, patience: float = 0.0) -> Iterator[Any]:
    """A client of the scheduler at `address`, waited for up to `patience` [s]."""
    try:
        from distributed import Client
    except ImportError:
        raise MissingExtra("cluster", "distributed", "work on a cluster") from None
    limit = time.monotonic() + patience
    while True:
        try:
            client = Client(address, timeout=FIRST_ANSWER, set_as_default=False)
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
    """Each of `items` with what `task` returns for it, in the order in which they are done.

    An exception of a task is raised here. `note` is told what was lost.
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
