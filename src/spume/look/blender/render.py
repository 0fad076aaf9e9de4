"""Pictures by Cycles, Blender's path tracer, denoised by Open Image Denoise."""

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from spume.cores import cores
from spume.extras import require
from spume.look.blender.process import run_script
from spume.look.blender.studio import Job, studio
from spume.look.pictures.drawing import Drawer, Picture
from spume.look.pictures.lettering import Legend
from spume.look.pictures.space_drawer import SpaceDrawer


def traced(job: Job) -> Picture:
    """The picture that Blender renders for a job."""
    image = require("PIL.Image", "reading pictures")
    with tempfile.TemporaryDirectory(prefix="spume-picture-") as folder:
        file = Path(folder) / "picture.png"
        run_script("studio", {**job.tables, "out": str(file)}, job.arrays, "--beauty")
        with image.open(file) as picture:
            return np.asarray(picture.convert("RGB"))


@dataclass(frozen=True)
class CyclesDrawer:
    """Draws the same as a SpaceDrawer, by path tracing in a Blender process."""

    inner: SpaceDrawer

    def draw(self, number: int) -> Picture:
        """The picture of a frame."""
        return traced(studio(self.inner, [number], "render", self.inner.options.samples, cores()))

    def legend(self) -> Legend | None:
        """The colour bar, if a quantity is shown."""
        return self.inner.legend()

    def covered(self, number: int) -> float:
        """Part of the picture of a frame that the material covers."""
        return self.inner.covered(number)

    def alike(self, drawers: Sequence[Drawer]) -> "CyclesDrawer":
        """This drawer with the camera and the ground that all of `drawers` share."""
        return replace(self, inner=self.inner.alike([getattr(each, "inner", each) for each in drawers]))
