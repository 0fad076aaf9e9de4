"""Settings of a mixture of sand and water, its fields on the nodes, and what the stages of a step hand on.

The points of the sand fill its bulk volume: solids and pores. Water that flows into sand keeps its own density, as in
the paper: the partial density of pore water is then ρw, not n ρw, and the effective conductivity is k̂/n². To start
with pore water of the right partial density, give its body a material with the density n ρw.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from spume.grid.nodes import NodeFields
from spume.mixture.reflection import Reflection
from spume.mixture.solids import Solids
from spume.mpm.implicit.semi_implicit import Interaction
from spume.mpm.species import GridSpecies
from spume.mpm.world import GridWorld

STANDARD_GRAVITY = 9.81
"""Gravity in the definition of the hydraulic conductivity [m/s²], independent of the scene's gravity."""

Buoyancy = Literal["none", "paper"]
"""Of coupling "drag"; "pore-pressure" includes that of Archimedes."""
Coupling = Literal["drag", "pore-pressure"]
Saturation = Literal["overlap", "degree"]
CohesionCurve = Literal["constant", "linear", "robert-soga"] | tuple[tuple[float, float], ...]
"""A named curve, or pairs of the degree of saturation and the fraction of the cohesion"""

RETENTION_EXPONENT = 2.2354
"""van Genuchten's n with which moist sand is strongest at a degree of saturation of 0.4: [RobertSoga13], after
[Tampubolon17] section 3.4. Sand has 2.7 and loamy sand 2.3 on average. [Carsel88]"""


@dataclass(frozen=True)
class Mixture:
    """Settings of the interaction of sand and water."""

    drag_coefficient: float | None = None
    """c_E of [Tampubolon17] eqs. (20) and (21) [1/(kg s)]; None if the conductivity is given"""
    hydraulic_conductivity: float | None = None
    """k̂ of eq. (13) [m/s]; None if the drag coefficient is given"""
    porosity: float = 0.4
    """n, pore volume over bulk volume [1]"""
    water_density: float = 1000.0
    """Intrinsic density of the pore water [kg/m³]"""
    buoyancy: Buoyancy = "none"
    coupling: Coupling = "drag"
    saturation: Saturation = "overlap"
    cohesion_curve: CohesionCurve = "linear"
    retention_exponent: float = RETENTION_EXPONENT
    """n of van Genuchten's curve of the suction against the saturation, for "robert-soga" [1]"""
    sand_densities: tuple[float, ...] = ()
    """Bulk densities of the sands of the scene [kg/m³]"""

    @property
    def drag_per_volume(self) -> float:
        """C = n² ρw g/k̂ of eq. (13) [kg/(m³ s)], drag of saturated sand per bulk volume and velocity."""
        assert self.hydraulic_conductivity is not None
        return self.porosity**2 * self.water_density * STANDARD_GRAVITY / self.hydraulic_conductivity


class MixtureFields:
    """Fields of a mixture on the nodes, in addition to those of the species."""

    def __init__(self) -> None:
        self.fields = NodeFields(drag=0, saturation=0, density=0, porosity=0, pores=0)
        self.volumes = NodeFields(volume=0)
        self.present = NodeFields(volume=0)
        self._work = np.empty(0)

    @property
    def drag(self) -> NDArray[np.float64]:
        """Drag coefficient [kg/s], shape (blocks, 64): the force is −drag (v_s − v_w)."""
        return self.fields["drag"]

    @property
    def saturation(self) -> NDArray[np.float64]:
        """Saturation [1], shape (blocks, 64)."""
        return self.fields["saturation"]

    @property
    def density(self) -> NDArray[np.float64]:
        """Density of the water [kg/m³], or with pore pressure the volume open to it [m³], shape (blocks, 64)."""
        return self.fields["density"]

    @property
    def porosity(self) -> NDArray[np.float64]:
        """Porosity with coupling "pore-pressure" [1], shape (blocks, 64)."""
        return self.fields["porosity"]

    @property
    def pores(self) -> NDArray[np.float64]:
        """Volume of the pores with coupling "pore-pressure" [m³], shape (blocks, 64)."""
        return self.fields["pores"]

    def fit(self, world: GridWorld, dt: float) -> None:
        """Resize the fields to the nodes of the world: the first stage of a mixture."""
        self.fields.fit(world.nodes)
        self.volumes.fit(world.nodes)
        self.present.fit(world.nodes)

    def work(self, count: int) -> NDArray[np.float64]:
        """Work space of `count` numbers."""
        if len(self._work) != count:
            self._work = np.empty(count)
        return self._work


@dataclass(frozen=True)
class PoreVolumes:
    """Pore volumes shared by two species."""

    porosity: NDArray[np.float64]
    """n of the nodes [1], shape (blocks, 64)"""
    at_points: NDArray[np.float64]
    """n at the points of the water [1]"""
    filled: NDArray[np.float64]
    """Degree of saturation of the pores around each point of the water, at most one [1]"""
    held: NDArray[np.float64]
    """Volume of the water around each of these points, Σ w V_w [m³]"""
    solids: Solids


@dataclass
class MixtureStep(Interaction):
    """What the stages of a step hand on to later ones."""

    fields: MixtureFields = field(default_factory=MixtureFields)
    pores: PoreVolumes | None = None
    """Set by `find_pores` with coupling "pore-pressure"."""
    walls: Reflection | None = None
    """Set by `find_walls`, likewise."""
    pushed: NDArray[np.float64] | None = None
    """Force that buoyancy moves from the water to the sand [N], shape (blocks, d, 64); None: there is no such force."""


def bulk_volume(
    world: GridWorld, sand: GridSpecies, densities: Sequence[float], fields: MixtureFields
) -> NDArray[np.float64]:
    """Rest volume of the sand at the nodes, Σ w V [m³], shape (blocks, 64)."""
    if len(set(densities)) == 1:
        return sand.fields["mass"] / densities[0]
    p = sand.particles
    sand.transfers.to_grid(("scalar",), p.x, fields.volumes.array, scalar=p.volume)
    return fields.volumes["volume"]


def present_volume(sand: GridSpecies, fields: MixtureFields) -> NDArray[np.float64]:
    """Present volume of the sand at the nodes, Σ w J V [m³], shape (blocks, 64)."""
    p = sand.particles
    volume = p.volume * sand.model.volume_ratio(p.arrays())
    sand.transfers.to_grid(("scalar",), p.x, fields.present.array, scalar=volume)
    return fields.present["volume"]
