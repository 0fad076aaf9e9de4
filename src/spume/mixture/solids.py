"""The grains of the sand in the pressure of the pores.

Water and grains together fill the volume on which the pressure acts. Sand under water is represented there by its own
points with the volume of their grains, V_s = (1 − n₀) V, and the water by its points with V_w = m/ρw. A uniform
pressure is then in equilibrium wherever the two together fill the space, also at the surface of sand under water, where
an interpolated porosity is not that of the points: with the volume V_w/n for all points of the water, the force of a
uniform gradient was −0.7 to 1.9 times itself there.

Grains have no pressure of their own. They feel the mean of the pores at the nodes, and the water takes up the volume
that they displace: with the volume V_p of the pores at the nodes,

    F_i = −Σ_water V_b τ ∇w − Σ_sand V_s τ̄ ∇w,     τ̄ of a point of the sand = Σ w_i (Σ_water w V_w τ)_i/V_p,i
    dJ/J = dt (V_b/V_w ∇·q + Σ w d_i),             d_i = Σ_sand w V_s ∇·q/V_p,i

for the flux q of both phases. One is the transpose of the other. A node whose pores are less than half full has too
little water to bear the pressure on grains. The grains of points near such nodes are therefore counted with the water,
V_b = V_w/n, where n is the porosity with those grains alone; V_b is V_w elsewhere.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spume.grid.blocks import NODES_PER_BLOCK
from spume.mpm.world import GridWorld

Floats = NDArray[np.float64]
HALF = 0.5
"""Degree of saturation of a node below which the grains around it are counted with the water."""


@dataclass(frozen=True)
class Solids:
    """The grains of the sand in a step."""

    world: GridWorld
    grains: Floats
    """V_s of each point of the sand under water, zero elsewhere [m³]"""
    pores: Floats
    """V_p of the nodes [m³], shape (blocks, 64)"""
    water: Floats
    """V_w of each point of the water [m³]"""
    bulk: Floats
    """V_b of each point of the water [m³]"""

    def add_divergence(self, flux: Floats, gradient: Floats) -> None:
        """Turn gradients (n, 3, 3) of the node field `flux` (blocks, d, 64) at the points of the water into those with
        which the water deforms, V_b/V_w ∇q + Σ w d_i/3 I, in place."""
        gradient *= (self.bulk / self.water)[:, None, None]
        if not self.grains.any():
            return
        sand, water = self.world.species
        own = np.zeros((len(self.grains), 3, 3))
        sand.transfers.to_points(("gradient",), sand.particles.x, flux, tensor=own)
        displaced = self.grains * np.trace(own, axis1=1, axis2=2)
        nodes = _nodes(self.world, 1)
        sand.transfers.to_grid(("scalar",), sand.particles.x, nodes, scalar=displaced)
        self._per_pores(nodes)
        at_water = np.zeros(len(gradient))
        water.transfers.to_points(("scalar",), water.particles.x, nodes, scalar=at_water)
        for q in range(3):
            gradient[:, q, q] += at_water / 3.0

    def add_forces(self, mean: Floats, force: Floats) -> None:
        """Add the forces on the grains to the node field `force` (blocks, d, 64). `mean` is a third of the trace of the
        stress of each point of the water [Pa]."""
        if not self.grains.any():
            return
        sand, water = self.world.species
        nodes = _nodes(self.world, 1)
        water.transfers.to_grid(("scalar",), water.particles.x, nodes, scalar=self.water * mean)
        self._per_pores(nodes)
        at_sand, stress = np.zeros(len(self.grains)), np.zeros((len(self.grains), 6))
        sand.transfers.to_points(("scalar",), sand.particles.x, nodes, scalar=at_sand)
        stress[:, :3] = at_sand[:, None]
        own = _nodes(self.world, self.world.dimension)
        sand.transfers.to_grid(("stress divergence",), sand.particles.x, own, volume=self.grains, stress=stress)
        force += own

    def _per_pores(self, values: Floats) -> None:
        """Divide the node field `values` (blocks, 1, 64) by V_p in place, where there are pores or water."""
        np.divide(values[:, 0], self.pores, out=values[:, 0], where=self.pores > 0.0)


def find_solids(world: GridWorld, grains: Floats, water: Floats, held: Floats, pores: Floats) -> Solids:
    """Find which grains are under water. `grains` and `water` are the volumes of the points of sand and water, `held`
    is the volume of the water at the nodes and `pores` that of the pores [m³]."""
    sand, wet = world.species
    nodes = _nodes(world, 1)
    nodes[:, 0] = held < HALF * pores
    near = np.zeros(len(grains))
    sand.transfers.to_points(("scalar",), sand.particles.x, nodes, scalar=near)
    sand.transfers.to_grid(("scalar",), sand.particles.x, nodes, scalar=np.where(near > 0.0, grains, 0.0))
    both = pores + nodes[:, 0]
    nodes[:, 0] = np.divide(pores, both, out=np.ones_like(both), where=both > 0.0)
    porosity = np.ones(len(water))
    wet.transfers.to_points(("scalar",), wet.particles.x, nodes, scalar=porosity)
    return Solids(world, np.where(near > 0.0, 0.0, grains), pores, water, water / porosity)


def _nodes(world: GridWorld, channels: int) -> Floats:
    """A node field, to be written."""
    return np.empty((len(world.nodes), channels, NODES_PER_BLOCK))
