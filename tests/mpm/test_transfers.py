"""Transfers between points and the sparse grid against a dense NumPy oracle.

Tolerance: sums of fewer than a thousand terms in float64, so 1e-13 of the largest term's size.
"""

import numba
import numpy as np
import pytest
from oracle import DenseGrid, rasterize

import spume.mpm.grid
from spume.mpm.grid import CELLS_PER_BLOCK, SparseGrid
from spume.mpm.transfers import BLOCK

CELL = 0.02


def cloud(dimension, affine, count=300):
    """Points across the origin, so that blocks of negative coordinates take part; the first of them on nodes, halfway
    between and a rounding error beside, where the cell of a point is a matter of rounding."""
    rng = np.random.default_rng(7)
    x = rng.uniform(-5.3 * CELL, 6.1 * CELL, (count, dimension))
    borders = CELL * np.arange(-8, 9) / 2
    beside = [np.nextafter(borders, towards) for towards in (-np.inf, np.inf)]
    x[: 3 * len(borders), 0] = np.concatenate([borders, *beside])
    x[: 3 * len(borders), dimension - 1] = x[: 3 * len(borders), 0][::-1]
    x[:2] = [[-1e-18], [1e-18]]
    return {
        "x": x,
        "v": rng.normal(size=(count, dimension)),
        "mass": rng.uniform(0.5, 2.0, count),
        "volume": rng.uniform(0.5, 2.0, count),
        "stress": rng.normal(size=(count, 6)),
        "affine_v": rng.normal(size=(count, dimension, dimension))
        if affine
        else np.zeros((count, dimension, dimension)),
    }


