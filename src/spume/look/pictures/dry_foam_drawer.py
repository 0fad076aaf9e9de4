"""Pictures of 2D dry foams: bubbles coloured by pressure, number of sides or area."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import cast, get_args

import numpy as np

from spume.dryfoam.drawing import cell_outlines
from spume.dryfoam.network.half_edges import Network, network_of
from spume.dryfoam.picture import Shading, draw
from spume.errors import SceneError
from spume.extras import require
from spume.frames.reader import Run
from spume.look.pictures.drawing import Drawer, Picture, PictureOptions
from spume.look.pictures.lettering import Legend
from spume.scene.dry_foam import DryFoamScene

DOTS_PER_INCH = 100
MARGIN = 0.06
MOST_FRAMES = 300
"""Frames of a deformed foam that determine the window."""


@dataclass(frozen=True)
class DryFoamDrawer:
    """Draws the cells of a dry foam, in the same window for all frames."""

    run: Run
    options: PictureOptions
    shading: Shading
    lower: tuple[float, float]
    upper: tuple[float, float]

    def draw(self, number: int) -> Picture:
        """The picture of a frame."""
        require("matplotlib", "drawing a dry foam")
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        size = self.options.width / DOTS_PER_INCH, self.options.height / DOTS_PER_INCH
        figure = Figure(figsize=size, dpi=DOTS_PER_INCH, facecolor="white")
        axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
        draw(axes, network(self.run, number), self.shading)
        axes.set_xlim(self.lower[0], self.upper[0])
        axes.set_ylim(self.lower[1], self.upper[1])
        canvas = FigureCanvasAgg(figure)
        canvas.draw()
        return np.asarray(canvas.buffer_rgba())[..., :3].copy()

    def legend(self) -> Legend | None:
        """None: the colours follow each frame, since pressures grow without bound as bubbles vanish."""
        return None

    def covered(self, number: int) -> float:
        """1: the foam fills its window."""
        return 1.0

    def alike(self, drawers: Sequence[Drawer]) -> "DryFoamDrawer":
        """This drawer with a window that contains the foams of all drawers."""
        others = [drawer for drawer in drawers if isinstance(drawer, DryFoamDrawer)]
        left, bottom = (min(each.lower[axis] for each in others) for axis in range(2))
        right, top = (max(each.upper[axis] for each in others) for axis in range(2))
        return replace(self, lower=(left, bottom), upper=(right, top))


def network(run: Run, number: int) -> Network:
    """The foam of a frame."""
    return network_of(run[number])


def make_drawer(run: Run, options: PictureOptions) -> Drawer:
    """The drawer for a dry foam; `--color` is one of pressure, sides, area, none."""
    shading = options.color or "pressure"
    if shading not in get_args(Shading):
        raise SceneError(f"--color {shading}: a dry foam is coloured by {', '.join(get_args(Shading))}")
    if options.engine == "beauty" and options.renderer == "mitsuba":
        raise SceneError("--renderer mitsuba: a dry foam is path traced by Cycles only; leave it out")
    corners = []
    # A box that is deformed is widest at some frame between the first and the last.
    deformed = cast(DryFoamScene, run.scene).deformation is not None
    looked_at = min(len(run), MOST_FRAMES) if deformed else 2
    for number in {int(n) for n in np.linspace(0, len(run) - 1, looked_at)}:
        outlines = np.concatenate(cell_outlines(network(run, number)))
        corners.append((outlines.min(axis=0), outlines.max(axis=0)))
    lower = np.min([low for low, _ in corners], axis=0)
    upper = np.max([high for _, high in corners], axis=0)
    pad = MARGIN * float(np.max(upper - lower))
    left, bottom = map(float, lower - pad)
    right, top = map(float, upper + pad)
    drawer = DryFoamDrawer(run, options, cast(Shading, shading), (left, bottom), (right, top))
    if options.engine == "fast":
        return drawer
    from spume.look.blender.dry_foam import CyclesFoamDrawer

    return CyclesFoamDrawer(drawer)
