"""Waiting for other processes, on a machine that may be busy with other things."""

import time
from collections.abc import Callable

PATIENCE = 900.0
"""Time after which a test gives up waiting [s]. It only ends tests that would wait forever: it is far longer than what
they wait for takes on a busy machine."""


def wait_until(condition: Callable[[], object], what: str, pause: float = 0.01) -> None:
    """Ask again and again until `condition` holds; `what` names it in the error."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError(f"not within {PATIENCE:g} s: {what}")
        time.sleep(pause)
