"""Steering a run from outside: pause, single steps, changes of the scene, restart.

Requests arrive in a queue from another thread. The loop looks at them before every step, so that each takes effect
between two steps.
"""

import queue
from collections.abc import Callable, Mapping
from typing import Any, Literal, Protocol

from spume.errors import SceneError, SpumeError
from spume.methods import Method
from spume.scene.common import Scene
from spume.scene.controls import Control, changes, check, controls

WAIT = 0.1
"""Interval at which a paused run looks whether it has been asked to stop [s]."""

Phase = Literal["running", "paused", "finished", "failed"]


class Restart(Exception):
    """Begin again with another scene."""

    def __init__(self, scene: Scene, method: Method) -> None:
        self.scene, self.method = scene, method


class Steered(Protocol):
    """A run as seen by an object that steers it."""

    method: Method
    scene: Scene

    def build(self, scene: Scene) -> Method:
        """A method of another scene, to begin again with."""

    def change(self, values: dict[str, Any]) -> None:
        """Continue with changes of the scene. Raises SpumeError, and changes nothing, if the scene forbids them."""

    def snapshot(self) -> None:
        """Write the present state for viewers."""

    def stop(self) -> bool:
        """Whether the run has been asked to stop."""

    def ask_to_stop(self) -> None:
        """Stop the run after the present step, as Ctrl-C does."""


class Steering(Protocol):
    """What the frame loop expects of an object that steers a run."""

    def wanted(self) -> bool:
        """Whether the next step has to wait for `attend`."""

    def attend(self, run: Steered) -> None:
        """Fulfil requests; returns when the run should go on or stop. Raises Restart."""

    def frame_done(self, run: Steered) -> None:
        """A frame has been written."""

    def finish(self, run: Steered, failure: SpumeError | None = None) -> None:
        """The run is over; returns when it is no longer needed. Raises Restart."""


class Unsteered:
    """Steering that never pauses or changes the run."""

    def wanted(self) -> bool:
        return False

    def attend(self, run: Steered) -> None: ...

    def frame_done(self, run: Steered) -> None: ...

    def finish(self, run: Steered, failure: SpumeError | None = None) -> None: ...


class Requests:
    """Steering by requests, tables with the key "do": "pause", "resume", "step", "frame", "set", "restart", "stop".

    `tell` is called with reports, tables with the key "about": "phase", "values", "trouble".
    """

    def __init__(self, original: Scene, tell: Callable[[dict[str, Any]], None], phase: Phase = "running") -> None:
        self.queue: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._original = original
        """The scene whose values the controls begin with."""
        self._tell = tell
        self._controls = {control.key: control for control in controls(original)}
        self._values: dict[str, float] = {}
        """Values of the controls that have been set."""
        self._phase: Phase = phase
        self._step: Literal["none", "asked for", "made"] = "none"
        """A single step, after which the run pauses."""
        self._pause_at_frame = False
        self._begun = False
        """Whether the phase has been reported since the start or the last restart."""

    @property
    def controls(self) -> list[Control]:
        """What can be set."""
        return list(self._controls.values())

    def wanted(self) -> bool:
        """Whether the next step has to wait for `attend`. Asked once before every step."""
        if self._step == "asked for":
            self._step = "made"
            return False
        return self._step == "made" or self._phase != "running" or not self.queue.empty()

    def attend(self, run: Steered) -> None:
        """Fulfil requests; while the run is paused, wait for them."""
        if not self._begun:
            self._begun = True
            self._report(run)
        if self._step == "made":
            self._enter_pause(run)
        while not run.stop() and self._step == "none":
            if self._phase == "running" and self.queue.empty():
                return
            self._next(run)

    def frame_done(self, run: Steered) -> None:
        """Pause after this frame if that was asked for."""
        if self._pause_at_frame:
            self._pause_at_frame = False
            self._phase = "paused"
            self._report(run)

    def finish(self, run: Steered, failure: SpumeError | None = None) -> None:
        """Wait for a restart or the end."""
        if failure is not None:
            self._trouble(str(failure))
        self._phase = "finished" if failure is None else "failed"
        self._report(run)
        while not run.stop():
            self._next(run)

    def _next(self, run: Steered) -> None:
        """Fulfil one request, or wait a little for one."""
        try:
            request = self.queue.get(timeout=WAIT)
        except queue.Empty:
            return
        try:
            self._fulfil(request, run)
        except SpumeError as error:
            self._trouble(str(error))
            self._report(run)

    def _fulfil(self, request: object, run: Steered) -> None:
        given: Mapping[str, object] = request if isinstance(request, Mapping) else {}
        asked = given.get("do")
        if asked == "stop":
            run.ask_to_stop()
        elif asked == "restart":
            self._restart(run)
        elif self._phase in ("finished", "failed"):
            self._trouble("the run is over: restart it first")
        elif asked == "pause":
            self._enter_pause(run)
        elif asked in ("resume", "step", "frame"):
            self._step = "asked for" if asked == "step" else "none"
            self._pause_at_frame = asked == "frame"
            self._phase = "running"
            self._report(run)
        elif asked == "set":
            self._set(given.get("values"), run)
        else:
            self._trouble(f"there is no request {request!s:.60}")

    def _enter_pause(self, run: Steered) -> None:
        self._phase, self._step, self._pause_at_frame = "paused", "none", False
        run.snapshot()
        self._report(run)

    def _set(self, values: object, run: Steered) -> None:
        asked = self._checked(values)
        time, scene, wanted = run.method.time, run.scene, dict[str, Any]()
        for key, value in asked.items():
            made = changes(self._original, scene, key, value, time)
            scene = scene.changed(made)
            wanted |= made
        if wanted:
            run.change(wanted)
        self._values |= asked
        self._report(run)

    def _checked(self, values: object) -> dict[str, float]:
        if not isinstance(values, Mapping):
            raise SceneError(f"values are a table of numbers by key, and this is {values!s:.60}")
        for key, value in values.items():
            if key not in self._controls:
                raise SceneError(f"there is no control '{key!s:.60}'")
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise SceneError(f"{key} is {value!s:.60}: it should be a number")
            check(self._controls[key], value)
        return {key: float(value) for key, value in values.items()}

    def _restart(self, run: Steered) -> None:
        """From the start with the values as they are now."""
        scene = self._original
        for key, value in self._values.items():
            scene = scene.changed(changes(self._original, scene, key, value, 0.0))
        method = run.build(scene)
        if self._phase != "paused":
            self._phase = "running"
        self._step, self._pause_at_frame, self._begun = "none", False, False
        raise Restart(scene, method)

    def _report(self, run: Steered) -> None:
        values = {key: self._values.get(key, control.value) for key, control in self._controls.items()}
        self._tell({"about": "phase", "phase": self._phase, "time": run.method.time})
        self._tell({"about": "values", "values": values})

    def _trouble(self, sentence: str) -> None:
        self._tell({"about": "trouble", "sentence": sentence})
