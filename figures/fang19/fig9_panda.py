"""[Fang19] figure 9: an array of balls presses a viscoelastic and a hyperelastic panda and leaves."""

import numpy as np
from reports.case import Outcome, Surroundings, differs
from reports.drawing import COLOURS, panels, save

from figures.bodies import Array, bodies, paths
from figures.figure import Figure, save_csv
from figures.panels import Panel, save_panels
from figures.repeats import at_cells
from spume import Run

CELLS = {"draft": (0.03, 0.024), "medium": (0.02, 0.016), "paper": (0.012, 0.01)}
TIMES = (0.0, 1.25, 1.75, 2.0, 2.5, 4.0)
"""Of the panels [s]."""
RELEASED = 1.5
"""Time at which the balls begin to leave [s]."""
LEFT = 0.25
"""Part of the depth at which a head counts as recovered."""


def depths(run: Run) -> tuple[Array, dict[str, Array]]:
    """Times, and how far the middle of the head of each panda is below its first place [m]."""
    times, x = paths(run)
    found = {}
    for name, own in bodies(run).items():
        start = x[0][own]
        top = (start[:, 1] > 0.42) & (np.abs(start[:, 0] - np.median(start[:, 0])) < 0.06)
        heights = x[:, own][:, top, 1].mean(axis=1)
        found[name.split()[0]] = heights[0] - heights
    return times, found


def recovered(times: Array, depth: Array) -> float:
    """Time after the release at which the depth is a quarter of that at the release [s]; that of the end if never."""
    begin = int(np.argmax(times >= RELEASED))
    small = depth[begin:] <= LEFT * depth[begin]
    return float(times[begin + int(np.argmax(small))] if small.any() else times[-1]) - RELEASED


def run(around: Surroundings) -> Outcome:
    """Run the scene at both resolutions."""
    cells = CELLS[around.preset]
    runs = at_cells(around, "panda", cells)
    took: dict[str, list[float]] = {"viscoelastic": [], "elastic": []}
    rows = []
    figure, (axes,) = panels()
    for cell, made in zip(cells, runs):
        times, found = depths(made)
        for (name, depth), colour in zip(found.items(), COLOURS):
            took[name].append(recovered(times, depth))
            rows.append([name, f"{1e3 * cell:g}", f"{depth.max():.4f}", f"{took[name][-1]:.3f}", f"{depth[-1]:.4f}"])
            if made is runs[-1]:
                axes.plot(times, 1e3 * depth, color=colour, label=name)
    columns = ("panda", "cell [mm]", "largest depth [m]", "a quarter of it after [s]", "depth in the end [m]")
    save_csv(around.pictures, "fang19-9", columns, rows)
    axes.axvspan(RELEASED, 2.0, color="#dddddd", label="balls leave")
    axes.set(xlabel="time [s]", ylabel="head below its first place [mm]")
    axes.legend(frameon=False, fontsize=8)
    outcome = Outcome(
        [
            differs("time after the release until a quarter of the depth is left [s], hyperelastic and viscoelastic",
                    took["elastic"], took["viscoelastic"], "more"),
        ]
    )  # fmt: skip
    shown = [Panel(runs[-1], time, "") for time in TIMES]
    file = save_panels(around, "fang19-9", shown, 3, size=(720, 480))
    outcome.figures.append((file, "The viscoelastic panda is on the left."))
    outcome.figures.append((save(figure, around.pictures, "fang19-9-depth"), "How far the heads are pressed."))
    return outcome


FIGURE = Figure(
    "fang19-9",
    "Figure 9: panda",
    "An array of balls compresses two pandas; the hyperelastic one recovers at once, the viscoelastic one takes much "
    "longer.",
    run,
    paper="Fang19",
    finding="Of the array, three balls press each head. The pandas are put together from spheres. They start without "
    "stress, so both heads also sink under their own weight, by 25 mm. The elastic one swings about that depth and "
    "passes a quarter of the depth at the release on its first swing. The viscoelastic one does not within the run; it "
    "counts with the time that is left, 2.5 s.",
)
