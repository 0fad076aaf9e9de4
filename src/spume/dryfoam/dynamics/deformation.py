"""Quasi-static deformation: the box of a periodic foam, or the edge of a free one, moves in small affine increments."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from spume.dryfoam.equilibrium.report import Events
from spume.dryfoam.equilibrium.search import equilibrate
from spume.dryfoam.network.half_edges import Floats, Network
from spume.errors import SceneError

if TYPE_CHECKING:
    from spume.dryfoam.foam import Foam

INCREMENT = 0.01
"""Largest strain per increment when the caller does not choose."""


@dataclass
class Deformation:
    """Record of a deformation, one entry per increment."""

    strain: list[float] = field(default_factory=list)
    shear_stress: list[float] = field(default_factory=list)
    """σ_xy [N/m]."""
    normal_stress_difference: list[float] = field(default_factory=list)
    """σ_xx - σ_yy [N/m]."""
    energy: list[float] = field(default_factory=list)
    """[J/m]."""
    flips: list[int] = field(default_factory=list)
    """T1 changes in the increment."""

    def add(self, foam: "Foam", strain: float, flips: int) -> None:
        stress = foam.stress
        self.strain.append(strain)
        self.shear_stress.append(float(stress[0, 1]))
        self.normal_stress_difference.append(float(stress[0, 0] - stress[1, 1]))
        self.energy.append(foam.energy)
        self.flips.append(flips)


def deformation_of(records: Sequence[dict[str, Any]]) -> Deformation:
    """The record of a run's deformation, from the diagnostics of its frames."""
    found = Deformation()
    before = 0
    for record in records:
        found.strain.append(record["strain"])
        found.shear_stress.append(record["shear_stress"])
        found.normal_stress_difference.append(record["normal_stress_difference"])
        found.energy.append(record["energy"])
        found.flips.append(record["flips"] - before)
        before = record["flips"]
    return found


def edge_vertices(network: Network) -> NDArray[np.bool_]:
    """Vertices on the outside, shape (V,)."""
    on_edge = np.zeros(network.vertices, dtype=np.bool_)
    on_edge[network.origin[network.cell == -1]] = True
    return on_edge


def deform(foam: "Foam", gradient: Callable[[float], Floats], strain: float, steps: int) -> Deformation:
    """Applies gradient(strain) to `foam` in increments, equilibrating after each."""
    if not np.isfinite(strain):
        raise SceneError(f"the strain must be finite, found {strain}")
    if foam.network.is_lone:
        raise SceneError("a lone bubble cannot be sheared")
    if not foam.equilibrated:
        foam.equilibrate()
    steps = steps or max(1, int(np.ceil(abs(strain) / INCREMENT - 1e-9)))
    record = Deformation()
    record.add(foam, 0.0, 0)
    for k in range(1, steps + 1):
        before, after = gradient(strain * (k - 1) / steps), gradient(strain * k / steps)
        change = after @ np.linalg.inv(before)
        network = foam.network
        centre = network.positions.mean(axis=0) if network.boundary == "free" else np.zeros(2)
        network.positions = (network.positions - centre) @ change.T + centre
        network.lattice = change @ network.lattice
        pinned = edge_vertices(network) if network.boundary == "free" else None
        report = equilibrate(network, foam.T, foam.options, pinned)
        events = Events()
        events.read(report)
        foam.count(events)
        record.add(foam, strain * k / steps, report.flips)
    return record
