"""Pieces of torn foam with velocity fields of their own: they meet without a gap, and change nothing while apart."""

import numpy as np
import pytest
from scipy.spatial import cKDTree

from spume.foam.method import ContinuumFoam
from spume.foam.pieces import bond_layers, bonds, divide, find_pieces
from spume.grid.cells import Cells
from spume.mpm.step import accelerate
from spume.scene.loading import load_scene

CELL = 0.01
SIDE = CELL / 2
"""Edge of the square of a point."""


def falling(pieces=True, shift=0.0, mirror=1.0, apart=0.05, **changes):
    """A crumb above one half of a slab of foam at rest on the ground, in the plane."""
    body = [
        {"material": "shaving cream", "shape": {"rectangle": {"center": [shift, 0.02], "size": [0.12, 0.04]}}},
        {
            "material": "shaving cream",
            "shape": {"rectangle": {"center": [shift + mirror * 0.03, 0.05 + apart], "size": [0.02, 0.02]}},
        },
    ]
    ground = {"shape": {"half_plane": {"point": [0.0, 0.0], "normal": [0.0, 1.0]}}, "contact": "stick"}
    scene = {
        "title": "a crumb falls on a slab", "method": "continuum-foam", "dimension": 2, "duration": 1.0,
        "frame_rate": 30, "grid": {"cell": CELL}, "body": body, "obstacle": [ground],
        "tearing": {"pieces": pieces}, "resampling": {"enabled": False},
    }  # fmt: skip
    return load_scene(scene | changes)


def simulated(scene, until):
    method = ContinuumFoam(scene)
    assert method.advance(until, lambda: False, lambda progress: None)
    return method


def gap(method):
    """Between the nearest points of crumb and slab, which extend half their spacing [cells]."""
    p = method.particles
    own = p.body == 1
    return (cKDTree(p.x[~own]).query(p.x[own])[0].min() - SIDE) / CELL


@pytest.mark.parametrize("shift", [0.0, pytest.param(0.5 * CELL, marks=pytest.mark.slow_suite)])
def test_a_crumb_lands_on_the_slab(shift):
    """With one velocity field it stops above it, at a third of a second, because they share nodes up to four cells
    apart; with two fields it touches within the gap that obstacles count as a touch, a tenth of a cell."""
    assert gap(simulated(falling(shift=shift), 0.3)) < 0.1
    assert gap(simulated(falling(False, shift=shift), 0.3)) > 0.5


def test_fields_of_their_own_change_no_bit_while_pieces_are_apart():
    """Until the crumb is as near as four cells, the reach of two cubic splines."""
    one, two = (simulated(falling(pieces), 0.03).particles for pieces in (False, True))
    assert len(np.unique(two.piece)) == 2
    for name, array in one.arrays().items():
        np.testing.assert_array_equal(array, two.arrays()[name], err_msg=name)


def test_a_mirrored_scene_gives_the_mirror_image():
    """Up to rounding, which grows with the number of steps: a millionth of a cell after 0.15 s."""
    left, right = (simulated(falling(mirror=side), 0.15).particles for side in (-1.0, 1.0))
    mirrored = left.x[:, :] * (-1.0, 1.0)
    distance, _ = cKDTree(mirrored).query(right.x)
    assert distance.max() < 1e-6 * CELL


def test_bonds_keep_momentum_and_lose_energy():
    """Two layers with different velocities at the nodes they share."""
    method = ContinuumFoam(falling(apart=0.0))
    p, world = method.particles, method.world
    p.piece[:] = 1 + p.body
    p.v[p.body == 1] = (0.3, -0.7)
    world.species[0].sort()
    world.nodes.cover([world.only.transfers.cells])
    world.only.connect(world.nodes)
    storage = next(stage.needs[0] for stage in method.step.listed if stage.function is divide)
    divide(world, 0.0, storage)
    assert len(world.only.layers) == 2
    world.only.rasterize()
    accelerate(world, 1e-4)

    def sums():
        layers = [layer.fields for layer in world.only.layers]
        momentum = sum((f["mass"][:, None] * f["velocity"]).sum(axis=(0, 2)) for f in layers)
        return momentum, sum((f["mass"][:, None] * f["velocity"] ** 2).sum() for f in layers)

    momentum, energy = sums()
    bond_layers(world, 1e-4, storage)
    assert world.only.bonds, "nothing touches"
    np.testing.assert_allclose(sums()[0], momentum, rtol=1e-12)
    assert sums()[1] < energy


