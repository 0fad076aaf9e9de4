"""A clock that stops while kernels are compiled, so that speeds and remaining times exclude compilation."""

import time

_compiling = 0
_stopped_at = 0.0
_lost = 0.0


def working_time() -> float:
    """Time in seconds since an arbitrary start, excluding compilation."""
    return (_stopped_at if _compiling else time.perf_counter()) - _lost


def compilation_time() -> float:
    """Seconds that this process has spent on compilation so far."""
    return _lost


def stop_clock() -> None:
    """Stop the clock because a compilation begins; compilations may be nested."""
    global _compiling, _stopped_at
    if not _compiling:
        _stopped_at = time.perf_counter()
    _compiling += 1


def start_clock() -> None:
    """Compilation ends."""
    global _compiling, _lost
    _compiling -= 1
    if not _compiling:
        _lost += time.perf_counter() - _stopped_at
