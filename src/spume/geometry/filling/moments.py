"""Volumes and positions of points with the volume and the centroid of the shape they represent."""

import numpy as np
from numpy.typing import NDArray

from spume.geometry.filling.sharing import ALONE, Sharers
from spume.geometry.shapes.volume import Moments
from spume.numerics.rows import rows_along

Floats = NDArray[np.float64]

MOST = 0.5
"""Largest relative change of a volume; beyond, the points are moved."""
FLAT = 0.1
"""Root mean square of the points' distances from a plane below which they count as in the plane [spacings]."""
ROUNDING = 1e-9
"""Distance of centroids that is left alone, in spacings."""


def with_moments(
    y: Floats, volume: Floats, free: NDArray[np.bool_], wanted: Moments, spacing: float, sharers: Sharers = ALONE
) -> tuple[Floats, Floats]:
    """Positions `y` (n, dimension) [m] and volumes [m³, in 2D m²] with the volume and centroid `wanted`.

    The volumes of the points `free` change by the factors 1 + a + b · y, with the smallest squares Σ V (a + b · y)² for
    which both are right. If one were to change by more than `MOST`, all volumes change, and if that does not suffice,
    all points are moved together. So are points in a plane or in a line, across it: their volumes cannot move their
    centroid there. All sums are independent of the order of the points, and go over those of all `sharers`.
    """
    middle = wanted.centroid[: y.shape[1]]
    for among in (free, np.ones(len(y), bool)):
        changed = _changed(y, volume, among, wanted.volume, middle, spacing, sharers)
        if changed is not None:
            volume = changed
            break
    volume = volume * (wanted.volume / sharers.total(volume))
    off = middle - np.array(sharers.dots([(volume, column) for column in y.T])) / wanted.volume
    return (y + off if np.abs(off).max() > ROUNDING * spacing else y), volume


def _changed(
    y: Floats, volume: Floats, among: NDArray[np.bool_], size: float, middle: Floats, spacing: float, sharers: Sharers
) -> Floats | None:
    """The changed volumes; None if one would change too much."""
    if not sharers.any(bool(among.any())):
        return None
    V = volume[among]
    B = np.concatenate([np.ones((len(V), 1)), (y[among] - middle) / spacing], axis=1)
    all_moments = np.concatenate([np.ones((len(y), 1)), (y - middle) / spacing], axis=1)
    missing = -np.array(sharers.dots([(volume, column) for column in all_moments.T]))
    missing[0] += size
    # the first moment about the centroid of these points, so that the first coefficient stands alone
    weight = sharers.total(V)
    mean = np.array(sharers.dots([(V, column) for column in B.T])) / weight
    B[:, 1:] -= mean[1:]
    missing[1:] -= mean[1:] * missing[0]
    d = y.shape[1]
    second = np.array(sharers.dots([(V * p, q) for p in B[:, 1:].T for q in B[:, 1:].T])).reshape(d, d)
    values, vectors = np.linalg.eigh(second)
    along = values > FLAT**2 * weight
    slopes = vectors[:, along] @ ((vectors[:, along].T @ missing[1:]) / values[along])
    change = missing[0] / weight + rows_along(B[:, 1:], slopes)
    if sharers.any(bool(np.abs(change).max(initial=0.0) > MOST)):
        return None
    changed = volume.copy()
    changed[among] *= 1.0 + change
    return changed
