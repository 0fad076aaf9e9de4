"""Density of the points of bodies that are too thin for an interior on the grid: a sum over neighbours.

With volumes V J and the spacing s of the points, Σ_j V_j J_j W(x_j − x_i) with a spline W of radius 2.2 s is one at
points that are surrounded by others: exact to 1 % on a lattice, also if it is sheared. A point counts as surrounded if
its neighbours are in balance and spread alike in all directions, as in the middle of three layers. Where points are
irregular few are, and there is no result; with Poisson-disk filling it is up to 0.2 too low.
"""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

RADIUS = 2.2
"""Radius of the spline in spacings [1]"""
BALANCE = 0.1
"""Largest distance of the neighbours' weighted mean from the point, over their mean distance [1]"""
ROUNDNESS = 0.8
"""Smallest ratio of the eigenvalues of the neighbours' second moment [1]"""
FEWEST, SHARE = 10, 0.05
"""Smallest number of surrounded points, and smallest fraction of all points, for which a result is reported."""
MOST_POINTS = 20_000
"""Largest number of points for which neighbours are searched in every frame."""
SCATTER = 0.25
"""Deviation of the result from one that the arrangement of points may cause [1]."""
NORMS = {2: 10.0 / (7.0 * np.pi), 3: 1.0 / np.pi}
"""1/∫W for the half radius 1, by dimension"""


def density_of_neighbours(x: Floats, volume: Floats) -> float | None:
    """Median density of the points at `x` (n, d) with volumes V J (n,) over that implied by their volumes; None if too
    few of them are surrounded, if there are more than `MOST_POINTS`, or if they have collapsed to no volume."""
    count, d = x.shape
    if not 0 < count <= MOST_POINTS or not np.median(volume) > 0.0:
        return None
    from scipy.spatial import KDTree  # slow to import

    half = 0.5 * RADIUS * float(np.median(volume)) ** (1.0 / d)
    pairs = KDTree(x).query_pairs(2.0 * half, output_type="ndarray")
    i, j = np.concatenate([pairs, pairs[:, ::-1]]).T
    offset = x[j] - x[i]
    distance = np.linalg.norm(offset, axis=1)
    weight = NORMS[d] / half**d * _spline(distance / half)

    def summed(values: Floats) -> Floats:
        """Sums over the neighbours of each point."""
        return np.asarray(np.bincount(i, weight * values, count), np.float64)

    density = NORMS[d] / half**d * volume + summed(volume[j])
    mean = np.stack([summed(offset[:, a]) for a in range(d)], axis=1)
    second = np.empty((count, d, d))
    for a, b in np.ndindex(d, d):
        second[:, a, b] = summed(offset[:, a] * offset[:, b])
    spread = np.linalg.eigvalsh(second)
    balanced = np.linalg.norm(mean, axis=1) < BALANCE * summed(distance)
    surrounded = balanced & (spread[:, 0] > ROUNDNESS * spread[:, -1])
    enough = max(FEWEST, SHARE * count)
    return float(np.median(density[surrounded])) if surrounded.sum() >= enough else None


def _spline(q: Floats) -> Floats:
    """The cubic spline of smoothed particle hydrodynamics, one at the centre and zero from q = 2 on. [Monaghan05]"""
    return np.where(q < 1.0, 1.0 - 1.5 * q**2 + 0.75 * q**3, 0.25 * np.maximum(2.0 - q, 0.0) ** 3)
