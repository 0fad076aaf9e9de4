"""Number of cores and threads available to this process."""

import os


def cores() -> int:
    """Number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def most_threads() -> int:
    """Number of threads that the kernels of this process may use: NUMBA_NUM_THREADS if it is set, else all cores."""
    import numba

    most: int = numba.config.NUMBA_NUM_THREADS  # type: ignore[attr-defined]  # set at run time
    return most