def node_values(grid, nodes):
    """Values of the sparse grid at integer node coordinates; zero where there is no block."""
    block = np.array(BLOCK[grid.dimension])
    full = np.pad(nodes, ((0, 0), (0, 3 - grid.dimension)))
    values = np.zeros((len(nodes), grid.channels))
    slot_of = {tuple(b): k for k, b in enumerate(grid.node_blocks)}
    for row, node in enumerate(full):
        slot = slot_of.get(tuple(node // block))
        if slot is not None:
            i, j, k = node % block
            values[row] = grid.values[slot, :, (i * block[1] + j) * block[2] + k]
    return values


@pytest.fixture(params=["copies", "colours"])
def adding(request, monkeypatch):
    """Both ways of sharing the blocks among threads."""
    if request.param == "colours":
        monkeypatch.setattr(spume.mpm.grid, "FEW_BLOCKS", 0)
    return request.param


@pytest.fixture(
    params=[(d, o, a) for d in (2, 3) for o in (2, 3) for a in (0, 1)], ids=lambda p: f"{p[0]}D-{p[1]}-{p[2]}"
)
def rasterized(request, adding):
    dimension, order, affine = request.param
    points = cloud(dimension, affine)
    grid = SparseGrid(dimension, CELL, order, bool(affine))
    grid.find_cells(points["x"])
    grid.add_points(*points.values())
    return grid, points, DenseGrid(points["x"], CELL, order)


def test_mass_momentum_and_force_match_the_oracle(rasterized):
    grid, points, dense = rasterized
    expected = rasterize(dense, *(points[name] for name in ("v", "mass", "volume", "stress", "affine_v")))
    found = node_values(grid, dense.nodes)
    scale = np.abs(expected).max(axis=0)
    assert np.all(np.abs(found - expected) <= 1e-13 * scale)
    assert grid.values[:, 0].sum() == pytest.approx(points["mass"].sum(), rel=1e-13)


def test_velocity_and_gradient_match_the_oracle(rasterized):
    grid, points, dense = rasterized
    d = grid.dimension
    rng = np.random.default_rng(3)
    grid.values[:] = rng.normal(size=grid.values.shape)
    values = node_values(grid, dense.nodes)
    star, change = values[:, 1 : 1 + d], values[:, 1 + d :]
    v, C, gradient = points["v"].copy(), points["affine_v"].copy(), np.zeros((len(points["v"]), 3, 3))
    grid.gather(points["x"], 0.95, v, gradient, C)

    expected_gradient = np.einsum("ia,pib->pab", star, dense.dw)
    assert np.abs(gradient[:, :d, :d] - expected_gradient).max() <= 1e-13 * np.abs(expected_gradient).max()
    assert not gradient[:, d:].any()
    assert not gradient[:, :, d:].any()
    pic = dense.w @ star
    if grid.affine:
        moment = CELL**2 / (4 if grid.order == 2 else 3)
        expected_C = np.einsum("pi,ia,pib->pab", dense.w, star, dense.offset) / moment
        assert np.abs(v - pic).max() <= 1e-13 * np.abs(pic).max()
        assert np.abs(C - expected_C).max() <= 1e-12 * np.abs(expected_C).max()  # offsets of both signs cancel
    else:
        expected = 0.05 * pic + 0.95 * (points["v"] + dense.w @ change)
        assert np.abs(v - expected).max() <= 1e-13 * np.abs(expected).max()


def test_points_of_a_cell_share_their_nodes_and_the_order_is_a_permutation(rasterized):
    grid, points, _ = rasterized
    x = points["x"]
    shift = 1.0 if grid.order == 3 else 0.5
    base = np.floor(x * grid.inverse_cell - shift).astype(int)
    assert np.array_equal(np.sort(grid.order_of), np.arange(len(x)))
    assert grid.cell_start[-1] == len(x)
    for cell in range(grid.block_count * CELLS_PER_BLOCK):
        members = grid.order_of[grid.cell_start[cell] : grid.cell_start[cell + 1]]
        assert len(np.unique(base[members], axis=0)) <= 1


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(("dimension", "count"), [(2, 1), (2, 4000), (3, 4000)])
def test_points_are_sorted_stably_by_block_and_cell(dimension, count, threads):
    if threads > numba.config.NUMBA_NUM_THREADS:
        pytest.skip("needs two threads")
    x = np.random.default_rng(1).uniform(-9 * CELL, 9 * CELL, (count, dimension))
    grid = SparseGrid(dimension, CELL, 3, False)
    before = numba.get_num_threads()
    numba.set_num_threads(threads)
    try:
        grid.find_cells(x)
    finally:
        numba.set_num_threads(before)
    base = np.floor(x * grid.inverse_cell - 1.0).astype(int)
    block, cell = np.divmod(base, np.array(BLOCK[dimension][:dimension]))
    expected = np.lexsort([*cell.T[::-1], *block.T[::-1]])
    assert np.array_equal(grid.order_of, expected)


def test_no_points_are_in_no_cells():
    grid = SparseGrid(3, CELL, 3, False)
    assert not grid.find_cells(np.empty((0, 3)))
    assert grid.block_count == 0
    assert len(grid.values) == 0


@pytest.mark.skipif(numba.config.NUMBA_NUM_THREADS < 2, reason="needs two threads")
@pytest.mark.parametrize("dimension", [2, 3])
def test_bits_do_not_depend_on_the_number_of_threads(dimension, adding):
    results = []
    before = numba.get_num_threads()
    for threads in (1, 2):
        numba.set_num_threads(threads)
        points = cloud(dimension, False, count=5000)
        grid = SparseGrid(dimension, CELL, 3, False)
        grid.find_cells(points["x"])
        grid.add_points(*points.values())
        gradient = np.zeros((5000, 3, 3))
        grid.gather(points["x"], 0.95, points["v"], gradient, points["affine_v"])
        results.append((grid.values.copy(), points["v"], gradient))
    numba.set_num_threads(before)
    for one, two in zip(*results):
        assert np.array_equal(one, two)


def test_memory_follows_the_points_not_the_domain():
    near = np.random.default_rng(0).uniform(0, 10 * CELL, (500, 3))
    apart = near.copy()
    apart[250:] += 5000 * CELL
    grids = []
    for x in (near, apart):
        grid = SparseGrid(3, CELL, 3, False)
        grid.find_cells(x)
        grids.append(grid)
    assert len(grids[1].values) <= 2 * len(grids[0].values)


def test_a_scrambled_order_asks_for_sorting_and_a_sorted_one_does_not():
    x = np.random.default_rng(0).uniform(0, 40 * CELL, (20000, 2))
    grid = SparseGrid(2, CELL, 3, False)
    assert grid.find_cells(x)
    assert not grid.find_cells(x[grid.order_of])
