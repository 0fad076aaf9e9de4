"""How an equilibrium is sought, and what happened on the way to it."""

from dataclasses import dataclass, field, fields
from typing import Literal

import numpy as np

from spume.dryfoam.equilibrium.system import Residual
from spume.dryfoam.network.half_edges import DEAD, OUTSIDE, Integers, Network

Checks = Literal["none", "events"]


@dataclass(frozen=True)
class Options:
    """How an equilibrium is sought."""

    tolerance: float = 1e-9
    """Largest net tension at a vertex over T, relative area error and Laplace-Young error over T allowed at the end."""
    flip_length: float = 0.1
    """A film may turn into its T1 partner when shorter than this times the square root of the smaller adjacent area."""
    iterations: int = 200
    """Newton steps before the foam is declared stuck."""
    checks: Checks = "none"
    """events: the invariants of the network are proved after every T1 and T2."""


@dataclass
class Report:
    """What happened on the way to equilibrium."""

    iterations: int = 0
    """Newton steps of the whole foam."""
    local_iterations: int = 0
    """Newton steps of spots by themselves."""
    factorizations: int = 0
    flips: int = 0
    """T1 changes."""
    cycles: int = 0
    """Films that went to and fro between two topologies and were made to keep one."""
    restarts: int = 0
    """Attempts with shorter steps, at a spot or of the whole foam, after one that ran away."""
    fallbacks: int = 0
    """Times the blocked Gauss-Seidel iteration had to help where Newton steps failed."""
    saddles: int = 0
    """Saddle points of the energy that were left along a descending mode."""
    stages: int = 0
    """Equilibria at areas between the present ones and the targets, found on the way."""
    exchanges: list["Exchange"] = field(default_factory=list)
    """The T1s between start and end, one by one."""
    force_error: float = np.inf
    """Largest net tension at a vertex, over T: about the error of its angles [rad]."""
    area_error: float = np.inf
    """Largest relative error of a cell's area."""
    bend_error: float = np.inf
    """Largest imbalance of Laplace-Young, over T."""
    history: list[float] = field(default_factory=list)

    @property
    def error(self) -> float:
        return max(self.force_error, self.area_error, self.bend_error)

    def read(self, residual: Residual) -> None:
        """Take over the errors of `residual`."""
        self.force_error, self.area_error = residual.force_error, residual.area_error
        self.bend_error = residual.bend_error
        self.history.append(self.error)

    def add(self, other: "Report") -> None:
        """Count what happened in `other`, an earlier part of the same way, as well."""
        self.iterations += other.iterations
        self.local_iterations += other.local_iterations
        self.factorizations += other.factorizations
        self.flips += other.flips
        self.cycles += other.cycles
        self.restarts += other.restarts
        self.fallbacks += other.fallbacks
        self.saddles += other.saddles
        self.stages += other.stages
        self.history = other.history + self.history


@dataclass(frozen=True)
class Exchange:
    """A T1 between two equilibria: two cells part, two others become neighbours. -1 is the outside."""

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
    """The T1s that led from a network with the half-edges' cells `cell` (2E,) and the cells' `labels` (F,) to `after`:
    the films that are left and have other cells on their sides, as a T1 changes those of its own film only."""
    n = after
    films = np.flatnonzero(n.origin[0::2] != DEAD)
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
    """What happened to a foam in some time."""

    duration: float = 0.0
    """Time that passed [s]."""
    flips: int = 0
    """T1 changes."""
    vanished: int = 0
    """Cells removed."""
    stuck: int = 0
    """Cells that should have vanished, but could not without leaving a neighbour with a single film; each keeps at
    least a hundredth of the mean area."""
    cycles: int = 0
    """Films that went to and fro between two topologies and were made to keep one."""
    restarts: int = 0
    """Equilibria sought again, at a spot or of the whole foam, with shorter steps of the iteration or of time."""
    fallbacks: int = 0
    """Equilibria for which the blocked Gauss-Seidel iteration had to help."""
    saddles: int = 0
    """Saddle points of the energy that were left along a descending mode."""
    exchanges: list[Exchange] = field(default_factory=list)
    """The T1s one by one, those by which a cell loses its sides before it vanishes included. T1s that were undone again
    are only counted."""

    def counts(self) -> dict[str, int]:
        """The numbers by name."""
        left_out = ("duration", "exchanges")
        return {part.name: getattr(self, part.name) for part in fields(self) if part.name not in left_out}

    def read(self, report: Report) -> None:
        """Count what happened on the way to an equilibrium."""
        self.flips += report.flips
        self.cycles += report.cycles
        self.restarts += report.restarts
        self.fallbacks += report.fallbacks
        self.saddles += report.saddles
        self.exchanges = self.exchanges + report.exchanges

    def add(self, other: "Events") -> None:
        """Count what happened in `other` as well."""
        for part in fields(self):
            setattr(self, part.name, getattr(self, part.name) + getattr(other, part.name))

    def notices(self) -> list[str]:
        """What a user should know, a sentence each."""
        said = []
        if self.stuck:
            said.append(f"{self.stuck} cells could not vanish and keep a hundredth of the mean area")
        if self.cycles:
            said.append(f"{self.cycles} films went to and fro in T1s and were made to keep one topology")
        if self.fallbacks:
            said.append(f"Newton steps failed {self.fallbacks} times: the blocked Gauss-Seidel iteration helped")
        if self.saddles:
            said.append(f"{self.saddles} balances were saddle points of the energy and were left for a minimum")
        return said
