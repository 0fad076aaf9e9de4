"""Transfers between points and nodes against a dense NumPy oracle.

Tolerance: sums of fewer than a thousand terms in float64, so 1e-13 of the largest term's size.
"""

import numba
import numpy as np
import pytest
from oracle import DenseGrid, gradients, scatter

import spume.grid.transfers
from spume.grid.blocks import BLOCK
from spume.grid.nodes import NodeFields, Nodes
from spume.grid.to_grid import channel_count, scatter_kernel
from spume.grid.to_points import gather_kernel
from spume.grid.transfers import Transfers

CELL = 0.02
ROUNDING = 1e-13
DT = 0.05
TO_GRID = [
    ("mass", "momentum", "stress divergence"),
    ("mass", "affine momentum", "stress divergence"),
    ("mass",),
    ("momentum", "scalar"),
    ("tensor divergence",),
]
TO_POINTS = [
    ("flip velocity", "second-order deformation"),
    ("affine velocity", "second-order deformation"),
    ("velocity", "first-order deformation"),
    ("gradient",),
    ("scalar",),
    ("affine velocity", "scalar"),
]
ALONE = [
    ("momentum", "scalar"),
    ("velocity", "first-order deformation"),
    ("affine velocity", "scalar"),
]
"""Sets that are not transferred together in any other test."""
OF_STEP = {2: 0, 3: 1}
"""The set of both families that other tests use in the plane and in space, too: FLIP and APIC."""
GRIDS = [(d, order) for d in (2, 3) for order in (2, 3)]


def cases(family):
    """The first two sets of a family, those of the explicit step, on every grid; the others on two, to compile less.
    Kernels that no other test needs, or few, are tested in the slow suite, FLIP with cubic splines in space too."""
    found = []
    for n, quantities in enumerate(family):
        for grid in GRIDS if n < 2 else [(2, 2), (3, 3)]:
            slow = grid == (3, 2) or (grid == (3, 3) and n != 1) or quantities in ALONE
            found.append(pytest.param(*grid, quantities, marks=[pytest.mark.slow_suite] if slow else []))
    return found


def name(value):
    return "+".join(value) if isinstance(value, tuple) else str(value)


def cloud(dimension, count=300):
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
        "tensor": rng.normal(size=(count, 3, 3)),
        "affine_velocity": rng.normal(size=(count, dimension, dimension)),
        "scalar": rng.normal(size=count),
    }


def connected(x, order):
    """Transfers of points at x and nodes that cover them."""
    transfers, nodes = Transfers(x.shape[1], CELL, order), Nodes(x.shape[1], CELL, order)
    transfers.cells.sort(x)
    nodes.cover([transfers.cells])
    transfers.connect(nodes)
    return transfers, nodes


def field(nodes, channels):
    """An array of node values."""
    fields = NodeFields(values=channels)
    fields.fit(nodes)
    return fields.array


