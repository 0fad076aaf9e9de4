"""The grains of the sand in the pressure of the pores.

Water and grains together fill the volume on which the pressure acts. Sand under water is represented there by its own
points with the volume of their grains, V_s = (1 − n₀) V, and the water by its points with V_w = m/ρw. A uniform
pressure is then in equilibrium wherever the two together fill the space, also at the surface of sand under water, where
an interpolated porosity is not that of the points: with the volume V_w/n for all points of the water, the force of a
uniform gradient was −0.7 to 1.9 times itself there.

Grains have no pressure of their own. They feel that of the pores, linear functions fitted at the nodes, and the water
takes up the volume that they displace: with A of `linear_fit.py`, volumes V_w, and the degree of saturation of the
nodes as `share`,

    F_i = −Σ_water V_b τ ∇w − Σ_sand V_s τ̄ ∇w,     τ̄ = A τ at the points of the sand
    V_w dJ/J = dt (V_b ∇·q + Aᵀ (V_s ∇·q))

for the flux q of both phases. One is the transpose of the other. A node whose pores are less than half full has too
little water to bear the pressure on grains. The grains of points near such nodes are therefore counted with the water,
V_b = V_w/n, where n is the porosity with those grains alone; V_b is V_w elsewhere.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spume.grid.blocks import NODES_PER_BLOCK
from spume.mixture.linear_fit import LinearFit, fit_linear
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
    submerged: bool
    """Whether there are such points on any rank"""
    fit: LinearFit
    """of the pressure to the points of the water"""
    water: Floats
    """V_w of each point of the water [m³]"""
    bulk: Floats
    """V_b of each point of the water [m³]"""

    def add_divergence(self, flux: Floats, gradient: Floats) -> None:
        """Turn gradients (n, 3, 3) of the node field `flux` (blocks, d, 64) at the points of the water into those with
        which the water deforms, V_b/V_w ∇q + Aᵀ (V_s ∇·q)/(3 V_w) I, in place."""
        gradient *= (self.bulk / self.water)[:, None, None]
        if not self.submerged:
            return
        sand, water = self.world.species
        own = np.zeros((len(self.grains), 3, 3))
        sand.transfers.to_points(("gradient",), sand.particles.x, flux, tensor=own)
        displaced = self.grains * np.trace(own, axis1=1, axis2=2)
        taken_up = self.fit.carry(sand, displaced, water)
        for q in range(3):
            gradient[:, q, q] += taken_up / 3.0

    def add_forces(self, mean: Floats, force: Floats) -> None:
        """Add the forces on the grains to the node field `force` (blocks, d, 64). `mean` is a third of the trace of the
        stress of each point of the water [Pa]."""
        if not self.submerged:
            return
        sand, water = self.world.species
        at_sand, stress = self.fit.carry(water, self.water * mean, sand), np.zeros((len(self.grains), 6))
        stress[:, :3] = at_sand[:, None]
        own = _nodes(self.world, self.world.dimension)
        sand.transfers.to_grid(("stress divergence",), sand.particles.x, own, volume=self.grains, stress=stress)
        force += own


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
    share = np.divide(held, pores, out=np.zeros_like(pores), where=pores > 0.0)
    fit = fit_linear(world, wet, water, share)
    porosity = np.ones(len(water))
    wet.transfers.to_points(("scalar",), wet.particles.x, nodes, scalar=porosity)
    under = np.where(near > 0.0, 0.0, grains)
    return Solids(world, under, world.ranks.any(bool(under.any())), fit, water, water / porosity)


def _nodes(world: GridWorld, channels: int) -> Floats:
    """A node field, to be written."""
    return np.empty((len(world.nodes), channels, NODES_PER_BLOCK))
