"""[Yue15] figure 6: a sheared blob of foam develops voids unless points are inserted."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from reports.case import Outcome, Surroundings, differs
from scipy.ndimage import binary_erosion, distance_transform_edt

from figures.figure import Figure, save_csv
from figures.panels import MARKED, number_at, rows_of, save_jpeg
from figures.repeats import with_seeds
from spume import Run
from spume.extras import require
from spume.frames.reader import Frame

SCENES = {"without resampling": "sheared-foam-without-resampling", "with resampling": "sheared-foam"}
TIMES = (0.1, 0.2, 0.3)
"""Of the panels: strains of one, two and three [s]."""
PIXELS = 6
"""Of the raster on which voids are measured, per cell."""
FAR = 0.5
"""Distance to the nearest point beyond which foam is a void [cells]: the paper takes spheres of half a cell around the
points for the foam."""
FOAM, POINTS, INSERTED = "#ccd9e5", "#1f3044", "#3f8fc4"
"""Colours of the discs around the points, of the first points, and of those that were inserted."""
Corners = tuple[tuple[float, float], tuple[float, float]]
WHOLE, NEAR = ((-0.09, -0.06), (0.33, 0.06)), ((0.115, 0.002), (0.185, 0.032))
"""Corners of the panels [m]."""
BRIDGED = 2.5
"""Half width of the widest gap that counts as inside [cells]."""


def raster(frame: Frame, cell: float) -> tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.float64]]:
    """Pixels inside the foam, those of them that are too far from any point, and the lower corner of the raster [m]."""
    x, size = frame["x"], cell / PIXELS
    room = 4.0 * cell
    origin = x.min(axis=0) - room
    shape = np.ceil((np.ptp(x, axis=0) + 2.0 * room) / size).astype(int)
    occupied = np.zeros(shape, bool)
    occupied[tuple(((x - origin) / size).astype(int).T)] = True
    away = distance_transform_edt(~occupied) / PIXELS
    # closing with a disc: what lies within gaps of twice BRIDGED belongs to the foam; a cell at its edge is left out
    closed = distance_transform_edt(away <= BRIDGED) / PIXELS > BRIDGED
    inside = binary_erosion(closed, iterations=PIXELS)
    return inside, inside & (away > FAR), origin


def voids(frame: Frame, cell: float) -> float:
    """Part of the area inside the foam that is void."""
    inside, empty, _ = raster(frame, cell)
    return float(empty.sum() / inside.sum())


def draw(axes: Any, frame: Frame, cell: float, first: int, corners: Corners, size: float) -> None:
    """The part of a frame between two corners: discs of half a cell around the points, those inserted after the `first`
    in another colour, on a ground that is red inside the foam, so that it is seen where foam is void."""
    inside, _, origin = raster(frame, cell)
    upper = origin + np.array(inside.shape) * cell / PIXELS
    x, new = frame["x"], frame["id"] >= first
    discs = require("matplotlib.collections", "drawing figures").EllipseCollection(
        cell, cell, 0.0, units="xy", offsets=x, offset_transform=axes.transData, facecolors=FOAM, edgecolors="none"
    )
    axes.add_collection(discs)
    for own, colour in ((~new, POINTS), (new, INSERTED)):
        axes.plot(*x[own].T, ".", color=colour, markersize=size, markeredgewidth=0.0)
    axes.imshow(
        np.where(inside, 1.0, np.nan).T, origin="lower", extent=(origin[0], upper[0], origin[1], upper[1]),
        cmap=require("matplotlib.colors", "drawing figures").ListedColormap([MARKED]), interpolation="nearest",
    )  # fmt: skip
    (left, low), (right, high) = corners
    axes.set(xlim=(left, right), ylim=(low, high), aspect="equal", xticks=[], yticks=[])


def run(around: Surroundings) -> Outcome:
    """Shear three slabs that differ in the jitter of their points, with and without resampling."""
    made: dict[str, list[Run]] = {label: with_seeds(around, scene) for label, scene in SCENES.items()}
    cell = float(made["with resampling"][0].scene.grid.cell)  # type: ignore[attr-defined]  # these scenes have a grid
    found = {
        label: [[voids(run[number_at(run, time)], cell) for time in TIMES] for run in runs]
        for label, runs in made.items()
    }
    rows = [[label, seed, *(f"{value:.5f}" for value in values)]
            for label, each in found.items() for seed, values in enumerate(each)]  # fmt: skip
    save_csv(around.pictures, "yue15-6", ("variant", "seed", *(f"void at strain {10 * t:g}" for t in TIMES)), rows)
    ends = {label: [values[-1] for values in each] for label, each in found.items()}
    outcome = Outcome(
        [
            differs("part of the area that is void at a strain of three, without and with resampling",
                    ends["without resampling"], ends["with resampling"], "less"),
        ]
    )  # fmt: skip
    last = {label: runs[0].diagnostics[-1]["points"] for label, runs in made.items()}
    outcome.notes.append(
        f"Cells of {1e3 * cell:g} mm; {made['with resampling'][0].diagnostics[0]['points']:,} points at the start, in "
        f"the end {last['without resampling']:,} without and {last['with resampling']:,} with resampling."
    )
    figure, axes = rows_of(len(SCENES), 2, (7.0, 2.9), (2.0, 3.0))
    shown = {label: runs[0][number_at(runs[0], TIMES[-1])] for label, runs in made.items()}
    for k, (label, frame) in enumerate(shown.items()):
        first = len(made[label][0][0]["x"])
        for place, corners, size in ((axes[k], WHOLE, 1.6), (axes[k + 2], NEAR, 5.0)):
            draw(place, frame, cell, first, corners, size)
        axes[k].indicate_inset((*NEAR[0], *np.subtract(NEAR[1], NEAR[0])), edgecolor="black", alpha=1.0)
        axes[k].set_title(label, fontsize=16)
    text = (
        "The slab after a strain of three, and a part of it: discs of half a cell around the points, inserted ones in "
        "blue; what is farther than half a cell from every point is red."
    )
    outcome.figures.append((save_jpeg(around, "yue15-6", figure), text))
    return outcome


FIGURE = Figure(
    "yue15-6",
    "Figure 6: particle resampling",
    "A sheared blob of foam develops voids if no points are inserted; with insertion it does not.",
    run,
    paper="Yue15",
    finding="The paper does not describe its blob; ours is a slab in the plane between two plates, whose points are "
    "jittered by half their distance. A place inside is void if it is farther than half a cell from every point, the "
    "radius of the spheres that are the foam in the paper. The voids are small: 0.6 % of the area; as many points "
    "scattered at random would leave e^−π, 4 %. With resampling points are inserted from the start on, since a "
    "jittered lattice does not meet its limit of distances, and their number grows by two thirds.",
)
