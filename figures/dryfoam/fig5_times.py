"""[DryFoam] figure 5: time of a frame against the number of cells."""

import time

import numpy as np
from reports.case import Outcome, Surroundings, states
from reports.drawing import OURS, THEIRS, panels, save

from figures.figure import Figure, save_csv
from spume.dryfoam import Foam

CELLS = 10_000
LAST = 11
FRAME = 0.01
"""Simulated time of a frame over the mean area of a cell: about one in twenty cells vanishes in it, once coarsening is
steady [s/m²]."""
PAPER = {10_000: 39.5, 11: 0.084}
"""Times of the paper's first and last frame [s]."""
STEADY = (100, 5_000)
"""Cells between which the coarsening is steady and a frame takes long enough to be timed."""
EXPONENT = (0.85, 1.15)
"""Exponents of the number of cells that count as linear."""


def frame_times(around: Surroundings) -> list[tuple[int, float]]:
    """Cells at the start of each frame, and its processor time [s]."""
    small = Foam.voronoi(200, "free", seeds="poisson-disk")  # loads the kernels
    small.equilibrate()
    small.coarsen(FRAME)
    foam = Foam.voronoi(CELLS, "free", seeds="poisson-disk")
    foam.equilibrate()
    found = []
    while foam.cells > LAST:
        cells, began = foam.cells, time.process_time()
        foam.coarsen(FRAME * float(foam.network.targets.mean()), until_cells=LAST)
        found.append((cells, time.process_time() - began))
        if len(found) % 50 == 0:
            around.say(f"{foam.cells} cells left")
    return found


def run(around: Surroundings) -> Outcome:
    """Coarsen a free foam from 10,000 cells to 11."""
    found = frame_times(around)
    cells, seconds = (np.array(column, dtype=float) for column in zip(*found))
    steady = (cells >= STEADY[0]) & (cells <= STEADY[1])
    slope = float(np.polyfit(np.log(cells[steady]), np.log(seconds[steady]), 1)[0])
    first, last = float(seconds[0]), float(np.median(seconds[-5:]))
    figure, (axes,) = panels()
    axes.loglog(cells, seconds, **OURS, label="ours, one thread")
    axes.loglog(list(PAPER), list(PAPER.values()), **THEIRS, marker="s", label="first and last frame of the paper")
    axes.set(xlabel="cells", ylabel="seconds per frame")
    axes.legend(frameon=False)
    save_csv(around.pictures, "dryfoam-5", ("cells", "seconds"), [(int(n), f"{s:.6f}") for n, s in found])
    low, high = EXPONENT
    outcome = Outcome(
        [
            states("first frame, 10,000 cells", f"{first:.3g} s", "39.5 s", first <= PAPER[10_000]),
            states("last frames, 11 cells (median of five)", f"{1000 * last:.3g} ms", "84 ms", last <= PAPER[11]),
            states(
                "exponent of the number of cells, from 5,000 to 100", f"{slope:.3f}", f"1, linear ({low} to {high})",
                low <= slope <= high,
            ),
        ]
    )  # fmt: skip
    total = float(seconds.sum())
    outcome.notes.append(f"All {len(found)} frames took {total:.0f} s of processor time.")
    outcome.figures.append((save(figure, around.pictures, "dryfoam-5"), "Processor time of each frame."))
    return outcome


FIGURE = Figure(
    "dryfoam-5",
    "Figure 5: time of a frame",
    "The computation time appears to be linear in the number of cells: 39.5 s for the first frame, with 10,000 cells, "
    "and 84 ms for the last, with 11, on one 2 GHz core.",
    run,
    paper="DryFoam",
    finding="Times of different machines: only their order of magnitude is a comparison. The paper does not say how "
    "much gas moves in a frame; in ours one cell in twenty vanishes once the coarsening is steady, whatever their "
    "number. The factorization of the whole foam grows a little faster than linearly "
    "([measurements](../measured/dry-foam.md#performance)).",
    presets=("paper",),
)
