"""What resampling reads of a simulation; states of the material point method and of the point-based method have it."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from spume.geometry.obstacles.obstacle_set import ObstacleSet
from spume.materials.loops import ConstitutiveModel
from spume.mpm.nodes import Nodes
from spume.mpm.particles import Particles


class Sampled(Protocol):
    """Points of one species and their surroundings."""

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
        """Distance and splines of the nodes over which fields are averaged."""

    @property
    def obstacles(self) -> ObstacleSet:
        """Where no new point may be."""

    @property
    def affine_velocity(self) -> NDArray[np.float64]:
        """C of [Jiang15] of each point, or an empty array where points carry none."""

    @property
    def time(self) -> float:
        """[s]"""
