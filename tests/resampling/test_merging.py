"""Points that are too close become one. [Yue15] algorithm 21"""

import numpy as np
import pytest
from scipy.spatial import cKDTree
from void_oracles import CELL, R, full, lattice, make_state, scattered, totals

from spume.foam.resampling import ResamplingSettings, avoid_a_void
from spume.foam.resampling.bins import bin_points
from spume.foam.resampling.merging import close_pairs
from spume.mpm.diagnostics import angular_momentum, kinetic_energy
from spume.ranks.nearby import Nearby

SETTINGS = ResamplingSettings()


def test_a_pair_becomes_its_sum_and_mean():
    x = np.array([[0.0, 0.0, 0.0], [0.029 * R, 0.0, 0.0], [3 * R, 0.0, 0.0]])
    state = make_state(x)
    state.particles.mass[:2] = 1.0, 3.0
    old = {name: a.copy() for name, a in state.particles.arrays().items()}
    report = avoid_a_void(state, 0.0, (0,), SETTINGS)
    assert (report.merged, report.inserted, len(state.particles)) == (1, 0, 2)

    def mean(name):
        return 0.25 * old[name][0] + 0.75 * old[name][1]

    p = state.particles
    close = {"rtol": 1e-14, "atol": 1e-15}
    assert p.mass[0] == 4.0
    assert p.volume[0] == old["volume"][0] + old["volume"][1]
    assert p.body[0] == old["body"][1]
    assert p.id[0] == old["id"][1]
    for name in ("x", "v", "dissipation"):
        np.testing.assert_allclose(getattr(p, name)[0], mean(name), **close)
    # the spin of the two about their centre, with the reduced mass 3/4, is 2 D m times the additional rotation
    turn = 0.75 * np.cross(old["x"][1] - old["x"][0], old["v"][1] - old["v"][0]) / (2 * CELL**2 / 3 * 4.0)
    affine = mean("C") + np.array([[0, -turn[2], turn[1]], [turn[2], 0, -turn[0]], [-turn[1], turn[0], 0]])
    np.testing.assert_allclose(p.C[0], affine, rtol=1e-12, atol=1e-13)
    J = 0.25 * np.linalg.det(old["F"][0]) + 0.75 * np.linalg.det(old["F"][1])
    np.testing.assert_allclose(p.F[0], mean("F") * np.cbrt(J / np.linalg.det(mean("F"))), **close)
    be = full(mean("be")[None])[0]
    np.testing.assert_allclose(full(p.be[:1])[0], be / np.cbrt(np.linalg.det(be)), **close)
    for name, values in old.items():
        assert np.array_equal(getattr(p, name)[1], values[2]), name


@pytest.mark.parametrize("d", [2, 3])
def test_points_just_beyond_the_limit_and_of_different_materials_stay_apart(d):
    x = np.zeros((4, d))
    x[1, 0] = 0.0301 * R
    x[2, 0], x[3, 0] = 2 * R, 2.01 * R
    state = make_state(x, material=np.array([0, 0, 0, 1]), materials=2)
    assert avoid_a_void(state, 0.0, (0,), SETTINGS).merged == 0


def test_of_three_in_a_row_the_closest_two_merge():
    x = np.array([[0.0, 0.0], [0.02 * R, 0.0], [0.03 * R, 0.0]])
    state = make_state(x)
    assert avoid_a_void(state, 0.0, (0,), SETTINGS).merged == 1
    assert state.particles.x[0, 0] == 0.0


@pytest.mark.parametrize("d", [2, 3])
def test_pairs_are_those_of_a_greedy_search_over_all_pairs(d):
    x = scattered(np.random.default_rng(21), d) - 7.7 * R
    material = np.random.default_rng(1).integers(0, 2, len(x)).astype(np.int32)
    found = sorted(
        (np.linalg.norm(x[p] - x[q]), p, q) for p, q in cKDTree(x).query_pairs(0.5 * R) if material[p] == material[q]
    )
    expected, taken = [], set()
    for _, p, q in found:
        if not {p, q} & taken:
            expected.append((p, q))
            taken |= {p, q}
    assert len(expected) > 20
    pairs = close_pairs(bin_points(x, R), material, 0.5, np.arange(len(x)), Nearby(len(x)))
    assert [tuple(pair) for pair in pairs] == expected


@pytest.mark.parametrize("d", [2, 3])
def test_merging_keeps_mass_momentum_volume_and_the_centre_of_mass(d):
    state = make_state(scattered(np.random.default_rng(22), d, 3.0) * 0.3)
    p = state.particles
    before = np.concatenate([totals(state), p.mass @ p.x])
    energy = kinetic_energy(state)
    report = avoid_a_void(state, 0.0, (0,), ResamplingSettings(merge_distance=0.3))
    assert report.merged > 100
    assert report.inserted == 0
    np.testing.assert_allclose(np.concatenate([totals(state), p.mass @ p.x]), before, rtol=0, atol=1e-12 * before[0])
    assert kinetic_energy(state) < energy


@pytest.mark.parametrize("d", [2, 3])
@pytest.mark.parametrize("affine", [False, True])
def test_merging_keeps_angular_momentum(d, affine):
    state = make_state(scattered(np.random.default_rng(22), d, 3.0) * 0.3, affine=affine)
    p = state.particles
    before, scale = angular_momentum(state), p.mass.sum() * np.abs(p.x).max()
    assert avoid_a_void(state, 0.0, (0,), ResamplingSettings(merge_distance=0.3)).merged > 100
    np.testing.assert_allclose(angular_momentum(state), before, rtol=0, atol=1e-12 * scale)


@pytest.mark.parametrize(
    ("settings", "word"),
    [
        (ResamplingSettings(coverage=0.8), "coverage"),
        (ResamplingSettings(coverage=1.0), "coverage"),
        (ResamplingSettings(depth=1.0), "depth"),
        (ResamplingSettings(depth=3.0), "depth"),
        (ResamplingSettings(merge_distance=-0.1), "merge_distance"),
    ],
)
def test_settings_the_algorithms_cannot_honour_are_rejected(settings, word):
    state = make_state(lattice((2, 2, 2)))
    with pytest.raises(ValueError, match=word):
        avoid_a_void(state, 0.0, (0,), settings)
