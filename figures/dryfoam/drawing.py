"""Panels with dry foams."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from reports.case import Surroundings

from figures.panels import rows_of
from spume.dryfoam.drawing import cell_outlines
from spume.dryfoam.network.half_edges import Network
from spume.dryfoam.picture import Shading, draw
from spume.whole_files import whole_file

PALE = "#f3d9b1"
DOTS_PER_INCH = 110
LETTERS = 16
"""Size of titles [points]."""

View = tuple[float, float, float]
"""Centre and half width of what is shown [m]."""


def axes_of(columns: int, rows: int = 1, size: float = 4.4) -> tuple[Any, list[Any]]:
    """A Matplotlib figure with square panels, and their axes."""
    return rows_of(columns, rows, (size, size))


def show(
    axes: Any,
    network: Network,
    title: str,
    marks: Mapping[int, str] | None = None,
    shading: Shading = "none",
    view: View | None = None,
) -> None:
    """Draw a foam; `marks` has the colours of cells by index."""
    draw(axes, network, shading)
    outlines = cell_outlines(network)
    for cell, colour in (marks or {}).items():
        axes.fill(*outlines[cell].T, facecolor=colour, edgecolor="none", zorder=0.5 if shading == "none" else 2.0)
    if marks and shading == "none":
        axes.collections[0].set_facecolor("none")
    if view is not None:
        axes.set_xlim(view[0] - view[2], view[0] + view[2])
        axes.set_ylim(view[1] - view[2], view[1] + view[2])
    axes.set_title(title, fontsize=LETTERS)


def around_cells(network: Network, labels: Sequence[int], room: float = 0.6) -> View:
    """A view that shows the cells with these labels, with some room in units of the root of the mean area."""
    outlines = cell_outlines(network)
    points = np.concatenate([outlines[index_of(network, label)] for label in labels])
    lower, upper = points.min(axis=0), points.max(axis=0)
    centre = 0.5 * (lower + upper)
    half = 0.5 * float(np.max(upper - lower)) + room * float(np.sqrt(network.targets.mean()))
    return float(centre[0]), float(centre[1]), half


def index_of(network: Network, label: int) -> int:
    """Index of the cell with a label."""
    return int(np.flatnonzero(network.labels == label)[0])


def save(around: Surroundings, name: str, figure: Any) -> str:
    """Write the figure as PNG; return the name of the file."""
    around.pictures.mkdir(parents=True, exist_ok=True)
    with whole_file(around.pictures / f"{name}.png") as part:
        figure.savefig(part, dpi=DOTS_PER_INCH)
    return f"{name}.png"
