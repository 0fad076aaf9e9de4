"""[Tampubolon17] Table 2: seconds per frame."""

from benchmarks.sand_table import TABLE_2, table_2
from reports.case import Outcome, Surroundings, states

from figures.figure import Figure, save_csv

MOST, BUDGET = 10_000.0, 4.0
"""Points above which a row is measured with larger cells, and processor seconds of a measurement."""


def shown(seconds: float | None) -> str:
    """Seconds with three digits, or that the scheme failed."""
    return "fails" if seconds is None else f"{seconds:.3g}"


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
                   f"{paper:.3g}, not more by the faster of ours", min(best, ours or best) <= paper)
        )  # fmt: skip
        rows.append([row["scene"], row["cell"], row["coarser"], row["points"], paper, shown(ours), row["fastest"],
                     f"{best:.4g}"])  # fmt: skip
    columns = ("scene", "cell [m]", "factor of the measured cell", "points", "paper [s]", "its scheme [s]",
               "fastest of equal quality", "by it [s]")  # fmt: skip
    save_csv(around.pictures, "tampubolon17-table-2", columns, rows)
    return outcome


FIGURE = Figure(
    "tampubolon17-table-2",
    "Table 2: performance and parameters",
    "0.67 to 269 s a frame for ten examples.",
    run,
    paper="Tampubolon17",
    finding="Processor seconds of one thread, for frames of 1/24 s, extrapolated from at most 10,000 points "
    "([measurements](../measured/sand-water.md#table-2-of-the-paper)); the paper states neither the length of its "
    "frames nor its machine and cores, so only the order of magnitude is a comparison. Parameters are compared in "
    "[parameters](parameters.md).",
    presets=("paper",),
)
