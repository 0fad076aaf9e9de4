"""Case 23: the front of a collapsing column of water."""

import math

import numpy as np
from reports.case import Case, Check, Outcome, Surroundings, relative
from reports.drawing import COLOURS, panels, save

from spume import Scene, Simulation

WIDTH = 0.25
"""a [m]; the column is 2 a high"""
CELLS = 12
"""per width"""
MEASURED = ((1.44, 1.19), (1.89, 1.63), (2.33, 1.98), (2.78, 2.32), (3.22, 2.65), (3.67, 2.98))
"""front x/a and t √(2 g/a) of [Martin52], n² = 2; the points that PySPH digitised from figure 3 agree to 0.07"""


def scene() -> Scene:
    """A column of water against a wall."""
    walls = {"lower": [0.0, 0.0], "upper": [6 * WIDTH, 4 * WIDTH], "contact": "slip"}
    water = {"law": "water", "density": 1000.0, "bulk_modulus": 1.0e6}
    column = {"rectangle": {"center": [WIDTH / 2, WIDTH], "size": [WIDTH, 2 * WIDTH]}}
    return Scene(
        title="a dam breaks", method="sand-water", dimension=2, duration=100.0, material={"water": water},
        grid={"cell": WIDTH / CELLS, "walls": walls}, mixture={"drag_coefficient": 0.0},
        body=[{"material": "water", "shape": column}],
    )  # fmt: skip


def run(around: Surroundings) -> Outcome:
    """Compare the times at which the front passes the measured positions, aligned at the first."""
    sim = Simulation(scene())
    unit = math.sqrt(WIDTH / (2.0 * 9.81))
    times, fronts = [], []
    while not fronts or fronts[-1] < 3.8:
        sim.advance(0.02 * unit)
        times.append(sim.time / unit)
        # half a spacing beyond the outermost points, excluding single drops ahead
        x = np.sort(sim.method.species["water"].x[:, 0])  # type: ignore[attr-defined]
        fronts.append(float(x[-5]) / WIDTH + 0.25 / CELLS)
    outcome = Outcome()
    first = float(np.interp(MEASURED[0][0], fronts, times))
    for front, measured in MEASURED[1:]:
        ours = float(np.interp(front, fronts, times)) - first
        outcome.checks.append(relative(f"time of the front at x/a = {front:g}", ours, measured - MEASURED[0][1], 0.10))
    # Ritter: no part of the front is faster than 2 √(g H)
    speed = float(np.max(np.gradient(np.array(fronts) * WIDTH, np.array(times) * unit)[10:]))
    limit = 2.0 * math.sqrt(9.81 * 2.0 * WIDTH)
    outcome.checks.append(
        Check("largest speed of the front", f"{speed:.3g} m/s", f"{limit:.3g} m/s", "", "≤ 2 √(g H)", speed <= limit)
    )
    figure, (axes,) = panels()
    axes.plot(np.array(times) - first + MEASURED[0][1], fronts, color=COLOURS[0], label="ours")
    axes.plot([t for _, t in MEASURED], [x for x, _ in MEASURED], "ko", label="Martin and Moyce 1952")
    axes.set(xlabel="t √(2 g/a)", ylabel="front x/a", xlim=(0, 3.2), ylim=(1, 4))
    axes.legend(frameon=False, fontsize=8)
    outcome.figures.append((save(figure, around.pictures, "dam-break"), "The front of a collapsing column of water."))
    return outcome


CASE = Case(
    "dam-break",
    "A dam breaks",
    "A column of water of width a and height 2 a collapses: the front against the measurements of "
    "[Martin52], aligned at x/a = 1.44 because gate and floor of the experiment delay its start. Ours: weakly "
    "compressible water, explicit, 12 cells per width.",
    run,
)
