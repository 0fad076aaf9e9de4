"""Measures of single bodies of scenes."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray
from reports.case import Surroundings
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from figures.repeats import at_sizes
from spume import Run

Array = NDArray[np.float64]


def at_spacings(around: Surroundings, scene: str, spacings: Iterable[float]) -> list[Run]:
    """Runs of the preset with each of the spacings of points [m]."""
    return at_sizes(around, scene, "points.spacing", spacings)


def times_of(run: Run) -> Array:
    """Times of the frames [s]."""
    return np.array([record["time"] for record in run.diagnostics])


def paths(run: Run) -> tuple[Array, Array]:
    """Times [s] and places (frames, points, dimension) [m] of the points in the order of their ids, for runs that keep
    their points."""
    frames = [(frame["x"], np.argsort(frame["id"])) for frame in run]
    return times_of(run), np.array([x[order] for x, order in frames])


def bodies(run: Run) -> dict[str, NDArray[np.bool_]]:
    """The points of each body of the scene, in the order of their ids."""
    first = run[0]
    own = first["body"][np.argsort(first["id"])]
    return {body["name"]: own == k for k, body in enumerate(run.scene.resolved()["body"])}


def extent(x: Array, axis: int) -> float:
    """Size of a body along an axis, between the hundredths of its points at either end [m]."""
    low, high = np.quantile(x[:, axis], (0.01, 0.99))
    return float(high - low)


def height(x: Array) -> float:
    """Height of a body [m]."""
    return extent(x, 1)


def width(x: Array) -> float:
    """Width of a body along x [m]."""
    return extent(x, 0)


def pieces(x: Array, reach: float, least: int = 20) -> NDArray[np.int64]:
    """Numbers of points of the pieces of a body, the largest first: sets of at least `least` points, each within
    `reach` of another [m]."""
    pairs = cKDTree(x).query_pairs(reach, output_type="ndarray")
    links = coo_matrix((np.ones(len(pairs)), tuple(pairs.T)), shape=(len(x), len(x)))
    sizes = np.bincount(connected_components(links, directed=False)[1])
    return np.sort(sizes[sizes >= least])[::-1]


def parted(before: Array, after: Array, cell: float) -> float:
    """Part of the pairs of points within a cell of each other before that are more than three cells apart after, where
    no node of quadratic splines joins them."""
    a, b = cKDTree(before).query_pairs(cell, output_type="ndarray").T
    return float((np.linalg.norm(after[a] - after[b], axis=1) > 3.0 * cell).mean())
