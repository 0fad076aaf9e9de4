"""Line search of the semi-implicit step.

With lagged plasticity r(v) is the derivative of an energy, which falls along dv as long as the slope r · dv is
negative. The full step is taken if the slope at its end is still negative, or at most half as steep as at its start;
otherwise the step is shortened by the secant of the slopes ([Crisfield91] section 9.2). The norm of r is no measure of
progress: with the unilateral energy it grows on the way, and has minima that are none of the energy.
"""

import math

import numpy as np
from numpy.typing import NDArray

from spume.mpm.implicit.coupled_system import CoupledSystem
from spume.numerics.sums import dot

LEAST_VOLUME = 0.05
"""A step that compresses a point to less than this fraction of its volume is shortened."""
TRIALS = 6
SLACK = 0.5
"""Ratio of the slopes at the end and at the start of a step that is accepted [1]"""
SHORTENING = 0.1, 0.7
"""Smallest and largest factor from one trial to the next"""

Floats = NDArray[np.float64]


def search(system: CoupledSystem, v: Floats, dv: Floats, r: Floats) -> tuple[Floats, Floats, float]:
    """Velocities on the way from `v` to `v` + `dv`, their residual, and the fraction of the way; `r` is that of `v`.

    If no trial is accepted, the one of the smallest slope is used, with the fraction 0.
    """
    at_start = _slope(system, r, dv)
    fraction, least = 1.0, math.inf
    best = v, r
    for _ in range(TRIALS):
        trial = v + fraction * dv
        system.close_contacts(trial)
        r, smallest = system.residual(trial)
        if not smallest > LEAST_VOLUME:
            fraction *= 0.5
            continue
        slope = _slope(system, r, dv)
        if slope <= SLACK * abs(at_start):
            return trial, r, fraction
        if slope < least:
            best, least = (trial, r), slope
        factor = at_start / (at_start - slope)
        fraction *= min(max(factor, SHORTENING[0]), SHORTENING[1])
    system.residual(best[0])  # to store the derivative at the iterate
    return *best, 0.0


def _slope(system: CoupledSystem, r: Floats, dv: Floats) -> float:
    """r · dv, without what the contacts take up."""
    free = r.copy()
    system.project(free)
    return dot(free, dv)
