"""[Gerszewski09] figure 3: two different shapes form a pile on the ground."""

import numpy as np
from reports.case import Outcome, Surroundings, at_most, states
from scipy.spatial import cKDTree

from figures.bodies import at_spacings
from figures.figure import Figure, save_csv
from figures.panels import Panel, save_panels
from spume import PictureOptions
from spume.frames.reader import Frame

SPACINGS = {"draft": (0.0065, 0.006), "medium": (0.0055, 0.005), "paper": (0.004, 0.0035)}
TIMES = (0.4, 0.8, 1.5)
"""Of the panels [s]; the last is also shown as points."""
NEIGHBOURS = 6
"""Nearest points that say whether a point lies in its own body."""
MIXED = 0.05
"""Part of the points that may lie inside another body: bodies touch in faces, so that at most the points of a contact
have as many foreign neighbours."""
BALL = 0.062
"""Diameter of a ball, the smaller shape's height [m]."""


def mixed(frame: Frame) -> float:
    """Part of the points of which most of the nearest neighbours are of the other material."""
    x, material = frame["x"], frame["material"]
    near = np.asarray(cKDTree(x).query(x, NEIGHBOURS + 1)[1])[:, 1:]
    foreign = (material[near] != material[:, None]).sum(axis=1)
    return float(np.mean(foreign > NEIGHBOURS / 2))


def run(around: Surroundings) -> Outcome:
    """Run the scene with both spacings."""
    spacings = SPACINGS[around.preset]
    runs = at_spacings(around, "pile", spacings)
    ends = [run[len(run) - 1] for run in runs]
    tops = [float(np.quantile(frame["x"][:, 1], 0.99)) for frame in ends]
    shares = [mixed(frame) for frame in ends]
    speeds = [float(np.sqrt((frame["v"] ** 2).sum(axis=1).mean())) for frame in ends]
    save_csv(around.pictures, "gerszewski09-3",
             ("spacing [mm]", "height in the end [m]", "points among the other material", "mean speed [m/s]"),
             [[f"{1e3 * s:g}", f"{top:.4f}", f"{share:.4f}", f"{speed:.4f}"]
              for s, top, share, speed in zip(spacings, tops, shares, speeds)])  # fmt: skip
    outcome = Outcome(
        [
            states("a pile: height in the end", ", ".join(f"{1e3 * top:.0f} mm" for top in tops),
                   f"more than a ball, {1e3 * BALL:.0f} mm", min(tops) > BALL),
            at_most("points among those of the other material", max(shares), MIXED),
        ]
    )  # fmt: skip
    fine = runs[-1]
    end = float(fine.diagnostics[-1]["time"])
    surface = [Panel(fine, time, "") for time in TIMES]
    file = save_panels(around, "gerszewski09-3", surface, 3, size=(480, 480))
    points = save_panels(
        around, "gerszewski09-3-points", [Panel(fine, end, "points")], 1, PictureOptions(show="points")
    )
    outcome.figures += [(file, "Rings and balls."), (points, "The points at the end.")]
    return outcome


FIGURE = Figure(
    "gerszewski09-3",
    "Figure 3: pile",
    "Two different shapes form a pile on the ground; at the right, the simulation particles.",
    run,
    paper="Gerszewski09",
    finding="Rings and balls of two plastic materials; the paper prints no values. Bodies that touch become "
    "neighbours and cling, as in the paper, and their skin is one surface across a contact, on which the colours of "
    "both meet within a spacing. That their points do not mix is measured.",
)
