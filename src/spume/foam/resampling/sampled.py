"""Interface between resampling and the states of the material point method and the point-based method."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from spume.geometry.obstacles.obstacle_set import ObstacleSet
from spume.grid.nodes import Nodes
from spume.materials.loops import ConstitutiveModel
from spume.matter.particles import Particles


class Sampled(Protocol):
    """Points of one species and the data required to resample them."""

    @property
    def particles(self) -> Particles:
        """The points."""

    @property
    def model(self) -> ConstitutiveModel:
        """Their laws and materials."""

    @property
    def dimension(self) -> int:
        """2 or 3."""

    @property
    def cell(self) -> float:
        """Twice the length r in which the settings of resampling are given [m]."""

    @property
    def nodes(self) -> Nodes:
        """Nodes whose spacing and splines are used to average fields."""

    @property
    def obstacles(self) -> ObstacleSet:
        """Obstacles, which no new point may be inside."""

    @property
    def affine_velocity(self) -> NDArray[np.float64]:
        """C of [Jiang15] of each point, shape (n, d, d), or an array of the shape (0, 1, 1) if points have none."""


def has_affine_velocity(world: Sampled) -> bool:
    """Whether points have an affine velocity; a rank may have no points."""
    return world.affine_velocity.shape[1] > 1
