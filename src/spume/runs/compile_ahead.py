"""A second process that compiles the last kernels of a step while the run itself compiles the first.

Numba compiles one kernel at a time. Both processes write to the same cache, so the run finds the late kernels there
when it needs them. The process is started when the first kernel turns out to be missing; if it fails or is too slow,
the run compiles everything itself.
"""

import json
import subprocess
import sys
from types import TracebackType
from typing import Any

from spume.cores import cores
from spume.methods import load, method_class, method_entry
from spume.scene.common import Scene


class CompileAhead:
    """Starts the process at the first call, and ends it with the run."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self._process: subprocess.Popen[str] | None = None
        self._wanted = bool(method_entry(scene.method).late_stages) and cores() > 1

    def start(self) -> None:
        """A kernel is missing."""
        if not self._wanted:
            return
        self._wanted = False
        self._process = subprocess.Popen(
            [sys.executable, "-m", "spume.runs.compile_ahead"],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(self._scene.resolved()))
        self._process.stdin.close()

    def __enter__(self) -> "CompileAhead":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()


def compile_late_stages(tables: dict[str, Any]) -> None:
    """Build the scene and call the late stages of its method."""
    scene = Scene(**tables)
    method = method_class(scene.method)(scene)
    load(method_entry(scene.method).late_stages)(method)


if __name__ == "__main__":
    compile_late_stages(json.load(sys.stdin))
