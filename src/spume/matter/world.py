"""The world: what a step changes."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from spume.geometry.obstacles.obstacle_set import ObstacleArrays, ObstacleSet
from spume.materials.loops import ConstitutiveModel
from spume.matter.obstacle_loads import ObstacleLoads
from spume.matter.particles import Particles
from spume.matter.passages import Passages
from spume.matter.species import Species
from spume.matter.time_step import TimeStep
from spume.numerics.clock import working_time
from spume.ranks.ranks import ALONE, Ranks

S = TypeVar("S", bound=Species)
EXCHANGE = "exchange"
"""Name of the time in which ranks exchange messages and wait for each other, among those of the stages."""


@dataclass(kw_only=True)
class World(ABC, Generic[S]):
    """Species, obstacles, gravity and the clock. Methods extend it by their own data: nodes, neighbour lists."""

    species: list[S]
    obstacles: ObstacleSet
    gravity: Callable[[float], NDArray[np.float64]]
    """Function that returns the acceleration [m/s²], three components, at a time [s]."""
    time_step: TimeStep
    time: float = 0.0
    """Simulated time [s]. Only the driver changes it."""
    steps: int = 0
    """Steps since the start."""
    speed: float = 0.0
    """Largest speed of a point after the last step [m/s]."""
    seconds: dict[str, float] = field(default_factory=dict)
    """Wall time spent in each stage since the start or the last resume [s]."""
    passages: Passages = field(default_factory=lambda: Passages({}))
    """Mass that has passed through the planes of the scene's measurements."""
    obstacle_loads: ObstacleLoads = field(init=False)
    """Impulses of the material on the obstacles since the start."""
    ranks: Ranks = ALONE
    """The processes that share the points."""

    def __post_init__(self) -> None:
        self.obstacle_loads = ObstacleLoads(self.obstacles.names, self.dimension)

    def share_with(self, ranks: Ranks) -> None:
        """From now on hold only the points of this rank."""
        self.ranks = self.passages.ranks = self.obstacle_loads.ranks = ranks
        for species in self.species:
            species.ranks = ranks

    @property
    @abstractmethod
    def dimension(self) -> int:
        """2 or 3."""

    @property
    @abstractmethod
    def cell(self) -> float:
        """Edge length of a cell [m]."""

    @property
    @abstractmethod
    def reach(self) -> float:
        """Distance along an axis at which points no longer act on each other [m]."""

    @property
    def count(self) -> int:
        """Number of points of all species, on this rank."""
        return sum(len(species.particles) for species in self.species)

    def obstacles_for(self, species: Species, dt: float) -> ObstacleArrays:
        """The obstacles in a step of dt [s], with their contacts and friction for a species."""
        return self.obstacles.during(self.time, self.time + dt, species.contact_laws)

    @property
    def only(self) -> S:
        """The species of a world with only one, to which the properties below refer."""
        (species,) = self.species
        return species

    @property
    def particles(self) -> Particles:
        """Points of the only species."""
        return self.only.particles

    @property
    def model(self) -> ConstitutiveModel:
        """Laws and materials of the only species."""
        return self.only.model

    @property
    def deformation(self) -> NDArray[np.float64]:
        """Deformation f in the current step of the points of the only species [1], shape (n, 3, 3)."""
        return self.only.deformation

    @deformation.setter
    def deformation(self, values: NDArray[np.float64]) -> None:
        self.only.deformation = values

    def forget_clearances(self) -> None:
        """Discard the clearances; call this after moving points or obstacles outside of a step."""
        for species in self.species:
            species.forget_clearances()

    @contextmanager
    def timed(self, stage: str) -> Iterator[None]:
        """Add the time spent in the `with` block, excluding compilation, to `seconds[stage]`; that of messages to other
        ranks to `seconds[EXCHANGE]`."""
        start, waited = working_time(), self.ranks.waited
        try:
            yield
        finally:
            exchanged = self.ranks.waited - waited
            self.seconds[stage] = self.seconds.get(stage, 0.0) + working_time() - start - exchanged
            if exchanged > 0.0:
                self.seconds[EXCHANGE] = self.seconds.get(EXCHANGE, 0.0) + exchanged
