"""The state of an MPM simulation: everything a step reads and writes."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from spume.geometry.obstacles.obstacle_set import ObstacleSet
from spume.materials.loops import ConstitutiveModel
from spume.mpm.clearance import Clearances
from spume.mpm.grid import SparseGrid
from spume.mpm.particles import Particles
from spume.mpm.time_step import TimeStep
from spume.numerics.clock import working_time


@dataclass
class State:
    """Points, grid, surroundings and clock."""

    particles: Particles
    grid: SparseGrid
    obstacles: ObstacleSet
    gravity: Callable[[float], NDArray[np.float64]]
    """Acceleration [m/s²] at a time [s], three components."""
    model: ConstitutiveModel
    """Laws and parameters of the materials."""
    time_step: TimeStep
    flip: float
    """Share of FLIP in the new velocities; the rest is PIC. Not used by APIC."""
    time: float = 0.0
    steps: int = 0
    speed: float = 0.0
    """Largest speed of a point after the last step [m/s]."""
    gradient: NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, 3, 3)))
    """Velocity gradient of the step under way [1/s]."""
    deformation: NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, 3, 3)))
    """Deformation of the step under way."""
    deformation_order: Literal["first-order", "second-order"] = "second-order"
    seconds: dict[str, float] = field(default_factory=dict)
    """Wall time spent in each stage since the start or the last resume [s]."""
    clearances: Clearances = field(default_factory=Clearances)
    """What is far from all obstacles; holds nothing that a checkpoint would need."""

    @property
    def affine_velocity(self) -> NDArray[np.float64]:
        """C of [Jiang15], or an empty array for FLIP and PIC."""
        return self.particles.C if self.grid.affine else _NO_AFFINE

    @contextmanager
    def timed(self, stage: str) -> Iterator[None]:
        """Adds the time spent inside, without that of compilation, to `seconds[stage]`."""
        start = working_time()
        yield
        self.seconds[stage] = self.seconds.get(stage, 0.0) + working_time() - start


_NO_AFFINE = np.zeros((0, 1, 1))
