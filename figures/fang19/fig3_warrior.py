"""[Fang19] figure 3: a long, thick sheet drops onto a rotating statue and folds."""

import numpy as np
from reports.case import Outcome, Surroundings, states

from figures.bodies import paths
from figures.figure import Figure, save_csv
from figures.panels import Panel, save_panels
from figures.repeats import at_cells
from spume import Run

CELLS = {"draft": (0.02, 0.0167), "medium": (0.015, 0.0125), "paper": (0.0075, 0.006)}
TIMES = (0.0, 0.6, 1.2, 2.0, 3.0, 4.0)
"""Of the panels [s]."""
ROWS = 12
"""Rows across the sheet whose middles are followed: one per thickness of the sheet."""
FOLDED = 360.0
"""Sum of the turns of the line through the middles that counts as complex folding: two folds of 180° [degrees]."""


def turned(run: Run) -> float:
    """Sum of the turns along the line through the middles of the rows of the sheet in the end [degrees]."""
    _, x = paths(run)
    rank = np.argsort(np.argsort(x[0][:, 1])) * ROWS // len(x[0])
    line = np.array([x[-1][rank == k].mean(axis=0) for k in range(ROWS)])
    along = np.diff(line, axis=0)
    along /= np.linalg.norm(along, axis=1)[:, None]
    return float(np.degrees(np.arccos(np.clip((along[1:] * along[:-1]).sum(axis=1), -1.0, 1.0))).sum())


def run(around: Surroundings) -> Outcome:
    """Run the scene at both resolutions."""
    cells = CELLS[around.preset]
    runs = at_cells(around, "warrior", cells)
    angles = [turned(run) for run in runs]
    save_csv(around.pictures, "fang19-3", ("cell [mm]", "turns along the sheet [degrees]"),
             [[f"{1e3 * cell:g}", f"{angle:.1f}"] for cell, angle in zip(cells, angles)])  # fmt: skip
    outcome = Outcome(
        [
            states("turns along the sheet in the end", ", ".join(f"{angle:.0f}°" for angle in angles),
                   f"complex folding: more than {FOLDED:g}°", min(angles) > FOLDED),
        ]
    )  # fmt: skip
    panels = [Panel(runs[-1], time, "") for time in TIMES]
    file = save_panels(around, "fang19-3", panels, 3, size=(480, 560))
    outcome.figures.append((file, f"Cells of {1e3 * cells[-1]:g} mm."))
    return outcome


FIGURE = Figure(
    "fang19-3",
    "Figure 3: warrior",
    "A long, thick viscoelastic sheet drops onto a rotating statue and folds in a complex way.",
    run,
    paper="Fang19",
    finding="The statue is put together from primitives. The sheet has ten times the viscosity of the table and a "
    "yield stress (see [parameters](parameters.md)). It twists on the head and folds once around it; no finer or "
    "longer run has been made.",
    cause="our scene: after 4 s half of the sheet, ten times as viscous as the table's, still stands above the head.",
)
