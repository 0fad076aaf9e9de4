"""[Fang19] figure 17: two sofas of solid foam are torn apart and come to rest."""

import numpy as np
from reports.case import Outcome, Surroundings, at_most, states
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from figures.figure import Figure, save_csv
from figures.panels import Panel, save_panels
from figures.repeats import at_cells
from spume import Run

CELLS = {"draft": (0.018, 0.015), "medium": (0.009, 0.0075), "paper": (0.0045, 0.0037)}
TIMES = (0.0, 0.6, 1.0, 1.5, 2.5)
"""Of the panels [s]."""
PIECE = 20
"""Least points of a piece."""
AT_REST = 0.01
"""Part of the largest kinetic energy that is left when the sofas count as being at rest: a tenth of the speed."""


def parts(run: Run) -> dict[str, int]:
    """Pieces of each sofa in the end: sets of points within a cell of each other."""
    frame = run[len(run) - 1]
    cell = float(run.scene.grid.cell)  # type: ignore[attr-defined]  # scenes of this figure have a grid
    found = {}
    for k, body in enumerate(run.scene.resolved()["body"]):
        x = frame["x"][frame["body"] == k]
        pairs = cKDTree(x).query_pairs(cell, output_type="ndarray")
        links = coo_matrix((np.ones(len(pairs)), tuple(pairs.T)), shape=(len(x), len(x)))
        sizes = np.bincount(connected_components(links, directed=False)[1])
        found[body["name"]] = int((sizes >= PIECE).sum())
    return found


def run(around: Surroundings) -> Outcome:
    """Run the scene at both resolutions."""
    cells = CELLS[around.preset]
    runs = at_cells(around, "sofa", cells)
    found = [parts(run) for run in runs]
    left = []
    for made in runs:
        energy = [record["kinetic_energy"] for record in made.diagnostics]
        left.append(energy[-1] / max(energy))
    rows = [[f"{1e3 * cell:g}", *each.values(), f"{rest:.5f}"] for cell, each, rest in zip(cells, found, left)]
    save_csv(around.pictures, "fang19-17", ("cell [mm]", *found[0], "kinetic energy left"), rows)
    outcome = Outcome(
        [
            states(f"pieces of the {name}", ", ".join(str(each[name]) for each in found), "torn: more than one",
                   min(each[name] for each in found) > 1)
            for name in found[0]
        ]
        + [at_most("kinetic energy in the end over the largest", max(left), AT_REST)]
    )  # fmt: skip
    file = save_panels(around, "fang19-17", [Panel(runs[-1], time, "") for time in TIMES], 3)
    outcome.figures.append((file, f"Cells of {1e3 * cells[-1]:g} mm."))
    return outcome


FIGURE = Figure(
    "fang19-17",
    "Figure 17: sofa",
    "Two solid foam sofas are torn apart and come to rest.",
    run,
    paper="Fang19",
    finding="The sofas tear where the grid no longer connects their points. The yield stress is ours.",
)
