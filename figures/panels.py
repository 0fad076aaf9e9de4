"""Frames of runs as the panels of a figure, with one camera and scale."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from reports.case import Surroundings

from spume import PictureOptions, Run
from spume.extras import require
from spume.look.pictures.camera import View
from spume.look.pictures.drawing import make_drawer
from spume.look.pictures.lettering import fitting_size, with_color_bar, with_label
from spume.look.pictures.plane_drawer import Window
from spume.look.pictures.sheet import LETTERS, tiled
from spume.whole_files import whole_file

PANEL = (720, 405)
"""Width and height of a panel, of the shape for which the cameras of scenes are chosen [pixels]."""
GAP = 6
"""White between panels [pixels]."""


MARKED = "#c8553d"
"""Colour of what a panel is about."""


def number_at(run: Run, time: float) -> int:
    """Number of the frame nearest to a time [s]."""
    times = np.array([record["time"] for record in run.diagnostics])
    return int(np.argmin(np.abs(times - time)))


def rows_of(
    columns: int, rows: int, size: tuple[float, float], heights: Sequence[float] | None = None
) -> tuple[Any, list[Any]]:
    """A Matplotlib figure with panels of `size` [inches], and their axes, row by row; `heights` has the ratios of the
    heights of the rows."""
    matplotlib = require("matplotlib.figure", "drawing figures")
    figure = matplotlib.Figure(figsize=(size[0] * columns, size[1] * rows), layout="constrained")
    return figure, list(figure.subplots(rows, columns, squeeze=False, height_ratios=heights).ravel())


def save_jpeg(around: Surroundings, name: str, figure: Any) -> str:
    """Write a Matplotlib figure as a JPEG; return the name of the file."""
    around.pictures.mkdir(parents=True, exist_ok=True)
    with whole_file(around.pictures / f"{name}.jpg") as part:
        figure.savefig(part, dpi=110, format="jpg", pil_kwargs={"quality": 85})
    return f"{name}.jpg"


class Camera(NamedTuple):
    """A camera at rest."""

    position: tuple[float, float, float]
    """[m]"""
    target: tuple[float, float, float]
    """place in the middle of the picture [m]"""
    angle: float
    """vertical angle of view [degrees]"""


@dataclass(frozen=True)
class Panel:
    """One frame of a run."""

    run: Run
    time: float
    """the frame nearest to this time is shown [s]"""
    label: str
    """parameters; the time is added"""

    @property
    def number(self) -> int:
        """Number of the frame."""
        return number_at(self.run, self.time)

    @property
    def text(self) -> str:
        """Label and time."""
        time = f"{self.run.diagnostics[self.number]['time']:.3g} s"
        return f"{self.label}, {time}" if self.label else time


def save_panels(
    around: Surroundings,
    name: str,
    panels: Sequence[Panel],
    columns: int,
    options: PictureOptions | None = None,
    size: tuple[int, int] = PANEL,
    corners: tuple[tuple[float, float], tuple[float, float]] | None = None,
    camera: Camera | None = None,
) -> str:
    """Draw the panels in rows of `columns` and write them as a JPEG; return the name of the file.

    - camera: of all panels, where that of the scene does not suit panels of this shape.
    - corners: of the part of the plane that is shown [m], as wide and high as the panels; all of it if absent.
    """
    chosen = replace(options or PictureOptions(), width=size[0], height=size[1])
    runs = list(dict.fromkeys(panel.run.path for panel in panels))
    first = {path: next(panel.run for panel in panels if panel.run.path == path) for path in runs}
    drawers = {path: make_drawer(run, chosen) for path, run in first.items()}
    legends = [legend for drawer in drawers.values() if (legend := drawer.legend())]
    if legends:
        limits = min(legend.limits[0] for legend in legends), max(legend.limits[1] for legend in legends)
        drawers = {path: make_drawer(run, replace(chosen, limits=limits)) for path, run in first.items()}
    alike: dict[Path, Any] = {path: drawer.alike(list(drawers.values())) for path, drawer in drawers.items()}
    if camera is not None:
        fixed = View(np.array(camera.position), np.array(camera.target), np.array([0.0, 1.0, 0.0]), camera.angle)
        alike = {path: replace(drawer, view=fixed, moving_camera=None) for path, drawer in alike.items()}
    if corners is not None:
        lower, upper = np.array(corners)
        pixel = float(((upper - lower) / size).max())
        window = Window(0.5 * (lower + upper), pixel, (size[1], size[0]))
        alike = {path: replace(drawer, shared=window) for path, drawer in alike.items()}
    wanted = (min(columns, len(panels)) * (size[0] + GAP)) // LETTERS
    letters = min(fitting_size(panel.text, size, wanted) for panel in panels)
    parts = []
    for panel in panels:
        around.say(f"drawing {panel.text}")
        parts.append(with_label(alike[panel.run.path].draw(panel.number), panel.text, size=letters))
    picture = tiled(parts, columns, GAP)
    if legends and (legend := next(iter(alike.values())).legend()):
        picture = with_color_bar(picture, legend, wanted)
    around.pictures.mkdir(parents=True, exist_ok=True)
    with whole_file(around.pictures / f"{name}.jpg") as part:
        require("PIL.Image", "drawing figures").fromarray(picture).save(part, format="JPEG", quality=88)
    return f"{name}.jpg"
