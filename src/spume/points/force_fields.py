"""Analytic force fields: accelerations that grow from a centre, and change in time."""

from dataclasses import dataclass

import numpy as np
from numba import prange
from numpy.typing import NDArray

from spume.numerics.jit import compiled


@dataclass(frozen=True)
class ForceField:
    """The acceleration factor(t) · growth · (x − center), component by component."""

    center: NDArray[np.float64]
    """[m], shape (d,)"""
    growth: NDArray[np.float64]
    """Acceleration per distance along each axis [1/s²], shape (d,); negative components press together."""
    times: NDArray[np.float64]
    """[s], increasing"""
    factors: NDArray[np.float64]
    """Factor at each time; linear between them, constant before the first and after the last [1]."""

    def growth_at(self, time: float) -> NDArray[np.float64]:
        """Acceleration per distance at `time` [s] along each axis [1/s²]."""
        return np.asarray(np.interp(time, self.times, self.factors) * self.growth)


@compiled(parallel=True)
def kick(x, v, acceleration, gravity, centers, growths, dt):
    """v ← v + Δt (a + g + Σ growth (x − center))."""
    for p in prange(x.shape[0]):
        for q in range(x.shape[1]):
            a = acceleration[p, q] + gravity[q]
            for k in range(centers.shape[0]):
                a += growths[k, q] * (x[p, q] - centers[k, q])
            v[p, q] += dt * a
