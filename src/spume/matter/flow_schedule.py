"""Release times of the layers of a flow, which follow the prescribed rate."""

import bisect
import math

import numpy as np
from numpy.typing import NDArray

from spume.geometry.motion import KeyframedVector

Floats = NDArray[np.float64]


class FlowCurve:
    """Flow speed as a piecewise cubic function of time, and its exact integral from `start` to `stop`.

    track, weights: the speed is the sum of the components of `track` times `weights`; it must not be negative.
    """

    def __init__(self, track: KeyframedVector, weights: Floats, start: float, stop: float) -> None:
        inner = [time for time in track.times if start < time < stop]
        self.knots = np.array([start, *inner, stop])
        self.cubics = np.array([_cubic_at(track, weights, time) for time in self.knots[:-1]])
        """Coefficients of each piece in the time since its knot, highest power first, shape (pieces, 4)."""
        ways = [_integral(cubic, width) for cubic, width in zip(self.cubics, np.diff(self.knots))]
        self.passed = np.concatenate([[0.0], np.cumsum(ways)])
        """Integral up to each knot."""

    @property
    def total(self) -> float:
        """Integral from `start` to `stop`."""
        return float(self.passed[-1])

    def bursts(self) -> list[tuple[float, float]]:
        """Intervals of the integral, between which the flow stops for some time."""
        found: list[tuple[float, float]] = []
        flowing = False
        for k, cubic in enumerate(self.cubics):
            if not cubic.any():
                flowing = False
            elif flowing:
                found[-1] = (found[-1][0], float(self.passed[k + 1]))
            else:
                found.append((float(self.passed[k]), float(self.passed[k + 1])))
                flowing = True
        return [(first, last) for first, last in found if last > first]

    def way(self, time: float) -> float:
        """Integral up to `time` [s]."""
        k = min(max(int(np.searchsorted(self.knots, time, side="right")) - 1, 0), len(self.cubics) - 1)
        s = min(max(time, self.knots[0]), self.knots[-1]) - self.knots[k]
        return float(self.passed[k] + _integral(self.cubics[k], s))

    def times(self, ways: Floats) -> Floats:
        """Times at which the integral reaches `ways`, by bisection to adjacent floating-point numbers."""
        piece = np.clip(np.searchsorted(self.passed, ways, side="right") - 1, 0, len(self.cubics) - 1)
        cubics, rest = self.cubics[piece], ways - self.passed[piece]
        low, high = np.zeros(len(ways)), np.diff(self.knots)[piece]
        for _ in range(64):
            middle = 0.5 * (low + high)
            before = _integral(cubics.T, middle) < rest
            low, high = np.where(before, middle, low), np.where(before, high, middle)
        return np.asarray(self.knots[piece] + 0.5 * (low + high))


class Layers:
    """Layers of about `spacing`: each burst is divided evenly into layers.

    A layer is released at the opening when the flow has reached its middle, so at any time the released volume differs
    from the integral of the rate by at most half a layer.
    """

    def __init__(self, curve: FlowCurve, spacing: float) -> None:
        self.curve = curve
        self.bursts = curve.bursts()
        with np.errstate(over="ignore"):
            self.counts = [max(1.0, float(np.rint(np.float64(last - first) / spacing))) for first, last in self.bursts]

    @property
    def count(self) -> float:
        """Total number of layers; a float, because it may be extremely large."""
        return math.fsum(self.counts)

    def times_and_thicknesses(self) -> tuple[Floats, Floats, Floats]:
        """Time [s] and thickness [m] of each layer, and the distance the flow has travelled by then [m]."""
        ways: list[Floats] = [np.empty(0)]
        thicknesses: list[Floats] = [np.empty(0)]
        for (first, last), count in zip(self.bursts, self.counts):
            thickness = (last - first) / count
            ways.append(np.asarray(first + (np.arange(int(count)) + 0.5) * thickness))
            thicknesses.append(np.full(int(count), thickness))
        middles = np.concatenate(ways)
        return self.curve.times(middles), np.concatenate(thicknesses), middles


def _cubic_at(track: KeyframedVector, weights: Floats, time: float) -> Floats:
    """Polynomial of the piece that begins at or contains `time`, as a function of the time since then."""
    k = bisect.bisect_right(track.times, time) - 1
    if k < 0 or k >= len(track.pieces):
        value = track.first if k < 0 else track.last
        return np.array([0.0, 0.0, 0.0, float(np.dot(weights, value))])
    a, b, c, d = np.asarray(weights) @ np.array(track.pieces[k])
    s = time - track.times[k]
    return np.array([a, b + 3 * a * s, c + s * (2 * b + 3 * a * s), d + s * (c + s * (b + a * s))])


def _integral(cubic: Floats, s: Floats | float) -> Floats:
    a, b, c, d = cubic
    return np.asarray(s * (d + s * (c / 2 + s * (b / 3 + s * (a / 4)))))
