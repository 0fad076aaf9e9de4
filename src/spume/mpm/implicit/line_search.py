"""Line search of semi-implicit steps and of Newton's method.

With lagged plasticity r(v) is the derivative of an energy, which falls along dv as long as the slope r · dv is
negative. The full step is taken if the slope at its end is still negative, or at most half as steep as at its start;
otherwise the step is shortened by the secant of the slopes ([Crisfield91] section 9.2). The norm of r is no measure of
progress: with the unilateral energy it grows on the way, and has minima that are none of the energy. Slopes do not
suffice with that energy either: a step may end in a valley behind a barrier that is higher than its start, and the
iterations then go round in a circle for ever. The energy itself must therefore fall, too, where it is known.

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
ENOUGH = 1e-4
"""Part of the fall of the energy that the slope at the start predicts, which a step must reach [1] [Nocedal06]"""
ROUNDING = 1e-12
"""Relative error of energies [1]"""
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

    def energy(self) -> float:
        """Energy at the last velocities of `residual`, whose derivative it is; nan if it is not known."""

    def project(self, x: Floats) -> None:
        """Remove what the contacts take up."""

    def dot(self, a: Floats, b: Floats) -> float:
        """Inner product."""


def search(system: System[State], v: Floats, dv: Floats, r: Floats) -> tuple[Floats, Floats, float]:
    """Velocities on the way from `v` to `v` + `dv`, their residual, and the fraction of the way; `r` is that of `v`.

    The system is left with the derivative and the contacts at the velocities returned. If no trial is accepted, the one
    of the lowest energy, or of the smallest slope, is used, with the fraction 0; if `dv` leads uphill, as an indefinite
    matrix may, `v` itself.
    """
    at_start = _slope(system, r, dv)
    if not at_start < 0.0:
        return v, r, 0.0
    start, engaged = system.energy(), system.engaged()
    best, of_best, least, lowest = v, engaged, math.inf, start
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
        energy = system.energy()
        rise = energy - start - ROUNDING * abs(start)
        falls = not rise > ENOUGH * fraction * at_start
        if slope <= SLACK * -at_start and falls:
            return trial, r, fraction
        # the lowest energy, or, if none is lower than at the start or known, the smallest slope
        if energy < lowest if lowest < start else energy < start or not slope >= least:
            best, of_best, least, lowest = trial, system.engaged(), slope, energy
        ratio = at_start / (at_start - slope)
        if not falls:
            ratio = min(ratio, 0.5 * at_start * fraction / (at_start * fraction - rise))
        fraction *= min(max(ratio, SHORTENING[0]), SHORTENING[1])
    system.engage(of_best)
    return best, system.residual(best)[0], 0.0


def _slope(system: System[State], r: Floats, dv: Floats) -> float:
    """r · dv, without what the contacts take up."""
    free = r.copy()
    system.project(free)
    return system.dot(free, dv)
