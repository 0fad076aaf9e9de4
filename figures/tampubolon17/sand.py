"""Measures of sand in a plane."""

import numpy as np
from scipy.spatial import cKDTree

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
