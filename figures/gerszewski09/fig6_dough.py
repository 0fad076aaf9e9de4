"""[Gerszewski09] figure 6: a star of bread dough falls and sags."""

import numpy as np
from reports.case import Outcome, Surroundings, changes, states
from reports.drawing import COLOURS, panels, save

from figures.bodies import at_spacings, height, times_of, width
from figures.figure import Figure, save_csv
from figures.panels import Panel, save_panels

SPACINGS = {"draft": (0.0085, 0.0075), "medium": (0.006, 0.005), "paper": (0.0034, 0.0028)}
TIMES = (0.0, 0.1, 0.2, 0.4, 0.8, 1.2)
"""Of the panels [s]."""
LATER = 0.5
"""Time after which what was elastic in the impact has swung out [s]."""


def run(around: Surroundings) -> Outcome:
    """Run the scene with both spacings."""
    spacings = SPACINGS[around.preset]
    runs = at_spacings(around, "dough-star", spacings)
    figure, (axes,) = panels()
    rows, sagged, sprung = [], [], []
    flows: tuple[list[float], list[float]] = ([], [])
    for spacing, made, colour in zip(spacings, runs, COLOURS):
        times = times_of(made)
        heights = np.array([height(frame["x"]) for frame in made])
        widths = np.array([width(frame["x"]) for frame in made])
        landed = int(np.argmax([frame["x"][:, 1].min() < 0.5 * spacing for frame in made]))
        sagged.append(float(heights[-1] / heights[landed]))
        flows[0].append(float(np.interp(LATER, times, heights) / heights[0]))
        flows[1].append(float(heights[-1] / heights[0]))
        first = landed + int(np.argmax(np.diff(heights[landed + 1 :]) > 0.0)) + 1
        sprung.append(float((heights[first:].max() - heights[first]) / heights[0]))
        rows.append(
            [f"{1e3 * spacing:g}", f"{times[landed]:.3f}", f"{sagged[-1]:.4f}", f"{widths[-1] / widths[0]:.4f}"]
        )
        axes.plot(times, heights / heights[0], color=colour, label=f"spacing {1e3 * spacing:g} mm")
    axes.set(xlabel="time [s]", ylabel="height over the first")
    axes.legend(frameon=False, fontsize=8)
    columns = ("spacing [mm]", "lands at [s]", "height in the end over that at landing", "width over the first")
    save_csv(around.pictures, "gerszewski09-6", columns, rows)
    outcome = Outcome(
        [
            states("it sags: height in the end over that at landing", ", ".join(f"{v:.2f}" for v in sagged),
                   "less than 1 by more than a spacing", all(v < 1.0 - s / 0.18 for v, s in zip(sagged, spacings))),
            changes(f"it sags on: height over the first at {LATER:g} s and in the end", *flows, "less"),
        ]
    )  # fmt: skip
    texts = " and ".join(f"{value:.0%}" for value in sprung)
    outcome.notes.append(f"After the impact it springs up by {texts} of its height before it sags on.")
    file = save_panels(around, "gerszewski09-6", [Panel(runs[-1], time, "") for time in TIMES], 3)
    outcome.figures.append((file, "The footage of the paper is not ours to show."))
    outcome.figures.append((save(figure, around.pictures, "gerszewski09-6-height"), "Height over time."))
    return outcome


FIGURE = Figure(
    "gerszewski09-6",
    "Figure 6: star of dough",
    "Footage of bread dough shaped like a star is compared with a simulation.",
    run,
    paper="Gerszewski09",
    finding="There is no footage to compare with, and the paper prints no values: that dough sags is what can be "
    "measured. With neighbourhoods of 1.95 spacings the arms have notches at the shoulders and tear there; with 2.4, "
    "the default, they stay whole ([measurements](../measured/point-based.md#size-of-neighbourhoods)).",
    presets=("draft", "medium"),
)
