"""[Fang19] figure 14: threads of three equilibrium shear moduli coil on a table."""

from itertools import pairwise

import numpy as np
from reports.case import Outcome, Surroundings, differs, states

from figures.figure import Figure, save_csv
from figures.panels import Panel, save_panels
from figures.repeats import at_sizes
from spume import Run

MODULI = (1.75, 350.0, 3500.0)
"""Of the table in SI units, and two that carry the weight of 6 and 60 layers of the thread, ρ g d = 60 Pa each [Pa]."""
CELLS = {"draft": (0.018, 0.016), "medium": (0.015, 0.013), "paper": (0.012, 0.01)}
TIMES = (1.6, 2.2, 3.0)
"""Of the panels [s]."""
HEAP = 0.3
"""Height below which the thread belongs to the heap [m]."""
RADIUS = 0.03
"""Of the thread [m]."""
SLICES = 60
"""Parts of the thread along it, each shorter than it is thick."""


def heap(run: Run) -> tuple[float, float]:
    """Height of the heap without the fiftieth of its points that is highest, and the root mean square distance of the
    middles of its slices from the axis: zero for a thread that only thickens [m]."""
    frame = run[len(run) - 1]
    x = frame["x"]
    low = x[x[:, 1] < HEAP]
    middle = np.median(low[:, [0, 2]], axis=0)
    # the thread that comes down on the heap is narrow: the height of what is farther from the middle than it
    beside = low[np.sqrt(((low[:, [0, 2]] - middle) ** 2).sum(axis=1)) > RADIUS]
    along = np.array_split(x[np.argsort(frame["id"])], SLICES)
    middles = np.array([part.mean(axis=0) for part in along])
    middles = middles[middles[:, 1] < HEAP][:, [0, 2]]
    off = np.sqrt(((middles - middles.mean(axis=0)) ** 2).sum(axis=1).mean())
    return float(np.quantile(beside[:, 1], 0.98)), float(off)


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
    columns = ("μE [Pa]", "cell [mm]", "height of the heap [m]", "distance of slices from the axis [m]")
    save_csv(around.pictures, "fang19-14", columns, rows)
    outcome = Outcome(
        [
            states(f"distance of slices of the heap from its axis, {MODULI[0]:g} Pa",
                   ", ".join(f"{1e3 * off:.0f} mm" for _, off in found[MODULI[0]]),
                   f"it buckles: more than the thread's radius, {1e3 * RADIUS:g} mm",
                   min(off for _, off in found[MODULI[0]]) > RADIUS)
        ]
        + [
            differs(f"height of the heap [m], {a:g} and {b:g} Pa", [h for h, _ in found[a]], [h for h, _ in found[b]],
                    "more")
            for a, b in [*pairwise(MODULI), (MODULI[0], MODULI[-1])]
        ]
    )  # fmt: skip
    panels = [Panel(runs[-1], time, f"μE = {mu:g} Pa") for mu, runs in made.items() for time in TIMES]
    panels = [panels[len(TIMES) * k + j] for j in range(len(TIMES)) for k in range(len(MODULI))]
    file = save_panels(around, "fang19-14", panels, len(MODULI), size=(480, 480))
    outcome.figures.append((file, "μE = 1.75, 350 and 3500 Pa from left to right."))
    return outcome


FIGURE = Figure(
    "fang19-14",
    "Figure 14: coil",
    "A coil buckles at the left; from left to right the equilibrated shear modulus increases, and coils behave more "
    "and more elastically.",
    run,
    paper="Fang19",
    finding="The paper's table has one modulus, 1.75 Pa in SI units; the others are chosen here. A thread of 60 mm "
    "bears ρ g d = 60 Pa for each layer that lies on it: 1.75 Pa is far below that, and the thread a fluid. The "
    "viscosity is five times the table's (see [parameters](parameters.md)).",
    cause="our measure, chosen before the runs: a stiffer thread makes wider loops, not a higher heap. In the end its "
    "slices are 108, 111 and 136 mm from the axis with 1.75, 350 and 3500 Pa, in the mean of both resolutions.",
)
