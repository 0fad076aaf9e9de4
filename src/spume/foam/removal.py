"""Removal of material too thin for the grid: weak points whose neighbours are almost coplanar, collinear, or absent.
[Yue15] section 7.4

The covariance of the neighbours is V = M/U with M = Σ u (d − m)(d − m)ᵀ, U = Σ u, over about a thousand neighbours with
weights u = (spline × mass)². Most weak points are surrounded by material, and a few neighbours suffice to show that the
point stays: for any subset Q of the neighbours, M exceeds their scatter M_Q about their own mean in every direction,
and since all lie within two cells of the point along each axis, λmax(V) ≤ tr V ≤ 16 D. So λmin(M_Q) ≥ max(16 D
threshold, smallest) U excludes both criteria for removal, and U is bounded by the masses in the cells.
"""

from typing import NamedTuple

import numpy as np
from numba import prange
from numpy.typing import NDArray

from spume.foam.foam import NO_POINTS, FoamState
from spume.grid.blocks import BLOCK, CELLS_PER_BLOCK, LAYER_BITS, run_of_cells
from spume.mpm.step import sort_points
from spume.mpm.world import GridWorld
from spume.numerics import tensor2, tensor3
from spume.numerics.bspline import cubic_value
from spume.numerics.jit import compiled
from spume.scene.continuum_foam import SubgridRemoval

REACH = 2
"""Number of cells on either side of a point's own cell that contain its neighbours: the reach of the cubic spline."""


class _Cloud(NamedTuple):
    """Points in their cells."""

    neighbours: NDArray[np.int32]
    cell_start: NDArray[np.int64]
    sorted_points: NDArray[np.int32]
    x: NDArray[np.float64]
    mass: NDArray[np.float64]
    inverse_cell: float


def find_unresolved(world: GridWorld, dt: float, foam: FoamState) -> None:
    """Every few steps, find the weak points whose neighbourhood the grid does not resolve: procedure 12, [Yue15]
    algorithm 15.

    `remove_unresolved` removes them after the points have moved, because until then the cells refer to points by index.
    """
    settings, now = foam.subgrid_removal, world.time + dt
    foam.unresolved, foam.to_remove = NO_POINTS, 0
    if foam.due(settings.every, foam.searched_until, now, world.steps + 1):
        foam.searched_until = now
        if world.ranks.any(foam.weak_points > 0):
            foam.unresolved = search_weak_points(world, settings)
            foam.to_remove = world.ranks.count(foam.unresolved.size)


def search_weak_points(world: GridWorld, settings: SubgridRemoval) -> NDArray[np.int64]:
    """Weak points whose neighbourhood the grid does not resolve, with the scene's table [subgrid_removal]."""
    p = world.particles
    cells, near = world.ranks.around(world.only.cells, p.id, {"x": p.x, "mass": p.mass, "weak": p.weak})
    x, mass, weak = near["x"], near["mass"], near["weak"]
    heaviest, torn = np.empty(len(cells)), np.empty(len(cells), np.bool_)
    _survey_blocks(cells.cell_start, cells.sorted_points, mass, weak, heaviest, torn)
    unresolved = np.zeros(len(x), np.bool_)
    cloud = _Cloud(cells.neighbours, cells.cell_start, cells.sorted_points, x, mass, cells.inverse_size)
    _find_unresolved[world.dimension](
        np.flatnonzero(torn), cells.blocks, heaviest, weak, cloud, cells.offset, settings.threshold, settings.smallest,
        unresolved,
    )  # fmt: skip
    return np.flatnonzero(unresolved[: len(p)])


def remove_unresolved(world: GridWorld, dt: float, foam: FoamState) -> None:
    """Remove the points that `find_unresolved` has found, and count their mass."""
    points = foam.unresolved
    if foam.to_remove == 0:
        return
    p = world.particles
    foam.mass_removed += world.ranks.total(p.mass[points])
    foam.points_removed += foam.to_remove
    kept = np.ones(len(p), np.bool_)
    kept[points] = False
    p.take(kept)
    foam.unresolved, foam.to_remove = NO_POINTS, 0


def rehearse_removal(world: GridWorld, dt: float, foam: FoamState) -> None:
    """Search as if there were weak points."""
    sort_points(world)
    search_weak_points(world, foam.subgrid_removal)


@compiled(parallel=True)
def _survey_blocks(cell_start, sorted_points, mass, weak, heaviest, torn):
    """Compute for each block the largest Σ mass² of a cell and whether it has weak points."""
    for block in prange(heaviest.size):
        largest, found = 0.0, False
        for cell in range(block * CELLS_PER_BLOCK, (block + 1) * CELLS_PER_BLOCK):
            total = 0.0
            for entry in range(cell_start[cell], cell_start[cell + 1]):
                p = sorted_points[entry]
                total += mass[p] * mass[p]
                found = found or weak[p] != 0
            largest = max(largest, total)
        heaviest[block] = largest
        torn[block] = found


