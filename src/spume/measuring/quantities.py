"""Quantities of [[measure]] tables as functions of the points at one time."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spume.measuring.sample import Sample
from spume.scene.measure import Height, NeckWidth, Pressure, Rebound, RunOut, Stress

Floats = NDArray[np.float64]
REACH = 4.0
"""Default thickness of slices and radius of probes, in point spacings."""


def height(what: Height, points: Sample) -> float | None:
    """Largest coordinate along the direction, plus half the size of a point."""
    along = (points.x - _vector(what.origin, points)) @ _direction(what.direction, points)
    return _outermost(along + 0.5 * points.sizes, points.mass, what.ignore)


def run_out(what: RunOut, points: Sample) -> float | None:
    """Largest distance from the axis, plus half the size of a point."""
    axis, relative = _direction(what.axis, points), points.x - _vector(what.center, points)
    across = relative - (relative @ axis)[:, None] * axis
    return _outermost(np.linalg.norm(across, axis=1) + 0.5 * points.sizes, points.mass, what.ignore)


def _outermost(reach: Floats, mass: Floats, ignore: float) -> float | None:
    """Largest reach, ignoring the outermost fraction `ignore` of the mass."""
    if not reach.size:
        return None
    if ignore == 0.0:
        return float(reach.max())
    order = np.argsort(-reach, kind="stable")
    beyond = np.cumsum(mass[order])
    return float(reach[order][min(np.searchsorted(beyond, ignore * beyond[-1], side="right"), reach.size - 1)])


def centre(what: Rebound, points: Sample) -> float | None:
    """The coordinate of the centre of mass."""
    if not points.mass.size:
        return None
    return float(points.mass @ (points.x @ _direction(what.direction, points)) / points.mass.sum())


def neck_width(what: NeckWidth, points: Sample) -> float:
    """Smallest width of the slices between both ends. A point's volume is spread over its size along the axis."""
    low, high = what.between
    count = max(1, int((high - low) / (what.slice or REACH * points.spacing)))
    edges = np.linspace(low, high, count + 1)
    along, sizes = points.x @ _direction(what.axis, points), points.sizes
    # volume below each edge
    below = np.clip((edges[:, None] - along + 0.5 * sizes) / sizes, 0.0, 1.0) @ points.volume
    section = np.diff(below) / np.diff(edges)
    least = max(float(section.min()), 0.0)
    return least if points.x.shape[1] == 2 else math.sqrt(4.0 * least / math.pi)


def pressure(what: Pressure, points: Sample) -> float | None:
    """Σ w V p/Σ w V with p = −tr σ/3 and w = (1 − r²/R²)²; symmetric weights reproduce linear fields."""
    square = ((points.x - np.array(what.point)) ** 2).sum(axis=1) / (what.radius or REACH * points.spacing) ** 2
    weight = np.maximum(1.0 - square, 0.0) ** 2 * points.volume
    whole = float(weight.sum())
    return float(weight @ _pressure(points)) / whole if whole > 0.0 else None


def stress(what: Stress, points: Sample) -> float | None:
    """The largest or mean von Mises stress or pressure."""
    if not points.mass.size:
        return None
    values = _pressure(points) if what.component == "pressure" else von_mises(points.stress)
    return float(values.max() if what.statistic == "max" else points.volume @ values / points.volume.sum())


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
