"""[Tampubolon17] Table 2: seconds per frame."""

from typing import Any

from benchmarks.sand_table import TABLE_2, step_at_full_size, table_2
from reports.case import Outcome, Surroundings, states

from figures.figure import Figure, save_csv

MOST, BUDGET = 10_000.0, 2.0
"""Points above which a row is measured with larger cells, and processor seconds of a measurement."""
BODIES = ("sand-wedge", "dam-breach-2d", "dam-breach")
"""Scenes of which an explicit step is timed at the paper's size, too."""


def shown(seconds: float | None) -> str:
    """Seconds with three digits, or that the scheme failed."""
    return "fails" if seconds is None else f"{seconds:.3g}"


def least(row: dict[str, Any]) -> float:
    """Seconds a frame by the faster of ours."""
    own, best = row["with its scheme"], row["fastest of equal quality"]
    return float(min(best, own or best))


def run(around: Surroundings) -> Outcome:
    """Time a stretch of each scene."""
    outcome, rows = Outcome(), []
    around.say(f"timing {len(TABLE_2)} rows")
    for row in table_2([], MOST, BUDGET):
        name = f"{row['scene']}, {1e3 * row['cell']:.3g} mm"
        around.say(name)
        ours, best, paper = row["with its scheme"], row["fastest of equal quality"], row["paper"]
        outcome.checks.append(
            states(f"{name}: seconds a frame", f"{shown(ours)} with its scheme, {best:.3g} by {row['fastest']} steps",
                   f"{paper:.3g}, not more by the faster of ours", least(row) <= paper)
        )  # fmt: skip
        measured = next(one["points"] for one in row["measured"].values() if "points" in one)
        rows.append([row["scene"], row["cell"], f"{row['coarser']:.3g}", measured, row["points"], paper, shown(ours),
                     row["fastest"], f"{best:.4g}"])  # fmt: skip
        explicit = row["measured"].get("explicit", {})
        if row["scene"] in BODIES and "points" in explicit:
            count, seconds = step_at_full_size(next(r for r in TABLE_2 if r.scene == row["scene"]))
            outcome.notes.append(
                f"{name}, an explicit step: {1e6 * explicit['per step'] / explicit['points']:.2f} µs a point with the "
                f"{explicit['points']:,} points measured, {1e6 * seconds / count:.2f} µs at the paper's cell with "
                f"{count:,} points at the start."
            )
    columns = ("scene", "cell [m]", "factor of the measured cell", "measured points", "points of the paper",
               "paper [s]", "its scheme [s]", "fastest of equal quality", "by it [s]")  # fmt: skip
    save_csv(around.pictures, "tampubolon17-table-2", columns, rows)
    return outcome


FIGURE = Figure(
    "tampubolon17-table-2",
    "Table 2: performance and parameters",
    "0.67 to 269 s a frame for ten examples.",
    run,
    paper="Tampubolon17",
    finding="Processor seconds of one thread, for frames of 1/24 s, extrapolated from about 10,000 points in motion "
    "([measurements](../measured/sand-water.md#table-2-of-the-paper)): by the number of points and, for the number of "
    "steps, by the cell. To check the first, explicit steps were timed at the paper's sizes; the semi-implicit rows of "
    "wedge and dams never ran there. The paper states neither the length of its frames nor its machine and cores, so "
    "only the order of magnitude is a comparison. Parameters are compared in [parameters](parameters.md).",
    cause="our stiffness in SI units, with which explicit steps are shorter than the paper's; semi-implicit steps that "
    "end before points move by half a cell, where the paper prints 10 ms; and the extrapolation, which makes rows too "
    "large by a third or more: with the cost of a step at the paper's size, wet wedge and 3D dam would take 60 and "
    "200 s by explicit steps, less than the paper.",
    presets=("paper",),
)
