"""[Yue15] figure 7: without a tearing model, a thin tendril forms."""

from reports.case import Outcome, Surroundings, differs

from figures.figure import Figure, save_csv
from figures.panels import Panel, save_panels
from figures.yue15 import dollop

SCENES = {"without tearing": "shaving-cream-without-tearing", "with tearing": "shaving-cream"}
TIMES = (0.6, 0.8, 1.2)
"""Of the panels [s]."""


def run(around: Surroundings) -> Outcome:
    """Run both scenes at both resolutions."""
    made = {label: dollop.runs(around, scene) for label, scene in SCENES.items()}
    parted = {label: [dollop.parting(run) for run in runs] for label, runs in made.items()}
    rows = [[label, f"{1e3 * dollop.cell_of(run):g}", f"{time:.4f}"]
            for label, runs in made.items() for run, time in zip(runs, parted[label])]  # fmt: skip
    save_csv(around.pictures, "yue15-7", ("variant", "cell [mm]", "parts at [s]"), rows)
    outcome = Outcome(
        [
            differs("time at which the dollop parts, with and without tearing [s]", parted["with tearing"],
                    parted["without tearing"], "more"),
        ]
    )  # fmt: skip
    panels = [Panel(runs[-1], time, label) for label, runs in made.items() for time in TIMES]
    file = save_panels(around, "yue15-7", panels, len(TIMES), size=(480, 480))
    cell = 1e3 * dollop.cell_of(made["with tearing"][-1])
    outcome.figures.append((file, f"Cells of {cell:g} mm; without tearing in the first row."))
    return outcome


FIGURE = Figure(
    "yue15-7",
    "Figure 7: tearing",
    "Without explicit tearing, a thin, non-physical tendril forms; with the tearing model, it breaks.",
    run,
    paper="Yue15",
    finding="A tendril that does not break keeps the dollop in one piece, so the time at which it parts is the "
    "measure.",
)
