"""Choice of the time step."""

import math
from dataclasses import dataclass

from spume.errors import RunFailed

COLLAPSE = 1e-6
"""If a step is shorter by this factor than that for points at rest, the simulation is unstable."""


@dataclass
class TimeStep:
    """Chooses dt [s]: fixed, or the time in which waves and points cross Courant number × cell, or what an implicit
    solver allows; it grows slowly."""

    cell: float
    wave_speed: float
    """Speed of the fastest elastic wave at rest [m/s]; 0 for implicit steps, which waves do not limit."""
    fixed: float | None = None
    courant: float = 0.5
    growth: float = 1.1
    largest: float = math.inf
    acceleration: float = 0.0
    """Acceleration of the points, taken into account in addition to their speed [m/s²]."""
    allowed: float = math.inf
    """Longest step that the solver of implicit steps allows, by the residuals of the last ones [s]."""
    stretch: float = 1.0
    """Smallest stretch of the cells, if they deform with the material, which shortens the way of the waves [1]."""
    last: float = 0.0
    """Last chosen step, before shortening to the time of a frame [s]; 0 before the first."""
    repeated: int = 0
    """Steps that were repeated with half the length, since the start."""

    def choose(self, speed: float, time: float) -> float:
        """Next step for points no faster than `speed` [m/s]."""
        if self.fixed is not None:
            self.last = self.fixed
            return self.fixed
        dt = self._crossing(self.wave_speed / self.stretch + speed)
        if self.last > 0.0:
            dt = min(dt, self.growth * self.last)
        if dt < COLLAPSE * self._crossing(self.wave_speed):
            raise RunFailed(
                f"the time step collapsed to {dt:.3g} s at t = {time:.6g} s because a point moves at {speed:.3g} m/s: "
                "the simulation is unstable; reduce [time] courant, or look for bodies that overlap at the start"
            )
        self.last = dt = min(dt, self.allowed)
        return dt

    def _crossing(self, speed: float) -> float:
        """Time t for which speed · t + acceleration · t² is Courant number × cell, at most the largest step."""
        way = self.courant * self.cell
        if self.acceleration == 0.0:
            return min(way / speed, self.largest) if speed > 0.0 else self.largest
        root = math.sqrt(speed * speed + 4.0 * self.acceleration * way)
        return min(2.0 * way / (speed + root), self.largest)

    def part(self, remaining: float) -> float:
        """Length of the next step if `remaining` [s] are to be covered by equal steps no longer than allowed.

        Steps that alternate in length can feed energy into oscillations."""
        return remaining / max(1, math.ceil(remaining / self.allowed))

    def repeat(self, dt: float) -> None:
        """A step of dt [s] failed: allow half of it."""
        self.repeated += 1
        self.allowed = 0.5 * dt

    @staticmethod
    def cut(dt: float, remaining: float) -> float:
        """Shorten `dt` so that the end of the frame, `remaining` [s] away, is reached without a tiny last step."""
        if dt >= remaining * (1.0 - 1e-9):
            return remaining
        return 0.5 * remaining if 2.0 * dt > remaining else dt
