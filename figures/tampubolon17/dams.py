"""Measures of dams of wet sand, by their points."""

import math

import numpy as np

from spume import Run
from spume.frames.reader import Frame

HIGHEST, FARTHEST = 0.98, 0.99
"""Parts of the points below a height and behind a front: single grains do not count."""


def top(sand: Frame, between: tuple[float, float], across: tuple[float, float] = (-math.inf, math.inf)) -> float:
    """Height of the sand between two places along x, and along z, without its highest fiftieth [m]; 0 where there is
    none."""
    x = sand["x"]
    inside = (x[:, 0] > between[0]) & (x[:, 0] < between[1]) & (x[:, 2] > across[0]) & (x[:, 2] < across[1])
    return float(np.quantile(x[inside, 1], HIGHEST)) if inside.any() else 0.0


def front(sand: Frame) -> float:
    """Place along x behind which all but a hundredth of the sand is [m]."""
    return float(np.quantile(sand["x"][:, 0], FARTHEST))


def dry_cohesion(run: Run) -> float:
    """Mean cohesion of the sand at the start [Pa]."""
    sand = run[0]["sand"]
    return float(np.average(sand["cohesion"], weights=sand["mass"]))
