"""[Fang19] figure 2: a car of metal hits a wall and stops."""

import numpy as np
from reports.case import Outcome, Surroundings, at_most, states
from reports.drawing import COLOURS, panels, save

from figures.bodies import times_of, width
from figures.figure import Figure, save_csv
from figures.panels import Panel, save_panels
from figures.repeats import at_cells

CELLS = {"draft": (0.05, 0.04), "medium": (0.035, 0.03), "paper": (0.024, 0.02)}
TIMES = (0.0, 0.3, 0.6, 1.5)
"""Of the panels [s]."""
STOPPED = 0.01
"""Part of the kinetic energy at the start that is left when a car counts as fully stopped: a tenth of its speed."""
STORED = 0.1
"""Largest part of it that may be stored elastically."""


def run(around: Surroundings) -> Outcome:
    """Run the scene at both resolutions."""
    cells = CELLS[around.preset]
    runs = at_cells(around, "cars", cells)
    figure, (axes,) = panels()
    left, shorter, stored, rows = [], [], [], []
    for cell, made, colour in zip(cells, runs, COLOURS):
        energy = np.array([record["kinetic_energy"] for record in made.diagnostics])
        left.append(float(energy[-1] / energy[0]))
        shorter.append(float(width(made[len(made) - 1]["x"]) / width(made[0]["x"])))
        stored.append(made.diagnostics[-1]["elastic_energy"] / float(energy[0]))
        rows.append([f"{1e3 * cell:g}", f"{left[-1]:.5f}", f"{stored[-1]:.4f}", f"{shorter[-1]:.4f}"])
        axes.plot(times_of(made), energy / energy[0], color=colour, label=f"cells of {1e3 * cell:g} mm")
    axes.set(xlabel="time [s]", ylabel="kinetic energy over the first")
    axes.legend(frameon=False, fontsize=8)
    columns = ("cell [mm]", "kinetic energy left", "elastic energy over it", "length over the first")
    save_csv(around.pictures, "fang19-2", columns, rows)
    outcome = Outcome(
        [
            at_most("kinetic energy in the end over the first", max(left), STOPPED),
            at_most("elastic energy in the end over the first kinetic: the rest is dissipated", max(stored), STORED),
            states("it stays crumpled: length in the end over the first", ", ".join(f"{s:.3f}" for s in shorter),
                   "shorter by a cell", all(s < 1.0 - cell for s, cell in zip(shorter, cells))),
        ]
    )  # fmt: skip
    file = save_panels(around, "fang19-2", [Panel(runs[-1], time, "") for time in TIMES], 2)
    outcome.figures.append((file, f"Cells of {1e3 * cells[-1]:g} mm."))
    outcome.figures.append((save(figure, around.pictures, "fang19-2-energy"), "Kinetic energy over time."))
    return outcome


FIGURE = Figure(
    "fang19-2",
    "Figure 2: car crash",
    "The solver handles von Mises plasticity: cars end up fully stopped by plastic dissipation.",
    run,
    paper="Fang19",
    finding="One car of our own shape, hollow, 1 m long, at 1 m/s against a wall without friction. The "
    "diagnostic `dissipated_energy` is not used: it counts the elastic climb before each return to the yield surface, "
    "which in steps as long as these is several times the energy of the car.",
)
