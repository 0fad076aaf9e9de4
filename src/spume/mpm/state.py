"""The state of an MPM simulation: everything a step reads and writes."""

import time as clock
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spume.geometry.obstacles.obstacle_set import ObstacleSet
from spume.materials.law import Law, Parameters, pack_rows
from spume.mpm.clearance import Clearances
from spume.mpm.grid import SparseGrid
from spume.mpm.particles import Particles
from spume.mpm.time_step import TimeStep


@dataclass
class LawInUse:
    """A law with the packed parameters of the scene's materials."""

    law: Law
    mine: NDArray[np.bool_]
    rows: NDArray[np.float64]

    def history(self, particles: Particles) -> tuple[NDArray[Any], ...]:
        """The arrays of the law's fields, in the order its kernels take them."""
        return tuple(getattr(particles, declared.name) for declared in self.law.fields)


def laws_in_use(materials: list[tuple[Law, Parameters]]) -> list[LawInUse]:
    """Each law of `materials` once."""
    laws = {law.name: law for law, _ in materials}
    return [LawInUse(law, *pack_rows(law, materials)) for law in laws.values()]


@dataclass
class State:
    """Points, grid, surroundings and clock."""

    particles: Particles
    grid: SparseGrid
    obstacles: ObstacleSet
    gravity: Callable[[float], NDArray[np.float64]]
    """Acceleration [m/s²] at a time [s], three components."""
    materials: list[tuple[Law, Parameters]]
    time_step: TimeStep
    flip: float
    """Share of FLIP in the new velocities; the rest is PIC. Not used by APIC."""
    time: float = 0.0
    steps: int = 0
    speed: float = 0.0
    """Largest speed of a point after the last step [m/s]."""
    gradient: NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, 3, 3)))
    """Velocity gradient of the step under way [1/s]."""
    seconds: dict[str, float] = field(default_factory=dict)
    """Wall time spent in each stage since the start or the last resume [s]."""
    laws: list[LawInUse] = field(init=False)
    clearances: Clearances = field(default_factory=Clearances)
    """What is far from all obstacles; holds nothing that a checkpoint would need."""

    def __post_init__(self) -> None:
        self.laws = laws_in_use(self.materials)

    @property
    def affine_velocity(self) -> NDArray[np.float64]:
        """C of [Jiang15], or an empty array for FLIP and PIC."""
        return self.particles.C if self.grid.affine else _NO_AFFINE

    @contextmanager
    def timed(self, stage: str) -> Iterator[None]:
        """Adds the time spent inside to `seconds[stage]`."""
        start = clock.perf_counter()
        yield
        self.seconds[stage] = self.seconds.get(stage, 0.0) + clock.perf_counter() - start


_NO_AFFINE = np.zeros((0, 1, 1))
