"""[Tampubolon17] figure 3: boxes of sand with various cohesion are dropped on a wedge."""

from itertools import pairwise

import numpy as np
from reports.case import Outcome, Surroundings, differs, states
from reports.runs import run_of

from figures.figure import Figure, save_csv
from figures.panels import Camera, Panel, number_at, save_panels
from figures.repeats import at_cells
from spume import Run

COHESION = {0.0: "sand-wedge", 500.0: "sand-wedge-damp", 3000.0: "sand-wedge-wet"}
"""Pa, and the scenes by explicit steps; the others end in -semi-implicit."""
CELLS = {"draft": (0.02, 0.016), "medium": (0.01, 0.008), "paper": (0.004, 0.003)}
TIMES = (0.3, 0.8)
"""Of the panels [s]; the later one also of the heights."""
SEEN = Camera((0.45, 0.6, 1.05), (0.0, 0.17, 0.02), 30.0)
"""Of the panels, closer than that of the scenes."""


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
    spread = max(float(np.std(each, ddof=1)) for each in heights.values())
    later = [height(run) for run in other.values()]
    outcome.checks.append(
        states("semi-implicit steps, cells of 22.5 mm: mean height then [m], with growing cohesion",
               ", ".join(f"{h:.4f}" for h in later), f"each more than the one before by 3 × {spread:.2g}",
               all(b - a > 3.0 * spread for a, b in pairwise(later)))
    )  # fmt: skip
    panels = [
        Panel(run, time, f"{name}, {c:g} Pa")
        for c in COHESION
        for name, run in (("explicit", made[c][-1]), ("semi-implicit", other[c]))
        for time in TIMES
    ]
    file = save_panels(around, "tampubolon17-3", panels, 2 * len(TIMES), size=(480, 400), camera=SEEN)
    outcome.figures.append((file, "Cohesion grows from above to below; explicit steps left, semi-implicit ones right."))
    return outcome


FIGURE = Figure(
    "tampubolon17-3",
    "Figure 3: sand on wedges",
    "Boxes of sand with various values of cohesion are dropped onto a wedge, with explicit and semi-implicit steps: "
    "varying cohesion gives different behaviour of wet sand.",
    run,
    paper="Tampubolon17",
    finding="Values of the cohesion are ours, in SI units; the paper's have no unit. Semi-implicit steps have the flow "
    "of dry and damp sand in their equations, unlike the paper's: sand as stiff as ours would hang together otherwise. "
    "Those of wet sand are the paper's.",
)
