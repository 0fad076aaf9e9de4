"""[Gerszewski09] figure 1: an armadillo of cornstarch bounces on the ground, then flows."""

import numpy as np
from reports.case import Outcome, Surroundings, states
from reports.drawing import COLOURS, panels, save

from figures.bodies import Array, height, paths
from figures.figure import Figure, save_csv
from figures.panels import Camera, Panel, save_panels
from figures.repeats import at_sizes
from spume import Run

SPACINGS = {"draft": (0.022, 0.018), "medium": (0.0145, 0.0125), "paper": (0.0085, 0.0066)}
TIMES = (0.0, 0.1, 0.3, 1.0, 2.0, 4.0)
"""Of the panels [s]."""
CAMERA = Camera((0.4, 0.64, 1.52), (0.0, 0.325, 0.0), 30.0)
"""From where the animal fills panels that are nearly square, before it falls."""
PUDDLE = 0.5
"""Largest height of a puddle, over that of the animal."""


def bounce(run: Run, spacing: float) -> tuple[Array, Array, float]:
    """Times [s], heights of the body over the first, and the largest gap under it after its landing [spacings]."""
    times, x = paths(run)
    heights = np.array([height(places) / height(x[0]) for places in x])
    low = x[:, :, 1].min(axis=1)
    landed = int(np.argmax(low < 0.5 * spacing))
    return times, heights, float(low[landed:].max()) / spacing


def run(around: Surroundings) -> Outcome:
    """Run the scene with both spacings."""
    spacings = SPACINGS[around.preset]
    runs = at_sizes(around, "armadillo", "points.spacing", spacings, {"duration": TIMES[-1]})
    figure, (axes,) = panels()
    rows, gaps, ends = [], [], []
    for spacing, made, colour in zip(spacings, runs, COLOURS):
        times, heights, gap = bounce(made, spacing)
        gaps.append(gap)
        ends.append(float(heights[-1]))
        rows.append([f"{1e3 * spacing:g}", f"{gap:.3f}", f"{heights[-1]:.4f}"])
        axes.plot(times, heights, color=colour, label=f"spacing {1e3 * spacing:g} mm")
    axes.set(xlabel="time [s]", ylabel="height over the first")
    axes.legend(frameon=False, fontsize=8)
    columns = ("spacing [mm]", "gap under the feet after landing [spacings]", "height in the end over the first")
    save_csv(around.pictures, "gerszewski09-1", columns, rows)
    outcome = Outcome(
        [
            states("it bounces: gap under the feet after the landing", ", ".join(f"{gap:.2g}" for gap in gaps)
                   + " spacings", "more than one spacing", min(gaps) > 1.0),
            states("it flows: height in the end over the first", ", ".join(f"{end:.2f}" for end in ends),
                   f"a puddle: at most {PUDDLE:g}", max(ends) <= PUDDLE),
        ]
    )  # fmt: skip
    shown = [Panel(runs[-1], time, "") for time in TIMES]
    file = save_panels(around, "gerszewski09-1", shown, 3, size=(600, 480), camera=CAMERA)
    outcome.figures.append((file, f"Spacing of {1e3 * spacings[-1]:g} mm."))
    outcome.figures.append((save(figure, around.pictures, "gerszewski09-1-height"), "Height over time."))
    return outcome


FIGURE = Figure(
    "gerszewski09-1",
    "Figure 1: armadillo",
    "An armadillo shows behaviour like a cornstarch solution: it resists large stresses and bounces on the ground at "
    "first; when the stress is reduced, it flows readily.",
    run,
    paper="Gerszewski09",
    finding="The paper prints no values; the animal is put together from primitives. Its flow rate is divided by the "
    "stress, so that the rate of strain does not depend on the stress: it flows as much in the impact of a few "
    "milliseconds as in any other few milliseconds.",
    presets=("draft", "medium"),
)
