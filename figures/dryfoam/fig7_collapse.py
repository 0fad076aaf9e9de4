"""[DryFoam] figure 7: bubbles on the edge collapse one after another."""

import numpy as np
from reports.case import Outcome, Surroundings, at_most, states
from reports.runs import run_of

from figures.dryfoam.drawing import axes_of, index_of, save, show
from figures.figure import Figure
from figures.panels import MARKED
from spume.dryfoam.network.half_edges import OUTSIDE, network_of
from spume.scene.dry_foam import DryFoamScene

SCENE = "dry-foam-collapse"


def run(around: Surroundings) -> Outcome:
    """Run the scene."""
    made = run_of(around, SCENE)
    assert isinstance(made.scene, DryFoamScene)
    marked = [entry.cell for entry in made.scene.collapse]
    foams = [network_of(made[number]) for number in range(len(marked) + 1)]
    figure, axes = axes_of(3, 2)
    sides, on_edge = [], []
    for k, (place, foam) in enumerate(zip(axes, foams)):
        cell = index_of(foam, marked[k]) if k < len(marked) else None
        show(place, foam, f"({'abcdef'[k]}) {foam.cells} bubbles", {} if cell is None else {cell: MARKED})
        if cell is not None:
            sides.append(int(foam.sides()[cell]))
            own = np.flatnonzero(foam.cell == cell)
            on_edge.append(bool(np.any(foam.cell[own ^ 1] == OUTSIDE)))
    records = made.diagnostics
    cells = [record["cells"] for record in records[: len(foams)]]
    worst = max(record["angle_error"] for record in records)
    outcome = Outcome(
        [
            states("bubbles", ", ".join(map(str, cells)), "66, one fewer each time", cells == list(range(66, 60, -1))),
            states("sides of the collapsed bubbles", ", ".join(map(str, sides)), "4, 5 and 6", set(sides) == {4, 5, 6}),
            states("those on the edge of the foam", f"{sum(on_edge)} of {len(on_edge)}", "all", all(on_edge)),
            at_most("largest error of an angle", worst, 1e-4),
        ]
    )
    outcome.figures.append((save(around, "dryfoam-7", figure), "The marked bubble collapses next."))
    return outcome


FIGURE = Figure(
    "dryfoam-7",
    "Figure 7: forced collapse on the edge",
    "Bubbles of 4, 5 and 6 edges on the dynamic boundary of a random foam of 66 cells are forced to collapse, one "
    "after another, without diffusion.",
    run,
    paper="DryFoam",
    finding="The edge follows every collapse and the foam is in equilibrium after each.",
    presets=("paper",),
)
