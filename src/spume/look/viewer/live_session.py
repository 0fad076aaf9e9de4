"""A live run: the simulation in this process, the viewer in another, one line of JSON for each message between them."""

import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from spume.children import python_command
from spume.errors import SpumeError
from spume.extras import require
from spume.methods import Progress
from spume.runs.crew import Crew
from spume.runs.loop import Outcome, start_run
from spume.runs.progress import Display
from spume.runs.steering import Requests
from spume.scene.common import Scene
from spume.terminal import tell

PROGRESS = 0.2
"""Least time between two reports of progress to the viewer [s]."""


def run_live(
    scene: Scene,
    folder: Path,
    *,
    name: str,
    host: str,
    port: int,
    paused: bool,
    overwrite: bool,
    threads: int | None,
    display: Display,
    crew: Crew | None = None,
) -> Outcome:
    """Run `scene` and show it in the browser, where it can be paused, changed and restarted. `crew`: of the run."""
    require("viser", "the viewer")
    _check_address(host, port)
    with _viewer(folder, host, port) as viewer:
        requests = Requests(scene, viewer.tell, "paused" if paused else "running")
        viewer.serve(requests)
        return start_run(
            scene, folder, name=name, overwrite=overwrite, threads=threads, display=Told(display, viewer),
            steering=requests, crew=crew,
        )  # fmt: skip


def _check_address(host: str, port: int) -> None:
    """Raise SpumeError, before the run begins, if the viewer cannot listen on `host`. A port in use is not an error:
    the viewer takes the next one."""
    if not 0 < port < 65536:
        raise SpumeError(f"--port {port}: ports go from 1 to 65535")
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        socket.create_server((host, 0), family=family).close()
    except OSError as error:
        raise SpumeError(f"the viewer cannot listen on {host} ({error.strerror}): give another --host") from None


class ViewerProcess:
    """The process of the viewer."""

    def __init__(self, folder: Path, host: str, port: int) -> None:
        self._arguments = [str(folder), host, str(port)]
        self._process: subprocess.Popen[str] | None = None
        self._requests: Requests | None = None
        self._closing = False

    def serve(self, requests: Requests) -> None:
        """Pass the viewer's requests on to `requests`."""
        self._requests = requests

    def start(self) -> None:
        """Start the process; the run must have a frame."""
        assert self._requests is not None
        # One thread of low priority: the threads of a run wait for each other.
        environment = os.environ | {"NUMBA_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        self._process = subprocess.Popen(
            python_command("-m", "spume.look.viewer.live_page", *self._arguments),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment,
        )  # fmt: skip
        threading.Thread(target=self._listen, args=(self._process,), daemon=True).start()
        controls = [asdict(control) for control in self._requests.controls]
        self.tell({"about": "controls", "controls": controls})

    @property
    def is_running(self) -> bool:
        """Whether the process has been started."""
        return self._process is not None

    def tell(self, report: dict[str, Any]) -> None:
        """Send a report to the viewer, if it has been started."""
        if self._process is None or self._process.stdin is None:
            return
        try:
            self._process.stdin.write(json.dumps(report) + "\n")
            self._process.stdin.flush()
        except OSError:
            pass  # it has ended, which the thread that listens to it reports

    def _listen(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        assert self._requests is not None
        for line in process.stdout:
            message = json.loads(line)
            if "address" in message:
                tell(f"{message['address']} (Ctrl-C to stop)", sys.stdout)
            else:
                self._requests.queue.put(message)
        if not self._closing:
            tell("the viewer has ended: the run stops")
            self._requests.queue.put({"do": "stop"})

    def close(self) -> None:
        """End the process."""
        self._closing = True
        if self._process is not None:
            assert self._process.stdin is not None
            try:
                self._process.stdin.close()
                self._process.wait(timeout=10.0)
            except (OSError, subprocess.TimeoutExpired):
                self._process.kill()
                self._process.wait()


@contextmanager
def _viewer(folder: Path, host: str, port: int) -> Iterator[ViewerProcess]:
    viewer = ViewerProcess(folder, host, port)
    try:
        yield viewer
    finally:
        viewer.close()


class Told:
    """A display that forwards to another one and tells the viewer."""

    def __init__(self, inner: Display, viewer: ViewerProcess) -> None:
        self._inner, self._viewer = inner, viewer
        self._told = 0.0

    def begin(self, first: int, last: int, start: float, duration: float) -> None:
        """The first frame is on disk: the viewer can start, or start again."""
        self._inner.begin(first, last, start, duration)
        if self._viewer.is_running:
            self._viewer.tell({"about": "restart"})
        else:
            self._viewer.start()

    def compiling(self, kernel: str) -> None:
        """A kernel is about to be compiled."""
        self._inner.compiling(kernel)
        self._viewer.tell({"about": "progress", "sentence": "compiling kernels (first run only)"})

    def step(self, progress: Progress) -> None:
        """A step is done."""
        self._inner.step(progress)
        now = time.monotonic()
        if now - self._told >= PROGRESS:
            self._told = now
            sentence = f"t = {progress.time:.4g} s, step {progress.steps:,}, Δt = {progress.dt:.2g} s"
            self._viewer.tell({"about": "progress", "sentence": sentence})

    def frame(self, number: int) -> None:
        """A frame is on disk."""
        self._inner.frame(number)
        self._viewer.tell({"about": "frame", "number": number})

    def note(self, text: str) -> None:
        """A sentence for the user."""
        self._inner.note(text)

    def end(self) -> None:
        """The run is over."""
        self._inner.end()
