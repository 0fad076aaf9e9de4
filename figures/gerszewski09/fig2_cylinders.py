"""[Gerszewski09] figure 2: three cylinders with different material properties fall on the ground."""

from reports.case import Outcome, Surroundings, differs

from figures.bodies import at_spacings, bodies, height, paths
from figures.figure import Figure, save_csv
from figures.panels import Camera, Panel, save_panels

SPACINGS = {"draft": (0.009, 0.007), "medium": (0.006, 0.004), "paper": (0.004, 0.00247)}
TIMES = (0.0, 0.06, 0.2, 0.8)
"""Of the panels [s]."""
CAMERA = Camera((0.025, 0.2, 0.5), (0.0, 0.083, 0.0), 28.0)
"""From where the elastic cylinder is in the picture when it bounces."""
SETTLED = 0.2
"""Last part of the run over which heights are means [s]."""


def run(around: Surroundings) -> Outcome:
    """Run the scene with both spacings."""
    spacings = SPACINGS[around.preset]
    runs = at_spacings(around, "three-cylinders", spacings)
    left: dict[str, list[float]] = {}
    rows = []
    for spacing, made in zip(spacings, runs):
        times, x = paths(made)
        for name, own in bodies(made).items():
            late = [height(places[own]) for places in x[times >= times[-1] - SETTLED]]
            lowest = min(height(places[own]) for places in x)
            left.setdefault(name, []).append(sum(late) / len(late) / height(x[0][own]))
            rows.append([name, f"{1e3 * spacing:g}", f"{lowest / height(x[0][own]):.4f}", f"{left[name][-1]:.4f}"])
    columns = ("cylinder", "spacing [mm]", "smallest height over the first", "height in the end over the first")
    save_csv(around.pictures, "gerszewski09-2", columns, rows)
    outcome = Outcome(
        [
            differs("height in the end over the first, elastic and clay", left["elastic"], left["clay"], "less"),
            differs("height in the end over the first, clay and soft", left["clay"], left["soft"], "less"),
        ]
    )
    shown = [Panel(runs[-1], time, "") for time in TIMES]
    file = save_panels(around, "gerszewski09-2", shown, 2, size=(720, 480), camera=CAMERA)
    outcome.figures.append((file, "From left to right: elastic, clay and soft. Our default forces, from a reference."))
    return outcome


FIGURE = Figure(
    "gerszewski09-2",
    "Figure 2: three cylinders",
    "Three cylinders with different material properties fall on the ground.",
    run,
    paper="Gerszewski09",
    finding="The paper prints no properties and says nothing of the differences; ours are elastic, clay that keeps its "
    "dent, and a soft plastic that flows. Heights are means over the last 0.2 s, in which the elastic one "
    "still bounces.",
)
