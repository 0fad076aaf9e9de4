"""[Yue15] figure 13: viscoplastic and shear-thickening spheres and penguins, side by side."""

import numpy as np
from reports.case import Outcome, Surroundings, differs

from figures.figure import Figure, save_csv
from figures.panels import Panel, save_panels
from figures.repeats import at_cells
from spume import Run

BODIES = {"sphere": "oobleck-sphere", "penguin": "oobleck-penguin"}
CELLS = {
    "sphere": {"draft": (0.007, 0.006), "medium": (0.0035, 0.0022), "paper": (0.0022, 0.0016)},
    "penguin": {"draft": (0.0035, 0.003), "medium": (0.0025, 0.0016), "paper": (0.0016, 0.0012)},
}
"""The two resolutions of each preset [m]; the last is drawn."""
TIMES = (0.15, 0.2, 0.3, 1.0)
"""Of the panels [s]."""


def rebound(run: Run) -> tuple[float, float]:
    """Rise of the lowest point above the ground after the first impact, and largest width after it, before that rise
    ends, both over the diameter of the body at the start."""
    low = np.array([float(frame["x"][:, 1].min()) for frame in run])
    middle = np.array([float(frame["x"][:, 1].mean()) for frame in run])
    start = run[0]["x"]
    size = float(np.ptp(start[:, 1]))
    cell = float(run.scene.grid.cell)  # type: ignore[attr-defined]
    landed = int(np.argmax(low < cell))
    lowest = landed + int(np.argmax(np.diff(middle[landed:]) > 0.0))
    return float(low[lowest:].max()) / size, float(np.ptp(run[len(run) - 1]["x"][:, 0]) / np.ptp(start[:, 0]))


def run(around: Surroundings) -> Outcome:
    """Run both pairs at both resolutions."""
    outcome, rows, panels = Outcome(), [], []
    for body, scene in BODIES.items():
        cells = CELLS[body][around.preset]
        made = {
            "viscoplastic": at_cells(around, f"{scene}-viscoplastic", cells),
            "oobleck": at_cells(around, scene, cells),
        }
        found = {label: [rebound(run) for run in runs] for label, runs in made.items()}
        rows += [[body, label, f"{1e3 * cell:g}", f"{rise:.4f}", f"{width:.4f}"]
                 for label, each in found.items() for cell, (rise, width) in zip(cells, each)]  # fmt: skip
        plastic, thick = found["viscoplastic"], found["oobleck"]
        outcome.checks += [
            differs(f"{body}: rise of its lowest point after the impact, viscoplastic and oobleck [heights]",
                    [r for r, _ in plastic], [r for r, _ in thick], "more"),
            differs(f"{body}: width in the end over that at the start, oobleck and viscoplastic",
                    [w for _, w in thick], [w for _, w in plastic], "more"),
        ]  # fmt: skip
        panels += [Panel(runs[-1], time, f"{label} {body}") for label, runs in made.items() for time in TIMES]
    columns = ("body", "material", "cell [mm]", "rise [heights]", "width in the end over the first")
    save_csv(around.pictures, "yue15-13", columns, rows)
    for body in BODIES:
        own = [panel for panel in panels if panel.label.endswith(body)]
        file = save_panels(around, f"yue15-13-{body}", own, len(TIMES), size=(480, 480))
        outcome.figures.append((file, f"The {body}: viscoplastic above, oobleck below."))
    return outcome


FIGURE = Figure(
    "yue15-13",
    "Figure 13: viscoplastic and shear-thickening bodies",
    "The viscoplastic bodies flow immediately at the impact; the shear-thickening ones rebound elastically after the "
    "first, fast impact and flow only after the second, slower one. Only the power h differs.",
    run,
    paper="Yue15",
    finding="A body has rebounded if its lowest point has left the ground.",
)
