"""The state of an MPM simulation."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from spume.geometry.obstacles.obstacle_set import ObstacleSet
from spume.materials.loops import ConstitutiveModel
from spume.mpm.contacts import Contacts
from spume.mpm.nodes import Nodes
from spume.mpm.obstacle_loads import ObstacleLoads
from spume.mpm.particles import Particles
from spume.mpm.passages import Passages
from spume.mpm.species import Species
from spume.mpm.time_step import TimeStep
from spume.numerics.clock import working_time


@dataclass
class State:
    """One or several species on shared nodes, obstacles, loads and the time."""

    nodes: Nodes
    species: list[Species]
    obstacles: ObstacleSet
    gravity: Callable[[float], NDArray[np.float64]]
    """Function that returns the acceleration [m/s²], three components, at a time [s]."""
    time_step: TimeStep
    time: float = 0.0
    steps: int = 0
    speed: float = 0.0
    """Largest speed of a point after the last step [m/s]."""
    seconds: dict[str, float] = field(default_factory=dict)
    """Wall time spent in each stage since the start or the last resume [s]."""
    contacts: Contacts = field(default_factory=Contacts)
    """Contacts of the nodes with obstacles in the current step."""
    passages: Passages = field(default_factory=lambda: Passages({}))
    """Mass that has passed through the planes of the scene's measurements."""

    def __post_init__(self) -> None:
        self.obstacle_loads = ObstacleLoads(self.obstacles.names, self.dimension)
        """Impulses of the material on the obstacles since the start."""

    @property
    def dimension(self) -> int:
        """2 or 3."""
        return self.nodes.dimension

    @property
    def cell(self) -> float:
        """Edge length of a cell [m]."""
        return self.nodes.cell

    @property
    def count(self) -> int:
        """Number of points of all species."""
        return sum(len(species.particles) for species in self.species)

    def obstacles_of(self, species: Species) -> ObstacleSet:
        """Obstacles that act on a species."""
        return self.obstacles if species.own_obstacles is None else species.own_obstacles

    def contacts_of(self, species: Species) -> Contacts:
        """Contacts of the nodes with the obstacles that act on a species in the current step."""
        return self.contacts if species.own_contacts is None else species.own_contacts

    @property
    def only(self) -> Species:
        """The species of a state with only one, to which the properties below refer."""
        (species,) = self.species
        return species

    @property
    def particles(self) -> Particles:
        """Points of the only species."""
        return self.only.particles

    @property
    def affine_velocity(self) -> NDArray[np.float64]:
        """C of [Jiang15] of the only species, or an empty array for FLIP and PIC."""
        return self.only.affine_velocity

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
        self.contacts.forget()
        for species in self.species:
            species.forget_clearances()

    @contextmanager
    def timed(self, stage: str) -> Iterator[None]:
        """Add the time spent in the `with` block, excluding compilation, to `seconds[stage]`."""
        start = working_time()
        yield
        self.seconds[stage] = self.seconds.get(stage, 0.0) + working_time() - start
