"""A method small enough to see through: points fly freely and are jostled by a random walk, in steps of random length.

It lets the loop, the frames on disk, resuming and the faults be tested without a grid. The random numbers come from a
saved state, so a continuation that forgets anything shows in the bits.
"""

import time
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from pydantic import Field as Describe

from spume.errors import RunFailed
from spume.fields import Field, Population
from spume.methods import Estimate, MethodEntry, Progress, register_method
from spume.scene.common import Count, Scene

WAITS_AT = 0.03
"""Time at which a run waits for the file `waits_for` [s]: six of the eleven frames of the standard scene are made."""


class BallisticScene(Scene):
    points: Count = Describe(default=50, description="number of points")
    pause: float = Describe(default=0.0, description="wall time spent in each step [s]")
    waits_for: str | None = Describe(default=None, description="file that has to exist before a step after 0.03 s")
    memory: int = Describe(default=1000, description="memory the scene claims to need [bytes]")
    warns_at: float | None = Describe(default=None, description="time from which on the method has a warning [s]")
    laws: str | None = Describe(default=None, description="file of laws, which is executed and not used")
    fails_at: float | None = Describe(default=None, description="time at which the run goes wrong [s]")


class Ballistic:
    name: ClassVar[str] = "ballistic"

    def __init__(self, scene: BallisticScene) -> None:
        self._scene = scene
        self._random = np.random.default_rng(scene.seed)
        self.time = 0.0
        self.steps = 0
        self._dt = 1e-3
        self.x = self._random.normal(size=(scene.points, 3))
        self.v = self._random.normal(size=(scene.points, 3))

    @classmethod
    def estimate(cls, scene: BallisticScene) -> Estimate:
        return Estimate(points=scene.points, memory=scene.memory, steps=10, seconds=1.0)

    def advance(self, until: float, interrupted: Any, report: Any) -> bool:
        while self.time < until:
            if interrupted():
                return False
            if self._scene.fails_at is not None and self.time >= self._scene.fails_at:
                raise RunFailed(f"at {self.time:g} s point 3 left the world: make the steps smaller")
            if self._scene.waits_for is not None and self.time >= WAITS_AT and not Path(self._scene.waits_for).exists():
                time.sleep(0.002)
                continue
            dt = min(self._dt, until - self.time)
            self._dt *= self._random.uniform(0.8, 1.25)
            self.v += 0.1 * self._random.normal(size=self.v.shape)
            self.x += dt * self.v
            self.time = until if dt == until - self.time else self.time + dt
            self.steps += 1
            time.sleep(self._scene.pause)
            report(Progress(self.time, len(self.x), self.steps, dt))
        return True

    def declarations(self) -> tuple[Population, ...]:
        fields = (
            Field("x", (3,), unit="m", description="position"),
            Field("v", (3,), unit="m/s", description="velocity"),
        )
        return (Population("points", fields),)

    def frame(self) -> dict[str, Any]:
        return {"points": {"x": self.x, "v": self.v}}

    def diagnostics(self) -> dict[str, Any]:
        warns_at = self._scene.warns_at
        warned = warns_at is not None and self.time >= warns_at
        warnings = {"warnings": {"height": f"at {self.time:g} s a point flies high: lower it"}} if warned else {}
        return warnings | {
            "points": len(self.x),
            "mass": np.float64(len(self.x)),
            "momentum": self.v.sum(axis=0),
            "kinetic_energy": 0.5 * float((self.v**2).sum()),
            "elastic_energy": 0.0,
            "volume": 1.0,
            "steps": self.steps,
            "seconds": {"advance": time.perf_counter()},
        }

    def checkpoint(self) -> tuple[dict[str, Any], dict[str, Any]]:
        values = {"time": self.time, "steps": self.steps, "dt": self._dt, "random": self._random.bit_generator.state}
        return {"x": self.x, "v": self.v}, values

    def restore(self, arrays: dict[str, Any], values: dict[str, Any]) -> None:
        self.x, self.v = arrays["x"], arrays["v"]
        self.time, self.steps, self._dt = values["time"], values["steps"], values["dt"]
        self._random.bit_generator.state = values["random"]


SCENE = {"title": "points", "method": "ballistic", "duration": 0.05, "frame_rate": 200.0, "seed": 3}
SCENE_TEXT = 'title = "points"\nmethod = "ballistic"\nduration = 0.05\nframe_rate = 200.0\nseed = 3\n'


def make_scene(**changes: Any) -> Scene:
    """The standard scene, 11 frames of 50 points, with changes."""
    return Scene(**{**SCENE, **changes})


def frame_bytes(folder: Path) -> dict[str, bytes]:
    """The bytes of every frame file of a run."""
    return {file.name: file.read_bytes() for file in sorted((folder / "frames").iterdir())}


def without_wall_times(diagnostics: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Diagnostics that two runs of one scene have in common."""
    return [{key: value for key, value in entry.items() if key != "seconds"} for entry in diagnostics]


def register() -> None:
    """Make the method available to scenes."""
    register_method(MethodEntry("ballistic", f"{__name__}:BallisticScene", f"{__name__}:Ballistic"))
