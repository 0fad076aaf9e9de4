"""Quasi-static deformation: the box of a periodic foam, the edge of a free foam, or walls are moved in small affine
increments. Films slide on walls, so walls can extend a foam but not shear it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from spume.dryfoam.equilibrium.report import Events, Exchange
from spume.dryfoam.equilibrium.search import equilibrate
from spume.dryfoam.network.half_edges import Floats, Mask, Network
from spume.errors import SceneError

if TYPE_CHECKING:
    from spume.dryfoam.foam import Foam

INCREMENT = 0.01
"""Default largest strain per increment."""

Gradient = Callable[[float], Floats]
"""Function from a strain to its deformation gradient (2, 2); sums of strains correspond to products."""


def simple_shear(strain: float) -> Floats:
    """Deformation gradient of a simple shear: points move along x by `strain` times y."""
    return np.array([[1.0, strain], [0.0, 1.0]])


def pure_extension(strain: float) -> Floats:
    """Deformation gradient of an extension by the logarithmic `strain` along x at constant area."""
    return np.diag([np.exp(strain), np.exp(-strain)])


@dataclass
class Deformation:
    """Record of a deformation, with one entry per increment; the first is the initial state."""

    strain: list[float] = field(default_factory=list)
    """Imposed strain since the foam was created [1]."""
    shear_stress: list[float] = field(default_factory=list)
    """σ_xy [N/m]."""
    normal_stress_difference: list[float] = field(default_factory=list)
    """σ_xx - σ_yy [N/m]."""
    energy: list[float] = field(default_factory=list)
    """[J/m]."""
    flips: list[int] = field(default_factory=list)
    """T1 changes in the increment."""
    released: list[float] = field(default_factory=list)
    """Energy released by the T1s of the increment [J/m]: the energy before plus the work done in the increment by the
    stress before, minus the energy after. Zero without T1s. Exact to first order in the increment."""
    exchanges: list[Exchange] = field(default_factory=list)
    """List of the T1s, with their strains and positions."""

    def add(self, foam: "Foam", flips: int, released: float, exchanges: Sequence[Exchange] = ()) -> None:
        stress = foam.stress
        self.strain.append(foam.strain)
        self.shear_stress.append(float(stress[0, 1]))
        self.normal_stress_difference.append(float(stress[0, 0] - stress[1, 1]))
        self.energy.append(foam.energy)
        self.flips.append(flips)
        self.released.append(released)
        self.exchanges += exchanges

    def continue_with(self, later: "Deformation") -> None:
        """Append a record that starts at the end of this one."""
        for name in ("strain", "shear_stress", "normal_stress_difference", "energy", "flips", "released"):
            getattr(self, name).extend(getattr(later, name)[1:])
        self.exchanges += later.exchanges


def deformation_of(records: Sequence[dict[str, Any]]) -> Deformation:
    """Record of a run's deformation, from the diagnostics of its frames."""
    found = Deformation()
    before, released = 0, 0.0
    for record in records:
        found.strain.append(record["strain"])
        found.shear_stress.append(record["shear_stress"])
        found.normal_stress_difference.append(record["normal_stress_difference"])
        found.energy.append(record["energy"])
        found.flips.append(record["flips"] - before)
        before = record["flips"]
        found.released.append(record.get("released", 0.0) - released)  # not recorded by early versions
        released = record.get("released", 0.0)
    return found


def deformed_walls(walls: Floats, change: Floats) -> Floats:
    """Walls (W, 4) after the deformation `change` (2, 2)."""
    points, directions = walls[:, :2] @ change.T, walls[:, 2:] @ change.T
    return np.concatenate([points, directions / np.hypot(directions[:, :1], directions[:, 1:])], axis=1)


def edge_vertices(network: Network) -> Mask:
    """Mask of the vertices on the outer edge, shape (V,)."""
    on_edge = np.zeros(network.vertices, dtype=np.bool_)
    on_edge[network.origin[network.cell == -1]] = True
    return on_edge


def reduce_lattice(network: Network) -> None:
    """Replace the lattice vectors of a periodic foam by the shortest ones (Lagrange and Gauss), in place, so that the
    box stays compact when a foam is sheared far."""
    n = network
    while True:
        a, b = n.lattice.T
        if a @ a > b @ b:
            times = -np.round((a @ b) / (b @ b))
            change = np.array([[1.0, 0.0], [times, 1.0]])  # a + times b
        else:
            times = -np.round((a @ b) / (a @ a))
            change = np.array([[1.0, times], [0.0, 1.0]])  # b + times a
        if times == 0.0:
            return
        n.lattice = n.lattice @ change
        back = np.round(np.linalg.inv(change)).astype(np.int64)
        n.shift = n.shift @ back.T


def deform(foam: "Foam", gradient: Gradient, strain: float, steps: int) -> Deformation:
    """Apply gradient(strain) to `foam` in `steps` increments (0: of at most INCREMENT), equilibrating after each."""
    if not np.isfinite(strain):
        raise SceneError(f"the strain must be finite, found {strain}")
    if isinstance(steps, bool) or not isinstance(steps, int | np.integer) or steps < 0:
        raise SceneError(f"the number of increments must be a whole number, zero for a choice by size, found {steps!r}")
    if foam.network.is_lone:
        raise SceneError("a lone bubble cannot be deformed: it has no films to others")
    if len(foam.network.walls) and gradient(0.01)[0, 1] != 0.0:
        raise SceneError("films slide on walls, which cannot shear a foam: extend it, or take a periodic foam")
    if not foam.equilibrated:
        foam.equilibrate()
    steps = steps or max(1, int(np.ceil(abs(strain) / INCREMENT - 1e-9)))
    record = Deformation()
    record.add(foam, 0, 0.0)
    begun = foam.strain
    for k in range(1, steps + 1):
        before, after = gradient(strain * (k - 1) / steps), gradient(strain * k / steps)
        change = after @ np.linalg.inv(before)
        network = foam.network
        power = float(np.sum(foam.stress * (change - np.eye(2)))) * float(foam.areas.sum())
        expected = foam.energy + power
        centre = network.positions.mean(axis=0) if network.boundary == "free" else np.zeros(2)
        network.positions = (network.positions - centre) @ change.T + centre
        network.lattice = change @ network.lattice
        network.walls = deformed_walls(network.walls, change)
        pinned = edge_vertices(network) if network.boundary == "free" else None
        if network.boundary == "periodic":
            reduce_lattice(network)
        foam.strain = begun + strain * k / steps
        events = Events()
        events.read(equilibrate(network, foam.T, foam.options, pinned))
        exchanges = foam.count(events)
        record.add(foam, events.flips, expected - foam.energy if events.flips else 0.0, exchanges)
    return record
