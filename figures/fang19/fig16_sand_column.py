"""[Fang19] figure 16: collapse of a column of sand by implicit and by explicit steps."""

import time
from typing import Any

import numpy as np
from reports.case import Outcome, Surroundings, states
from reports.drawing import COLOURS, panels, save
from validation.admm import ACCELERATED

from figures.fang19.convergence import curve, plot, studies
from figures.figure import Figure, save_csv
from figures.panels import Panel, number_at, save_panels
from figures.repeats import at_sizes
from spume import Run, Simulation, load_scene

SCENES = {"implicit": "sand-column-implicit", "explicit": "sand-column-explicit"}
STEP = 6.94e-3
"""Length of the implicit steps [s]."""
EQUAL: dict[str, object] = {"transfer.scheme": "aflip", "transfer.damping_rate": round(1.0 / STEP)}
"""Changes with which explicit steps damp what the grid does not resolve by a rate: once in an implicit step. APIC
discards it in every step."""
ALIKE = "explicit, equal damping"
CELLS = {"draft": (0.03, 0.025), "medium": (0.0125, 0.01), "paper": (0.005, 0.004)}
TIMES = (0.0, 0.5, 1.0, 1.5)
"""Of the panels [s]; the runs end with the last."""
END: dict[str, object] = {"duration": TIMES[-1]}
COMPARED = 1.0
"""Time at which the spreads are compared [s]."""
CLOCKED = 7
"""First frames whose processor time is measured."""
COUNTS = (1, 2, 3, 4, 6, 8, 10, 12, 15)
"""Iterations after which the residual is evaluated; the paper does 15."""


def spread(run: Run, when: float) -> float:
    """Distance from the axis within which 98 % of the points are [m]."""
    x = run[number_at(run, when)]["x"]
    return float(np.quantile(np.hypot(x[:, 0], x[:, 2]), 0.98))


def clocked(around: Surroundings, scene: str, cell: float) -> tuple[list[float], list[float]]:
    """Simulated times, and the processor time until each of them, without that of compilation [s]."""
    around.say(f"{scene}, cells of {1e3 * cell:g} mm: processor time")
    loaded: Any = load_scene(scene, {"grid.cell": cell}, preset="draft")
    Simulation(loaded).advance(loaded.time.max_dt)
    sim = Simulation(loaded)
    times, spent = [0.0], [0.0]
    for _ in range(CLOCKED):
        begin = time.process_time()
        sim.advance(1.0 / loaded.frame_rate)
        spent.append(spent[-1] + time.process_time() - begin)
        times.append(sim.time)
    return times, spent


def run(around: Surroundings) -> Outcome:
    """Run both scenes at both resolutions, and follow the residual in steps at three instants."""
    cells = CELLS[around.preset]
    made = {label: at_sizes(around, scene, "grid.cell", cells, END) for label, scene in SCENES.items()}
    made[ALIKE] = at_sizes(around, SCENES["explicit"], "grid.cell", cells, END | EQUAL, "equal-damping")
    found = {label: [spread(run, COMPARED) for run in runs] for label, runs in made.items()}
    clocks = {label: [clocked(around, scene, cell) for cell in cells] for label, scene in SCENES.items()}
    spent = {label: [seconds[-1] for _, seconds in each] for label, each in clocks.items()}
    rows = [[label, f"{1e3 * cell:g}", f"{far:.4f}", f"{took:.1f}" if took else ""]
            for label in made
            for cell, far, took in zip(cells, found[label], spent.get(label, [None] * len(cells)))]  # fmt: skip
    columns = ("steps", "cell [mm]", "spread after 1 s [m]", f"processor time of {CLOCKED} frames [s]")
    save_csv(around.pictures, "fang19-16", columns, rows)
    steps = studies(around, "sand-column-implicit")
    residuals = [curve(study, (), COUNTS) for study in steps]
    faster = [curve(study, (ACCELERATED,), COUNTS) for study in steps]
    figure, (left, right) = panels(2)
    for (label, each), colour in zip(clocks.items(), COLOURS):
        for cell, clock, style in zip(cells, each, ("--", "-")):
            left.plot(*clock, style, color=colour, label=f"{label}, {1e3 * cell:g} mm")
    left.set(xlabel="simulated time [s]", ylabel="processor time until then [s]")
    left.legend(frameon=False, fontsize=10)
    plot(right, {"the paper's iterations": residuals, "ours, accelerated": faster}, COUNTS)
    right.set(ylabel="unbalanced impulses over the first")
    fall = min(float(residual[0] / residual[-1]) for residual in residuals)
    outcome = Outcome(
        [
            states(f"processor time of {CLOCKED} frames by implicit steps over that by explicit ones",
                   ", ".join(f"{a / b:.2f}" for a, b in zip(spent["implicit"], spent["explicit"])), "less than one",
                   all(a < b for a, b in zip(spent["implicit"], spent["explicit"]))),
            states("fall of the residual from the first to the 15th iteration, the least of three steps",
                   f"{fall:.3g} times", "it decreases", fall > 1.0),
            *(
                states(f"spread after {COMPARED:g} s by implicit steps, and by {label}",
                       ", ".join(f"{a:.3f} and {b:.3f} m" for a, b in zip(found["implicit"], found[label])),
                       "the same to a cell",
                       all(abs(a - b) <= c for a, b, c in zip(found["implicit"], found[label], cells)))
                for label in ("explicit", ALIKE)
            ),
        ]
    )  # fmt: skip
    text = "Times, and the mean residual of three steps with its range."
    outcome.figures.append((save(figure, around.pictures, "fang19-16-times"), text))
    shown = [Panel(runs[-1], when, label) for label, runs in made.items() for when in TIMES]
    file = save_panels(around, "fang19-16", shown, len(TIMES), size=(480, 360))
    outcome.figures.append(
        (file, "Implicit steps, explicit ones, and explicit ones that damp as much as implicit ones.")
    )
    return outcome


FIGURE = Figure(
    "fang19-16",
    "Figure 16: sand column",
    "The solver captures the collapse of a column of sand and improves the performance, since steps are much larger "
    "than explicit ones; the residual decreases in 15 iterations.",
    run,
    paper="Fang19",
    finding="Times are processor times of one thread. Explicit sand spreads more slowly because APIC discards the "
    "velocities that the grid does not resolve in each of its many steps ([measurements]"
    "(../measured/implicit.md#sand-and-the-damping-of-transfers)).",
    cause="our method: APIC damps in every step, and explicit steps are fifty times as many.",
)
