"""Quantities of [[measure]] tables as functions of the points at one time.

Sums are exact and go over all ranks, so no bit depends on the order of the points or on where they are. Where one rank
finds the result, the others return None.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spume.measuring.sample import Sample
from spume.numerics.rows import rows_along
from spume.scene.measure import Height, NeckWidth, Pressure, Rebound, RunOut, Stress

Floats = NDArray[np.float64]
REACH = 4.0
"""Default thickness of slices and radius of probes, in point spacings."""


def height(what: Height, points: Sample) -> float | None:
    """Largest coordinate along the direction, plus half the size of a point."""
    along = rows_along(points.x - _vector(what.origin, points), _direction(what.direction, points))
    return _outermost(along + 0.5 * points.sizes, points, what.ignore)


def run_out(what: RunOut, points: Sample) -> float | None:
    """Largest distance from the axis, plus half the size of a point."""
    axis, relative = _direction(what.axis, points), points.x - _vector(what.center, points)
    across = relative - rows_along(relative, axis)[:, None] * axis
    return _outermost(np.linalg.norm(across, axis=1) + 0.5 * points.sizes, points, what.ignore)


def _outermost(reach: Floats, points: Sample, ignore: float) -> float | None:
    """Largest reach, ignoring the outermost fraction `ignore` of the mass."""
    ranks = points.ranks
    if ranks.count(reach.size) == 0:
        return None
    if ignore == 0.0:
        return ranks.largest(float(reach.max(initial=-math.inf)))
    ignored = ignore * ranks.total(points.mass)
    # of each rank as many of its outermost points as may be ignored, and one more
    order = np.lexsort((points.id, -reach))
    most = int(np.searchsorted(np.cumsum(points.mass[order]), ignored, side="right"))
    outer = {"reach": reach, "mass": points.mass, "id": points.id}
    found = ranks.collected({name: array[order[: most + 1]] for name, array in outer.items()})
    if found is None:
        return None
    order = np.lexsort((found["id"], -found["reach"]))
    beyond = np.cumsum(found["mass"][order])
    outermost = min(int(np.searchsorted(beyond, ignored, side="right")), order.size - 1)
    return float(found["reach"][order][outermost])


def centre(what: Rebound, points: Sample) -> float | None:
    """The coordinate of the centre of mass."""
    along = rows_along(points.x, _direction(what.direction, points))
    if points.ranks.count(points.mass.size) == 0:
        return None
    moment, mass = points.ranks.totals([points.mass * along, points.mass])
    return moment / mass


def neck_width(what: NeckWidth, points: Sample) -> float:
    """Smallest width of the slices between both ends. A point's volume is spread over its size along the axis."""
    low, high = what.between
    count = max(1, int((high - low) / (what.slice or REACH * points.spacing)))
    edges = np.linspace(low, high, count + 1)
    along, sizes = rows_along(points.x, _direction(what.axis, points)), points.sizes
    volume_below = (np.clip((edge - along + 0.5 * sizes) / sizes, 0.0, 1.0) * points.volume for edge in edges)
    below = np.array([points.ranks.total(volume) for volume in volume_below])
    section = np.diff(below) / np.diff(edges)
    least = max(float(section.min()), 0.0)
    return least if points.x.shape[1] == 2 else math.sqrt(4.0 * least / math.pi)


def pressure(what: Pressure, points: Sample) -> float | None:
    """Σ w V p/Σ w V with p = −tr σ/3 and w = (1 − r²/R²)²; symmetric weights reproduce linear fields."""
    square = ((points.x - np.array(what.point)) ** 2).sum(axis=1) / (what.radius or REACH * points.spacing) ** 2
    weight = np.maximum(1.0 - square, 0.0) ** 2 * points.volume
    weighted, whole = points.ranks.totals([weight * _pressure(points), weight])
    return weighted / whole if whole > 0.0 else None


def stress(what: Stress, points: Sample) -> float | None:
    """The largest or mean von Mises stress or pressure."""
    ranks = points.ranks
    if ranks.count(points.mass.size) == 0:
        return None
    values = _pressure(points) if what.component == "pressure" else von_mises(points.stress)
    if what.statistic == "max":
        return ranks.largest(float(values.max(initial=-math.inf)))
    weighted, volume = ranks.totals([points.volume * values, points.volume])
    return weighted / volume


def von_mises(sigma: Floats) -> Floats:
    """√(3/2) ‖dev σ‖ of symmetric tensors (n, 6)."""
    deviator = sigma.copy()
    deviator[:, :3] -= sigma[:, :3].mean(axis=1)[:, None]
    return np.sqrt(1.5 * ((deviator[:, :3] ** 2).sum(axis=1) + 2.0 * (deviator[:, 3:] ** 2).sum(axis=1)))


def _pressure(points: Sample) -> Floats:
    return np.asarray(-points.stress[:, :3].mean(axis=1))


def _direction(vector: tuple[float, ...] | None, points: Sample) -> Floats:
    """A unit vector; default: up."""
    d = points.x.shape[1]
    direction = np.array((0.0, 1.0, 0.0)[:d] if vector is None else vector)
    return np.asarray(direction / np.linalg.norm(direction))


def _vector(vector: tuple[float, ...] | None, points: Sample) -> Floats:
    return np.zeros(points.x.shape[1]) if vector is None else np.array(vector)


QUANTITIES: dict[type, Callable[[Any, Sample], float | None]] = {
    Height: height,
    RunOut: run_out,
    Rebound: centre,
    NeckWidth: neck_width,
    Pressure: pressure,
    Stress: stress,
}
"""Quantities computed from the points at one time. Forces, torques and discharges are summed in every step."""
