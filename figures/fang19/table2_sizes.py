"""[Fang19] Table 2: sizes of the examples."""

from typing import Any

from reports.case import Outcome, Surroundings, relative

from figures.figure import Figure, save_csv
from spume import Simulation, load_scene

PRINTED = {
    "cherries": (0.43e6, 228.5),
    "warrior": (0.52e6, 122.6),
    "twisting": (0.20e6, 58.4),
    "twisting-elastic": (0.20e6, 29.4),
    "silicone": (0.65e6, 82.1),
    "panda": (0.42e6, 51.1),
    "pet-monster": (0.20e6, 21.9),
    "faceless": (0.42e6, 41.1),
    "cars": (0.22e6, 64.2),
    "sofa": (1.57e6, 574.1),
}
"""Average number of points, and seconds per frame on eight cores of the authors' machine."""
POINTS = 0.05
"""Largest relative difference of the numbers of points: the printed ones have two or three digits, and shapes are
ours."""


def run(around: Surroundings) -> Outcome:
    """Fill the bodies of all scenes at the paper's size."""
    outcome, rows = Outcome(), []
    for name, (points, seconds) in PRINTED.items():
        around.say(name)
        scene: Any = load_scene(name, preset="paper")
        count = len(Simulation(scene).particles)
        outcome.checks.append(relative(f"{name}: points", count, points, POINTS))
        rows.append([name, f"{scene.grid.cell:g}", f"{scene.time.max_dt:g}", count, f"{points:.0f}", seconds])
    columns = ("scene", "cell [m]", "largest step [s]", "points", "paper: points", "paper: seconds per frame")
    save_csv(around.pictures, "fang19-table-2", columns, rows)
    return outcome


FIGURE = Figure(
    "fang19-table-2",
    "Table 2: parameters and statistics",
    "Cells, steps, points, densities, moduli, viscosities and 22 to 574 s a frame.",
    run,
    paper="Fang19",
    finding="Numbers of points at the start; that of the coil, which enters during the run, is left out. Cells, steps, "
    "moduli and viscosities are compared in [parameters](parameters.md). Times a frame need runs at the paper's size; "
    "rates beside those of the table are in [implicit steps](../measured/implicit.md#speed).",
    cause="our scenes: shapes are put together here, and sizes follow the authors' lengths where their code has them, "
    "not their numbers of points. Silicone is filled with 27 points a cell.",
    presets=("paper",),
)
