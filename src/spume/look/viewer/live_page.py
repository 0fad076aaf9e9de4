"""The viewer of a live run, in a process of its own: the page of `spume view` with buttons and sliders for the run.

`live_session` starts it, writes reports to its standard input and reads requests from its standard output, one line of
JSON each. It ends when its input is closed.
"""

import contextlib
import json
import math
import os
import queue
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any, TextIO

from spume.errors import SpumeError
from spume.look.viewer.server import Viewer, plain_text
from spume.runs.folder import RunFolder
from spume.scene.controls import Control
from spume.terminal import tell

SETTLED = 0.25
"""Time a slider must have been at rest before its value is requested [s]."""
YIELDING = 10
"""Niceness: the run goes first."""
FRAMES_MAY_VANISH = contextlib.suppress(SpumeError, OSError, IndexError)
"""A restart deletes frames while they are read; the viewer shows those that follow."""
PAUSE, RESUME, STEP, FRAME, RESTART = "Pause", "Resume", "One step", "One frame", "Restart"
REQUESTS = {PAUSE: "pause", RESUME: "resume", STEP: "step", FRAME: "frame"}
RESET = "Values of the scene"
PHASES = {"running": "running", "paused": "paused", "finished": "finished", "failed": "stopped by an error"}


class Slider:
    """A slider for a control. On a logarithmic one 0 is the value of the scene and 1 ten times that; its label has the
    value itself."""

    def __init__(self, gui: Any, control: Control) -> None:
        self.control = control
        low, high = self._position(control.low), self._position(control.high)
        step = 10.0 ** math.floor(math.log10((high - low) / 200.0))
        low, high = math.ceil(low / step - 1e-9) * step, math.floor(high / step + 1e-9) * step
        start = self._position(control.value)
        self.handle = gui.add_slider(self._label(control.value), min(low, start), max(high, start), step, start)
        self.moved = 0.0
        """When it was moved last; 0: its value is known."""
        self.handle.on_update(lambda _: self._on_update())

    def _position(self, value: float) -> float:
        return math.log10(value / self.control.value) if self.control.scale == "logarithmic" else value

    def _label(self, value: float) -> str:
        unit = self.control.unit
        if self.control.scale == "linear":
            return f"{self.control.label} [{unit}]" if unit else self.control.label
        return f"{self.control.label} {value:.4g} {unit}".rstrip()

    @property
    def value(self) -> float:
        """The value of the control, within its range and, on a logarithmic slider, rounded to four digits."""
        control, position = self.control, float(self.handle.value)
        if control.scale == "logarithmic":
            value = control.value if position == 0 else float(f"{control.value * 10**position:.4g}")
        else:
            value = position
        return min(max(value, control.low), control.high)

    def _on_update(self) -> None:
        self.moved = time.monotonic()
        self.handle.label = self._label(self.value)

    def show(self, value: float) -> None:
        """Move it to a value."""
        self.handle.value = self._position(value)
        self.handle.label = self._label(value)
        self.moved = 0.0


