"""[Tampubolon17] figure 6: collapse of a column with openings c0 of the unilateral energy."""

from reports.case import Outcome, Surroundings, differs

from figures.figure import Figure, save_csv
from figures.panels import Panel, save_panels
from figures.repeats import at_sizes
from figures.tampubolon17.sand import heap, volume_at

OPENINGS = {1.1: "1-1", 2.0: "2", 2.5: "2-5", 3.0: "3"}
CELLS = {"draft": (0.01, 0.008), "medium": (0.006, 0.004), "paper": (0.005, 0.004)}
TIMES = (0.1, 0.2)
"""The early and the late frame [s]."""
SHOWN = ((-0.5, -0.02), (0.5, 0.23))
"""Corners of the part of the plane in the panels [m]."""


def run(around: Surroundings) -> Outcome:
    """Run the four scenes at both resolutions."""
    cells = CELLS[around.preset]
    made = {
        c0: at_sizes(around, f"sand-column-c0-{name}", "grid.cell", cells, {"duration": TIMES[-1]})
        for c0, name in OPENINGS.items()
    }
    volume = {c0: [volume_at(run, TIMES[-1]) for run in runs] for c0, runs in made.items()}
    rows = [
        [c0, f"{1e3 * cell:g}", f"{value:.4f}", *(f"{size:.4f}" for size in heap(run, TIMES[-1]))]
        for c0, runs in made.items()
        for cell, run, value in zip(cells, runs, volume[c0])
    ]
    save_csv(around.pictures, "tampubolon17-6", ("c0", "cell [mm]", "volume", "height [m]", "half width [m]"), rows)
    pairs = list(zip(OPENINGS, list(OPENINGS)[1:]))
    outcome = Outcome(
        [
            differs(f"volume after {TIMES[-1]:g} s over the first: c0 = {a:g} and {b:g}", volume[a], volume[b], "less")
            for a, b in [*pairs, (1.1, 3.0)]
        ]
    )
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
    finding="The volume is that which the points take up, from their crowding. Both frames are early ones of the "
    "collapse: with c0 = 3, runs break off soon after 0.2 s.",
)
