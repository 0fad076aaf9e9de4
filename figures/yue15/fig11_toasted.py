"""[Yue15] figure 11: a toasted s'more, crisp outside and soft inside."""

import numpy as np
from reports.case import Outcome, Surroundings, states

from figures.figure import Figure, save_csv
from figures.panels import number_at
from figures.yue15.dollop import cell_of
from figures.yue15.fig10_smore import PRESSED, ROUND, compare
from spume import Run
from spume.frames.reader import Frame

CELLS = {"draft": (0.007, 0.006), "medium": (0.004, 0.003), "paper": (0.002, 0.001)}
"""The two resolutions of each preset [m]; the last is drawn."""
SECTORS = 24
"""Directions from the axis, in each of which the skin has a radius."""


def flowed_out(frame: Frame, cell: float) -> float:
    """Part of the mass of the inside that is beside the marshmallow's place and beyond the skin: farther from the axis
    than every point of the skin in its sector, within its layer of one cell."""
    x, mass = frame["x"], frame["mass"]
    inside = frame["body"] == 0
    radius = np.hypot(x[:, 0], x[:, 2])
    sector = np.floor((np.arctan2(x[:, 2], x[:, 0]) / (2.0 * np.pi) + 0.5) * SECTORS).astype(int) % SECTORS
    layer = np.floor(x[:, 1] / cell).astype(int)
    place = (layer - layer.min()) * SECTORS + sector
    skin = np.zeros(place.max() + 1)
    np.maximum.at(skin, place[~inside], radius[~inside])
    out = inside & (radius > ROUND + cell) & (radius > skin[place])
    return float(mass[out].sum() / mass[inside].sum())


def cracked(run: Run) -> tuple[float, float, float]:
    """Largest part of the skin that is torn at one time; when the marshmallow is pressed, the parts of the mass of the
    inside that are beside its place, and there beyond the skin."""
    torn = max(float(np.mean(frame["weak"][frame["body"] == 1] != 0)) for frame in run)
    frame, cell = run[number_at(run, PRESSED)], cell_of(run)
    inside = frame["body"] == 0
    x, mass = frame["x"][inside], frame["mass"][inside]
    beside = np.hypot(x[:, 0], x[:, 2]) > ROUND + cell
    return torn, float(mass[beside].sum() / mass.sum()), flowed_out(frame, cell)


def run(around: Surroundings) -> Outcome:
    """Run the scene at both resolutions."""
    cells = CELLS[around.preset]
    outcome, runs = compare(around, "toasted-smore", "yue15-11", cells)
    torn, beside, out = zip(*(cracked(run) for run in runs))
    columns = ("cell [mm]", "largest torn part of the skin", "inside beside its place", "and beyond the skin")
    save_csv(around.pictures, "yue15-11", columns,
             [[f"{1e3 * cell:g}", *(f"{value:.4f}" for value in row)] for cell, *row in zip(cells, torn, beside, out)]
    )  # fmt: skip
    outcome.checks = [
        states("the skin cracks: largest part of its points that is torn at one time",
               ", ".join(f"{value:.1%}" for value in torn), "more than none", min(torn) > 0.0),
        states("the inside moves out: part of its mass beside the place of the marshmallow when pressed",
               ", ".join(f"{value:.1%}" for value in beside), "more than none", min(beside) > 0.0),
        states("it flows through the skin: part of its mass there that is beyond the skin",
               ", ".join(f"{value:.1%}" for value in out), "more than none", min(out) > 0.0),
    ]  # fmt: skip
    return outcome


FIGURE = Figure(
    "yue15-11",
    "Figure 11: toasted s'more",
    "The stiff outer layer cracks and allows the softer interior to flow out.",
    run,
    paper="Yue15",
    finding="The skin is 3.5 mm thick, less than a cell of drafts. A point of the inside is beyond the skin if it is "
    f"farther from the axis than every point of the skin in its direction, a {SECTORS}th of the circle and a layer of "
    "one cell. When the cracker is lifted, the skin breaks open and the inside is drawn out in a peak.",
    cause="our resolution, so far as the picture tells: half of the skin is torn while it is pressed, but it is "
    "thinner than a cell, so that the grid moves it along with the inside, and a gap as wide as a cell does not open.",
)
