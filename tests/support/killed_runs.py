"""Runs in processes of their own, which tests kill and resume."""

import os
import subprocess
import sys
import time
from pathlib import Path

from ballistic import frame_bytes, without_wall_times

import spume


def finish(*arguments: str) -> None:
    """The command line in a process of its own, to its end."""
    subprocess.run([sys.executable, "-m", "spume.cli", *arguments], check=True, capture_output=True)


def start(file: Path, folder: Path, **environment: str) -> subprocess.Popen:
    """A run in a process of its own."""
    command = [sys.executable, "-m", "spume.cli", "run", str(file), "--out", str(folder)]
    variables = os.environ | environment
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=variables)


def wait_for_frame(folder: Path, number: int) -> None:
    deadline = time.monotonic() + 120
    while not (folder / "frames" / f"frame_{number:05d}.safetensors").exists():
        assert time.monotonic() < deadline
        time.sleep(0.002)


def assert_same_run(folder: Path, whole: Path) -> None:
    assert frame_bytes(folder) == frame_bytes(whole)
    resumed, uninterrupted = spume.open_run(folder), spume.open_run(whole)
    assert resumed.complete
    assert without_wall_times(resumed.diagnostics) == without_wall_times(uninterrupted.diagnostics)
