"""Volumes and positions of points with the volume and the centroid of the shape they represent."""

import numpy as np
from numpy.typing import NDArray

from spume.geometry.shapes.volume import Moments
from spume.numerics.sums import dot, total

Floats = NDArray[np.float64]

MOST = 0.5
"""Largest relative change of a volume; beyond, the points are moved."""
FLAT = 0.1
"""Root mean square of the points' distances from a plane below which they count as in the plane [spacings]."""
ROUNDING = 1e-9
"""Distance of centroids that is left alone, in spacings."""


def with_moments(
    y: Floats, volume: Floats, free: NDArray[np.bool_], wanted: Moments, spacing: float
) -> tuple[Floats, Floats]:
    """Positions `y` (n, dimension) [m] and volumes [m³, in 2D m²] with the volume and centroid `wanted`.

    The volumes of the points `free` change by the factors 1 + a + b · y, with the smallest squares Σ V (a + b · y)² for
    which both are right. If one were to change by more than `MOST`, all volumes change, and if that does not suffice,
    all points are moved together. So are points in a plane or in a line, across it: their volumes cannot move their
    centroid there. All sums are independent of the order of the points.
    """
    middle = wanted.centroid[: y.shape[1]]
    for among in (free, np.ones(len(y), bool)):
        changed = _changed(y, volume, among, wanted.volume, middle, spacing)
        if changed is not None:
            volume = changed
            break
    volume = volume * (wanted.volume / total(volume))
    off = middle - np.array([dot(volume, column) for column in y.T]) / wanted.volume
    return (y + off if np.abs(off).max() > ROUNDING * spacing else y), volume


def _changed(
    y: Floats, volume: Floats, among: NDArray[np.bool_], size: float, middle: Floats, spacing: float
) -> Floats | None:
    """The changed volumes; None if one would change too much."""
    if not among.any():
        return None
    V = volume[among]
    B = np.concatenate([np.ones((len(V), 1)), (y[among] - middle) / spacing], axis=1)
    all_moments = np.concatenate([np.ones((len(y), 1)), (y - middle) / spacing], axis=1)
    missing = -np.array([dot(volume, column) for column in all_moments.T])
    missing[0] += size
    # the first moment about the centroid of these points, so that the first coefficient stands alone
    weight = total(V)
    mean = np.array([dot(V, column) for column in B.T]) / weight
    B[:, 1:] -= mean[1:]
    missing[1:] -= mean[1:] * missing[0]
    second = np.array([[dot(V * p, q) for q in B[:, 1:].T] for p in B[:, 1:].T])
    values, vectors = np.linalg.eigh(second)
    along = values > FLAT**2 * weight
    slopes = vectors[:, along] @ ((vectors[:, along].T @ missing[1:]) / values[along])
    change = missing[0] / weight + B[:, 1:] @ slopes
    if np.abs(change).max() > MOST:
        return None
    changed = volume.copy()
    changed[among] *= 1.0 + change
    return changed
