"""[Fang19] figure 15: the same soft animal at three viscosities falls onto the ground."""

from itertools import pairwise

import numpy as np
from reports.case import Outcome, Surroundings, differs
from reports.drawing import COLOURS, panels, save

from figures.bodies import bodies, height, paths
from figures.figure import Figure, save_csv
from figures.panels import Camera, Panel, save_panels
from figures.repeats import at_cells

SCENE = "pet-monster"
CELLS = {"draft": (0.035, 0.03), "medium": (0.02, 0.016), "paper": (0.012, 0.01)}
TIMES = (0.7, 1.0, 1.3, 2.5)
"""Of the panels [s]."""
CAMERA = Camera((0.18, 0.6, 2.2), (0.02, 0.215, 0.0), 17.5)
"""From where the three bodies fill wide panels."""
SOON = 0.3
"""Time after the landing at which heights are compared [s]."""
NAMES = {"watery": 5.0, "syrupy": 25.0, "stiff": 250.0}
"""νd = νv of each body [Pa s]."""


def run(around: Surroundings) -> Outcome:
    """Run the scene at both resolutions."""
    cells = CELLS[around.preset]
    runs = at_cells(around, SCENE, cells)
    soon: dict[str, list[float]] = {name: [] for name in NAMES}
    rows = []
    figure, (axes,) = panels()
    for cell, made in zip(cells, runs):
        times, x = paths(made)
        for (name, own), colour in zip(bodies(made).items(), COLOURS):
            heights = np.array([height(places[own]) for places in x])
            low = np.array([places[own][:, 1].min() for places in x])
            landed = times[int(np.argmax(low < 0.5 * cell))]
            soon[name].append(float(np.interp(landed + SOON, times, heights) / heights[0]))
            rows.append([name, f"{1e3 * cell:g}", f"{landed:.3f}", f"{soon[name][-1]:.4f}",
                         f"{heights.min() / heights[0]:.4f}", f"{heights[-1] / heights[0]:.4f}"])  # fmt: skip
            if made is runs[-1]:
                axes.plot(times, heights / heights[0], color=colour, label=f"ν = {NAMES[name]:g} Pa s")
    columns = ("body", "cell [mm]", "lands at [s]", f"height {SOON:g} s later over the first", "smallest", "in the end")
    save_csv(around.pictures, "fang19-15", columns, rows)
    axes.set(xlabel="time [s]", ylabel="height over that at the start")
    axes.legend(frameon=False, fontsize=10)
    outcome = Outcome(
        [
            differs(f"height {SOON:g} s after landing over the first, ν = {NAMES[a]:g} and {NAMES[b]:g} Pa s", soon[a],
                    soon[b], "more")
            for a, b in pairwise(NAMES)
        ]
    )  # fmt: skip
    file = save_panels(
        around, "fang19-15", [Panel(runs[-1], time, "") for time in TIMES], 2, size=(960, 360), camera=CAMERA
    )
    outcome.figures.append((file, "νd = νv = 5, 25 and 250 Pa s from left to right."))
    outcome.figures.append((save(figure, around.pictures, "fang19-15-heights"), "Heights over time."))
    return outcome


FIGURE = Figure(
    "fang19-15",
    "Figure 15: pet monster",
    "From left to right, larger νd and νv show more resistance to deformation at a high rate.",
    run,
    paper="Fang19",
    finding="The table prints one viscosity, 25 Pa s in SI units; the others are a fifth and ten times that.",
)
