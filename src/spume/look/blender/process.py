"""Runs a script inside Blender: the module `bpy` of some Python, or the program `blender`, in a separate process.

`bpy` brings its own NumPy and USD, so it cannot share a process with spume. It need not share its environment:
SPUME_BLENDER may name the Python of another one.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spume.children import SAFE_PATH
from spume.errors import MissingExtra, SpumeError

VARIABLE = "SPUME_BLENDER"
"""Environment variable that names a Python with `bpy`, or the program `blender`."""
SCRIPTS = Path(__file__).with_name("scripts")


@cache
def blender_command() -> tuple[str, ...] | None:
    """The beginning of a command line that runs a script in Blender; None if Blender is not installed."""
    given = os.environ.get(VARIABLE)
    if given:
        if shutil.which(given) is None:
            raise SpumeError(f"{VARIABLE} is '{given}', which is not a program: name a Python that has bpy, or blender")
        return _command(given)
    if find_spec("bpy") is not None:
        return (sys.executable,)
    program = shutil.which("blender")
    return None if program is None else _command(program)


def _command(program: str) -> tuple[str, ...]:
    if Path(program).name.lower().startswith("blender"):
        return (program, "--background", "--factory-startup", "--python-exit-code", "1", "--python")
    return (program,)


def has_blender() -> bool:
    """Whether Blender is available."""
    return blender_command() is not None


def needed_blender(purpose: str) -> tuple[str, ...]:
    """The beginning of a command line that runs a script in Blender. Raises MissingExtra without Blender; `purpose`
    says what needs it."""
    command = blender_command()
    if command is None:
        missing = MissingExtra("blender", "bpy", purpose)
        missing.args = (f"{missing}, or name a blender program in {VARIABLE}",)
        raise missing
    return command


def run_script(script: str, job: dict[str, Any], arrays: dict[str, NDArray[Any]], purpose: str) -> dict[str, Any]:
    """Run `scripts/<script>.py` in Blender with a job and arrays; returns its report. `purpose` says what needs
    Blender, as in 'writing .blend files'."""
    command = needed_blender(purpose)
    with tempfile.TemporaryDirectory(prefix="spume-blender-") as folder:
        place = Path(folder)
        (place / "job.json").write_text(json.dumps(job))
        np.savez(place / "arrays.npz", **arrays)  # type: ignore[arg-type]  # names of arrays are never allow_pickle
        started = [*command, str(SCRIPTS / f"{script}.py")]
        started += ["--", folder] if len(command) > 1 else [folder]
        # Blender's Python must not find the packages of this one, nor use threads as it was told to.
        hidden = ("PYTHONPATH", "PYTHONHOME", "OMP_NUM_THREADS")
        environment = {name: value for name, value in os.environ.items() if name not in hidden} | {SAFE_PATH: "1"}
        ended = subprocess.run(started, capture_output=True, text=True, env=environment, check=False)
        report = place / "report.json"
        if ended.returncode or not report.exists():
            words = [line for line in (ended.stdout + ended.stderr).splitlines() if line.strip()]
            raise SpumeError(f"Blender failed at {purpose}: {words[-1] if words else 'it said nothing'}")
        found: dict[str, Any] = json.loads(report.read_text())
    return found
