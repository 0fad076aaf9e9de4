"""The state of a point-based simulation."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from spume.fields import Field
from spume.geometry.obstacles.obstacle_set import ObstacleSet
from spume.materials.loops import ConstitutiveModel
from spume.mpm.loads import Load
from spume.mpm.obstacle_loads import ObstacleLoads
from spume.mpm.particles import Particles
from spume.mpm.passages import Passages
from spume.mpm.time_step import TimeStep
from spume.numerics.clock import working_time
from spume.numerics.lanes import aligned_zeros
from spume.points.deformation import OUTCOMES
from spume.points.forces import GradientForm, PairForces, StressForm
from spume.points.formulations import Formulation
from spume.points.lattice import lattice_density, lattice_slope
from spume.points.neighbours import NeighbourLists
from spume.points.resampling import Resampling
from spume.points.tearing import Tearing


def neighbourhood_fields(dimension: int) -> tuple[Field, ...]:
    """Fields of points that describe their neighbourhoods."""
    return (
        Field(
            "x_listed", (dimension,), 0.0, "m", "average", description="position when the lists were built",
            in_frames=False,
        ),
        Field(
            "rate", (6,), 0.0, "1/s", "average", description="symmetric part of the velocity gradient in the last step",
            in_frames=False,
        ),
        Field("neighbours", (), 0, "1", "nearest", dtype="int32", description="number of neighbours within the radius"),
    )  # fmt: skip


@dataclass(frozen=True)
class Scheme:
    """Numerical settings of a scene."""

    formulation: Formulation = "composed"
    stress: StressForm = "first-piola"
    gradient: GradientForm = "corrected"
    least_neighbours: int = 6
    """Smallest number of neighbours; points with fewer are not deformed."""
    condition: float = 50.0
    """Largest condition number of a fit and of a kernel gradient correction [1]."""
    least_volume: float = 0.1
    """Smallest volume ratio; points are not compressed further [1]."""
    pressure: float = 0.0
    """Stiffness of the SPH pressure [Pa]."""
    viscosity: float = 0.0
    """[Pa s]"""
    damping: float = 0.2
    """Damping of motion that the fit ignores [1]."""

    @property
    def needs_metric(self) -> bool:
        """Whether forces or formulation use the elastic deformation of the points."""
        if self.formulation == "rest-configuration":
            return False
        return self.formulation == "additive" or self.gradient != "least-squares" or self.stress == "printed"

    def pair_forces(self, dimension: int, h: float, spacing: float, count: int) -> PairForces:
        """Forces for the kernel radius h and the initial point spacing `spacing` [m], with lists of `count`."""
        rest = self.formulation == "rest-configuration"
        return PairForces(
            dimension, h, "first-piola" if rest else self.stress, "least-squares" if rest else self.gradient, rest,
            self.least_neighbours, self.condition, self.pressure, self.viscosity, self.damping,
            lattice_density(dimension, spacing, h, count), lattice_slope(dimension, spacing, h, count),
        )  # fmt: skip


@dataclass
class State:
    """Points, their neighbourhoods and surroundings, and the clock."""

    particles: Particles
    model: ConstitutiveModel
    lists: NeighbourLists
    spacing: float
    """Initial spacing of the points [m]."""
    scheme: Scheme
    forces: PairForces
    obstacles: ObstacleSet
    gravity: Callable[[float], NDArray[np.float64]]
    """Function that returns the acceleration [m/s²], three components, at a time [s]."""
    loads: tuple[Load, ...]
    """External forces."""
    time_step: TimeStep
    dimension: int
    tearing: Tearing | None = None
    resampling: Resampling | None = None
    time: float = 0.0
    steps: int = 0
    speed: float = 0.0
    """Largest speed of a point after the last step [m/s]."""
    listed: bool = False
    """Whether the lists belong to the present points; new points invalidate them."""
    outcomes: NDArray[np.int64] = field(default_factory=lambda: np.zeros(len(OUTCOMES), np.int64))
    """Number of fits with each outcome since the start, see `deformation.OUTCOMES`."""
    uncorrected: int = 0
    """Number of elastic forces left out because K could not be inverted since the start."""
    rebuilds: int = 0
    """Number of times the lists were built since the start."""
    deformation: NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, 3, 3)))
    """Deformation f of each point in the current step [1]."""
    rows: dict[int, NDArray[np.float64]] = field(default_factory=dict)
    """Work space of `rows_of`."""
    seconds: dict[str, float] = field(default_factory=dict)
    """Wall time spent in each stage since the start or the last resume [s]."""
    generation: int = 0
    """Generation of the points for which `clear_until` holds."""
    clear_until: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    """See `mpm.species.Species.clear_until`; no result depends on it."""

    passages: Passages = field(default_factory=lambda: Passages({}))
    """Mass that has passed through the planes of the scene's measurements."""

    def __post_init__(self) -> None:
        self.obstacle_loads = ObstacleLoads(self.obstacles.names, self.dimension)
        """Impulses of the material on the obstacles since the start."""

    @property
    def count(self) -> int:
        """Number of points."""
        return len(self.particles)

    @property
    def cell(self) -> float:
        """Edge length of the search cells [m]."""
        return self.lists.cells.size

    def rows_of(self, width: int) -> NDArray[np.float64]:
        """Work space with a row per point for data read by neighbours, and one more row; initially zero."""
        if len(self.rows.get(width, ())) != len(self.particles) + 1:
            self.rows[width] = aligned_zeros((len(self.particles) + 1, width))
        return self.rows[width]

    def clearances(self) -> NDArray[np.float64]:
        """`clear_until`, reset if points are new or reordered."""
        if self.generation != self.particles.generation:
            self.clear_until = np.full(len(self.particles), -np.inf)
            self.generation = self.particles.generation
        return self.clear_until

    def forget_clearances(self) -> None:
        """Discard the clearances; call this after moving points or obstacles outside of a step."""
        self.generation = 0

    @contextmanager
    def timed(self, stage: str) -> Iterator[None]:
        """Add the time spent in the `with` block, excluding compilation, to `seconds[stage]`."""
        start = working_time()
        yield
        self.seconds[stage] = self.seconds.get(stage, 0.0) + working_time() - start
