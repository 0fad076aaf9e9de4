"""[Yue15] figure 10: a s'more of one material is pressed and pulled apart."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from reports.case import Outcome, Surroundings, states

from figures.figure import Figure, save_csv
from figures.panels import Camera, Panel, number_at, save_panels
from figures.repeats import at_cells
from figures.yue15.dollop import cell_of, pieces
from spume import Run

CELLS = {"draft": (0.007,), "medium": (0.005, 0.004), "paper": (0.002, 0.0016)}
TIMES = (0.0, 0.35, 0.6, 1.07, 1.33, 2.0)
"""Of the panels [s]."""
PRESSED = 0.6
"""Time at which the upper cracker is at its lowest [s]."""
UPPER_TOP, LOWERED, RAISED = 0.0585, 0.027, 0.122
"""Height of the upper face of the upper cracker at the start, its way down, and then up [m]."""
CHOCOLATE = 0.012
"""Height of the upper face of the chocolate [m]."""
ROUND = 0.0265
"""Radius of the marshmallow [m]."""
CAMERA, SIZE = Camera((0.1436, 0.1645, 0.3175), (0.0, 0.075, 0.0), 32.0), (560, 600)
"""From where the lifted cracker is in the picture, and the size of its panels [pixels]."""


def oozed(run: Run) -> tuple[float, float]:
    """Part of the mass above the upper cracker when it is at its lowest, and part beside the marshmallow's place."""
    frame = run[number_at(run, PRESSED)]
    x, mass = frame["x"], frame["mass"]
    beside = np.hypot(x[:, 0], x[:, 2]) > ROUND + cell_of(run)
    return tuple(float(mass[own].sum() / mass.sum()) for own in (x[:, 1] > UPPER_TOP - LOWERED, beside))  # type: ignore[return-value]  # two numbers


def peak(run: Run) -> tuple[float, float]:
    """Height of what is left on the lower cracker in the end, above the chocolate [m], and the part of its mass in the
    upper half of that height."""
    frame = run[len(run) - 1]
    x, mass = frame["x"], frame["mass"]
    label = pieces(frame, cell_of(run))
    lower = label == label[int(np.argmin(x[:, 1] + np.hypot(x[:, 0], x[:, 2])))]
    top = float(x[lower, 1].max()) - CHOCOLATE
    upper = mass[lower & (x[:, 1] > CHOCOLATE + 0.5 * top)].sum()
    return top, float(upper / mass[lower].sum())


def compare(around: Surroundings, scene: str, name: str, cells: Sequence[float]) -> tuple[Outcome, list[Run]]:
    """Run the scene with each of the cells [m], and check what oozes and the peak."""
    runs = at_cells(around, scene, cells)
    found: list[Any] = [(*oozed(run), *peak(run)) for run in runs]
    save_csv(around.pictures, name, ("cell [mm]", "above the cracker", "beside", "peak [m]", "in its upper half"),
             [[f"{1e3 * cell:g}", *(f"{value:.4f}" for value in row)] for cell, row in zip(cells, found)])  # fmt: skip
    gap = UPPER_TOP - 0.008 - LOWERED - CHOCOLATE
    outcome = Outcome(
        [
            states("it oozes through the cracks: part of the mass above the upper cracker when pressed",
                   ", ".join(f"{row[0]:.1%}" for row in found), "more than none", min(row[0] for row in found) > 0.0),
            states("and beside its place", ", ".join(f"{row[1]:.1%}" for row in found), "more than none",
                   min(row[1] for row in found) > 0.0),
            states("a peak is left on the lower cracker, of height",
                   ", ".join(f"{1e3 * row[2]:.0f} mm" for row in found),
                   f"above the pressed {1e3 * gap:.0f} mm by a cell, and below the lifted cracker by one",
                   all(gap + cell < row[2] < gap + RAISED - cell for cell, row in zip(cells, found))),
            states("it is pointed: part of its mass in the upper half of its height",
                   ", ".join(f"{row[3]:.1%}" for row in found), "less than a quarter (a cone: an eighth)",
                   max(row[3] for row in found) < 0.25),
        ]
    )  # fmt: skip
    file = save_panels(around, name, [Panel(runs[-1], time, "") for time in TIMES], 3, size=SIZE, camera=CAMERA)
    outcome.figures.append((file, f"Cells of {1e3 * cells[-1]:g} mm."))
    return outcome, runs


def run(around: Surroundings) -> Outcome:
    """Run the scene at all resolutions of the preset."""
    return compare(around, "smore", "yue15-10", CELLS[around.preset])[0]


FIGURE = Figure(
    "yue15-10",
    "Figure 10: s'more of one material",
    "A marshmallow is crushed between two crackers and oozes through the cracks; when the upper cracker is lifted, a "
    "characteristic stiff peak forms.",
    run,
    paper="Yue15",
    finding="The crackers have nine round holes in place of cracks. In the first draft the marshmallow still reached "
    "from one cracker to the other in the end. After it the check of the peak was made stricter: it must end below the "
    "lifted cracker. In the draft, with cells of 7 mm, only the flow to the sides was seen: a hole is two cells "
    "wide, and the marshmallow did not part. With 5 and 4 mm it bulges out of the holes, and parts at 1.47 and 1.37 s. "
    "The scene at medium has 3 mm, and takes 14 min.",
)