class LivePage:
    """A viewer of one run with buttons and sliders."""

    def __init__(self, folder: Path, host: str, port: int, requests: TextIO) -> None:
        self.viewer = Viewer([folder], host, port)
        self.folder = RunFolder(folder)
        self.sliders: dict[str, Slider] = {}
        self.values: dict[str, float] = {}
        """Values that the run has reported."""
        self._requests = requests
        self._lock = threading.Lock()
        gui = self.viewer.server.gui
        with gui.add_folder("Simulation", order=-2.0):
            self.status = gui.add_markdown("")
            self.buttons = gui.add_button_group("Run", [PAUSE, RESUME])
            self.more = gui.add_button_group("Go on by", [STEP, FRAME])
            restart = gui.add_button(RESTART, hint="from the start, with the values below")
            self.trouble = gui.add_markdown("", visible=False)
        for group in (self.buttons, self.more):
            group.on_click(lambda event: self.ask({"do": REQUESTS[event.target.value]}))
        restart.on_click(lambda _: self.ask({"do": "restart"}))
        self.folder_of_sliders = gui.add_folder("Adjust", order=-1.0)
        self._phase, self._sentence = "", ""

    def ask(self, request: dict[str, Any]) -> None:
        """Send a request to the run."""
        self.trouble.visible = False
        with self._lock:
            self._requests.write(json.dumps(request) + "\n")
            self._requests.flush()

    def take(self, report: dict[str, Any]) -> None:
        """Show a report of the run."""
        kind = report["about"]
        if kind == "controls":
            self._add_sliders([Control(**each) for each in report["controls"]])
        elif kind == "phase":
            self._phase = PHASES[report["phase"]]
            if report["phase"] != "running" and "time" in report:
                self._sentence = f"t = {report['time']:.6g} s"
            self._show_snapshot(report["phase"])
        elif kind == "progress":
            self._sentence = report["sentence"]
        elif kind == "values":
            self._take_values(report["values"])
        elif kind == "trouble":
            self.trouble.content = f"⚠ {plain_text(report['sentence'])}"
            self.trouble.visible = True
        elif kind == "frame":
            with FRAMES_MAY_VANISH:
                self.viewer.refresh()
        elif kind == "restart":
            self._sentence = ""
            with FRAMES_MAY_VANISH:
                self.viewer.reload()
        self.status.content = plain_text(", ".join(part for part in (self._phase, self._sentence) if part))

    def _add_sliders(self, controls: list[Control]) -> None:
        gui = self.viewer.server.gui
        with self.folder_of_sliders:
            if not controls:
                gui.add_markdown("This method has no gravity, obstacles or material parameters to adjust.")
                return
            for group in dict.fromkeys(control.group for control in controls):
                with gui.add_folder(group, expand_by_default=group == controls[0].group):
                    for control in controls:
                        if control.group == group:
                            self.sliders[control.key] = Slider(gui, control)
            reset = gui.add_button(RESET)
        self.values = {control.key: control.value for control in controls}
        reset.on_click(lambda _: self.ask({"do": "set", "values": self._differing()}))

    def _differing(self) -> dict[str, float]:
        """The scene's values of the controls that have been set to other values."""
        known = {key: slider.control.value for key, slider in self.sliders.items()}
        return {key: value for key, value in known.items() if self.values[key] != value}

    def _take_values(self, values: dict[str, float]) -> None:
        self.values = values
        for key, slider in self.sliders.items():
            if not slider.moved and not math.isclose(slider.value, values[key], rel_tol=1e-3, abs_tol=1e-12):
                slider.show(values[key])

    def _show_snapshot(self, phase: str) -> None:
        """While the run is paused between two frames, show the state it is in."""
        paused = phase == "paused" and self.folder.snapshot.exists()
        self.viewer.show_snapshot(self.folder.snapshot if paused else None)

    def request_settled(self) -> None:
        """Request the values of sliders that have come to rest."""
        now = time.monotonic()
        settled = {key: slider for key, slider in self.sliders.items() if slider.moved and now - slider.moved > SETTLED}
        for slider in settled.values():
            slider.moved = 0.0
        wanted = {key: slider.value for key, slider in settled.items() if slider.value != self.values[key]}
        if wanted:
            self.ask({"do": "set", "values": wanted})

    def step(self) -> None:
        """Do what is due."""
        self.request_settled()
        with FRAMES_MAY_VANISH:
            self.viewer.step()


def main(folder: str, host: str, port: str) -> int:
    """Serve until standard input is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C stops the run, which then closes the input
    os.nice(YIELDING)
    requests, sys.stdout = sys.stdout, open(os.devnull, "w")  # noqa: SIM115 - only requests go to the run
    reports: queue.SimpleQueue[dict[str, Any] | None] = queue.SimpleQueue()

    def listen() -> None:
        for line in sys.stdin:
            reports.put(json.loads(line))
        reports.put(None)

    threading.Thread(target=listen, daemon=True).start()
    try:
        page = LivePage(Path(folder), host, int(port), requests)
    except SpumeError as error:
        tell(f"error: {error}")
        return error.exit_code
    page.ask({"address": page.viewer.address})
    while True:
        try:
            report = reports.get(timeout=0.01)
        except queue.Empty:
            page.step()
            continue
        if report is None:
            page.viewer.close()
            return 0
        page.take(report)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
