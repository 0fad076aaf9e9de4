"""The measurements of a run: a series over its frames, and one number, for each [[measure]] table of its scene."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spume.scene.measure import Discharge, Force, MeasureTable, Torque

Floats = NDArray[np.float64]
Entries = list[dict[str, Any]]


@dataclass(frozen=True)
class MeasuredSeries:
    """A measurement over the frames of a run."""

    name: str
    unit: str
    times: Floats
    """Times of the frames [s]."""
    values: Floats
    """Shape (n,), or (n, components) of a vector; NaN where there is none."""
    reduction: str
    """How the values of the frames are reduced to one number: last, first, max, min, mean or rebound."""

    @property
    def value(self) -> float | list[float] | None:
        """The values of the frames reduced to one number, or to the components of one vector. The largest and smallest
        values of a vector are chosen by its length. None if nothing was measured."""
        values = self.values
        if values.ndim == 2 and self.reduction in ("max", "min"):
            values = np.linalg.norm(values, axis=1)
        known = values[~np.isnan(values.reshape(len(values), -1)).any(axis=1)]
        if not len(known):
            return None
        reduced = REDUCTIONS[self.reduction](known)
        return None if reduced is None else np.asarray(reduced).tolist()

    @property
    def value_unit(self) -> str:
        """Unit of `value`."""
        return "1" if self.reduction == "rebound" else self.unit


def rebound(heights: Floats) -> float | None:
    """The ratio of the height reached after the first turning point to the height before it, both above the turning
    point; None if the body never fell.

    >>> rebound(np.array([1.0, 0.5, 0.0, 0.3, 0.25, -0.1]))
    0.3
    """
    steps = np.diff(heights)
    falling = np.flatnonzero(steps < 0.0)
    if not falling.size:
        return None
    turns = np.flatnonzero(steps[falling[0] :] > 0.0)
    lowest = falling[0] + turns[0] if turns.size else len(heights) - 1
    fall = heights[: lowest + 1].max() - heights[lowest]
    return float((heights[lowest:].max() - heights[lowest]) / fall)


REDUCTIONS: dict[str, Callable[[Floats], Any]] = {
    "last": lambda values: values[-1],
    "first": lambda values: values[0],
    "max": lambda values: values.max(axis=0),
    "min": lambda values: values.min(axis=0),
    "mean": lambda values: values.mean(axis=0),
    "rebound": rebound,
}


def measured_series(tables: Sequence[MeasureTable], entries: Entries) -> dict[str, MeasuredSeries]:
    """The measurements of `tables` from the diagnostics of all frames, by name."""
    times = np.array([entry["time"] for entry in entries], dtype=float)
    found = {}
    for table in tables:
        values = _values(table, entries, times)
        found[table.name] = MeasuredSeries(table.name, table.unit, times, values, table.reduction)
    return found


def _values(table: MeasureTable, entries: Entries, times: Floats) -> Floats:
    what: Any = table.what
    if isinstance(what, Force):
        force = _rates(obstacle_series(entries, what.obstacle, "impulse"), times)
        return force if what.direction is None else force @ _unit(what.direction)
    if isinstance(what, Torque):
        force = _rates(obstacle_series(entries, what.obstacle, "impulse"), times)
        torque = _rates(obstacle_series(entries, what.obstacle, "angular_impulse"), times)
        if what.about is not None:
            lever = np.pad(np.array(what.about), (0, 3 - len(what.about)))
            torque = torque - np.cross(lever, np.pad(force, ((0, 0), (0, 3 - force.shape[1]))))
        if what.axis is not None:
            return np.asarray(torque @ _unit(what.axis))
        return torque[:, 2] if force.shape[1] == 2 else torque
    raw = np.array([_number(entry.get("measured", {}).get(table.name)) for entry in entries])
    return _rates(raw, times) if isinstance(what, Discharge) else raw


def obstacle_series(entries: Entries, name: str, key: str) -> Floats:
    """Impulse or angular impulse of an obstacle since the start in all frames, NaN where a frame has none."""
    found = [entry.get("obstacles", {}).get(name, {}).get(key) for entry in entries]
    width = max((len(value) for value in found if value is not None), default=3)
    rows = [[*(value or ()), *[np.nan] * (width - len(value or ()))] for value in found]
    return np.array(rows, dtype=float).reshape(-1, width)


def _rates(sums: Floats, times: Floats) -> Floats:
    """Mean rates between frames of sums since the start; NaN at the first frame."""
    rates = np.full(sums.shape, np.nan)
    if len(times) > 1:
        rates[1:] = np.diff(sums, axis=0) / np.diff(times).reshape(-1, *[1] * (sums.ndim - 1))
    return rates


def _number(value: float | None) -> float:
    return np.nan if value is None else float(value)


def _unit(direction: tuple[float, ...]) -> Floats:
    return np.asarray(np.array(direction) / np.linalg.norm(direction))