def _make_moments(dimension: int):
    D = dimension

    @compiled
    def moments(p, block, first, last, cloud):
        """Sums over the neighbours of p in the cells `first` to `last`, counted from the first cell of `block`:
        (Σ w, Σ w d), (Σ w², Σ w² d), Σ w² d dᵀ, where d is their position relative to p [cells] and w is spline times
        mass."""
        x, mass, inverse_cell = cloud.x, cloud.mass, cloud.inverse_cell
        x0, x1 = x[p, 0], x[p, 1]
        x2 = x[p, D - 1]
        W, mx, my, mz = 0.0, 0.0, 0.0, 0.0
        U, sx, sy, sz = 0.0, 0.0, 0.0, 0.0
        cxx, cyy, czz, cxy, cxz, cyz = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        for i in range(first[0], last[0] + 1):
            for j in range(first[1], last[1] + 1):
                for layer in range(first[2] >> LAYER_BITS, (last[2] >> LAYER_BITS) + 1):
                    begin, end = run_of_cells(
                        D, cloud.neighbours, cloud.cell_start, block, i, j, first[2], last[2], layer
                    )
                    for entry in range(begin, end):
                        q = cloud.sorted_points[entry]
                        dx = (x[q, 0] - x0) * inverse_cell
                        dy = (x[q, 1] - x1) * inverse_cell
                        dz = (x[q, D - 1] - x2) * inverse_cell
                        w = mass[q] * cubic_value(dx) * cubic_value(dy)
                        if D == 3:
                            w *= cubic_value(dz)
                        W += w
                        mx += w * dx
                        my += w * dy
                        mz += w * dz
                        u = w * w
                        ux, uy, uz = u * dx, u * dy, u * dz
                        U += u
                        sx += ux
                        sy += uy
                        sz += uz
                        cxx += ux * dx
                        cyy += uy * dy
                        czz += uz * dz
                        cxy += ux * dy
                        cxz += ux * dz
                        cyz += uy * dz
        return (W, mx, my, mz), (U, sx, sy, sz), (cxx, cyy, czz, cxy, cxz, cyz)

    return moments


_moments_2, _moments_3 = _make_moments(2), _make_moments(3)


@compiled
def _moments(dimension, p, block, first, last, cloud):
    if dimension == 2:
        return _moments_2(p, block, first, last, cloud)
    return _moments_3(p, block, first, last, cloud)


@compiled
def _extremes(dimension, about, first, second):
    """Largest and smallest eigenvalue of Σ u (d − m)(d − m)ᵀ = Σ u d dᵀ − m sᵀ − s mᵀ + U m mᵀ from `about`, which is
    (1, m) up to a factor, `first` = (U, s) = Σ u (1, d), and `second` = Σ u d dᵀ."""
    U, sx, sy, sz = first
    cxx, cyy, czz, cxy, cxz, cyz = second
    mx, my, mz = about[1] / about[0], about[2] / about[0], about[3] / about[0]
    cxx += mx * (U * mx - 2.0 * sx)
    cyy += my * (U * my - 2.0 * sy)
    cxy += U * mx * my - mx * sy - my * sx
    if dimension == 2:
        return tensor2.eigenvalues_sym((cxx, cyy, cxy))
    czz += mz * (U * mz - 2.0 * sz)
    cxz += U * mx * mz - mx * sz - mz * sx
    cyz += U * my * mz - my * sz - mz * sy
    values = tensor3.eigenvalues_sym((cxx, cyy, czz, cxy, cxz, cyz))
    return (values[0], values[2])


@compiled
def _is_unresolved(dimension, p, block, place, cloud, sufficient, threshold, smallest):
    """[Yue15] algorithm 15 for the point p at a `place`, in cells from the first cell of its `block`."""
    a, b, c = place
    i, j, k = np.int64(np.floor(a)), np.int64(np.floor(b)), np.int64(np.floor(c))
    deep = dimension == 3
    # the two cells nearest to the point along each axis
    first = (i - (a - i < 0.5), j - (b - j < 0.5), k - (deep and c - k < 0.5))
    last = (first[0] + 1, first[1] + 1, first[2] + deep)
    _, weights, squares = _moments(dimension, p, block, first, last, cloud)
    if _extremes(dimension, weights, weights, squares)[1] >= sufficient:
        return False
    first, last = (i - REACH, j - REACH, k - REACH * deep), (i + REACH, j + REACH, k + REACH * deep)
    sums, weights, squares = _moments(dimension, p, block, first, last, cloud)
    largest, least = _extremes(dimension, sums, weights, squares)
    # The text of [Yue15] section 7.4 inverts the first ratio and gives no unit for the second number.
    return least < threshold * largest or largest < smallest * weights[0]


def _make_find_unresolved(dimension: int):
    D = dimension
    BX, BY, BZ = BLOCK[D]
    # Per axis N² ≤ (2/3)² in a point's own cell and those beside it, N² ≤ (1/6)² in the next: U ≤ (25/18)^D Σ mass²
    WEIGHTS = (25.0 / 18.0) ** D

    @compiled(parallel=True)
    def find_unresolved(torn, blocks, heaviest, weak, cloud, offset, threshold, smallest, unresolved):
        neighbours, cell_start, x, inverse_cell = cloud.neighbours, cloud.cell_start, cloud.x, cloud.inverse_cell
        for n in prange(torn.size):
            block = torn[n]
            heavy = 0.0
            for code in range(27):
                if neighbours[block, code] >= 0:
                    heavy = max(heavy, heaviest[neighbours[block, code]])
            sufficient = WEIGHTS * max(16.0 * D * threshold, smallest) * heavy
            for entry in range(cell_start[block * CELLS_PER_BLOCK], cell_start[(block + 1) * CELLS_PER_BLOCK]):
                p = cloud.sorted_points[entry]
                if weak[p]:
                    a = x[p, 0] * inverse_cell - offset - blocks[block, 0] * BX
                    b = x[p, 1] * inverse_cell - offset - blocks[block, 1] * BY
                    c = x[p, D - 1] * inverse_cell - offset - blocks[block, 2] * BZ if D == 3 else 0.0
                    unresolved[p] = _is_unresolved(D, p, block, (a, b, c), cloud, sufficient, threshold, smallest)

    return find_unresolved


_find_unresolved = {d: _make_find_unresolved(d) for d in (2, 3)}
