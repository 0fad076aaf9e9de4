"""The points of all ranks that are nearest to given places. Each rank offers its own; one of them chooses.

Points at the same distance come in the order of their numbers, so the choice does not depend on who has them.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spume.ranks.ranks import Ranks

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
CHUNK = 20_000
"""Number of places looked at at a time, to limit memory."""
ROUNDING = 1e-9
"""By how much the distances of a tree may be wrong [1]."""


class Nearest(NamedTuple):
    """The k points that are nearest to each of n places, the nearest first."""

    number: Integers
    """(n, k)"""
    x: Floats
    """Their positions [m], (n, k, 3)."""
    distance: Floats
    """[m], (n, k)"""


def nearest(places: Floats, x: Floats, numbers: Integers, k: int, ranks: Ranks) -> Nearest | None:
    """The `k` points of all ranks nearest to `places` (n, 3), which all ranks have; None on all ranks but one. Own
    points are at `x` and have `numbers`; all ranks have at least `k` in all."""
    from scipy.spatial import KDTree  # slow to import

    tree, found = KDTree(x) if len(x) else None, []
    for first in range(0, len(places), CHUNK):
        some = places[first : first + CHUNK]
        offered = ranks.collected(_offered(tree, some, x, numbers, k, ranks))
        if offered is None:
            continue
        order = np.lexsort((offered["number"], offered["square"], offered["place"]))
        start = np.searchsorted(offered["place"][order], np.arange(len(some)))
        chosen = order[start[:, None] + np.arange(k)]
        found.append(Nearest(offered["number"][chosen], offered["x"][chosen], np.sqrt(offered["square"][chosen])))
    return Nearest(*map(np.concatenate, zip(*found))) if found else None


def _offered(tree: Any, places: Floats, x: Floats, numbers: Integers, k: int, ranks: Ranks) -> dict[str, NDArray[Any]]:
    """Of the own points all that may be among the `k` nearest to each place, and perhaps others."""
    farthest = np.full(len(places), np.inf)
    if len(x) >= k:
        farthest = tree.query(places, [k])[0][:, 0]
    reach = -ranks.maxima(-farthest) * (1.0 + ROUNDING)
    place, point = np.empty(0, np.int64), np.empty(0, np.int64)
    rows, width = np.arange(len(places)), k
    while tree is not None and rows.size:
        width = min(2 * width, len(x))
        distance, near = (np.reshape(array, (-1, width)) for array in tree.query(places[rows], width))
        complete = (distance[:, -1] > reach[rows]) | (width == len(x))
        row, column = np.nonzero((distance <= reach[rows, None]) & complete[:, None])
        place, point = np.append(place, rows[row]), np.append(point, near[row, column])
        rows = rows[~complete]
    dx, dy, dz = (x[point] - places[place]).T
    return {"place": place, "number": numbers[point], "x": x[point], "square": dx * dx + dy * dy + dz * dz}
