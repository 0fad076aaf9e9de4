"""A species: points that move together, and the laws of their materials."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spume.geometry.obstacles.obstacle_set import ContactLaws
from spume.materials.loops import ConstitutiveModel
from spume.matter.particles import Particles
from spume.numerics.room import Room
from spume.ranks.ranks import ALONE, Ranks


class Species:
    """Points, their laws, and what is known about their distance from obstacles."""

    def __init__(
        self, particles: Particles, model: ConstitutiveModel, name: str = "points", laws: ContactLaws | None = None
    ) -> None:
        """`laws`: how the obstacles act on this species; None: as the scene says."""
        self.name = name
        self.particles = particles
        self.model = model
        """Laws and parameters of the materials."""
        self.contact_laws = laws
        self.ranks: Ranks = ALONE
        """The processes that share the points."""
        self.deformation = np.zeros((0, 3, 3))
        """Deformation f of each point in the current step [1]."""
        self._clear_until = np.empty(0)
        self._room = Room()
        self._clear_generation = 0

    def fit_deformation(self) -> None:
        """Resize `deformation` to the number of points."""
        self.deformation = self._room.fit("deformation", self.deformation, len(self.particles))

    def clear_until(self) -> NDArray[np.float64]:
        """For each point the value of `ObstacleSet.travelled`, minus its own path length, up to which it is certainly
        outside all obstacles [m]; −∞ if unknown. See `grid.contacts`; no result depends on it."""
        if self._clear_generation != self.particles.generation:
            self._clear_until = np.full(len(self.particles), -np.inf)
            self._clear_generation = self.particles.generation
        return self._clear_until

    def reorder(self, index: NDArray[np.int32]) -> None:
        """Reorder the arrays of the points; `index` is a permutation. If it is the identity, lists of points remain
        valid."""
        if (index[1:] > index[:-1]).all():
            return
        known = self._clear_generation == self.particles.generation
        self.particles.take(index)
        if known:
            self._clear_until = self._clear_until[index]
            self._clear_generation = self.particles.generation

    @property
    def next_id(self) -> int:
        """Id of the next new point."""
        return self.particles.next_id

    def point_arrays(self) -> dict[str, NDArray[Any]]:
        """All arrays of the points, by name."""
        return self.particles.arrays()

    def exchange_points(self, kept: NDArray[Any], arrived: Callable[[str], NDArray[Any]]) -> None:
        """Keep the points selected by `kept`, and append those that arrived from other ranks, see
        `Particles.exchange`."""
        known = self._clear_generation == self.particles.generation
        self.particles.exchange(kept, arrived)
        if known:
            new = len(self.particles) - np.count_nonzero(kept)
            self._clear_until = np.concatenate([self._clear_until[kept], np.full(new, -np.inf)])
            self._clear_generation = self.particles.generation

    def swap_points(self, gone: NDArray[np.int64], arrived: Callable[[str], NDArray[Any]]) -> None:
        """Remove the points `gone`, ascending, and add those that arrived from other ranks, see `Particles.swap`."""
        known = self._clear_generation == self.particles.generation
        before = len(self.particles)
        self.particles.swap(gone, arrived)
        if known:
            new = np.full(len(self.particles) - before + len(gone), -np.inf)
            self._clear_until = self._room.swap("clear", self._clear_until, gone, new)
            self._clear_generation = self.particles.generation

    def forget_clearances(self) -> None:
        """Discard the clearances; call this after moving points outside of a step."""
        self._clear_generation = 0
