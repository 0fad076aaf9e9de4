"""Removal of what is too thin for the grid: weak points whose neighbours lie almost in a plane, on a line or nowhere.
[Yue15] section 7.4"""

import math

import numpy as np
from numba import prange
from numpy.typing import NDArray

from spume.foam.foam import Foam
from spume.mpm.grid import CELLS_PER_BLOCK, pack
from spume.mpm.state import State
from spume.mpm.transfers import BLOCK
from spume.numerics import tensor2, tensor3
from spume.numerics.jit import compiled

REACH = 2
"""Cells to either side of a point's own in which its neighbours lie: the support of the cubic spline that weighs them."""


def find_subgrid_points(state: State, foam: Foam) -> NDArray[np.int64]:
    """Weak points whose neighbourhood the grid does not resolve: procedure 12, [Yue15] algorithm 15.

    They are taken out by `remove_points` once the points have moved: until then the grid knows the points by number.
    """
    settings = foam.subgrid_removal
    if not settings.enabled or foam.weak_points == 0:
        return np.empty(0, np.int64)
    with state.timed("subgrid geometry removal"):
        grid, p = state.grid, state.particles
        weak = np.flatnonzero(p.weak)
        unresolved = np.empty(weak.size, np.bool_)
        _find_unresolved[grid.dimension, grid.order](
            weak, p.x, p.mass, grid.inverse_cell, grid.keys, grid.cell_start, grid.order_of,
            settings.threshold, settings.smallest, unresolved,
        )  # fmt: skip
        return weak[unresolved]


def remove_points(state: State, foam: Foam, points: NDArray[np.int64]) -> None:
    """Take `points` out of the simulation and count their mass."""
    if points.size == 0:
        return
    with state.timed("subgrid geometry removal"):
        p = state.particles
        foam.mass_removed += float(p.mass[points].sum())
        foam.points_removed += points.size
        kept = np.ones(len(p), np.bool_)
        kept[points] = False
        p.take(kept)


@compiled(inline="always")
def _spline(d):
    """N(d) of [Yue15] appendix E.1 without a branch: a cubic B-spline is a difference of cubed ramps."""
    outer = max(2.0 - abs(d), 0.0)
    inner = max(1.0 - abs(d), 0.0)
    return (outer * outer * outer - 4.0 * inner * inner * inner) / 6.0


@compiled
def _block(keys, key):
    """Place of `key` in the sorted `keys`, or −1."""
    place = np.searchsorted(keys, key)
    return place if place < keys.size and keys[place] == key else -1


def _make_find_unresolved(dimension: int, order: int):
    D = dimension
    BX, BY, BZ = BLOCK[D]
    SX, SY, SZ = BX.bit_length() - 1, BY.bit_length() - 1, BZ.bit_length() - 1
    RZ = REACH if D == 3 else 0
    HALVES = 2 if order == 3 else 1  # the first node of a stencil, see mpm/grid.py

    @compiled(parallel=True)
    def find_unresolved(points, x, mass, inverse_cell, keys, cell_start, order_of, threshold, smallest, unresolved):
        for n in prange(points.size):
            p = points[n]
            x0, x1 = x[p, 0], x[p, 1]
            x2 = x[p, D - 1]
            ci = np.int64(np.floor(x0 * inverse_cell - 0.5 * HALVES))
            cj = np.int64(np.floor(x1 * inverse_cell - 0.5 * HALVES))
            ck = np.int64(np.floor(x2 * inverse_cell - 0.5 * HALVES)) if D == 3 else np.int64(0)
            # Sums over the neighbours, d being their place relative to the point [cells]: W = w m for the mean,
            # W² for the covariance.
            W, W2 = 0.0, 0.0
            mx, my, mz = 0.0, 0.0, 0.0
            sx, sy, sz = 0.0, 0.0, 0.0
            cxx, cyy, czz, cxy, cxz, cyz = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
            for bi in range((ci - REACH) >> SX, ((ci + REACH) >> SX) + 1):
                for bj in range((cj - REACH) >> SY, ((cj + REACH) >> SY) + 1):
                    for bk in range((ck - RZ) >> SZ, ((ck + RZ) >> SZ) + 1):
                        block = _block(keys, pack(bi, bj, bk))
                        if block < 0:
                            continue
                        k_first = max(ck - RZ - bk * BZ, 0)
                        k_last = min(ck + RZ - bk * BZ, BZ - 1)
                        for i in range(max(ci - REACH - bi * BX, 0), min(ci + REACH - bi * BX, BX - 1) + 1):
                            for j in range(max(cj - REACH - bj * BY, 0), min(cj + REACH - bj * BY, BY - 1) + 1):
                                row = block * CELLS_PER_BLOCK + (i * BY + j) * BZ
                                for entry in range(cell_start[row + k_first], cell_start[row + k_last + 1]):
                                    q = order_of[entry]
                                    dx = (x[q, 0] - x0) * inverse_cell
                                    dy = (x[q, 1] - x1) * inverse_cell
                                    dz = (x[q, D - 1] - x2) * inverse_cell
                                    w = mass[q] * _spline(dx) * _spline(dy)
                                    if D == 3:
                                        w *= _spline(dz)
                                    w2 = w * w
                                    W += w
                                    mx += w * dx
                                    my += w * dy
                                    mz += w * dz
                                    W2 += w2
                                    ax = w2 * dx
                                    ay = w2 * dy
                                    az = w2 * dz
                                    sx += ax
                                    sy += ay
                                    sz += az
                                    cxx += ax * dx
                                    cxy += ax * dy
                                    cyy += ay * dy
                                    cxz += ax * dz
                                    cyz += ay * dz
                                    czz += az * dz
            # Σ W² (d − m)(d − m)ᵀ = Σ W² d dᵀ − m sᵀ − s mᵀ + (Σ W²) m mᵀ, with s = Σ W² d
            mx, my, mz = mx / W, my / W, mz / W
            sx, sy, sz = sx / W2, sy / W2, sz / W2
            cxx = cxx / W2 - 2.0 * mx * sx + mx * mx
            cyy = cyy / W2 - 2.0 * my * sy + my * my
            cxy = cxy / W2 - mx * sy - my * sx + mx * my
            if D == 3:
                czz = czz / W2 - 2.0 * mz * sz + mz * mz
                cxz = cxz / W2 - mx * sz - mz * sx + mx * mz
                cyz = cyz / W2 - my * sz - mz * sy + my * mz
                largest, _, least = tensor3.eigenvalues_sym((cxx, cyy, czz, cxy, cxz, cyz))
            else:
                largest, least = tensor2.eigenvalues_sym((cxx, cyy, cxy))
            # The text of [Yue15] section 7.4 has the first ratio upside down, and gives the second number no unit: cells.
            unresolved[n] = least < threshold * largest or largest < smallest

    return find_unresolved


_find_unresolved = {(d, o): _make_find_unresolved(d, o) for d in (2, 3) for o in (2, 3)}
