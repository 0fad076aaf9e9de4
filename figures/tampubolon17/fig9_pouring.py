"""[Tampubolon17] figure 9: sand is poured on the ground without and with the volume correction."""

import numpy as np
from reports.case import Outcome, Surroundings, at_most, states
from reports.runs import run_of

from figures.figure import Figure, save_csv
from figures.panels import Panel, number_at, save_panels
from spume import Run

SCENES = {"without correction": "sand-pouring-without-correction", "with correction": "sand-pouring"}
CELLS = {"draft": (0.01, 0.008), "medium": (0.01, 0.006), "paper": (0.01, 0.001)}
"""The coarse and the fine grid [m]; "paper" has those of the caption, and needs weeks."""
END = 2.5
"""Time of the panels [s]."""
BOX = 0.01
"""Edge of the boxes whose number is the volume of the heap [m]."""
GAIN = 1.5
"""Volume of the boxes over that with the correction that counts as a gain."""


def volume(run: Run) -> float:
    """Volume of the boxes that contain points, over that of the sand."""
    frame = run[number_at(run, END)]
    count = len(np.unique(np.floor(frame["x"] / BOX), axis=0))
    return float(count * BOX**3 / frame["volume"].sum())


def run(around: Surroundings) -> Outcome:
    """Run both scenes on both grids."""
    cells = CELLS[around.preset]
    made = {
        (label, cell): run_of(around, scene, {"grid.cell": cell}, preset="draft", folder=f"{scene}-{1e3 * cell:g}-mm")
        for label, scene in SCENES.items()
        for cell in cells
    }
    found = {key: volume(run) for key, run in made.items()}
    save_csv(around.pictures, "tampubolon17-9", ("scene", "cell [mm]", "volume of boxes with points over the sand's"),
             [[label, f"{1e3 * cell:g}", f"{value:.4f}"] for (label, cell), value in found.items()])  # fmt: skip
    coarse, fine = (found["without correction", cell] / found["with correction", cell] for cell in cells)
    outcome = Outcome(
        [
            states(f"volume without over that with correction, cells of {1e3 * cells[0]:g} mm", f"{coarse:.2f}",
                   f"a gain: more than {GAIN:g}", coarse > GAIN),
            states(f"the same, cells of {1e3 * cells[1]:g} mm", f"{fine:.2f}", "less", fine < coarse),
            at_most("difference of the volumes with correction on the two grids",
                    abs(found["with correction", cells[0]] / found["with correction", cells[1]] - 1.0), 0.15),
        ]
    )  # fmt: skip
    panels = [Panel(made[label, cell], END, f"{label}, {1e3 * cell:g} mm") for label in SCENES for cell in cells]
    file = save_panels(around, "tampubolon17-9", panels, len(cells), size=(560, 420))
    outcome.figures.append((file, "The same sand on a coarse and a finer grid."))
    return outcome


FIGURE = Figure(
    "tampubolon17-9",
    "Figure 9: pouring sand",
    "Without the volume correction, poured sand gains volume on a coarse grid (cells of 10 mm); on a fine one (1 mm), "
    "and with the correction, it does not.",
    run,
    paper="Tampubolon17",
    finding="The volume is that of boxes of 10 mm with points in them, which are not full at the surface; cells of "
    "1 mm would take about 180 hours.",
)
