"""[Fang19] figure 14: threads of three equilibrium shear moduli coil on a table."""

from itertools import pairwise

import numpy as np
from reports.case import Outcome, Surroundings, differs

from figures.figure import Figure, save_csv
from figures.panels import Panel, save_panels
from figures.repeats import at_sizes
from spume import Run

MODULI = (1.75, 35.0, 350.0)
"""Of the table in SI units, and two that are larger [Pa]."""
CELLS = {"draft": (0.018, 0.016), "medium": (0.015, 0.013), "paper": (0.012, 0.01)}
TIMES = (1.6, 2.2, 3.0)
"""Of the panels [s]."""
HEAP = 0.3
"""Height below which the thread belongs to the heap [m]."""


def heap(run: Run) -> tuple[float, float]:
    """Height of the heap, and its radius, both without the fiftieth of its points that is farthest [m]."""
    x = run[len(run) - 1]["x"]
    low = x[x[:, 1] < HEAP]
    middle = np.median(low[:, [0, 2]], axis=0)
    radius = np.sqrt(((low[:, [0, 2]] - middle) ** 2).sum(axis=1))
    # the thread that comes down on the heap is narrow: the height of what is farther from the middle than it
    beside = low[radius > 0.03]
    return float(np.quantile(beside[:, 1], 0.98)), float(np.quantile(radius, 0.98))


def run(around: Surroundings) -> Outcome:
    """Run the scene with each modulus at both resolutions."""
    cells = CELLS[around.preset]
    key = "material.thread.shear_modulus"
    made = {
        mu: at_sizes(around, "coil", "grid.cell", cells, {key: mu, "duration": TIMES[-1]}, f"{mu:g}-Pa")
        for mu in MODULI
    }
    found = {mu: [heap(run) for run in runs] for mu, runs in made.items()}
    rows = [[mu, f"{1e3 * cell:g}", *(f"{value:.4f}" for value in values)]
            for mu, each in found.items() for cell, values in zip(cells, each)]  # fmt: skip
    save_csv(around.pictures, "fang19-14", ("μE [Pa]", "cell [mm]", "height of the heap [m]", "radius [m]"), rows)
    outcome = Outcome(
        [
            differs(f"height of the heap [m], {a:g} and {b:g} Pa", [h for h, _ in found[a]], [h for h, _ in found[b]],
                    "more")
            for a, b in [*pairwise(MODULI), (MODULI[0], MODULI[-1])]
        ]
    )  # fmt: skip
    panels = [Panel(runs[-1], time, f"μE = {mu:g} Pa") for mu, runs in made.items() for time in TIMES]
    panels = [panels[len(TIMES) * k + j] for j in range(len(TIMES)) for k in range(len(MODULI))]
    file = save_panels(around, "fang19-14", panels, len(MODULI), size=(480, 480))
    outcome.figures.append((file, "μE = 1.75, 35 and 350 Pa from left to right."))
    return outcome


FIGURE = Figure(
    "fang19-14",
    "Figure 14: coil",
    "A coil buckles at the left; from left to right the equilibrated shear modulus increases, and coils behave more "
    "and more elastically.",
    run,
    paper="Fang19",
    finding="The paper's table has one modulus, 1.75 Pa in SI units; the others are chosen here. A thread of 60 mm "
    "bears ρ g d = 60 Pa for each layer that lies on it: 1.75 Pa is far below that and a fluid, 35 Pa is less than "
    "that, too, and only 350 Pa carries the layers above. The viscosity is five times the table's (see "
    "[parameters](parameters.md)).",
    cause="the paper's value: 1.75 and 35 Pa are both below ρ g d = 60 Pa, the weight of one layer of the thread, so "
    "both flow under it.",
)
