"""A clock that stands still while kernels are compiled, so that speeds and times left tell of the simulation alone."""

import time

_compiling = 0
_stopped_at = 0.0
_lost = 0.0


def working_time() -> float:
    """Seconds, from an arbitrary start, without those spent on compilation."""
    return (_stopped_at if _compiling else time.perf_counter()) - _lost


def compilation_time() -> float:
    """Seconds that this process has spent on compilation so far."""
    return _lost


def stop_clock() -> None:
    """Compilation begins; a kernel that is compiled for another one counts within it."""
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
