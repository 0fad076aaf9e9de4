"""[Fang19] figure 6: discs of different equilibrium shear modulus and viscosity fall onto shelves."""

from itertools import pairwise

import numpy as np
from reports.case import Outcome, Surroundings, differs

from figures.bodies import bodies, height, paths
from figures.figure import Figure, save_csv
from figures.panels import Panel, save_panels
from figures.repeats import at_cells
from spume import Run

SCENE = "viscosity-and-stiffness"
CELLS = {"draft": (0.025, 0.02), "medium": (0.0125, 0.01), "paper": (0.007, 0.005)}
TIMES = (0.2, 0.4, 2.0)
"""Of the panels [s]."""
SIZE, CORNERS = (1080, 510), ((-0.15, -0.05), (2.2, 1.06))
"""Of the panels [pixels], and the part of the plane that they show [m]."""
STIFFNESS = ("fluid", "soft", "firm")
"""Along a row."""
SHELF = {"thin": 0.75, "thick": 0.0}
"""Height of the shelf below each row [m]."""
LANDED = 0.06
"""Time after the disc has come to the shelf at which its height is measured [s]: half of that in which it falls by its
radius."""


def measured(run: Run) -> dict[str, tuple[float, float]]:
    """Height of each disc shortly after it has met its shelf, and in the end, over that at the start."""
    times, x = paths(run)
    found = {}
    for name, own in bodies(run).items():
        heights = np.array([height(places[own]) for places in x])
        low = np.array([places[own][:, 1].min() for places in x]) - SHELF[name.rpartition(" ")[2]]
        landed = times[int(np.argmax(low < 0.01))]
        found[name] = (
            float(np.interp(landed + LANDED, times, heights) / heights[0]),
            float(heights[-1] / heights[0]),
        )
    return found


def run(around: Surroundings) -> Outcome:
    """Run the scene at both resolutions."""
    runs = at_cells(around, SCENE, CELLS[around.preset])
    found = [measured(run) for run in runs]
    rows = [[name, f"{1e3 * cell:g}", *(f"{value:.4f}" for value in values)]
            for cell, each in zip(CELLS[around.preset], found) for name, values in each.items()]  # fmt: skip
    columns = ("disc", "cell [mm]", f"height {LANDED:g} s after landing over the first", "height in the end")
    save_csv(around.pictures, "fang19-6", columns, rows)
    soon = {name: [each[name][0] for each in found] for name in found[0]}
    end = {name: [each[name][1] for each in found] for name in found[0]}
    outcome = Outcome(
        [
            differs(f"height in the end over the first, {kind} discs: {a} and {b}", end[f"{a}, {kind}"],
                    end[f"{b}, {kind}"], "more")
            for kind in SHELF
            for a, b in pairwise(STIFFNESS)
        ]
        + [
            differs(f"height {LANDED:g} s after landing over the first, {name}: thin and thick", soon[f"{name}, thin"],
                    soon[f"{name}, thick"], "more")
            for name in STIFFNESS
        ]
    )  # fmt: skip
    file = save_panels(around, "fang19-6", [Panel(runs[-1], time, "") for time in TIMES], 1, None, SIZE, CORNERS)
    text = "μE = 0, 500 and 5000 Pa from left to right; ν = 100 Pa s on the upper shelf, 2000 Pa s on the lower."
    outcome.figures.append((file, text))
    return outcome


FIGURE = Figure(
    "fang19-6",
    "Figure 6: shear modulus and viscosity",
    "μE controls the fluidity: when it is close to zero, the material has negligible resistance to shear and becomes a "
    "fluid. A larger ν causes more resistance to rapid deformation.",
    run,
    paper="Fang19",
    finding="The paper prints no values; ours are chosen. A fluid disc is lower in the end than a stiffer one; a "
    "viscous one is higher shortly after it lands. Where the thin fluid is drawn out, gaps open between its rows of "
    "points, because this method does not insert any. The thin firm disc springs back and leaves a layer of points "
    "on its shelf, to which it sticks.",
)
