"""A simulation in memory, for scripts and notebooks."""

from pathlib import Path
from typing import Any

from spume.errors import SceneError
from spume.frames.populations import FramePopulations, in_memory
from spume.methods import Progress, method_class
from spume.scene.common import Scene


class Simulation:
    """A scene being simulated. Nothing is written to disk."""

    def __init__(self, scene: Scene | str | Path) -> None:
        if not isinstance(scene, Scene):
            from spume.scene.loading import load_scene

            scene = load_scene(scene)
        self.scene = scene
        self.method = method_class(scene.method)(scene)

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

    def advance(self, dt: float) -> None:
        """Advance by exactly `dt` [s], in as many steps as the method needs."""
        if not dt > 0:
            raise SceneError(f"a simulation cannot be advanced by {dt} s: the time must be positive")
        self.method.advance(self.time + dt, _never, _ignore)

    def frame(self) -> FramePopulations:
        """What a frame on disk would hold: `frame["points"].x`, or short `frame.x`."""
        return in_memory(self.method.declarations(), self.method.frame())

    def diagnostics(self) -> dict[str, Any]:
        """Numbers about the present state."""
        return self.method.diagnostics()


def _never() -> bool:
    return False


def _ignore(progress: Progress) -> None:
    pass
