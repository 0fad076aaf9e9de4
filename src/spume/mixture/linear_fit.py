"""Values of one species at the points of the other, exact for linear fields, and the transpose.

Around each node i a linear function is fitted to values f of points of the water that stand for the volumes V, with the
weights w V; a point s of the sand takes the mean of those of its nodes:

    f_s = Σ_i w_is (a_i + b_i·(d_is − e_i)),    a_i = Σ_b w_ib V_b f_b/V_i,    b_i = G_i Σ_b w_ib V_b f_b (d_ib − e_i)

with d = x − x_i, V_i = Σ w V, e_i = Σ w V d/V_i, G_i the inverse of Σ w V (d − e_i)(d − e_i)ᵀ. A mean alone, b = 0,
would be off by half a cell where the water ends. With

    K_i(d, d') = 1/V_i + (d − e_i)·G_i (d' − e_i),    f_s = Σ_b Σ_i w_is K_i(d_is, d_ib) w_ib V_b f_b,

which is symmetric: the transpose is the same sum with the points exchanged, `carry` in the other direction.
"""

from dataclasses import dataclass

import numpy as np
from numba import prange
from numpy.typing import NDArray

from spume.grid.blocks import NODES_PER_BLOCK
from spume.grid.to_grid import TENSOR_ROW
from spume.mpm.species import GridSpecies
from spume.mpm.world import GridWorld
from spume.numerics.jit import compiled
from spume.numerics.tensor3 import inverse_sym

Floats = NDArray[np.float64]

SPREAD = 0.02
"""Variance that is added to that of the points around a node [cells²], so that points in a row, whose distances say
nothing about the slope across the row, give none. Points of a lattice have a variance of about 0.25, so that slopes are
8 % too small, and where the water ends, values are off by a tenth of what a mean is off."""


@dataclass(frozen=True)
class LinearFit:
    """Fits around the nodes."""

    world: GridWorld
    share: Floats
    """Factor of the fitted values at each node, shape (blocks, 64)"""
    volume: Floats
    """V_i, shape (blocks, 64)"""
    centre: Floats
    """e_i, shape (blocks, d, 64)"""
    inverse: Floats
    """G_i, shape (blocks, 6, 64)"""

    def carry(self, source: GridSpecies, values: Floats, target: GridSpecies) -> Floats:
        """Σ_i w_it K_i(d_it, d_if) w_if values_f at the points of `target`."""
        d = self.world.dimension
        moments = _moments(self.world, source, values)
        fitted = np.empty((len(moments), d + 1, NODES_PER_BLOCK))
        _fit(moments, self.share, self.volume, self.centre, self.inverse, fitted)
        p = target.particles
        result, slope, affine = np.zeros(len(p)), np.zeros((len(p), d)), np.zeros((len(p), d, d))
        target.transfers.to_points(
            ("affine velocity", "scalar"), p.x, fitted, v=slope, affine_velocity=affine, scalar=result
        )
        # C = Σ w b dᵀ/second moment of the spline, with d = x_i − x_p
        return result - self.world.cell**2 / (4.0 if target.transfers.order == 2 else 3.0) * np.trace(
            affine, axis1=1, axis2=2
        )


def fit_linear(world: GridWorld, water: GridSpecies, volume: Floats, share: Floats) -> LinearFit:
    """Prepare fits to the points of the water with the volumes `volume`; fitted values are multiplied by `share`."""
    d, x = world.dimension, water.particles.x
    first = _moments(world, water, volume)
    second = np.stack([_moments(world, water, volume * x[:, q])[:, 1:] for q in range(d)], axis=1)
    places = world.nodes.places(np.arange(len(first) * NODES_PER_BLOCK)).reshape(len(first), NODES_PER_BLOCK, d)
    centre, inverse = np.zeros((len(first), d, NODES_PER_BLOCK)), np.zeros((len(first), 6, NODES_PER_BLOCK))
    _invert(first, second, places, SPREAD * world.cell**2, centre, inverse)
    return LinearFit(world, share, np.ascontiguousarray(first[:, 0]), centre, inverse)


def _moments(world: GridWorld, species: GridSpecies, values: Floats) -> Floats:
    """Σ w f and Σ w f (x_i − x_p), shape (blocks, 1 + d, 64)."""
    p, d = species.particles, world.dimension
    sums = np.empty((len(world.nodes), d + 1, NODES_PER_BLOCK))
    unit = np.broadcast_to(np.eye(d), (len(p), d, d)).copy()
    species.transfers.to_grid(
        ("mass", "affine momentum"), p.x, sums, mass=values, v=np.zeros((len(p), d)), affine_velocity=unit
    )
    return sums


@compiled(parallel=True)
def _invert(first, second, places, spread, centre, inverse):
    D = centre.shape[1]
    for block in prange(first.shape[0]):
        for node in range(NODES_PER_BLOCK):
            V = first[block, 0, node]
            if V <= 0.0:
                continue
            for q in range(D):
                centre[block, q, node] = -first[block, 1 + q, node] / V
            xx = spread + _variance(first, second, places, centre, block, node, 0, 0)
            xy = _variance(first, second, places, centre, block, node, 0, 1)
            yy = spread + _variance(first, second, places, centre, block, node, 1, 1)
            if D == 2:
                g = inverse_sym((xx, yy, 1.0, xy, 0.0, 0.0))
            else:
                zz = spread + _variance(first, second, places, centre, block, node, 2, 2)
                xz = _variance(first, second, places, centre, block, node, 0, 2)
                yz = _variance(first, second, places, centre, block, node, 1, 2)
                g = inverse_sym((xx, yy, zz, xy, xz, yz))
            for n in range(inverse.shape[1]):
                inverse[block, n, node] = g[n] / V


@compiled
def _variance(first, second, places, centre, block, node, q, r):
    """Σ w V (d − e)_q (d − e)_r/V, from Σ w V d_q d_r = Σ w V d_q x_r − x_ir Σ w V d_q; the sums hold −d."""
    moment = places[block, node, r] * first[block, 1 + q, node] - second[block, r, q, node]
    return moment / first[block, 0, node] - centre[block, q, node] * centre[block, r, node]


@compiled(parallel=True)
def _fit(moments, share, volume, centre, inverse, fitted):
    """Write the slopes b_i and the values at the nodes, a_i − b_i·e_i, to `fitted`."""
    D = centre.shape[1]
    for block in prange(moments.shape[0]):
        for node in range(NODES_PER_BLOCK):
            for q in range(D + 1):
                fitted[block, q, node] = 0.0
            if volume[block, node] <= 0.0:
                continue
            total = moments[block, 0, node]
            value = total / volume[block, node]
            x = -moments[block, 1, node] - total * centre[block, 0, node]
            y = -moments[block, 2, node] - total * centre[block, 1, node]
            z = -moments[block, 3, node] - total * centre[block, 2, node] if D == 3 else 0.0
            for q in range(D):
                row = TENSOR_ROW[q]
                slope = inverse[block, row[0], node] * x + inverse[block, row[1], node] * y
                if D == 3:
                    slope += inverse[block, row[2], node] * z
                fitted[block, q, node] = share[block, node] * slope
                value -= slope * centre[block, q, node]
            fitted[block, D, node] = share[block, node] * value
