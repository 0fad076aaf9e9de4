"""[Yue15] figure 8: brittle and sticky tearing, and the removal of slivers."""

from reports.case import Outcome, Surroundings, at_most, differs

from figures.figure import Figure, save_csv
from figures.panels import Panel, save_panels
from figures.yue15 import dollop
from spume import Run

SCENES = {
    "recovery 100 s": "shaving-cream-brittle",
    "recovery 0.35 s": "shaving-cream-without-removal",
    "0.35 s, removal": "shaving-cream",
}
MASS_REMOVED = 0.0028
TIMES = (0.7, 0.9, 1.2)
"""Of the panels [s]; the numbers are means over the frames from the first of them on."""


def means(run: Run) -> tuple[float, float]:
    """Pieces, and points in slivers, in the mean over the frames in which the foam is torn."""
    cell = dollop.cell_of(run)
    frames = [run[k] for k, record in enumerate(run.diagnostics) if record["time"] >= TIMES[0]][::3]
    pieces = [int(dollop.pieces(frame, cell).max()) + 1 for frame in frames]
    thin = [dollop.slivers(frame, cell) for frame in frames]
    return sum(pieces) / len(pieces), sum(thin) / len(thin)


def run(around: Surroundings) -> Outcome:
    """Run the three scenes at both resolutions."""
    made = {label: dollop.runs(around, scene, cells=dollop.SHORT[around.preset]) for label, scene in SCENES.items()}
    found = {label: [means(run) for run in runs] for label, runs in made.items()}
    rows = [[label, f"{1e3 * dollop.cell_of(run):g}", f"{pieces:.2f}", f"{thin:.2f}"]
            for label, runs in made.items() for run, (pieces, thin) in zip(runs, found[label])]  # fmt: skip
    save_csv(around.pictures, "yue15-8", ("variant", "cell [mm]", "pieces", "points in slivers"), rows)
    brittle, sticky, removed = (found[label] for label in SCENES)
    lost = [run.diagnostics[-1]["mass_removed"] / run.diagnostics[0]["mass"] for run in made["0.35 s, removal"]]
    outcome = Outcome(
        [
            differs("pieces, sticky and brittle", [p for p, _ in sticky], [p for p, _ in brittle], "more"),
            differs("points in slivers, without and with removal", [t for _, t in sticky], [t for _, t in removed],
                    "less"),
            at_most("mass removed, the larger of both resolutions", max(lost), MASS_REMOVED),
        ]
    )  # fmt: skip
    panels = [Panel(runs[-1], time, label) for time in TIMES for label, runs in made.items()]
    file = save_panels(around, "yue15-8", panels, len(made), size=dollop.SIZE, camera=dollop.CAMERA)
    cell = 1e3 * dollop.cell_of(made["recovery 0.35 s"][-1])
    outcome.figures.append((file, f"Cells of {cell:g} mm: brittle, sticky, sticky with removal of slivers."))
    return outcome


FIGURE = Figure(
    "yue15-8",
    "Figure 8: brittle and sticky tearing, removal of slivers",
    "A large recovery time (100 s) gives brittle fracture, a small one (0.35 s) sticky tearing, with artificially "
    "stiff threads too thin for the grid; their removal erases them and takes less than 0.28 % of the mass.",
    run,
    paper="Yue15",
    finding="Pieces are sets of points within a cell of each other; a point is in a sliver if the points within two "
    "cells of it are nearly on a line or in a plane (ratio of the eigenvalues of their covariance below 0.01). "
    "The brittle foam breaks with jagged edges and a crumb, the sticky foam with a smooth tail. The camera was chosen "
    "after the first picture, in which the block was not seen.",
    cause="our resolution. With cells of 9 and 8 mm at most 181 and 273 points are torn at one time if recovery takes "
    "100 s, but 0 and 11 if it takes 0.35 s: the grid parts the foam before its strain passes σT. So nothing is torn "
    "that could be removed; no thread is left either.",
)
