"""[DryFoam] figure 5: time of a frame against the number of cells."""

import time

import numpy as np
from reports.case import Outcome, Surroundings, states
from reports.drawing import OURS, THEIRS, panels, save

from figures.figure import Figure, save_csv
from spume.dryfoam import Foam

SIZES = (10_000, 5_000, 2_000, 1_000, 500, 200, 100, 50, 20, 11)
"""Cells of the foams when they are timed."""
CELLS, LAST = SIZES[0], SIZES[-1]
FRAMES = 10
"""Frames that are timed of each foam, fewer of the smallest."""
FRAME = 0.001
"""Simulated time of a frame over the mean area of a cell [s/m²]: in a foam that coarsens steadily, one in 200 cells
vanishes in it."""
LEAST = 8
"""Cells with which a foam is left alone."""
PAPER = {10_000: 39.5, 11: 0.084}
"""Times of the paper's first and last frame [s]."""
STEADY = (100, 10_000)
"""Cells between which a frame takes long enough to be timed."""
EXPONENT = (0.85, 1.15)
"""Exponents of the number of cells that count as linear."""


def frame_times(around: Surroundings) -> list[tuple[int, float]]:
    """Cells at the start of each frame, and its processor time [s]."""
    found: list[tuple[int, float]] = []
    for size in SIZES:
        around.say(f"{size} cells")
        foam = Foam.voronoi(size, "free", seeds="random")
        foam.equilibrate()
        for _ in range(FRAMES):
            if foam.cells >= LEAST:
                cells, began = foam.cells, time.process_time()
                foam.coarsen(FRAME * float(foam.network.targets.mean()))
                found.append((cells, time.process_time() - began))
    return found


def run(around: Surroundings) -> Outcome:
    """Coarsen free foams of 10,000 to 11 cells."""
    found = frame_times(around)
    cells, seconds = (np.array(column, dtype=float) for column in zip(*found))
    steady = (cells >= STEADY[0]) & (cells <= STEADY[1])
    slope = float(np.polyfit(np.log(cells[steady]), np.log(seconds[steady]), 1)[0])
    first, last = float(np.median(seconds[cells > 0.9 * CELLS])), float(np.median(seconds[cells <= LAST]))
    figure, (axes,) = panels()
    axes.loglog(cells, seconds, **OURS, label="ours, one thread")
    axes.loglog(list(PAPER), list(PAPER.values()), **THEIRS, marker="s", label="first and last frame of the paper")
    axes.set(xlabel="cells", ylabel="seconds per frame")
    axes.legend(frameon=False)
    save_csv(around.pictures, "dryfoam-5", ("cells", "seconds"), [(int(n), f"{s:.6f}") for n, s in found])
    low, high = EXPONENT
    outcome = Outcome(
        [
            states("frames of 10,000 cells (median of ten)", f"{first:.3g} s", "39.5 s", first <= PAPER[10_000]),
            states("frames of 11 cells (median of ten)", f"{1000 * last:.3g} ms", "84 ms", last <= PAPER[11]),
            states(
                "exponent of the number of cells, from 100 to 10,000", f"{slope:.3f}", f"1, linear ({low} to {high})",
                low <= slope <= high,
            ),
        ]
    )  # fmt: skip
    lost = 1.0 - cells[cells > 0.9 * CELLS].min() / CELLS
    outcome.notes.append(f"In the ten frames of the largest foam {lost:.1%} of its cells vanish.")
    outcome.figures.append((save(figure, around.pictures, "dryfoam-5"), "Processor time of each frame."))
    return outcome


FIGURE = Figure(
    "dryfoam-5",
    "Figure 5: time of a frame",
    "The computation time appears to be linear in the number of cells: 39.5 s for the first frame, with 10,000 cells, "
    "and 84 ms for the last, with 11, on one 2 GHz core.",
    run,
    paper="DryFoam",
    finding="Times of different machines: only their order of magnitude is a comparison. The paper times the frames "
    "of one foam that coarsens; ours are the first ten frames of foams of ten sizes, from random sites. The paper does "
    "not say how much gas moves in a frame; in ours it is a thousandth of the mean area of a cell. Few cells vanish in "
    "the first frames of a foam: in steady coarsening, where 0.4 % do, a frame of 10,000 cells takes 0.53 to 0.70 s, "
    "and all frames from 10,000 cells to ten 210 s ([measurements](../measured/dry-foam.md#performance)). Times of one "
    "size differ by up to ten times, by events.",
    presets=("paper",),
)
