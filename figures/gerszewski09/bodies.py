"""Measures of single bodies of point-based scenes."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray
from reports.case import Surroundings
from scipy.spatial import cKDTree

from figures.repeats import at_sizes
from spume import Run

Array = NDArray[np.float64]


def at_spacings(around: Surroundings, scene: str, spacings: Iterable[float]) -> list[Run]:
    """Runs of the preset with each of the spacings of points [m]."""
    return at_sizes(around, scene, "points.spacing", spacings)


def paths(run: Run) -> tuple[Array, Array]:
    """Times [s] and places (frames, points, 3) [m] of the points in the order of their ids, without resampling."""
    frames = [(frame["x"], np.argsort(frame["id"])) for frame in run]
    times = np.array([record["time"] for record in run.diagnostics])
    return times, np.array([x[order] for x, order in frames])


def bodies(run: Run, start: Array) -> dict[str, NDArray[np.bool_]]:
    """The points of each body of the scene: those that are nearest to its middle at the start."""
    found = run.scene.resolved()["body"]
    middles = np.array([shape["center"] for body in found for shape in body["shape"].values()])
    nearest = cKDTree(middles).query(start)[1]
    return {body["name"]: nearest == k for k, body in enumerate(found)}


def height(x: Array) -> float:
    """Height of a body, between the hundredths of its points that are lowest and highest [m]."""
    low, high = np.quantile(x[:, 1], (0.01, 0.99))
    return float(high - low)


def width(x: Array) -> float:
    """Width of a body along x, in the same way [m]."""
    low, high = np.quantile(x[:, 0], (0.01, 0.99))
    return float(high - low)
