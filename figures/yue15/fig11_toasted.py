"""[Yue15] figure 11: a toasted s'more, crisp outside and soft inside."""

import numpy as np
from reports.case import Outcome, Surroundings, states

from figures.figure import Figure
from figures.panels import number_at
from figures.yue15.dollop import cell_of
from figures.yue15.fig10_smore import PRESSED, ROUND, compare
from spume import Run


def cracked(run: Run) -> tuple[float, float]:
    """Largest part of the skin that is torn at one time, and the part of the mass of the inside that is beside the
    marshmallow's place when it is pressed."""
    torn = 0.0
    for frame in run:
        skin = frame["body"] == 1
        torn = max(torn, float(np.mean(frame["weak"][skin] != 0)))
    frame = run[number_at(run, PRESSED)]
    inside = frame["body"] == 0
    x, mass = frame["x"][inside], frame["mass"][inside]
    out = np.hypot(x[:, 0], x[:, 2]) > ROUND + cell_of(run)
    return torn, float(mass[out].sum() / mass.sum())


def run(around: Surroundings) -> Outcome:
    """Run the scene at both resolutions."""
    outcome, runs = compare(around, "toasted-smore", "yue15-11")
    found = [cracked(run) for run in runs]
    outcome.checks = [
        states("the skin cracks: largest part of its points that is torn at one time",
               ", ".join(f"{torn:.1%}" for torn, _ in found), "more than none", min(torn for torn, _ in found) > 0.0),
        states("the inside flows out: part of its mass beside the place of the marshmallow when pressed",
               ", ".join(f"{out:.1%}" for _, out in found), "more than none", min(out for _, out in found) > 0.0),
    ]  # fmt: skip
    return outcome


FIGURE = Figure(
    "yue15-11",
    "Figure 11: toasted s'more",
    "The stiff outer layer cracks and allows the softer interior to flow out.",
    run,
    paper="Yue15",
    finding="The skin is 3.5 mm thick; cells of drafts are twice that.",
)
