"""Pictures of runs: what they show, and which drawer makes them for a method.

A drawer is made once for a run, in the process that was called, and sent to those that draw: it must be picklable.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from spume.errors import SceneError
from spume.frames.reader import Run
from spume.look.pictures.lettering import Legend
from spume.methods import load, method_entry

Picture = NDArray[np.uint8]
"""sRGB, shape (height, width, 3)."""


@dataclass(frozen=True)
class PictureOptions:
    """What a picture shows, and how."""

    width: int = 1280
    height: int = 720
    show: Literal["surface", "points"] = "surface"
    quality: Literal["fine", "preview"] = "fine"
    color: str | None = None
    """quantity to colour by; the materials' own colours without one"""
    limits: tuple[float, float] | None = None
    """ends of the colour bar; those of the whole run if absent"""
    engine: Literal["fast", "beauty"] = "fast"
    camera: Literal["scene", "auto"] = "scene"
    """the scene's own camera, if it has one, or one that holds the whole run"""
    samples: int = 64
    """light paths for each pixel of the engine 'beauty'"""
    renderer: Literal["auto", "cycles", "mitsuba"] = "auto"
    """of the engine 'beauty': Cycles where there is a Blender, else Mitsuba, unless one is named"""

    def __post_init__(self) -> None:
        if not (64 <= self.width <= 8192 and 64 <= self.height <= 8192):
            raise SceneError(f"a picture of {self.width} x {self.height} pixels: give 64 to 8192 for each side")
        if self.samples < 1:
            raise SceneError(f"{self.samples} samples: give 1 or more")

    @property
    def suffix(self) -> str:
        """What tells these pictures from others in the names of files."""
        points, beauty = self.show == "points", self.engine == "beauty"
        parts = [self.color, "points" if points else None, "beauty" if beauty else None]
        return "".join(f"-{part}" for part in parts if part).replace("/", "-")


class Drawer(Protocol):
    """Draws the frames of one run."""

    def draw(self, number: int) -> Picture:
        """The picture of a frame, without the colour bar."""

    def legend(self) -> Legend | None:
        """The colour bar of the pictures; None where colours are the materials' own."""

    def alike(self, drawers: "Sequence[Drawer]") -> "Drawer":
        """This drawer with the camera, the ground and the background that it shares with `drawers`, itself among
        them, for pictures that stand side by side."""


def make_drawer(run: Run, options: PictureOptions) -> Drawer:
    """The drawer of the run's method."""
    drawer: Drawer = load(method_entry(run.method).drawer)(run, options)
    return drawer
