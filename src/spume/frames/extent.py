"""Extent of a run: its bounds over all frames, the range of a quantity, the distance between points."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from spume.errors import SceneError
from spume.fields import Population
from spume.frames.quantities import DRAWN, quantities, spatial
from spume.frames.reader import Run
from spume.frames.selection import spread

Floats = NDArray[np.float64]
FRAMES = 40
"""Number of evenly spaced frames from which properties of a whole run are found."""
STRAYS = 0.001
"""Fraction of the points at each end of an axis that a view may leave out, such as single drops."""


def point_bounds(run: Run) -> tuple[Floats, Floats]:
    """Lower and upper corner [m], shape (3,), of the box of all points over the whole run, without strays."""
    lower, upper = np.full(3, np.inf), np.full(3, -np.inf)
    for number in spread(list(range(len(run))), FRAMES):
        for population in run[number].of_kind(*DRAWN):
            x = spatial(population["x"])
            if len(x):
                low, high = np.quantile(x, (STRAYS, 1 - STRAYS), axis=0)
                lower, upper = np.minimum(lower, low), np.maximum(upper, high)
    if not np.isfinite(lower).all():
        return np.zeros(3), np.ones(3)
    return lower, upper


def quantity_limits(run: Run, name: str) -> tuple[float, float]:
    """Limits of a colour bar for the whole run: the range of the values without a hundredth at each end."""
    frames = (run[number] for number in spread(list(range(len(run))), FRAMES // 2))
    ends = [_limits(values) for frame in frames for values in quantities(frame, name).values()]
    low = min((end[0] for end in ends if end), default=0.0)
    high = max((end[1] for end in ends if end), default=1.0)
    return (low, high) if high > low else (low - 0.5, high + 0.5)


def _limits(values: NDArray[Any]) -> tuple[float, float] | None:
    if len(values) == 0:
        return None
    low, high = np.quantile(values, (0.01, 0.99))
    # A field of a few whole numbers, such as 'weak', keeps its ends.
    if len(np.unique(values[:1000])) <= 10:
        low, high = values.min(), values.max()
    return float(low), float(high)


def point_spacing(run: Run, population: Population) -> float:
    """Distance between the points of a population [m]: as declared, or else that of points spread evenly over the box
    around the first frame."""
    if population.spacing is not None:
        return population.spacing
    x = run[0][population.name]["x"]
    size = np.ptp(x, axis=0) if len(x) else np.zeros(1)
    wide = size[size > 0]
    return float((np.prod(wide) / len(x)) ** (1 / len(wide))) if len(wide) else 1.0


def run_dimension(run: Run) -> int:
    """Components of the positions in a run, 2 or 3. Raises SceneError for runs without positions."""
    dimensions = [each.dimension for each in run.populations if each.dimension is not None]
    if not dimensions:
        kinds = ", ".join(each.name for each in run.populations)
        raise SceneError(f"'{run.path}' is a run of the method '{run.method}', which has no points (only {kinds})")
    return max(dimensions)
