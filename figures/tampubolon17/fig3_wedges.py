"""[Tampubolon17] figure 3: boxes of sand with various cohesion are dropped on a wedge."""

from itertools import pairwise

import numpy as np
from reports.case import Outcome, Surroundings, differs
from reports.runs import run_of

from figures.figure import Figure, save_csv
from figures.panels import Panel, number_at, save_panels
from figures.repeats import at_cells
from spume import Run

COHESION = {0.0: "sand-wedge", 500.0: "sand-wedge-damp", 3000.0: "sand-wedge-wet"}
"""Pa, and the scenes by explicit steps; the others end in -semi-implicit."""
CELLS = {"draft": (0.02, 0.016), "medium": (0.01, 0.008), "paper": (0.004, 0.003)}
TIMES = (0.2, 0.5, 0.8)
"""Of the panels [s]."""


def height(run: Run) -> float:
    """Mean height of the sand after 0.8 s [m]: what clings together stays on the wedge."""
    frame = run[number_at(run, TIMES[-1])]
    return float(np.average(frame["x"][:, 1], weights=frame["mass"]))


def run(around: Surroundings) -> Outcome:
    """Run the explicit scenes at both resolutions, and the semi-implicit ones once."""
    cells = CELLS[around.preset]
    made = {c: at_cells(around, scene, cells) for c, scene in COHESION.items()}
    other = {c: run_of(around, f"{scene}-semi-implicit", preset="draft") for c, scene in COHESION.items()}
    heights = {c: [height(run) for run in runs] for c, runs in made.items()}
    rows = [["explicit", f"{c:g}", f"{1e3 * cell:g}", f"{h:.4f}"]
            for c, each in heights.items() for cell, h in zip(cells, each)]  # fmt: skip
    rows += [["semi-implicit", f"{c:g}", "22.5", f"{height(run):.4f}"] for c, run in other.items()]
    save_csv(around.pictures, "tampubolon17-3", ("steps", "cohesion [Pa]", "cell [mm]", "mean height [m]"), rows)
    outcome = Outcome(
        [
            differs(f"mean height after {TIMES[-1]:g} s [m], cohesion of {a:g} and {b:g} Pa", heights[a], heights[b],
                    "more")
            for a, b in pairwise(COHESION)
        ]
    )  # fmt: skip
    texts = ", ".join(f"{height(run):.3f} m" for run in other.values())
    outcome.notes.append(f"Semi-implicit steps, cells of 22.5 mm: {texts}.")
    panels = [Panel(runs[-1], time, f"{c:g} Pa") for c, runs in made.items() for time in TIMES]
    panels += [Panel(run, time, f"{c:g} Pa, semi-implicit") for c, run in other.items() for time in TIMES]
    file = save_panels(around, "tampubolon17-3", panels, len(TIMES), size=(480, 360))
    outcome.figures.append((file, "Explicit steps above, semi-implicit ones below, with growing cohesion."))
    return outcome


FIGURE = Figure(
    "tampubolon17-3",
    "Figure 3: sand on wedges",
    "Boxes of sand with various values of cohesion are dropped onto a wedge, with explicit and semi-implicit steps: "
    "varying cohesion gives different behaviour of wet sand.",
    run,
    paper="Tampubolon17",
    finding="Values of the cohesion are ours, in SI units; the paper's have no unit.",
)
