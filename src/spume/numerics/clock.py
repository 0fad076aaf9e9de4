"""A clock that stops while kernels are compiled, so that speeds and remaining times exclude compilation."""

import contextlib
import time
from collections.abc import Iterator


class Clock:
    """Measures working time and compilation time of this process separately."""

    def __init__(self) -> None:
        self._compiling = 0
        self._stopped_at = 0.0
        self._lost = 0.0

    def working_time(self) -> float:
        """Time in seconds since an arbitrary start, excluding compilation."""
        return (self._stopped_at if self._compiling else time.perf_counter()) - self._lost

    def compilation_time(self) -> float:
        """Seconds that have been spent on compilation so far."""
        return self._lost

    def stop(self) -> None:
        """Stop the clock because a compilation begins; compilations may be nested."""
        if not self._compiling:
            self._stopped_at = time.perf_counter()
        self._compiling += 1

    @contextlib.contextmanager
    def stopped(self) -> Iterator[None]:
        """Stop the clock in the `with` block."""
        self.stop()
        try:
            yield
        finally:
            self.start()

    def start(self) -> None:
        """Compilation ends."""
        self._compiling -= 1
        if not self._compiling:
            self._lost += time.perf_counter() - self._stopped_at


CLOCK = Clock()
"""The clock of this process: `numerics.jit` stops it when a kernel is compiled."""

working_time = CLOCK.working_time
compilation_time = CLOCK.compilation_time
