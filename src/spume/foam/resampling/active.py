"""Where resampling has something to do: ranks hand over the points around these places only.

A place is active if two points there are close enough to merge, or if a bin is open to a dart. What merging opens is
near the pairs.
"""

import numpy as np
from numpy.typing import NDArray

from spume.foam.resampling.bins import bin_points
from spume.foam.resampling.darts import open_bins
from spume.foam.resampling.merging import close_pairs
from spume.foam.resampling.procedure import ResamplingSettings
from spume.foam.resampling.signed_distance import signed_distance

MARGIN = 2
"""Blocks of cells around an active one whose points are needed: 8 cells or 16 r in 3D. A new point depends on points
within 4 cells by its averages, and by its depth on those within 4 r and the diagonals of some bins."""


def active_places(
    x: NDArray[np.float64], material: NDArray[np.int32], r: float, seed: tuple[int, ...], settings: ResamplingSettings
) -> NDArray[np.float64]:
    """Positions [m], shape (n, d), of what resampling of the points at `x` [m] with bins of width `r` [m] would merge,
    and of the bins where it would insert. The points are in the order of their cells and ids, as for resampling."""
    if not len(x):
        return x
    bins = bin_points(x, r)
    pairs = close_pairs(bins, material, settings.merge_distance)
    dimension = x.shape[1]
    _, index = open_bins(bins, signed_distance(bins), settings.alpha(dimension), settings.depth, seed)
    return np.concatenate([x[pairs].reshape(-1, dimension), bins.position(0.5 + index.astype(np.float64))])
