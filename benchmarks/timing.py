"""Timing for benchmarks: alternating candidates, best of several rounds."""

import os
import platform
import time
from collections.abc import Callable
from pathlib import Path


def best_of(
    candidates: dict[str, Callable[[], None]], rounds: int = 15, clock: Callable[[], float] = time.perf_counter
) -> dict[str, float]:
    """Shortest time of each candidate [s]; candidates alternate, so that all meet the same conditions. With one thread
    on a busy machine, `clock` is better `time.process_time`."""
    for run in candidates.values():
        run()
    best = dict.fromkeys(candidates, float("inf"))
    for _ in range(rounds):
        for name, run in candidates.items():
            start = clock()
            run()
            best[name] = min(best[name], clock() - start)
    return best


def machine() -> str:
    """Processor, cores and load, for the heading of a table."""
    model = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [
            line.partition(":")[2].strip() for line in info.read_text().splitlines() if line.startswith("model name")
        ]
        model = names[0] if names else model
    load = f", load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    return f"{model}, {os.cpu_count()} cores, Python {platform.python_version()}{load}"
