"""The nearest points of all ranks, with ties, and rest volumes that the grid estimates of the points of all ranks."""

import numpy as np
import pytest
from lockstep import on_ranks

from spume.matter.nearest import nearest
from spume.methods import method_class
from spume.mpm.method import estimated_volumes
from spume.ranks.ranks import ALONE
from spume.ranks.team import Team
from spume.scene.loading import load_scene

LATTICE = np.stack(np.meshgrid(*[np.arange(5.0)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
PLACES = np.concatenate([LATTICE[::7] + 0.5, LATTICE[::11], [[40.0, -3.0, 2.0]]])
"""In the middles of cells and on points, where many points are at the same distance, and far away."""


def expected(k):
    """By all distances."""
    square = ((PLACES[:, None] - LATTICE) ** 2).sum(axis=2)
    return np.lexsort((np.broadcast_to(np.arange(len(LATTICE)), square.shape), square), axis=1)[:, :k]


@pytest.mark.parametrize("k", [1, 9, 24, len(LATTICE)])
@pytest.mark.parametrize("size", [1, 3, 8])
def test_points_at_the_same_distance_come_in_the_order_of_their_numbers(k, size):
    owner = np.random.default_rng(k).integers(size, size=len(LATTICE))
    owner[owner == 1] = 0  # a rank has none

    def work(messages):
        numbers = np.flatnonzero(owner == messages.rank)
        return nearest(PLACES, LATTICE[numbers], numbers, k, Team(messages))

    first, *others = on_ranks(size, work)
    assert others == [None] * (size - 1)
    alone = nearest(PLACES, LATTICE, np.arange(len(LATTICE)), k, ALONE)
    assert np.array_equal(alone.number, expected(k))
    for found, whole in zip(first, alone):
        assert found.tobytes() == whole.tobytes()
    assert np.array_equal(first.x, LATTICE[first.number])
    assert first.distance == pytest.approx(np.linalg.norm(first.x - PLACES[:, None], axis=2))


def test_nothing_is_near_no_places():
    assert nearest(PLACES[:0], LATTICE, np.arange(len(LATTICE)), 3, ALONE) is None


BOX = {
    "title": "a box",
    "method": "mpm",
    "duration": 1.0,
    "grid": {"cell": 0.1},
    "body": [{"material": "soft rubber", "shape": {"box": {"center": [0.0, 0.0, 0.0], "size": [0.9, 0.5, 0.5]}}}],
}


@pytest.mark.parametrize("size", [2, 5])
def test_volumes_by_the_grid_do_not_depend_on_who_has_the_points(size):
    """However they are divided; a rank may have none."""
    rng = np.random.default_rng(1)
    x, mass = rng.uniform(-0.5, 0.5, (500, 3)), rng.uniform(0.5, 1.0, 500)
    scene = load_scene(BOX)
    whole = estimated_volumes(method_class("mpm")(scene).world, x, mass, np.arange(500))
    owner = rng.integers(size - 1, size=500)

    def work(messages):
        world = method_class("mpm")(scene, Team(messages)).world
        numbers = np.flatnonzero(owner == messages.rank)
        return numbers, estimated_volumes(world, x[numbers], mass[numbers], numbers)

    found = np.empty(500)
    for numbers, volume in on_ranks(size, work):
        found[numbers] = volume
    assert found.tobytes() == whole.tobytes()