def node_values(nodes, values, wanted):
    """Node values (blocks, channels, 64) at integer node coordinates; zero where there is no block."""
    block = np.array(BLOCK[nodes.dimension])
    full = np.pad(wanted, ((0, 0), (0, 3 - nodes.dimension)))
    found = np.zeros((len(wanted), values.shape[1]))
    place = {tuple(b): k for k, b in enumerate(nodes.blocks)}
    for row, node in enumerate(full):
        here = place.get(tuple(node // block))
        if here is not None:
            i, j, k = node % block
            found[row] = values[here, :, (i * block[1] + j) * block[2] + k]
    return found


@pytest.fixture(params=["copies", "colours"])
def adding(request, monkeypatch):
    """Both ways of sharing the blocks among threads; copies are for two threads and more."""
    threads = numba.get_num_threads()
    numba.set_num_threads(2)
    if request.param == "colours":
        monkeypatch.setattr(spume.grid.transfers, "FEW_BLOCKS", 0)
    yield request.param
    numba.set_num_threads(threads)


@pytest.mark.parametrize(("dimension", "order"), [(2, 2), (3, 3)])
def test_both_ways_of_adding_have_the_same_bits(dimension, order, monkeypatch):
    """Each node adds the tiles around it in the order of their colours."""
    quantities = TO_GRID[OF_STEP[dimension]]
    points = cloud(dimension)
    threads, found = numba.get_num_threads(), []
    try:
        for number, few in ((1, 64), (2, 64), (2, 0)):
            numba.set_num_threads(number)
            monkeypatch.setattr(spume.grid.transfers, "FEW_BLOCKS", few)
            transfers, nodes = connected(points["x"], order)
            sums = field(nodes, channel_count(dimension, quantities))
            transfers.to_grid(quantities, points["x"], sums, **{k: v for k, v in points.items() if k != "x"})
            found.append(sums.tobytes())
    finally:
        numba.set_num_threads(threads)
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("dimension", [2, 3])
def test_one_thread_adds_blocks_that_meet_in_the_order_of_their_colours(dimension):
    """Two blocks meet on a node if they are adjacent; their colour is the parity of their coordinates."""
    x = np.random.default_rng(3).uniform(-30.0 * CELL, 30.0 * CELL, (600, dimension))
    numba.set_num_threads(1)
    transfers, _ = connected(x, 3)
    blocks = transfers.cells.blocks
    assert len(blocks) > 50
    colour = (blocks & 1) @ [4, 2, 1]
    (order,) = transfers._orders
    turn = np.argsort(order.blocks)
    for block in range(len(blocks)):
        near = np.abs(blocks - blocks[block]).max(axis=1) == 1
        assert np.array_equal(colour[near] < colour[block], turn[near] < turn[block])


@pytest.mark.parametrize(("dimension", "order", "quantities"), cases(TO_GRID), ids=name)
def test_sums_on_nodes_match_the_oracle(dimension, order, quantities, adding):
    points = cloud(dimension)
    transfers, nodes = connected(points["x"], order)
    sums = field(nodes, channel_count(dimension, quantities))
    sums[:] = np.nan  # what was there before must not matter
    transfers.to_grid(quantities, points["x"], sums, **{k: v for k, v in points.items() if k != "x"})
    dense = DenseGrid(points["x"], CELL, order)
    expected = np.concatenate([scatter(dense, quantity, points) for quantity in quantities], axis=1)
    found = node_values(nodes, sums, dense.nodes)
    assert np.all(np.abs(found - expected) <= ROUNDING * np.abs(expected).max(axis=0))
    assert np.abs(sums).sum() == pytest.approx(np.abs(found).sum(), rel=ROUNDING)  # nothing beside the stencils


@pytest.mark.parametrize(("dimension", "order"), [(2, 2), (3, 3)])
def test_every_block_of_a_colour_keeps_its_mass(dimension, order, adding):
    """One point in each of nine blocks in a row, so that there are several of each colour."""
    x = np.zeros((9, dimension))
    x[:, 0] = CELL * (2.3 + BLOCK[dimension][0] * np.arange(9))
    mass = np.arange(1.0, 10.0)
    transfers, nodes = connected(x, order)
    quantities = TO_GRID[OF_STEP[dimension]]
    sums = field(nodes, channel_count(dimension, quantities))
    still = {"v": np.zeros_like(x), "affine_velocity": np.zeros((9, dimension, dimension))}
    transfers.to_grid(quantities, x, sums, mass=mass, volume=np.zeros(9), stress=np.zeros((9, 6)), **still)
    dense = DenseGrid(x, CELL, order)
    found = node_values(nodes, sums, dense.nodes)[:, 0]
    assert np.all(np.abs(found - dense.w.T @ mass) <= ROUNDING * mass.max())


@pytest.mark.parametrize(("dimension", "order", "quantities"), cases(TO_POINTS), ids=name)
def test_interpolated_values_match_the_oracle(dimension, order, quantities):
    points = cloud(dimension)
    x, d = points["x"], dimension
    transfers, nodes = connected(x, order)
    grid = field(nodes, 2 + 3 * d)  # some channels before and after those that are read
    grid[:] = np.random.default_rng(3).normal(size=grid.shape)
    v, C, scalar = points["v"].copy(), np.zeros((len(x), d, d)), np.zeros(len(x))
    tensor = np.full((len(x), 3, 3), np.nan)
    transfers.to_points(
        quantities, x, grid, first_channel=1, blend=0.95, dt=DT, v=v, tensor=tensor, affine_velocity=C, scalar=scalar
    )
    dense = DenseGrid(x, CELL, order)
    values = node_values(nodes, grid, dense.nodes)[:, 1:]
    u, change = values[:, :d], values[:, d : 2 * d]

    def close(found, expected, factor=1):
        assert np.abs(found - expected).max() <= factor * ROUNDING * np.abs(expected).max()

    if "velocity" in quantities or "affine velocity" in quantities:
        close(v, dense.w @ u)
    if "affine velocity" in quantities:
        moment = CELL**2 / (4 if order == 2 else 3)
        close(C, np.einsum("pi,ia,pib->pab", dense.w, u, dense.offset) / moment, 10)  # offsets of both signs cancel
    if "flip velocity" in quantities:
        close(v, 0.05 * dense.w @ u + 0.95 * (points["v"] + dense.w @ change))
    L, one = gradients(dense, u), np.eye(3)
    if "gradient" in quantities:
        close(tensor, L)
    if "first-order deformation" in quantities:
        close(tensor, one + DT * L)
    if "second-order deformation" in quantities:
        close(tensor, one + DT * L + 0.5 * DT**2 * L @ L)
    if "scalar" in quantities:
        first = d if "affine velocity" in quantities else 0
        close(scalar, dense.w @ values[:, first])


@pytest.mark.parametrize("dimension", [2, pytest.param(3, marks=pytest.mark.slow_suite)])
def test_gradient_and_divergence_are_adjoint(dimension):
    """−Σ V T : ∇u = Σ u · (force of T), exactly what makes the matrices of solvers symmetric."""
    points = cloud(dimension)
    transfers, nodes = connected(points["x"], order=dimension)
    u, force = field(nodes, dimension), field(nodes, dimension)
    u[:] = np.random.default_rng(1).normal(size=u.shape)
    L = np.zeros((300, 3, 3))
    transfers.to_points(("gradient",), points["x"], u, tensor=L)
    transfers.to_grid(("tensor divergence",), points["x"], force, volume=points["volume"], tensor=points["tensor"])
    work = -np.einsum("p,pab,pab->", points["volume"], points["tensor"], L)
    assert np.sum(u * force) == pytest.approx(work, rel=1e-12)


def test_quantities_that_exclude_each_other_or_are_unknown_are_rejected():
    for quantities in (("mass", "pressure"), (), ("momentum", "mass")):
        with pytest.raises(ValueError, match="must be some of"):
            scatter_kernel(2, 2, quantities)
    with pytest.raises(ValueError, match="exclude each other"):
        scatter_kernel(2, 2, ("momentum", "affine momentum"))
    with pytest.raises(ValueError, match="exclude each other"):
        gather_kernel(2, 2, ("gradient", "second-order deformation"))


def test_a_target_with_the_wrong_number_of_channels_is_rejected():
    transfers, nodes = connected(cloud(2)["x"], 2)
    with pytest.raises(ValueError, match="1 channels, their target 2"):
        transfers.to_grid(("mass",), cloud(2)["x"], field(nodes, 2), mass=cloud(2)["mass"])


@pytest.mark.skipif(numba.config.NUMBA_NUM_THREADS < 2, reason="needs two threads")
@pytest.mark.parametrize("dimension", [2, 3])
def test_bits_do_not_depend_on_the_number_of_threads(dimension, adding):
    results = []
    before = numba.get_num_threads()
    for threads in (1, 2):
        numba.set_num_threads(threads)
        points = cloud(dimension, count=5000)
        transfers, nodes = connected(points["x"], 3)
        sums = field(nodes, 1 + 2 * dimension)
        given = {k: v for k, v in points.items() if k != "x"}
        n = OF_STEP[dimension]
        transfers.to_grid(TO_GRID[n], points["x"], sums, **given)
        v, tensor, C = points["v"], np.zeros((5000, 3, 3)), points["affine_velocity"]
        transfers.to_points(TO_POINTS[n], points["x"], sums, blend=0.95, dt=DT, v=v, tensor=tensor, affine_velocity=C)
        results.append((sums.copy(), v, tensor, C))
    numba.set_num_threads(before)
    for one, two in zip(*results):
        assert np.array_equal(one, two)
