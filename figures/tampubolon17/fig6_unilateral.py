"""[Tampubolon17] figure 6: collapse of a column with openings c0 of the unilateral energy."""

from itertools import pairwise

import numpy as np
from reports.case import Outcome, Surroundings, changes

from figures.figure import Figure, save_csv
from figures.panels import Panel, number_at, save_panels
from figures.repeats import at_sizes
from figures.tampubolon17.sand import heap
from spume import Run

OPENINGS = {1.1: "1-1", 2.0: "2", 2.5: "2-5", 3.0: "3"}
CELLS = (0.01, 0.008)
"""With smaller ones, runs with c0 = 3 stop [m]."""
TIMES = (0.1, 0.3)
"""The early and the late frame [s]."""
END = 0.5
"""End of the runs [s]."""
CRUSHED = 0.5
"""Volume over that at the start below which a point has lost its volume."""
SHOWN = ((-0.6, -0.02), (0.6, 0.28))
"""Corners of the part of the plane in the panels [m]."""


def crushed(run: Run, time: float) -> float:
    """Part of the sand that has lost its volume at a time."""
    frame = run[number_at(run, time)]
    return float(np.average(frame["J"] < CRUSHED, weights=frame["mass"]))


def run(around: Surroundings) -> Outcome:
    """Run the four scenes at both resolutions."""
    cells, late = CELLS, TIMES[-1]
    made = {
        c0: at_sizes(around, f"sand-column-c0-{name}", "grid.cell", cells, {"duration": END})
        for c0, name in OPENINGS.items()
    }
    heaps = {c0: [heap(run, late) for run in runs] for c0, runs in made.items()}
    lost = {c0: [crushed(run, late) for run in runs] for c0, runs in made.items()}
    rows = [
        [c0, f"{1e3 * cell:g}", f"{h:.4f}", f"{w:.4f}", f"{part:.5f}"]
        for c0 in OPENINGS
        for cell, (h, w), part in zip(cells, heaps[c0], lost[c0])
    ]
    columns = ("c0", "cell [mm]", "height [m]", "half width [m]", "part that has lost its volume")
    save_csv(around.pictures, "tampubolon17-6", columns, rows)
    outcome = Outcome(
        [
            changes(f"a poorer cone: half width of the heap after {late:g} s [m], c0 = {a:g} and {b:g}",
                    [w for _, w in heaps[a]], [w for _, w in heaps[b]], "more")
            for a, b in pairwise(OPENINGS)
        ]
        + [
            changes("volume is lost: part of the sand below half of its volume then, c0 = 1.1 and 3", lost[1.1],
                    lost[3.0], "more")
        ]
    )  # fmt: skip
    panels = [Panel(runs[-1], time, f"c0 = {c0:g}") for c0, runs in made.items() for time in TIMES]
    file = save_panels(around, "tampubolon17-6", panels, len(TIMES), size=(720, 180), corners=SHOWN)
    outcome.figures.append((file, "An early and a late frame."))
    return outcome


FIGURE = Figure(
    "tampubolon17-6",
    "Figure 6: openings of the unilateral energy",
    "With c0 = 1.1, 2, 2.5, 3 (a = −0.5, b = 0) the region fits the cone increasingly poorly, and volume is lost.",
    run,
    paper="Tampubolon17",
    finding="The measures and the late frame were chosen after the first pictures, in which the heaps looked alike. "
    "The more the energy cuts into the cone, the less friction is left, and the farther the sand runs out. The mean "
    "volume of the points is the same for all, 0.87 after 0.3 s.",
    cause="our resolution: with cells of 8 mm few points lose their volume, with 10 mm none. The strain of a step, in "
    "which the energy bears less, is smaller on larger cells. With 4 mm and steps of 1 ms the layer that slides on the "
    "floor is crushed until the run stops, after 0.13 s with c0 = 3, 0.16 s with 2.5, 0.19 s with 2, and not at all in "
    "0.3 s with 1.1; with c0 = 3 and steps of 0.25 ms it is not crushed in 0.2 s "
    "([measurements](../measured/sand-water.md#volume-lost-with-the-unilateral-energy)).",
    presets=("draft",),
)
