"""Measures of sand in a plane."""

import numpy as np
from scipy.spatial import cKDTree

from figures.panels import number_at
from spume import Run
from spume.frames.reader import Frame

REACH = 4.0
"""Radius of the discs in which points are counted [spacings]."""


def crowding(frame: Frame, spacing: float) -> float:
    """Points within four spacings of a point, the upper quartile over all points: the number inside the sand, away
    from its surface, and in proportion to the density of its points."""
    x = frame["x"]
    tree = cKDTree(x)
    counts = tree.query_ball_point(x, REACH * spacing, return_length=True)
    return float(np.quantile(counts, 0.75))


def volume_at(run: Run, time: float) -> float:
    """Volume that the points take up at a time, over that at the start."""
    spacing = float(np.sqrt(run[0]["volume"].mean()))
    return crowding(run[0], spacing) / crowding(run[number_at(run, time)], spacing)


def covered(frame: Frame, edge: float) -> float:
    """Area of the boxes with points in them [m²]; the boxes have this edge [m], and the area is the mean over four
    lattices of them."""
    lattices = [np.floor(frame["x"] / edge + 0.5 * np.array(shift)) for shift in np.ndindex(2, 2)]
    return edge**2 * sum(len(np.unique(boxes, axis=0)) for boxes in lattices) / len(lattices)


def heap(run: Run, time: float) -> tuple[float, float]:
    """Height of a heap on the ground, and its half width, without the hundredth of the points on each side [m]."""
    x = run[number_at(run, time)]["x"]
    return float(np.quantile(x[:, 1], 0.99)), float(np.quantile(np.abs(x[:, 0]), 0.98))


def fallen(run: Run, time: float) -> float:
    """Part of the sand below the height zero at a time."""
    frame = run[number_at(run, time)]
    return float(np.average(frame["x"][:, 1] < 0.0, weights=frame["mass"]))
