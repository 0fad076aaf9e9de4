"""[Tampubolon17] figure 4: a dam in the plane breaks without and with the reversible term."""

import numpy as np
from reports.case import Outcome, Surroundings, differs
from reports.runs import run_of

from figures.figure import Figure, save_csv
from figures.panels import Panel, number_at, save_panels
from spume import Run

CELLS = {"draft": (0.075, 0.06), "medium": (0.046, 0.035), "paper": (0.023, 0.0115)}
VARIANTS: dict[str, tuple[str, dict[str, object]]] = {
    "no reversible term": ("dam-breach-2d", {}),
    "reversible term as printed": ("dam-breach-2d", {"mixture.buoyancy": "paper"}),
    "by pore pressure": ("dam-breach-2d-buoyancy", {}),
}
TIMES = (0.5, 2.5, 4.5)
"""Beginning, middle and end [s]."""
CREST = 2.15
"""Place of the crest of the dam [m]."""


def crest(run: Run, time: float) -> float:
    """Height of the sand where the crest of the dam was [m]."""
    frame = run[number_at(run, time)]
    sand = frame["sand"]
    x = sand["x"]
    near = np.abs(x[:, 0] - CREST) < 0.15
    return float(np.quantile(x[near, 1], 0.98)) if near.any() else 0.0


def run(around: Surroundings) -> Outcome:
    """Run the variants at both resolutions."""
    cells = CELLS[around.preset]
    made = {
        label: [
            run_of(around, scene, {"grid.cell": cell, **changes},
                   folder=f"{scene}-{'-'.join(map(str, changes.values()))}-{around.preset}-{1e3 * cell:g}-mm")
            for cell in cells
        ]
        for label, (scene, changes) in VARIANTS.items()
    }  # fmt: skip
    found = {label: [crest(run, TIMES[1]) for run in runs] for label, runs in made.items()}
    rows = [[label, f"{1e3 * cell:g}", *(f"{crest(run, time):.4f}" for time in TIMES)]
            for label, runs in made.items() for cell, run in zip(cells, runs)]  # fmt: skip
    columns = ("variant", "cell [mm]", *(f"crest at {time:g} s [m]" for time in TIMES))
    save_csv(around.pictures, "tampubolon17-4", columns, rows)
    without, printed, pressure = found.values()
    outcome = Outcome(
        [
            differs(f"height of the crest after {TIMES[1]:g} s [m]: without and with the printed term", without,
                    printed, "less"),
            differs(f"height of the crest after {TIMES[1]:g} s [m]: without, and by pore pressure", without, pressure,
                    "more"),
        ]
    )  # fmt: skip
    panels = [Panel(runs[-1], time, label) for label, runs in made.items() for time in TIMES]
    file = save_panels(around, "tampubolon17-4", panels, len(TIMES), size=(560, 340))
    outcome.figures.append((file, "Beginning, middle and end; without the term, with it, and by pore pressure."))
    return outcome


FIGURE = Figure(
    "tampubolon17-4",
    "Figure 4: a dam in the plane, with and without the reversible term",
    "The reversible term of the exchange of momentum has only a subtle effect on the bulk motion.",
    run,
    paper="Tampubolon17",
    finding="The term as printed pushes the sand the wrong way, by p∇φʷ; beside it stands our coupling by pore "
    "pressure, in which the water has only the pores and the sand loses the weight of the water that it displaces.",
)
