"""Pictures of runs: what they show, and which drawer makes them for a method.

A drawer is made once for a run, in the main process, and sent to those that draw, so it must be picklable.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from spume.errors import SceneError
from spume.frames.reader import BodySkin, Run
from spume.look.pictures.lettering import Legend
from spume.methods import load, method_entry

Picture = NDArray[np.uint8]
"""sRGB, shape (height, width, 3)."""


@dataclass(frozen=True)
class PictureOptions:
    """Options of pictures."""

    width: int = 1280
    height: int = 720
    show: Literal["surface", "points"] = "surface"
    quality: Literal["fine", "preview"] = "fine"
    color: str | None = None
    """quantity to colour by; None: the colours of the materials"""
    limits: tuple[float, float] | None = None
    """limits of the colour bar; those of the whole run if absent"""
    engine: Literal["fast", "beauty"] = "fast"
    camera: Literal["scene", "auto"] = "scene"
    """the scene's own camera, if it has one, or one that shows the whole run"""
    samples: int = 64
    """light paths per pixel of the engine 'beauty'"""
    renderer: Literal["auto", "cycles", "mitsuba"] = "auto"
    """renderer of the engine 'beauty'; 'auto': Cycles if Blender is installed, else Mitsuba"""

    shutter: float = 0.5
    """part of the time between two frames in which the shutter of Cycles is open: what moves is blurred; 0 for sharp
    pictures"""

    skin: BodySkin = "embedded"
    """what shows bodies with an embedded surface: that mesh, or a skin around their points"""

    def __post_init__(self) -> None:
        if not (64 <= self.width <= 8192 and 64 <= self.height <= 8192):
            raise SceneError(f"a picture of {self.width} x {self.height} pixels: give 64 to 8192 for each side")
        if self.samples < 1:
            raise SceneError(f"{self.samples} samples: give 1 or more")
        if not 0 <= self.shutter <= 1:
            raise SceneError(f"a shutter of {self.shutter}: give 0 for sharp pictures up to 1 for the whole interval")

    @property
    def suffix(self) -> str:
        """The part of file names that distinguishes pictures with these options from others."""
        points, beauty = self.show == "points", self.engine == "beauty"
        skin = self.skin if self.skin != "embedded" else None
        parts = [self.color, "points" if points else None, skin, "beauty" if beauty else None]
        return "".join(f"-{part}" for part in parts if part).replace("/", "-")


class Drawer(Protocol):
    """Draws the frames of one run."""

    def draw(self, number: int) -> Picture:
        """The picture of a frame, without the colour bar."""

    def legend(self) -> Legend | None:
        """The colour bar of the pictures; None if colours are those of the materials."""

    def covered(self, number: int) -> float:
        """Part of the picture of a frame that the material covers."""

    def alike(self, drawers: "Sequence[Drawer]") -> "Drawer":
        """This drawer with the camera, the ground and the background that it shares with `drawers`, itself included,
        for pictures side by side."""


def make_drawer(run: Run, options: PictureOptions) -> Drawer:
    """The drawer of the run's method."""
    run = run.reconstructed() if options.skin == "reconstructed" else run
    drawer: Drawer = load(method_entry(run.method).drawer)(run, options)
    return drawer
