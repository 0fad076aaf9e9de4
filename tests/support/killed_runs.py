"""Runs in processes of their own, which tests kill and resume."""

import os
import random
import subprocess
import sys
import time
from pathlib import Path

from ballistic import frame_bytes, without_wall_times
from waiting import wait_until

import spume


def finish(*arguments: str) -> None:
    """The command line in a process of its own, to its end."""
    subprocess.run([sys.executable, "-m", "spume.cli", *arguments], check=True, capture_output=True)


def start(file: Path, folder: Path, **environment: str) -> subprocess.Popen:
    """A run in a process of its own."""
    command = [sys.executable, "-m", "spume.cli", "run", str(file), "--out", str(folder)]
    variables = os.environ | environment
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=variables)


def wait_for_frame(process: subprocess.Popen, folder: Path, number: int) -> None:
    """Wait until a run has written a frame, or has ended."""
    file = folder / "frames" / f"frame_{number:05d}.safetensors"
    wait_until(lambda: file.exists() or process.poll() is not None, f"there is {file}", pause=0.002)
    assert file.exists()


def assert_same_run(folder: Path, whole: Path) -> None:
    assert frame_bytes(folder) == frame_bytes(whole)
    resumed, uninterrupted = spume.open_run(folder), spume.open_run(whole)
    assert resumed.complete
    assert without_wall_times(resumed.diagnostics) == without_wall_times(uninterrupted.diagnostics)


def run_whole(folder: Path, scene: str) -> tuple[Path, Path]:
    """Write a scene to `folder` and run it without interruption; return its file and the folder of the run."""
    file = folder / "scene.toml"
    file.write_text(scene)
    finish("run", str(file), "--out", str(folder / "whole"))
    return file, folder / "whole"


def assert_resumes_after_kill(file: Path, whole: Path, folder: Path, frame: int) -> None:
    """Kill a run shortly after it wrote `frame`, resume it and compare it with the whole one."""
    process = start(file, folder)
    wait_for_frame(process, folder, frame)
    time.sleep(random.Random(frame).uniform(0.0, 0.03))
    process.kill()
    process.communicate()
    finish("resume", str(folder))
    assert_same_run(folder, whole)


def assert_same_with_one_thread(file: Path, whole: Path, folder: Path) -> None:
    finish("run", str(file), "--out", str(folder), "--threads", "1")
    assert_same_run(folder, whole)
