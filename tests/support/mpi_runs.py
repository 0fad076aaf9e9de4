"""Runs on several ranks in processes of their own."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

import spume
from spume.runs.launching import mpiexec
from spume.runs.parts import read_checked_whole

PATIENCE = 600.0
"""Time after which a run on ranks counts as hanging [s]."""


def command(size: int, *arguments: str) -> list[str]:
    """The command line on so many ranks."""
    return [mpiexec(), "-n", str(size), sys.executable, "-m", "spume", *arguments]


def environment(threads: int = 1) -> dict[str, str]:
    return {**os.environ, "NUMBA_NUM_THREADS": str(threads)}


def start(size: int, *arguments: str, threads: int = 1) -> subprocess.Popen:
    """The command line on so many ranks, in the background."""
    return start_line(command(size, *arguments), threads)


def start_line(line: list[str], threads: int = 1) -> subprocess.Popen:
    """A command in the background."""
    return subprocess.Popen(
        line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment(threads),
        start_new_session=True,
    )  # fmt: skip


def finish(size: int, *arguments: str, threads: int = 1) -> subprocess.CompletedProcess:
    """The command line on so many ranks, to its end; with one, without MPI."""
    line = command(size, *arguments) if size > 1 else [sys.executable, "-m", "spume", *arguments]
    return subprocess.run(line, capture_output=True, text=True, env=environment(threads), timeout=PATIENCE)


def frames(folder: Path) -> list[dict[str, Any]]:
    """The arrays of each frame, those of points sorted by id."""
    found = []
    for number in range(len(spume.open_run(folder))):
        _, arrays = read_checked_whole(folder / "frames" / f"frame_{number:05d}.safetensors")
        order = {name[:-3]: np.argsort(array) for name, array in arrays.items() if name.endswith("/id")}
        found.append({name: array[order.get(name.split("/")[0], ...)].tobytes() for name, array in arrays.items()})
    return found


def assert_same(folder: Path, whole: Path) -> None:
    """The frames and diagnostics of two runs are the same, but for the order of the points."""
    assert frames(folder) == frames(whole)
    one, other = spume.open_run(folder), spume.open_run(whole)
    assert one.complete
    assert other.complete
    for a, b in zip(one.diagnostics, other.diagnostics, strict=True):
        assert without_times(a) == without_times(b)


def without_times(record: dict[str, Any]) -> dict[str, Any]:
    """The record of a frame without what differs from run to run."""
    return {name: value for name, value in record.items() if name not in ("seconds", "ranks")}
