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


def heap(run: Run, time: float) -> tuple[float, float]:
    """Height of a heap on the ground, and its half width, without the hundredth of the points on each side [m]."""
    x = run[number_at(run, time)]["x"]
    return float(np.quantile(x[:, 1], 0.99)), float(np.quantile(np.abs(x[:, 0]), 0.98))
