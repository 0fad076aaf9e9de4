"""Resampling: voids are filled, crowds merged, what is conserved stays, small strains are left alone."""

import numpy as np
import pytest
from clouds import SPACING, advance, box, scene_of_box
from scipy.spatial import KDTree

from spume.errors import SceneError
from spume.points.resampling import Resampling, resample

CLAY = {"flow_rate": 50.0, "yield_stress": 1e3}
OFTEN = {"enabled": True, "every": 1}


def stretched(stretch: float, rng, **resampling):
    """A box stretched along x, with random velocities."""
    method = box([10, 10, 10], material=CLAY, resampling=OFTEN | resampling)
    method.particles.x[:, 0] *= stretch
    method.particles.v[:] = rng.normal(size=method.particles.v.shape)
    return method


def resample_now(method):
    resampling = method.part(Resampling)
    method.world.steps = resampling.every - 1
    resample(method.world, 0.0, resampling)


def conserved(method):
    p = method.particles
    return np.concatenate([[p.mass.sum(), p.volume.sum()], p.mass @ p.v])


def test_voids_of_a_stretched_body_are_filled_and_nothing_is_lost(rng):
    method = stretched(2.0, rng)
    before, count = conserved(method), len(method.particles)
    resample_now(method)
    p = method.particles
    assert len(p) > count
    assert method.diagnostics()["points_inserted"] == len(p) - count
    assert not method.world.listed
    # sums over some thousand points: rounding
    np.testing.assert_allclose(conserved(method), before, rtol=1e-11, atol=1e-11 * np.abs(before).max())
    # the core, deeper than 1.8 r = 2.2 spacings and a cell of the distance grid, is covered as the scene asks
    edge = np.array([20, 10, 10]) * SPACING / 2 - 4 * SPACING
    places = rng.uniform(-edge, edge, (2000, 3))
    distance, _ = KDTree(p.x).query(places)
    assert distance.max() <= 1.25 * np.sqrt(3) / 2 * SPACING * (1 + 1e-9)


def test_small_strains_insert_and_merge_nothing(rng):
    """A lattice has to be stretched by more than a quarter before it has a void, and jitter changes little of that."""
    method = stretched(1.1, rng)
    method.take_step(1e-6)
    count = len(method.particles)
    resample_now(method)
    assert len(method.particles) == count
    assert not method.world.stale  # the neighbour lists are still those of the points


@pytest.mark.parametrize(("distance", "left"), [(0.29, 999), (0.31, 1000)])
def test_points_nearer_than_the_merge_distance_become_one(distance, left, rng):
    method = stretched(1.0, rng)
    p = method.particles
    inner = np.argsort(np.linalg.norm(p.x, axis=1))
    p.x[inner[0]] = p.x[inner[1]] + [distance * SPACING, 0.0, 0.0]
    before = conserved(method)
    resample_now(method)
    assert len(method.particles) - method.diagnostics()["points_inserted"] == left
    np.testing.assert_allclose(conserved(method), before, rtol=1e-11, atol=1e-11 * np.abs(before).max())


def test_clay_that_is_trampled_keeps_its_points_apart():
    """Without SPH pressure a ram presses a block of clay to half its height. The pairs that come together are merged,
    and everything stays finite."""
    ram = {
        "shape": {"box": {"center": [0.0, 0.06, 0.0], "size": [0.2, 0.04, 0.2]}}, "contact": "separate",
        "motion": {"velocity": {"linear": [0.0, -1.0, 0.0]}},
    }  # fmt: skip
    ground = {"shape": {"half_space": {"point": [0.0, -0.04, 0.0], "normal": [0.0, 1.0, 0.0]}}, "contact": "separate"}
    nearest = {}
    for enabled in (False, True):
        method = box(
            [6, 8, 6], material={"flow_rate": 500.0, "yield_stress": 1e2}, obstacle=[ram, ground],
            resampling={"enabled": enabled, "every": 5, "merge_distance": 0.6},
        )  # fmt: skip
        advance(method, 0.04)
        p = method.particles
        nearest[enabled] = KDTree(p.x).query(p.x, 2)[0][:, 1].min() / SPACING
        assert p.mass.sum() == pytest.approx(6 * 8 * 6 * SPACING**3 * 1000.0, rel=1e-12)
    assert nearest[True] > 0.45  # 0.6, less what five steps and the elastic compression may add
    assert nearest[True] > nearest[False]


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        ({"coverage": 0.8}, r"resampling\.coverage.*greater than 0\.866"),
        ({"merge_distance": 1.2}, r"resampling\.merge_distance.*less than 1"),
        ({"every": 0}, r"resampling\.every"),
    ],
)
def test_settings_that_cannot_work_are_refused(table, sentence):
    with pytest.raises(SceneError, match=sentence):
        scene_of_box([3, 3, 3], resampling=table)


def test_positions_at_rest_are_not_resampled():
    on = {"enabled": True}
    resampled = [
        [part for part in method.parts if isinstance(part, Resampling)]
        for method in (
            box([3, 3, 3], formulation="rest-configuration", resampling=on),
            box([3, 3, 3]),
            box([3, 3, 3], resampling=on),
        )
    ]
    assert resampled[:2] == [[], []]
    assert resampled[2][0].merge_distance == 0.3


@pytest.mark.parametrize("stretch", [0.2, 2.0])
def test_what_an_elastic_strain_moves_is_not_resampled(stretch, rng):
    """Distances count in the reference space of the elastic deformation: there the lattice is as it was."""
    plastic, elastic = stretched(stretch, rng), stretched(stretch, rng)
    elastic.particles.b[:, 0] = stretch**2
    for method in (plastic, elastic):
        resample_now(method)
    assert len(plastic.particles) != 1000
    assert len(elastic.particles) == 1000
