"""The length of a step."""

import math
from dataclasses import dataclass

from spume.errors import RunFailed

COLLAPSE = 1e-6
"""A step this much shorter than the elastic waves alone ask for means that the simulation has gone wrong."""


@dataclass
class TimeStep:
    """Chooses dt [s]: fixed, or Courant number × cell / (elastic wave speed + particle speed), growing slowly."""

    cell: float
    wave_speed: float
    """Fastest elastic wave of the scene at rest [m/s]."""
    fixed: float | None = None
    courant: float = 0.5
    growth: float = 1.1
    largest: float = math.inf
    last: float = 0.0
    """Last step chosen before it was cut to hit a frame [s]; 0 before the first."""

    def choose(self, speed: float, time: float) -> float:
        """The next step for points no faster than `speed` [m/s]."""
        if self.fixed is not None:
            self.last = self.fixed
            return self.fixed
        dt = min(self.courant * self.cell / (self.wave_speed + speed), self.largest)
        if self.last > 0.0:
            dt = min(dt, self.growth * self.last)
        if dt < COLLAPSE * self.courant * self.cell / self.wave_speed:
            raise RunFailed(
                f"the time step collapsed to {dt:.3g} s at t = {time:.6g} s because a point moves at {speed:.3g} m/s: "
                "the simulation is unstable; reduce [time] courant, or look for bodies that overlap at the start"
            )
        self.last = dt
        return dt

    @staticmethod
    def cut(dt: float, remaining: float) -> float:
        """`dt` shortened so that the end of the frame, `remaining` [s] away, is hit without a last tiny step."""
        if dt >= remaining * (1.0 - 1e-9):
            return remaining
        return 0.5 * remaining if 2.0 * dt > remaining else dt
