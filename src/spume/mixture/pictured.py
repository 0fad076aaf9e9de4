"""Fields that frames of a mixture contain in addition to those of the points: pressures and cohesion."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from spume.fields import Field
from spume.materials.drucker_prager import COHESION_FACTOR
from spume.mpm.nodes import NodeFields, Nodes
from spume.mpm.species import Species
from spume.mpm.state import State
from spume.mpm.transfers import Transfers

PRESSURE = Field("pressure", (), 0.0, "Pa", "average", description="pressure of the water")
PORE_PRESSURE = Field("pore_pressure", (), 0.0, "Pa", "average", description="pressure of the water in the pores")
COHESION = Field("cohesion", (), 0.0, "Pa", "average", description="active cohesion of the sand")


def water_pressure(water: Species) -> NDArray[np.float64]:
    """p of each point of the water [Pa]: −tr τ/(3 J)."""
    p = water.particles
    trace = p.stress[:, 0] + p.stress[:, 1] + p.stress[:, 2]
    return np.asarray(-trace / (3.0 * water.model.volume_ratio(p.arrays())))


def active_cohesion(sand: Species) -> NDArray[np.float64]:
    """Active cohesion of each point of the sand [Pa], zero for materials without cohesion."""
    p = sand.particles
    of_material = np.array([getattr(parameters, "cohesion", 0.0) for _, parameters in sand.model.materials])
    if "cohesion_factor" not in p:
        return np.asarray(of_material[p.material])
    follows = [COHESION_FACTOR in law.fields for law, _ in sand.model.materials]
    return np.asarray(of_material[p.material] * np.where(np.array(follows)[p.material], p.cohesion_factor, 1.0))


def pore_pressure(state: State) -> NDArray[np.float64]:
    """Pressure of the water around each point of the sand [Pa], zero where there is none: Σ w p̄_i, where p̄_i is the
    mass-weighted mean pressure of the water at a node, zero at nodes without water. Does not change the state."""
    sand, water = state.species
    result = np.zeros(len(sand.particles))
    if len(sand.particles) == 0 or len(water.particles) == 0:
        return result
    nodes = Nodes(state.dimension, state.cell, state.nodes.order)
    transfers = [Transfers(state.dimension, state.cell, state.nodes.order) for _ in range(2)]
    for transfer, species in zip(transfers, (sand, water)):
        transfer.cells.sort(species.particles.x)
    nodes.cover([transfer.cells for transfer in transfers])
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
    """Additional fields of a species in frames."""
    return (COHESION, PORE_PRESSURE) if name == "sand" else (PRESSURE,)


def pictured_arrays(state: State, name: str) -> dict[str, NDArray[Any]]:
    """Their values."""
    sand, water = state.species
    if name == "sand":
        return {COHESION.name: active_cohesion(sand), PORE_PRESSURE.name: pore_pressure(state)}
    return {PRESSURE.name: water_pressure(water)}
