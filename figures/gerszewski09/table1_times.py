"""[Gerszewski09] Table 1: times of the examples."""

from benchmarks.points import table_1
from reports.case import Outcome, Surroundings, relative, states

from figures.figure import Figure, save_csv

POINTS = 0.05
"""Largest relative difference of the numbers of points: shapes are ours."""
BODIES = {"three-cylinders": 3, "boxes": 2, "box-parameters": 6}
"""Bodies of the scenes that have several."""
STEPS = 10
"""Of each measurement, the better of two."""


def run(around: Surroundings) -> Outcome:
    """Time the first steps of the scenes at the paper's size."""
    around.say("timing the first steps")
    outcome = Outcome()
    rows = []
    for row in table_1(steps=STEPS):
        name, points = row["scene"], row["points"] / BODIES.get(row["scene"], 1)
        rows.append([row["figure"], name, f"{points:.0f}", f"{row['paper']:.0f}", f"{row['rate']:.0f}"])
        outcome.checks += [
            relative(f"figure {row['figure']}: points of a body", points, row["paper points"], POINTS),
            states(f"figure {row['figure']}: point-steps per second of processor time",
                   f"{row['rate'] / 1e3:.0f} thousand", f"{row['paper'] / 1e3:.1f} thousand, one core of its machine",
                   row["rate"] >= row["paper"]),
        ]  # fmt: skip
    columns = ("figure", "scene", "points of a body", "paper [point-steps/s]", "ours [point-steps/s]")
    save_csv(around.pictures, "gerszewski09-table-1", columns, rows)
    return outcome


FIGURE = Figure(
    "gerszewski09-table-1",
    "Table 1: times",
    "Steps of 0.1 to 0.5 ms, 665 to 52,316 points, 4.8 to 379 s a frame.",
    run,
    paper="Gerszewski09",
    finding="Times of different machines: only their order of magnitude is a comparison. The paper's seconds per frame "
    "are converted with its time steps and 30 frames per second, which it does not print. Ours are processor times of "
    "the first steps, in which the bodies still fall.",
    cause="our shapes: a cube filled on a lattice has 512 or 729 points, and none has 665.",
    presets=("paper",),
)
