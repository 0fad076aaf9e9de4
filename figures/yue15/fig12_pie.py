"""[Yue15] figure 12: a pie of whipped cream is thrown at a face."""

import numpy as np
from reports.case import Outcome, Surroundings, states

from figures.figure import Figure, save_csv
from figures.panels import Panel, save_panels
from figures.repeats import at_sizes
from figures.yue15.dollop import cell_of, pieces
from spume import Run

CELLS = {"draft": (0.0065, 0.0055), "medium": (0.004, 0.003), "paper": (0.002, 0.0016)}
TIMES = (0.0, 0.03, 0.2, 0.37, 0.53, 0.8)
"""Of the panels [s]."""
CHUNK = 20
"""Least points of a chunk."""
SLOW, BELOW = 0.05, -0.15
"""Speed of cream that adheres [m/s], and the height below which it is no longer at the head [m]."""


def chunks(run: Run) -> tuple[int, float]:
    """Chunks in the end, and the part of the mass that adheres to the face."""
    frame = run[len(run) - 1]
    sizes = np.bincount(pieces(frame, cell_of(run)))
    x, mass = frame["x"], frame["mass"]
    adheres = (np.linalg.norm(frame["v"], axis=1) < SLOW) & (x[:, 1] > BELOW) & (x[:, 2] < 0.13)
    return int((sizes >= CHUNK).sum()), float(mass[adheres].sum() / mass.sum())


def run(around: Surroundings) -> Outcome:
    """Run the scene at both resolutions."""
    cells = CELLS[around.preset]
    runs = at_sizes(around, "pie-throw", "grid.cell", cells, {"duration": TIMES[-1]})
    found = [chunks(run) for run in runs]
    save_csv(around.pictures, "yue15-12", ("cell [mm]", "chunks in the end", "part of the mass on the face"),
             [[f"{1e3 * cell:g}", count, f"{part:.4f}"] for cell, (count, part) in zip(cells, found)])  # fmt: skip
    outcome = Outcome(
        [
            states("the cream clumps and tears: chunks in the end", ", ".join(str(count) for count, _ in found),
                   "more than one", min(count for count, _ in found) > 1),
            states("chunks adhere to the face: part of the mass at rest on it",
                   ", ".join(f"{part:.1%}" for _, part in found), "more than none",
                   min(part for _, part in found) > 0.0),
        ]
    )  # fmt: skip
    file = save_panels(around, "yue15-12", [Panel(runs[-1], time, "") for time in TIMES], 3)
    outcome.figures.append((file, f"Cells of {1e3 * cells[-1]:g} mm."))
    return outcome


FIGURE = Figure(
    "yue15-12",
    "Figure 12: pie throw",
    "A whipped cream pie is thrown at a face, clumps and tears; chunks adhere to the face.",
    run,
    paper="Yue15",
    finding=f"A chunk is a set of at least {CHUNK} points within a cell of each other; cream slower than "
    f"{1e3 * SLOW:g} mm/s at the head adheres to it.",
)
