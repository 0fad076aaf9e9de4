"""The world of the point-based method: points with lists of their neighbours."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spume.fields import Field
from spume.grid.cells import Cells
from spume.matter.species import Species
from spume.matter.world import World
from spume.numerics.lanes import aligned_zeros
from spume.points.deformation import OUTCOMES
from spume.points.forces import GradientForm, PairForces, StressForm
from spume.points.formulations import Formulation
from spume.points.lattice import lattice_density, lattice_slope
from spume.points.neighbours import NeighbourLists, Order


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
    gradient: GradientForm = "reference"
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
    hourglass: float = 1.0
    """Stiffness against motion that the fit ignores, with gradient "reference" [shear moduli]."""
    artificial_viscosity: float = 0.3
    """Viscosity against strain rates, with gradient "reference" [density × wave speed × spacing]."""

    @property
    def has_reference(self) -> bool:
        """Whether forces come from a reference that is renewed where material flows, see `reference`."""
        return self.formulation == "composed" and self.gradient == "reference"

    @property
    def needs_metric(self) -> bool:
        """Whether forces or formulation use the elastic deformation of the points."""
        if self.formulation == "rest-configuration" or self.has_reference:
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


class SortedPoints:
    """The points of a species in cells of some of their positions: see `spume.ranks.ranks.Movable`."""

    def __init__(self, species: Species, cells: Cells, positions: str) -> None:
        """`positions`: the field with which they are sorted."""
        self.species, self.cells, self._positions = species, cells, positions

    def sort(self) -> None:
        """Sort the points by cell."""
        self.cells.sort(getattr(self.species.particles, self._positions), self.species.particles.id)

    def point_arrays(self) -> dict[str, NDArray[Any]]:
        """All arrays of the points, by name."""
        return self.species.point_arrays()

    def swap_points(self, gone: NDArray[np.int64], arrived: Callable[[str], NDArray[Any]]) -> None:
        """See `Species`."""
        self.species.swap_points(gone, arrived)


@dataclass(kw_only=True)
class PointWorld(World[Species]):
    """Points and their neighbourhoods."""

    lists: NeighbourLists
    spacing: float
    """Initial spacing of the points [m]."""
    scheme: Scheme
    forces: PairForces
    listed: bool = False
    """Whether the lists belong to the present points; new points invalidate them."""
    listed_as: int = -1
    """Generation of the points when the lists were built."""
    outcomes: NDArray[np.int64] = field(default_factory=lambda: np.zeros(len(OUTCOMES), np.int64))
    """Number of fits with each outcome since the start, see `deformation.OUTCOMES`."""
    uncorrected: int = 0
    """Number of elastic forces left out because K could not be inverted since the start."""
    rebuilds: int = 0
    """Number of times the lists were built since the start."""
    rows: dict[int, NDArray[np.float64]] = field(default_factory=dict)
    """Work space of `rows_of`."""
    before: NDArray[np.float64] = field(default_factory=lambda: np.empty((0, 0)))
    """Positions at the start of the current step [m]."""
    metric: NDArray[np.float64] = field(default_factory=lambda: np.empty((0, 6)))
    """Metric of the elastic deformation of each point at the start of the current step."""
    size: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    """Size of the elastic deformation of each point at the start of the current step [1]."""

    @property
    def dimension(self) -> int:
        """2 or 3."""
        return self.lists.cells.dimension

    @property
    def cell(self) -> float:
        """Edge length of the search cells [m]."""
        return self.lists.cells.size

    @property
    def reach(self) -> float:
        """Radius of the kernels [m]."""
        return self.lists.radius

    def wave_speeds(self) -> NDArray[np.float64]:
        """Speed of pressure waves of each material [m/s]."""
        return np.array([law.wave_speed(parameters) for law, parameters in self.model.materials])

    def densities(self) -> NDArray[np.float64]:
        """Density of each material at rest [kg/m³]."""
        return np.array([parameters.density for _, parameters in self.model.materials])

    @property
    def positions(self) -> str:
        """The field with the positions at which neighbours are found."""
        kept = self.scheme.has_reference or self.scheme.formulation == "rest-configuration"
        return "rest_x" if kept else "x_listed"

    def arrange(self) -> None:
        """Move the points to the ranks that own their blocks, and reorder the arrays by the cells of `positions` and by
        id: the neighbours of a point are listed, and its forces summed, in the order of the arrays."""
        points = SortedPoints(self.only, self.lists.cells, self.positions)
        points.sort()
        self.ranks.settle([points], self.dimension, self.steps)
        self.only.reorder(points.cells.sorted_points)
        self.listed, self.listed_as = True, self.particles.generation

    @property
    def stale(self) -> bool:
        """Whether the points have other places in memory than those for which the lists were built: after a resume, or
        because they have been somewhere else meanwhile. Lists built anew at `positions` are then the same."""
        return self.ranks.any(self.listed and self.listed_as != self.particles.generation)

    def order(self) -> Order:
        """The order of the points in lists, which is that of `arrange`."""
        p = self.particles
        return Order(getattr(p, self.positions), p.id, self.lists.cells.size, self.ranks)

    def count_outcomes(self, outcome: NDArray[np.int64]) -> None:
        """Count the outcomes of the fits of a step."""
        self.outcomes += self.ranks.counts(*np.bincount(outcome, minlength=len(OUTCOMES)).tolist())

    def rows_of(self, width: int) -> NDArray[np.float64]:
        """Work space with a row per point for data read by neighbours, one per ghost, and one more; initially zero."""
        count = len(self.particles) + self.lists.ghosts.count + 1
        if len(self.rows.get(width, ())) != count:
            self.rows[width] = aligned_zeros((count, width))
        return self.rows[width]