def test_a_run_resumed_between_two_searches_is_the_uninterrupted_one():
    scene = falling()
    stopped = ContinuumFoam(scene)
    assert stopped.advance(0.08, lambda: False, lambda progress: None)
    calls = iter(range(10**6))
    assert not stopped.advance(0.2, lambda: next(calls) == 13, lambda progress: None)
    arrays, values = stopped.checkpoint()
    rng = np.random.default_rng(1).permutation(len(stopped.particles))
    resumed = ContinuumFoam(scene)
    resumed.restore({name: array[rng].copy() for name, array in arrays.items()}, values)
    for method in (stopped, resumed):
        assert method.advance(0.12, lambda: False, lambda progress: None)
    assert len(stopped.world.only.layers) == 2
    one, two = (method.particles.arrays() for method in (stopped, resumed))
    order = [np.argsort(each["id"]) for each in (one, two)]
    for name, array in one.items():
        np.testing.assert_array_equal(array[order[0]], two[name][order[1]], err_msg=name)


def test_a_checkpoint_without_pieces_is_restored():
    """As runs of earlier versions have them."""
    method = ContinuumFoam(falling())
    arrays, values = method.checkpoint()
    del arrays["points/piece"]
    method.restore(arrays, values)
    assert method.particles.piece.tolist() == [0] * len(method.particles)


def test_the_energy_budget_closes_while_pieces_meet():
    """What is unaccounted for is of third order in each step."""
    report = simulated(falling(frames={"energy": True}), 0.15).diagnostics()
    terms = report["energy_budget"]
    scale = max(abs(value) for value in terms.values())
    assert abs(terms["unaccounted"]) < 1e-3 * scale


def test_rows_of_points_that_lie_on_each_other_become_one_piece():
    """The upper row joins the lower one, and that joins the slab: at the second search all are one."""
    heights, middles, widths = (0.02, SIDE, SIDE), (0.01, 0.0225, 0.0275), (0.12, 0.06, 0.03)
    body = [
        {"material": "shaving cream", "shape": {"rectangle": {"center": [0.0, middle], "size": [width, height]}}}
        for middle, width, height in zip(middles, widths, heights)
    ]
    method = ContinuumFoam(falling(body=body))
    p, world = method.particles, method.world
    p.piece[:] = 1 + p.body
    stage = next(stage for stage in method.step.listed if stage.function is find_pieces)
    for _ in range(2):
        world.species[0].sort()
        find_pieces(world, 0.0, *stage.needs)
    assert len(np.unique(p.piece)) == 1


@pytest.mark.parametrize("dimension", [2, pytest.param(3, marks=pytest.mark.slow_suite)])
def test_touching_points_are_those_of_a_search_without_cells(dimension):
    """Points of three layers and of several sizes, around the origin of the cells."""
    random = np.random.default_rng(dimension)
    count, touch, size = 400, 0.1, 1.0
    x = random.uniform(-4.0, 4.0, (count, dimension))
    width, layer = random.uniform(0.2, 0.7, count), random.integers(0, 3, count)
    cells = Cells(dimension, size, 0.5)
    cells.sort(x, np.arange(count))
    arguments = (
        cells.neighbours, cells.cell_start, cells.sorted_points, cells.of_points(), np.flatnonzero(layer), x, width,
        layer, touch, 1,
    )  # fmt: skip
    find = bonds._find_touching[dimension]
    pairs = np.empty((find(*arguments, np.empty((0, 2), np.int64)), 2), np.int64)
    find(*arguments, pairs)
    apart = np.linalg.norm(x[:, None] - x[None], axis=2)
    expected = (apart <= 0.5 * (width[:, None] + width[None]) + touch) & (layer[:, None] > layer[None])
    assert set(map(tuple, pairs.tolist())) == set(map(tuple, np.argwhere(expected).tolist()))
    assert len(pairs) > 20
