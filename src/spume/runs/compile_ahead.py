"""A second process that compiles the last kernels of a step while the run itself compiles the first.

Numba compiles one kernel at a time. Both processes write to the same cache, so the run finds the late kernels there
when it needs them. The process is started when the first kernel turns out to be missing; if it fails or is too slow,
the run compiles everything itself.
"""

import contextlib
import json
import subprocess
import sys
import tempfile
from types import TracebackType
from typing import Any

from spume.children import python_command
from spume.cores import cores
from spume.methods import method_class
from spume.scene.common import Scene


class CompileAhead:
    """Starts the process at the first call, and ends it with the run."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self._process: subprocess.Popen[bytes] | None = None
        self._wanted = cores() > 1 and hasattr(method_class(scene.method), "rehearse")

    def start(self) -> None:
        """A kernel is missing."""
        if not self._wanted:
            return
        self._wanted = False
        # It reads the scene from a file: through a pipe, a run would wait for a process that does not read.
        with contextlib.suppress(OSError), tempfile.TemporaryFile("w+", encoding="utf-8") as scene:
            json.dump(self._scene.resolved(), scene)
            scene.seek(0)
            command = python_command("-m", "spume.runs.compile_ahead")
            self._process = subprocess.Popen(command, stdin=scene, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def __enter__(self) -> "CompileAhead":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()


def compile_ahead(tables: dict[str, Any]) -> None:
    """Build the scene and walk through the stages of its step, from the last to the first."""
    scene = Scene(**tables)
    method: Any = method_class(scene.method)(scene)
    method.rehearse()


if __name__ == "__main__":
    compile_ahead(json.load(sys.stdin))
