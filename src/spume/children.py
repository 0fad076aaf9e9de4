"""Python processes that do not look for modules in the current folder, where a stranger's files may be: a `queue.py`
beside a scene would be executed in place of the standard library's."""

import multiprocessing
import os
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from typing import Any

SAFE_PATH = "PYTHONSAFEPATH"
"""Environment variable with the meaning of Python's option -P."""


def python_command(*arguments: str) -> list[str]:
    """The command that runs this Python with `arguments`, such as "-m", "spume.cli"."""
    return [sys.executable, "-P", *arguments]


@contextmanager
def process_pool(
    processes: int, initializer: Callable[..., object], arguments: tuple[Any, ...] = ()
) -> Iterator[ProcessPoolExecutor]:
    """A pool of new processes that begin with `initializer`. They are spawned, not forked: threads of Numba, OpenGL and
    Rust do not survive a fork. The caller shuts it down."""
    before = os.environ.get(SAFE_PATH)
    os.environ[SAFE_PATH] = "1"  # processes start when work is submitted, and again when one has been lost
    try:
        yield ProcessPoolExecutor(processes, multiprocessing.get_context("spawn"), initializer, arguments)
    finally:
        if before is None:
            del os.environ[SAFE_PATH]
        else:
            os.environ[SAFE_PATH] = before
