"""An endless strip, periodic along x, in an engine whose grid has no periodic boundary.

The strip is three periods long. The points of the middle period are the simulation; those to its left and right are
their images, copied again before every step. A spline reaches two cells, so in a step a point depends on points up to
four cells away: with a period of four cells or more, every point of the middle moves exactly as in an endless strip.
"""

import numpy as np
from numpy.typing import NDArray

from spume import Scene, Simulation

PERIOD = 4
"""cells"""


class EndlessStrip:
    """A 2D simulation with the period P = PERIOD cells, whose bodies fill −P ≤ x < 2P."""

    def __init__(self, scene: Scene) -> None:
        self.sim = Simulation(scene)
        self.period: float = PERIOD * scene.grid.cell  # type: ignore[attr-defined]
        p = self.sim.particles
        copy = np.floor(p.x[:, 0] / self.period).astype(int)
        # position in the period and number of the period, which identify a point when points are reordered
        place = np.round(np.stack([p.x[:, 0] - copy * self.period, p.x[:, 1]]) / self.period, 9)
        order = np.lexsort((copy, place[0], place[1]))
        if set(copy) != {-1, 0, 1} or (copy[order].reshape(-1, 3) != (-1, 0, 1)).any():
            raise ValueError("the points do not repeat from −P to 2P")
        p.body[order] = np.arange(len(order))
        self._own = np.empty(0, np.int64)
        self._find()

    @property
    def time(self) -> float:
        """Simulated time [s]."""
        return self.sim.time

    def advance(self, dt: float) -> None:
        """Advance by at least dt [s], in whole steps."""
        method, state = self.sim.method, self.sim.method.world  # type: ignore[attr-defined]
        until = state.time + dt
        while state.time < until:
            method.take_step(state.time_step.choose(state.speed, state.time))  # type: ignore[attr-defined]
            self._repeat()

    def own(self, field: str) -> NDArray[np.float64]:
        """A field of the points of the middle period."""
        return getattr(self.sim.particles, field)[self._own]

    def _find(self) -> None:
        rows = np.argsort(self.sim.particles.body).reshape(-1, 3)
        self._own, self._images = rows[:, 1], (rows[:, 0], rows[:, 2])

    def _repeat(self) -> None:
        """Move points that left the period back into it, and copy their images to both sides."""
        self._find()
        p = self.sim.particles
        p.x[self._own, 0] %= self.period
        for images, shift in zip(self._images, (-self.period, self.period)):
            for name, values in p.arrays().items():
                if name not in ("body", "id"):
                    values[images] = values[self._own]
            p.x[images, 0] += shift
