"""Fields that frames of a mixture contain in addition to those of the points: pressures and cohesion."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from spume.fields import Field
from spume.grid.cells import Cells
from spume.grid.nodes import NodeFields, Nodes
from spume.grid.transfers import Transfers
from spume.materials.history import field_of, values_of
from spume.mpm.species import GridSpecies
from spume.mpm.world import GridWorld

PRESSURE = Field("pressure", (), 0.0, "Pa", "average", description="pressure of the water")
PORE_PRESSURE = Field("pore_pressure", (), 0.0, "Pa", "average", description="pressure of the water in the pores")
COHESION = Field("cohesion", (), 0.0, "Pa", "average", description="active cohesion of the sand")


def water_pressure(water: GridSpecies) -> NDArray[np.float64]:
    """p of each point of the water [Pa]: −tr τ/(3 J)."""
    p = water.particles
    trace = p.stress[:, 0] + p.stress[:, 1] + p.stress[:, 2]
    return np.asarray(-trace / (3.0 * water.model.volume_ratio(p.arrays())))


def active_cohesion(sand: GridSpecies) -> NDArray[np.float64]:
    """Active cohesion of each point of the sand [Pa], zero for materials without cohesion."""
    p = sand.particles
    result = np.zeros(len(p))
    for use in sand.model.laws:
        granular = use.law.traits.granular
        if granular is None or granular.cohesion is None:
            continue
        own = use.belongs[p.material]
        result[own] = values_of(use, granular.cohesion, sand.model.materials)[p.material[own]]
        if granular.cohesion_factor is not None:
            result[own] *= field_of(use, granular.cohesion_factor, p.arrays())[own]
    return result


def pore_pressure(world: GridWorld) -> NDArray[np.float64]:
    """Pressure of the water around each point of the sand [Pa], zero where there is none: Σ w p̄_i, where p̄_i is the
    mass-weighted mean pressure of the water at a node, zero at nodes without water. Does not change the world, whose
    points must be at home."""
    (sand, water), ranks = world.species, world.ranks
    result = np.zeros(len(sand.particles))
    if 0 in ranks.counts(len(sand.particles), len(water.particles)):
        return result
    nodes = Nodes(world.dimension, world.cell, world.nodes.order)
    transfers = [Transfers(world.dimension, world.cell, world.nodes.order) for _ in range(2)]
    for transfer, species in zip(transfers, (sand, water)):
        transfer.cells.sort(species.particles.x, species.particles.id)
    nodes.cover([transfer.cells for transfer in transfers])
    both = Cells(world.dimension, world.cell, transfers[0].cells.offset)
    both.sort(np.concatenate([sand.particles.x, water.particles.x]))
    ranks.border(nodes, both)
    for transfer in transfers:
        transfer.connect(nodes)
    p, sums = water.particles, NodeFields(mass=0, product=0)
    sums.fit(nodes)
    product = p.mass * water_pressure(water)
    transfers[1].to_grid(("mass", "scalar"), p.x, sums.array, mass=p.mass, scalar=product)
    mean = NodeFields(pressure=0)
    mean.fit(nodes)
    mean.array[:] = 0.0
    np.divide(sums["product"], sums["mass"], out=mean["pressure"], where=sums["mass"] > 0.0)
    transfers[0].to_points(("scalar",), sand.particles.x, mean.array, scalar=result)
    return result


def pictured_fields(name: str) -> tuple[Field, ...]:
    """Additional fields of a population in frames."""
    return {"sand": (COHESION, PORE_PRESSURE), "water": (PRESSURE,)}.get(name, ())


def pictured_arrays(world: GridWorld, name: str) -> dict[str, NDArray[Any]]:
    """Their values."""
    sand, water = world.species
    if name == "sand":
        return {COHESION.name: active_cohesion(sand), PORE_PRESSURE.name: pore_pressure(world)}
    return {PRESSURE.name: water_pressure(water)} if name == "water" else {}
