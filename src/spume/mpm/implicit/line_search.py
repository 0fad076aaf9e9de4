"""Line search of semi-implicit steps and of Newton's method.

With lagged plasticity r(v) is the derivative of an energy, which falls along dv as long as the slope r · dv is
negative. The full step is taken if the slope at its end is still negative, or at most half as steep as at its start;
otherwise the step is shortened by the secant of the slopes ([Crisfield91] section 9.2). The norm of r is no measure of
progress: with the unilateral energy it grows on the way, and has minima that are none of the energy.

The limits of friction are constant during the search, so that friction has an energy, too.

With flow in the step, and with viscosity, there is no energy; the slope is then the work of the unbalanced forces
along dv, which vanishes at the solution, too.
"""

import math
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

LEAST_VOLUME = 0.05
"""A step that compresses a point to less than this fraction of its volume is shortened."""
TRIALS = 6
"""Largest number of lengths that are tried, without those that would crush a point."""
SHORTEST = 1e-9
"""Fraction of a step below which no length is tried."""
SLACK = 0.5
"""Largest ratio of the slopes at the end and at the start of a step that is accepted [1]"""
SHORTENING = 0.1, 0.7
"""Smallest and largest factor from one trial to the next"""

Floats = NDArray[np.float64]
State = TypeVar("State")


class System(Protocol[State]):
    """What the search asks of the equations of a step."""

    def residual(self, v: Floats) -> tuple[Floats, float]:
        """r(v), and the smallest volume of a point after the step relative to that before."""

    def close_contacts(self, v: Floats) -> None:
        """Apply the contacts to `v` in place, and close those that change it."""

    def engaged(self) -> State:
        """State of the contacts."""

    def engage(self, state: State, /) -> None:
        """Restore what `engaged` returned."""

    def project(self, x: Floats) -> None:
        """Remove what the contacts take up."""

    def dot(self, a: Floats, b: Floats) -> float:
        """Inner product."""


def search(system: System[State], v: Floats, dv: Floats, r: Floats) -> tuple[Floats, Floats, float]:
    """Velocities on the way from `v` to `v` + `dv`, their residual, and the fraction of the way; `r` is that of `v`.

    The system is left with the derivative and the contacts at the velocities returned. If no trial is accepted, the one
    of the smallest slope is used, with the fraction 0; if `dv` leads uphill, as an indefinite matrix may, `v` itself.
    """
    at_start = _slope(system, r, dv)
    if not at_start < 0.0:
        return v, r, 0.0
    engaged = system.engaged()
    best, least, of_best = v, math.inf, engaged
    fraction = 1.0
    trials = 0
    while trials < TRIALS and fraction > SHORTEST:
        trial = v + fraction * dv
        system.engage(engaged)
        system.close_contacts(trial)
        r, smallest = system.residual(trial)
        slope = _slope(system, r, dv)
        if not (smallest > LEAST_VOLUME and math.isfinite(slope)):
            fraction *= 0.5
            continue
        trials += 1
        if slope <= SLACK * -at_start:
            return trial, r, fraction
        if slope < least:
            best, least, of_best = trial, slope, system.engaged()
        fraction *= min(max(at_start / (at_start - slope), SHORTENING[0]), SHORTENING[1])
    system.engage(of_best)
    return best, system.residual(best)[0], 0.0


def _slope(system: System[State], r: Floats, dv: Floats) -> float:
    """r · dv, without what the contacts take up."""
    free = r.copy()
    system.project(free)
    return system.dot(free, dv)
