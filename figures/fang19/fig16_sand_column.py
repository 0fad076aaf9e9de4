"""[Fang19] figure 16: collapse of a column of sand by implicit and by explicit steps."""

import numpy as np
from reports.case import Outcome, Surroundings, states
from reports.drawing import COLOURS, panels, save
from validation.admm import SAND

from figures.bodies import times_of
from figures.fang19.convergence import curve, studies
from figures.figure import Figure, save_csv
from figures.panels import Panel, number_at, save_panels
from figures.repeats import at_cells
from spume import Run

SCENES = {"implicit": "sand-column-implicit", "explicit": "sand-column-explicit"}
CELLS = {"draft": (0.025, 0.02), "medium": (0.0125, 0.01), "paper": (0.005, 0.004)}
TIMES = (0.0, 0.5, 1.0, 3.0)
"""Of the panels [s]."""
COUNTS = (1, 3, 6, 10, 15)
"""Iterations after which the residual is evaluated; the paper does 15."""


def spread(run: Run, time: float) -> float:
    """Distance from the axis within which 98 % of the points are [m]."""
    x = run[number_at(run, time)]["x"]
    return float(np.quantile(np.hypot(x[:, 0], x[:, 2]), 0.98))


def seconds(run: Run) -> list[float]:
    """Time of all stages of each frame [s]."""
    return [sum(record["seconds"].values()) for record in run.diagnostics]


def run(around: Surroundings) -> Outcome:
    """Run both scenes at both resolutions, and follow the residual in steps at three instants."""
    cells = CELLS[around.preset]
    made = {label: at_cells(around, scene, cells) for label, scene in SCENES.items()}
    found = {label: [spread(run, 1.0) for run in runs] for label, runs in made.items()}
    spent = {label: [seconds(run)[-1] for run in runs] for label, runs in made.items()}
    rows = [[label, f"{1e3 * cell:g}", f"{far:.4f}", f"{took:.1f}"]
            for label in made for cell, far, took in zip(cells, found[label], spent[label])]  # fmt: skip
    save_csv(around.pictures, "fang19-16", ("steps", "cell [mm]", "spread after 1 s [m]", "seconds"), rows)
    residuals = [curve(study, (), COUNTS) for study in studies(around, "sand-column-implicit", SAND)]
    figure, (left, right) = panels(2)
    for (label, runs), colour in zip(made.items(), COLOURS):
        left.plot(times_of(runs[-1]), seconds(runs[-1]), color=colour, label=label)
    left.set(xlabel="simulated time [s]", ylabel="seconds, all frames until then")
    left.legend(frameon=False, fontsize=8)
    for each in residuals:
        right.semilogy(COUNTS, each, color=COLOURS[0])
    right.set(xlabel="iterations", ylabel="unbalanced impulses")
    fall = min(float(each[0] / each[-1]) for each in residuals)
    outcome = Outcome(
        [
            states("time of the implicit steps over that of the explicit ones",
                   ", ".join(f"{a / b:.2f}" for a, b in zip(spent["implicit"], spent["explicit"])), "less than one",
                   all(a < b for a, b in zip(spent["implicit"], spent["explicit"]))),
            states("fall of the residual from the first to the 15th iteration, the least of three steps",
                   f"{fall:.3g} times", "it decreases", fall > 1.0),
            states("spread after 1 s by implicit and by explicit steps",
                   ", ".join(f"{a:.3f} and {b:.3f} m" for a, b in zip(found["implicit"], found["explicit"])),
                   "the same to a cell", all(abs(a - b) <= c for a, b, c in zip(*found.values(), cells))),
        ]
    )  # fmt: skip
    outcome.figures.append((save(figure, around.pictures, "fang19-16-times"), "Times, and residuals of three steps."))
    shown = [Panel(runs[-1], time, label) for label, runs in made.items() for time in TIMES]
    file = save_panels(around, "fang19-16", shown, len(TIMES), size=(480, 360))
    outcome.figures.append((file, "Implicit steps above, explicit ones below."))
    return outcome


FIGURE = Figure(
    "fang19-16",
    "Figure 16: sand column",
    "The solver captures the collapse of a column of sand and improves the performance, since steps are much larger "
    "than explicit ones; the residual decreases in 15 iterations.",
    run,
    paper="Fang19",
    finding="Times are those of the stages of the steps on one thread, as the clock shows them.",
)
