"""[Fang19] figure 17: two sofas of solid foam are torn apart and come to rest."""

from reports.case import Outcome, Surroundings, at_most, states

from figures.bodies import bodies, parted, paths, pieces
from figures.figure import Figure, save_csv
from figures.panels import Camera, Panel, save_panels
from figures.repeats import at_cells

CELLS = {"draft": (0.02, 0.0165), "medium": (0.009, 0.0075), "paper": (0.0045, 0.0037)}
TIMES = (0.0, 0.42, 0.67, 0.92, 1.17, 2.5)
"""Of the panels [s]: the cylinder is in the left sofa from 0.27 to 0.63 s, in the right one from 0.67 to 1.03 s."""
CAMERA = Camera((0.36, 0.62, 1.1), (0.06, 0.06, 0.02), 32.0)
AT_REST = 0.01
"""Part of the largest kinetic energy that is left when the sofas count as being at rest: a tenth of the speed."""


def run(around: Surroundings) -> Outcome:
    """Run the scene at both resolutions."""
    cells = CELLS[around.preset]
    runs = at_cells(around, "sofa", cells)
    found: dict[str, list[tuple[int, float, float]]] = {}
    left = []
    for cell, made in zip(cells, runs):
        _, x = paths(made)
        for name, own in bodies(made).items():
            sizes = pieces(x[-1][own], cell)
            found.setdefault(name, []).append(
                (len(sizes), float(sizes[0] / own.sum()), parted(x[0][own], x[-1][own], cell))
            )
        energy = [record["kinetic_energy"] for record in made.diagnostics]
        left.append(energy[-1] / max(energy))
    rows = [[name, f"{1e3 * cell:g}", count, f"{largest:.4f}", f"{torn:.4f}", f"{rest:.5f}"]
            for name, each in found.items()
            for cell, (count, largest, torn), rest in zip(cells, each, left)]  # fmt: skip
    columns = ("sofa", "cell [mm]", "pieces", "part of the largest", "parted neighbours", "kinetic energy left")
    save_csv(around.pictures, "fang19-17", columns, rows)
    outcome = Outcome(
        [
            states(f"pieces of the {name}, and part of the largest",
                   ", ".join(f"{count}, {largest:.0%}" for count, largest, _ in each), "torn: more than one",
                   min(count for count, _, _ in each) > 1)
            for name, each in found.items()
        ]
        + [at_most("kinetic energy in the end over the largest", max(left), AT_REST)]
    )  # fmt: skip
    shown = [Panel(runs[-1], time, "") for time in TIMES]
    file = save_panels(around, "fang19-17", shown, 3, size=(640, 400), camera=CAMERA)
    outcome.figures.append((file, f"Cells of {1e3 * cells[-1]:g} mm."))
    return outcome


FIGURE = Figure(
    "fang19-17",
    "Figure 17: sofa",
    "Two solid foam sofas are torn apart and come to rest.",
    run,
    paper="Fang19",
    finding="The sofas tear where the grid no longer connects their points: a piece is a set of at least 20 points, "
    "each within a cell of another. The largest piece keeps 95 to 99 % of a sofa, and 11 to 13 % of the pairs of "
    "neighbours are parted: the cylinder cuts a furrow and takes shreds along. The yield stress is ours. The camera "
    "was moved back after the first pictures.",
    cause="our scene, which ends 1.5 s after the cylinder has left: what is left of the sofas still creeps back at "
    "2 cm/s in the mean, by its elastic part, and slows down; shreds have a tenth of the energy.",
)
