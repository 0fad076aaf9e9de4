"""Options of the search for equilibrium, and reports about it."""

from dataclasses import dataclass, field, fields
from typing import Literal

import numpy as np

from spume.dryfoam.equilibrium.system import Residual
from spume.dryfoam.network.half_edges import DEAD, OUTSIDE, Integers, Network

Checks = Literal["none", "events"]
Solver = Literal["newton", "gauss-seidel"]
COUNTS = ("flips", "cycles", "restarts", "fallbacks", "saddles")
"""Counts of a search that are added to those of a foam."""


@dataclass(frozen=True)
class Options:
    """Options of the search for equilibrium."""

    solver: Solver = "newton"
    """newton: steps of the whole foam; gauss-seidel: vertex by vertex, [DryFoam] eqs. (11), (15)."""
    tolerance: float = 1e-9
    """Tolerance of the net tension at a vertex over T, the relative area error and the Laplace-Young error over T."""
    flip_length: float = 0.1
    """A film may flip (T1) if it is shorter than this times the square root of the smaller adjacent area."""
    t_dist: float | None = None
    """T_dist of [DryFoam] eq. (2), over √⟨A⟩: in equilibrium, a film with a shorter chord flips, once per search; None:
    films flip only if their ends meet."""
    t_area: float | None = None
    """T_area of [DryFoam] eq. (3), over ⟨A⟩: a three-sided cell with a smaller area vanishes when gas diffuses; None:
    cells vanish when their gas is gone."""
    iterations: int = 200
    """Largest number of Newton steps."""
    checks: Checks = "none"
    """events: check the invariants of the network after every T1 and T2."""


@dataclass
class Report:
    """Report of a search for equilibrium."""

    iterations: int = 0
    """Newton steps of the whole foam."""
    local_iterations: int = 0
    """Separate Newton steps of spots."""
    factorizations: int = 0
    flips: int = 0
    """T1 changes."""
    cycles: int = 0
    """Films that alternated between two topologies and were fixed in one of them."""
    restarts: int = 0
    """Attempts with shorter steps, at a spot or of the whole foam, after one that diverged."""
    fallbacks: int = 0
    """Number of times the blocked Gauss-Seidel iteration was used because Newton steps failed."""
    saddles: int = 0
    """Saddle points of the energy that were left along a descending mode."""
    stages: int = 0
    """Intermediate equilibria at areas between the initial ones and the targets."""
    exchanges: list["Exchange"] = field(default_factory=list)
    """List of the T1s between start and end."""
    force_error: float = np.inf
    """Largest net tension at a vertex, over T: about the error of its angles [rad]."""
    area_error: float = np.inf
    """Largest relative error of a cell's area."""
    bend_error: float = np.inf
    """Largest error of the Laplace-Young law, over T."""
    history: list[float] = field(default_factory=list)

    @property
    def error(self) -> float:
        return max(self.force_error, self.area_error, self.bend_error)

    def read(self, residual: Residual) -> None:
        """Store the errors of `residual`."""
        self.force_error, self.area_error = residual.force_error, residual.area_error
        self.bend_error = residual.bend_error
        self.history.append(self.error)

    def add(self, other: "Report") -> None:
        """Add the counts of `other`, an earlier part of the same search."""
        for name in ("iterations", "local_iterations", "factorizations", "stages", *COUNTS):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.history = other.history + self.history


@dataclass(frozen=True)
class Exchange:
    """A T1 between two equilibria: two cells separate, two others become neighbours. -1 is the outside."""

    place: tuple[float, float]
    """Middle of the new film [m]."""
    parted: tuple[int, int]
    """Labels of the cells on the sides of the old film."""
    joined: tuple[int, int]
    """Labels of the cells on the sides of the new film."""
    time: float = 0.0
    """[s]"""
    strain: float = 0.0
    """Imposed strain [1]."""


def exchanges(cell: Integers, labels: Integers, after: Network) -> list[Exchange]:
    """T1s that led from a network with the cells `cell` (2E,) of its half-edges and the `labels` (F,) of its cells to
    `after`: the remaining films with other cells on their sides, since a T1 changes only those of its own film."""
    n = after
    films = np.unique(np.flatnonzero(cell != n.cell) // 2)
    films = films[n.origin[2 * films] != DEAD]
    names = np.append(labels, OUTSIDE)
    old, new = (names[cells.reshape(-1, 2)[films]] for cells in (cell, n.cell))
    changed = np.any(np.sort(old, axis=1) != np.sort(new, axis=1), axis=1)
    films, old, new = films[changed], old[changed], new[changed]
    places = n.positions[n.origin[2 * films]] + 0.5 * n.chords(films)
    if np.any(n.lattice):
        places = places - np.floor(np.linalg.solve(n.lattice, places.T)).T @ n.lattice.T
    return [
        Exchange((float(x), float(y)), (int(a), int(b)), (int(c), int(d)))
        for (x, y), (a, b), (c, d) in zip(places, old, new, strict=True)
    ]


@dataclass
class Events:
    """Events in a foam during some time."""

    duration: float = 0.0
    """Elapsed time [s]."""
    flips: int = 0
    """T1 changes."""
    vanished: int = 0
    """Cells removed."""
    stuck: int = 0
    """Cells that could not be removed without leaving a neighbour with a single film; each keeps at least a hundredth
    of the mean area."""
    cycles: int = 0
    """Films that alternated between two topologies and were fixed in one of them."""
    restarts: int = 0
    """Searches for equilibrium, at a spot or of the whole foam, repeated with shorter steps of the iteration or of
    time."""
    fallbacks: int = 0
    """Searches in which the blocked Gauss-Seidel iteration was used."""
    saddles: int = 0
    """Saddle points of the energy that were left along a descending mode."""
    exchanges: list[Exchange] = field(default_factory=list)
    """List of the T1s, including those by which a cell loses its sides before it vanishes. T1s that were undone again
    are only counted."""

    def counts(self) -> dict[str, int]:
        """The numbers by name."""
        left_out = ("duration", "exchanges")
        return {part.name: getattr(self, part.name) for part in fields(self) if part.name not in left_out}

    def read(self, report: Report) -> None:
        """Add the counts of a search for equilibrium."""
        for name in COUNTS:
            setattr(self, name, getattr(self, name) + getattr(report, name))
        self.exchanges = self.exchanges + report.exchanges

    def add(self, other: "Events") -> None:
        """Add the counts of `other`."""
        for part in fields(self):
            setattr(self, part.name, getattr(self, part.name) + getattr(other, part.name))

    def notices(self) -> list[str]:
        """Notices for the user, one sentence each."""
        said = []
        if self.stuck:
            said.append(f"{self.stuck} cells could not vanish and keep a hundredth of the mean area")
        if self.cycles:
            said.append(f"{self.cycles} films alternated between two topologies and were fixed in one")
        if self.fallbacks:
            said.append(f"Newton steps failed {self.fallbacks} times: the blocked Gauss-Seidel iteration was used")
        if self.saddles:
            said.append(f"{self.saddles} equilibria were saddle points of the energy and were left for a minimum")
        return said
