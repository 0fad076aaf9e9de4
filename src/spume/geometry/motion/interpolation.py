"""Interpolation of a keyframed vector, with its exact derivative."""

import bisect
from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Interpolation = Literal["smooth", "linear"]


class KeyframedVector:
    """A vector as a function of time.

    "smooth": piecewise cubic, continuously differentiable, monotone wherever the values are (slopes of [Fritsch84]); it
    starts and ends at rest. "linear": linear between values. Before the first and after the last time the value is
    constant.
    """

    def __init__(self, times: Sequence[float], values: Sequence[Sequence[float]], interpolation: Interpolation) -> None:
        knots, table = np.array(times, dtype=np.float64), np.array(values, dtype=np.float64)
        self.times = knots.tolist()
        self.first, self.last = tuple(table[0].tolist()), tuple(table[-1].tolist())
        self.rest = (0.0,) * len(self.first)
        pieces = _smooth_pieces(knots, table) if interpolation == "smooth" else _linear_pieces(knots, table)
        self.pieces = [[tuple(cubic) for cubic in piece] for piece in pieces.tolist()]

    def at(self, time: float) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """Value and rate at `time` [s]."""
        if time < self.times[0]:
            return self.first, self.rest
        if time >= self.times[-1]:
            return self.last, self.rest
        k = bisect.bisect_right(self.times, time) - 1
        s = time - self.times[k]
        piece = self.pieces[k]
        value = tuple(d + s * (c + s * (b + s * a)) for a, b, c, d in piece)
        return value, tuple(c + s * (2.0 * b + s * 3.0 * a) for a, b, c, _ in piece)


def _linear_pieces(times: NDArray[np.float64], values: NDArray[np.float64]) -> NDArray[np.float64]:
    slopes = np.diff(values, axis=0) / np.diff(times)[:, None]
    return np.stack([np.zeros_like(slopes), np.zeros_like(slopes), slopes, values[:-1]], axis=-1)


def _smooth_pieces(times: NDArray[np.float64], values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Coefficients, shape (times − 1, components, 4), highest power first."""
    if len(times) < 2:
        return np.zeros((0, values.shape[1], 4))
    from scipy.interpolate import CubicHermiteSpline, PchipInterpolator  # slow to import; few scenes have keyframes

    with np.errstate(over="ignore"):  # the inverse of a tiny slope may overflow; the mean slope is then correctly zero
        slopes = PchipInterpolator(times, values, axis=0).derivative()(times)
    # At rest at both ends, because the value is constant before and after; zero slopes keep a cubic monotone.
    slopes[0] = slopes[-1] = 0.0
    coefficients: NDArray[np.float64] = np.moveaxis(CubicHermiteSpline(times, values, slopes, axis=0).c, 0, -1)
    return coefficients
