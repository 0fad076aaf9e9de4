"""A simulation in memory, for scripts and notebooks."""

from collections.abc import Callable
from typing import Any

from spume.errors import SceneError
from spume.frames.populations import FramePopulations, in_memory
from spume.methods import Method, Progress, method_class
from spume.runs.changes import with_scene
from spume.scene.common import Scene
from spume.scene.loading import SceneLike, load_scene


class Simulation:
    """A scene being simulated. Nothing is written to disk."""

    def __init__(self, scene: SceneLike) -> None:
        """`scene` is a Scene, its tables as a dict, a built-in name or a TOML file."""
        self._scene = load_scene(scene)
        self.method: Method = method_class(self._scene.method)(self._scene)

    @property
    def scene(self) -> Scene:
        """The scene. Assigning another one of the same method continues from the current state with its values:

            sim.scene = sim.scene.changed({"gravity": [0, 0, 0]})

        Existing bodies are not changed. The laws of the materials must remain the same.
        """
        return self._scene

    @scene.setter
    def scene(self, scene: SceneLike) -> None:
        new = load_scene(scene)
        if new.method != self._scene.method:
            raise SceneError(
                f"a simulation of the method '{self._scene.method}' cannot continue with '{new.method}': make a new one"
            )
        method = with_scene(self.method, new)
        self._scene, self.method = new, method

    @property
    def time(self) -> float:
        """Simulated time [s]."""
        return self.method.time

    @property
    def particles(self) -> Any:
        """The method's points; each field is an attribute holding a NumPy array."""
        particles = getattr(self.method, "particles", None)
        if particles is None:
            raise AttributeError(f"the method '{self.scene.method}' has no particles; frame() gives its arrays")
        return particles

    def advance(self, dt: float, on_progress: Callable[[Progress], object] | None = None) -> None:
        """Advance by exactly `dt` [s], in as many steps as the method needs; `on_progress` is called every few
        steps."""
        if not dt > 0:
            raise SceneError(f"a simulation cannot be advanced by {dt} s: the time must be positive")
        self.method.advance(self.time + dt, _never, _reporter(on_progress))

    def frame(self) -> FramePopulations:
        """The contents of a frame on disk: `frame["points"].x`, or `frame.x` for short."""
        return in_memory(self.method.declarations(), self.method.frame(), self.scene)

    def diagnostics(self) -> dict[str, Any]:
        """Diagnostics of the current state."""
        return self.method.diagnostics()

    def __repr__(self) -> str:
        return f"Simulation({self.scene!r}, time={self.time:g} s)"

    def _repr_html_(self) -> str:
        from html import escape

        from spume.frames.notebook import frame_html

        return f"<div>{escape(repr(self))}</div>{frame_html(self.frame(), self.scene, self.time)}"


def _never() -> bool:
    return False


def _reporter(on_progress: Callable[[Progress], object] | None) -> Callable[[Progress], None]:
    def report(progress: Progress) -> None:
        if on_progress is not None:
            on_progress(progress)

    return report
