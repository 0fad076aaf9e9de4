"""Available memory and disk space, and errors for runs that do not fit."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from spume.errors import SceneError
from spume.methods import Estimate
from spume.terminal import readable_size

MEMINFO = Path("/proc/meminfo")
CGROUP = Path("/sys/fs/cgroup")
OWN_CGROUP = Path("/proc/self/cgroup")
OWN_STATUS = Path("/proc/self/status")

MOST_STEPS = 1_000_000_000
"""Maximum number of steps of a run: at half a millisecond, the shortest time of a step, it would take a week."""


def available_memory() -> tuple[int, int]:
    """Memory available to this process, and the memory of the machine [bytes].

    Limits of control groups (containers, batch systems) and of `ulimit` count as limits of the machine.
    """
    available, total = _machine_memory()
    for limit, used in (*_cgroup_limits(), *_process_limits()):
        available, total = min(available, max(limit - used, 0)), min(total, limit)
    return available, total


def _machine_memory() -> tuple[int, int]:
    if MEMINFO.exists():
        kilobytes = _numbers_in(MEMINFO)
        return 1024 * kilobytes["MemAvailable"], 1024 * kilobytes["MemTotal"]
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return total, total


def _cgroup_limits() -> Iterator[tuple[int, int]]:
    """Limit and use [bytes] of the control group of this process and of those that contain it.

    Files in the page cache count as used, although the kernel frees them when memory is needed; they are subtracted.
    """
    for folder in _cgroup_folders():
        limit = _number_in(folder / "memory.max") or _number_in(folder / "memory.limit_in_bytes")
        used = _number_in(folder / "memory.current") or _number_in(folder / "memory.usage_in_bytes")
        if limit is not None and used is not None:
            statistics = _numbers_in(folder / "memory.stat")
            yield limit, used - statistics.get("inactive_file", statistics.get("total_inactive_file", 0))


def _cgroup_folders() -> Iterator[Path]:
    """The folders of the control groups of version 2 and, for memory, of version 1, from the innermost to the root."""
    try:
        lines = OWN_CGROUP.read_text().splitlines()
    except OSError:
        lines = []
    entries = [line.split(":", 2) for line in lines if line.count(":") >= 2]
    for _, controllers, path in [*entries, ("", "", "/"), ("", "memory", "/")]:
        if controllers and "memory" not in controllers.split(","):
            continue
        root = CGROUP / "memory" if controllers else CGROUP
        parts = [part for part in path.split("/") if part not in ("", "..")]
        for depth in range(len(parts), -1, -1):
            yield root.joinpath(*parts[:depth])


def _process_limits() -> Iterator[tuple[int, int]]:
    """Limit and use [bytes] of `ulimit -v` (address space) and `ulimit -d` (data)."""
    try:
        import resource
    except ImportError:  # not on Windows
        return
    kilobytes = _numbers_in(OWN_STATUS)
    for kind, key in ((resource.RLIMIT_AS, "VmSize"), (resource.RLIMIT_DATA, "VmData")):
        limit, _ = resource.getrlimit(kind)
        if limit != resource.RLIM_INFINITY and key in kilobytes:
            yield limit, 1024 * kilobytes[key]


def _number_in(file: Path) -> int | None:
    try:
        return int(file.read_text())
    except (OSError, ValueError):
        return None


def _numbers_in(file: Path) -> dict[str, int]:
    """The numbers of a file with lines such as "MemTotal: 100 kB", by their names."""
    try:
        lines = [line.split() for line in file.read_text().splitlines()]
    except OSError:
        return {}
    return {words[0].rstrip(":"): int(words[1]) for words in lines if len(words) > 1 and words[1].isdigit()}


def amount(size: float) -> str:
    """A number of bytes in readable form."""
    return readable_size(size) if size < 1e15 else f"{size:.2g} bytes"


def refuse_without_memory(estimate: Estimate, share: float = 1.0) -> None:
    """Raise SceneError if the scene needs more memory than this process can have, or would take too many steps. `share`
    of it is on this machine."""
    refuse_memory(share * estimate.memory, f"{round(share * estimate.points):,} points")
    if not estimate.steps <= MOST_STEPS:
        raise SceneError(
            f"the scene would take {estimate.steps:.3g} steps, and {MOST_STEPS:.0e} is the most: a shorter duration, "
            "larger cells or softer or denser materials need fewer"
        )


def refuse_memory(needed: float, what: str, advice: str = "make the scene smaller or coarser") -> None:
    """Raise SceneError if `needed` [bytes] of memory for `what` is more than this process can have."""
    available, total = available_memory()
    if needed > available:
        raise SceneError(
            f"the scene needs about {amount(needed)} of memory for {what}, and "
            f"{amount(available)} of this machine's {amount(total)} is available: {advice}"
        )


def refuse_without_disk(estimate: Estimate, folder: Path) -> None:
    """Raise SceneError if the frames of a run need more space than is free on the disk of `folder`."""
    free = free_space(folder)
    if estimate.disk > free:
        raise SceneError(
            f"the {estimate.frames:,} frames need about {amount(estimate.disk)}, and {amount(free)} is free on the disk"
            f" of '{folder}': lower frame_rate or make the scene coarser"
        )


def free_space(folder: Path) -> int:
    """Free bytes on the disk where `folder` is, or will be."""
    existing = folder.absolute()
    while not existing.exists():
        existing = existing.parent
    return shutil.disk_usage(existing).free
