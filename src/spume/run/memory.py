"""How much memory there is, and refusing what does not fit."""

import os
from pathlib import Path

from spume.errors import SceneError
from spume.methods import Estimate
from spume.run.storage import readable_size

MEMINFO = Path("/proc/meminfo")
CGROUP = Path("/sys/fs/cgroup")


def available_memory() -> tuple[int, int]:
    """Memory a new process can use now, and the machine's memory in all [bytes]; a container's limit counts."""
    available, total = _machine_memory()
    limit, used = _number_in(CGROUP / "memory.max"), _number_in(CGROUP / "memory.current")
    if limit is None or used is None:
        return available, total
    return min(available, max(limit - used, 0)), min(total, limit)


def _machine_memory() -> tuple[int, int]:
    if MEMINFO.exists():
        lines = (line.split() for line in MEMINFO.read_text().splitlines())
        kilobytes = {words[0].rstrip(":"): int(words[1]) for words in lines if len(words) > 1}
        return 1024 * kilobytes["MemAvailable"], 1024 * kilobytes["MemTotal"]
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return total, total


def _number_in(file: Path) -> int | None:
    try:
        return int(file.read_text())
    except (OSError, ValueError):
        return None


def refuse_without_memory(estimate: Estimate) -> None:
    """Raise SceneError when the machine has not the memory a scene needs."""
    available, total = available_memory()
    if estimate.memory > available:
        raise SceneError(
            f"the scene needs about {readable_size(estimate.memory)} of memory for {estimate.points:,} points, and "
            f"{readable_size(available)} of this machine's {readable_size(total)} is available: "
            "make the scene smaller or coarser"
        )
