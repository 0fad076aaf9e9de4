"""[DryFoam] figure 6: a foam of 10,000 cells evolves."""

import numpy as np
from reports.case import Outcome, Surroundings, at_most, deviation, states
from reports.runs import run_of

from figures.dryfoam.drawing import axes_of, save, show
from figures.figure import Figure, save_csv
from spume import Run
from spume.dryfoam.network.half_edges import network_of
from spume.dryfoam.statistics import bulk_cells

SCENE = "dry-foam-coarsening"
CELLS = {"draft": 1_000, "medium": 3_000, "paper": 10_000}
"""Of the foam at the start; "paper" has those of the caption."""
TIMES = (2.0, 4.0, 16.0, 256.0)
"""Each the square of the one before [s]. The last is after the end: the first frame with the last bubbles is shown."""


def growth_error(run: Run, number: int) -> tuple[float, int]:
    """Largest relative deviation from eq. (4) of the cells off the edge whose films and whose neighbours' films did not
    change between a frame and the next, relative to the growth of one side, and the number of these cells."""
    first, second = network_of(run[number]), network_of(run[number + 1])
    dt = run[number + 1].time - run[number].time
    changed = set(run[number + 1]["t1s"].parted.ravel().tolist()) | set(run[number + 1]["t1s"].joined.ravel().tolist())
    before = dict(zip(first.labels.tolist(), zip(first.targets, first.sides(), bulk_cells(first))))
    errors = []
    for label, area, sides in zip(second.labels.tolist(), second.targets, second.sides()):
        old, n, inner = before[label]
        if inner and n == sides and label not in changed:
            errors.append((area - old) / dt - np.pi / 3.0 * (n - 6))
    # a cell can lose a side to a vanished neighbour and gain one by a T1 in the same frame: these are in `changed`
    return float(np.max(np.abs(errors))) / (np.pi / 3.0), len(errors)


def run(around: Surroundings) -> Outcome:
    """Run the scene."""
    cells = CELLS[around.preset]
    made = run_of(around, SCENE, {"foam.cells": cells}, folder=f"{SCENE}-{cells}")
    records = made.diagnostics
    times = np.array([record["time"] for record in records])
    ended = next(k for k, record in enumerate(records) if record["cells"] == records[-1]["cells"])
    numbers = [min(int(np.argmin(np.abs(times - time))), ended) for time in TIMES]
    figure, axes = axes_of(2, 2, 6.4)
    for place, number in zip(axes, numbers):
        foam = network_of(made[number])
        show(place, foam, "", shading="pressure")
        place.set_title(f"{times[number]:g} s, {foam.cells:,} bubbles", fontsize=18)
    columns = ("time", "cells", "mean_area", "mu2", "energy", "flips", "vanished", "area_error", "angle_error")
    save_csv(around.pictures, "dryfoam-6", columns, [[record.get(name, "") for name in columns] for record in records])
    worst = {name: max(record.get(name, 0.0) for record in records) for name in ("area_error", "angle_error")}
    error, checked = growth_error(made, 1)
    last = records[-1]
    outcome = Outcome(
        [
            states(
                "bubbles at the start and at the end", f"{records[0]['cells']} and {last['cells']}",
                f"{cells:,} and a few",
                records[0]["cells"] == cells and last["cells"] <= 11,
            ),
            at_most("largest error of an area, all frames", worst["area_error"], 1e-5),
            at_most("largest error of an angle, all frames", worst["angle_error"], 1e-4),
            states("equilibria that needed the fallback", str(last["fallbacks"]), "none", last["fallbacks"] == 0),
            deviation(f"growth of {checked} cells, over that of one side", error, 0.01, "von Neumann's law", "largest"),
        ]
    )  # fmt: skip
    outcome.notes.append(
        f"{last['flips']} T1s and {last['vanished']} vanished bubbles in {last['steps']} steps; searches for an "
        f"equilibrium that were repeated with shorter steps: {last['restarts']}."
    )
    text = "Shaded by pressure, each frame in its own scale and size."
    outcome.figures.append((save(around, "dryfoam-6", figure), text))
    return outcome


FIGURE = Figure(
    "dryfoam-6",
    "Figure 6: a foam of 10,000 cells evolves",
    "Four frames of the complete evolution of a free foam of initially 10,000 cells; the time is squared from frame to "
    "frame.",
    run,
    paper="DryFoam",
    finding="“The time step is squared between each shown frame” is read as times of 2, 4, 16 and 256 s; ten bubbles "
    "are left before that, and the first frame with them is shown. Gas also leaves through the edge. Drafts have "
    "1,000 cells.",
)
