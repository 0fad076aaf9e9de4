"""What new points carry, and what it costs their neighbours."""

import itertools

import numpy as np
import pytest
from void_oracles import R, full, grid_average, lattice, make_state, scattered, totals

from spume.foam.resampling import ResamplingSettings, avoid_a_void
from spume.foam.resampling.bins import bin_points
from spume.foam.resampling.conserved_values import Donors, find_donors, share, share_mass
from spume.foam.resampling.determinants import restore_determinant
from spume.foam.resampling.new_points import NewPoints
from spume.mpm.diagnostics import angular_momentum as mpm_angular_momentum
from spume.mpm.diagnostics import kinetic_energy
from spume.ranks.nearby import Nearby


def angular_momentum(mass, x, v):
    """Of points in the plane, about the origin."""
    return mass @ (x[:, 0] * v[:, 1] - x[:, 1] * v[:, 0])


NO_MERGING = ResamplingSettings(merge_distance=0.0)
GRIDS = [(2, 2), (2, 3), (3, 3), pytest.param(3, 2, marks=pytest.mark.slow_suite)]
"""Dimensions and orders of splines; nothing else needs the kernels of the last."""
grids = pytest.mark.parametrize(("d", "order"), GRIDS)


@grids
@pytest.mark.parametrize("affine", [False, True])
def test_mass_volume_and_momentum_are_conserved(d, order, affine):
    state = make_state(scattered(np.random.default_rng(6), d, 1.5), order=order, affine=affine)
    before = totals(state)
    report = avoid_a_void(state, 0.0, (1, 2), ResamplingSettings(merge_distance=0.1))
    assert report.inserted > 50
    assert report.merged > 5
    np.testing.assert_allclose(totals(state), before, rtol=0, atol=1e-12 * before[0])
    p = state.particles
    assert p.mass.min() > 0
    assert p.volume.min() > 0
    # ten roundings of a determinant, each of the size of a product of three entries
    rounding = 10 * np.finfo(float).eps * np.abs(p.be).max(axis=1) ** 3
    assert np.all(np.abs(np.linalg.det(full(p.be)) - 1.0) <= rounding)


@grids
def test_fields_are_averages_by_way_of_the_grid(d, order):
    """Every averaged field of some new points against a direct sum. Momentum and angular momentum are zero all over,
    and random C lose energy when they are averaged, so that velocities need no correction."""
    x = scattered(np.random.default_rng(8), d)
    state = make_state(x, order=order)
    state.particles.v[:] = 0.0
    state.particles.C[:] += state.particles.C.transpose(0, 2, 1).copy()
    old = {name: a.copy() for name, a in state.particles.arrays().items()}
    report = avoid_a_void(state, 0.0, (1, 2), NO_MERGING)
    p = state.particles
    J = np.linalg.det(old["F"])
    for n in range(len(x), len(x) + report.inserted, report.inserted // 7):

        def mean(values, place=p.x[n]):
            return grid_average(order, x, old["mass"], values, place)

        F, be = mean(old["F"]), full(mean(old["be"])[None])[0]
        tolerance = {"rtol": 1e-12, "atol": 1e-12}
        np.testing.assert_allclose(p.F[n], F * np.cbrt(mean(J) / np.linalg.det(F)), **tolerance)
        np.testing.assert_allclose(full(p.be[n][None])[0], be / np.cbrt(np.linalg.det(be)), **tolerance)
        np.testing.assert_allclose(p.C[n], mean(old["C"]), **tolerance)
        np.testing.assert_allclose(p.dissipation[n], mean(old["dissipation"]), **tolerance)
        nearest = np.argmin(np.linalg.norm(x - p.x[n], axis=1))
        assert p.body[n] == old["body"][nearest]


@pytest.mark.parametrize("d", [2, 3])
def test_uniform_material_stays_uniform(d):
    state = make_state(scattered(np.random.default_rng(9), d))
    p = state.particles
    uniform = {"v": p.v[0], "F": p.F[0], "be": p.be[0], "C": p.C[0], "dissipation": p.dissipation[0]}
    uniform = {name: value.copy() for name, value in uniform.items()}
    for name, value in uniform.items():
        p.arrays()[name][:] = value
    assert avoid_a_void(state, 0.0, (1, 2), NO_MERGING).inserted > 50
    for name, value in uniform.items():
        # partition of unity: sums of 64 weights and some hundred masses
        np.testing.assert_allclose(
            getattr(p, name), np.broadcast_to(value, getattr(p, name).shape), rtol=1e-12, atol=1e-13
        )


def test_stress_of_new_points_is_that_of_their_history_and_others_keep_theirs():
    x = scattered(np.random.default_rng(10), 3)
    state = make_state(x)
    before = state.particles.stress.copy()
    avoid_a_void(state, 0.0, (1, 2), NO_MERGING)
    p = state.particles
    assert np.array_equal(p.stress[: len(x)], before)
    expected = p.stress.copy()
    state.model.stress(p.arrays(), expected)
    assert np.array_equal(p.stress[len(x) :], expected[len(x) :])


def test_new_points_get_numbers_that_no_point_had():
    state = make_state(scattered(np.random.default_rng(6), 2, 1.5))
    count = len(state.particles)
    state.particles.take(np.arange(count - 1))  # the number of the last point has been used
    report = avoid_a_void(state, 0.0, (1, 2), ResamplingSettings(merge_distance=0.1))
    assert report.inserted > 50
    number = state.particles.id
    assert np.array_equal(number[-report.inserted :], count + np.arange(report.inserted))
    assert len(np.unique(number)) == len(number)


@pytest.mark.parametrize("d", [2, 3])
def test_materials_do_not_mix(d):
    """Two halves that move in opposite directions: each new point is wholly of one, and neither half's mass changes."""
    x = scattered(np.random.default_rng(12), d)
    material = (x[:, 0] > x[:, 0].mean()).astype(np.int32)
    state = make_state(x, material=material, materials=2)
    state.particles.v[:] = np.where(material == 1, 1.0, -1.0)[:, None]
    state.particles.C[:] = 0.0
    mass = [state.particles.mass[material == m].sum() for m in (0, 1)]
    avoid_a_void(state, 0.0, (1, 2), NO_MERGING)
    p = state.particles
    new = slice(len(x), len(p))
    assert set(p.material[new]) == {0, 1}
    np.testing.assert_allclose(p.v[new], np.where(p.material[new] == 1, 1.0, -1.0)[:, None] * np.ones(d), rtol=1e-12)
    np.testing.assert_allclose([p.mass[p.material == m].sum() for m in (0, 1)], mass, rtol=1e-12)


@pytest.mark.parametrize("d", [2, 3])
@pytest.mark.parametrize(("hole", "radius"), [(0.7, 1.0), (1.02, 1.5), (1.55, 2.0)])
def test_a_dart_without_neighbours_within_r_draws_from_farther_ones(d, hole, radius):
    """A hole of `hole` r around the dart in a fine lattice: the search widens by halves of r until it meets points."""
    x = lattice((24,) * d, offset=0.3) * 0.5
    centre = x.mean(axis=0)
    x = x[np.linalg.norm(x - centre, axis=1) > hole * R]
    bins = bin_points(x, R)
    y = bins.coordinates(centre[None])
    side = np.array([4, 4, 4] if d == 3 else [8, 8, 1])
    cell = np.floor(y[0]).astype(int)
    block = np.flatnonzero((bins.blocks == cell // side).all(axis=1))
    local = np.ravel_multi_index(tuple(cell % side), side)
    new = NewPoints(y, centre[None], block * 64 + local, np.zeros(1, np.int64), Nearby(1))
    donors = find_donors(bins, new, np.zeros(len(x), np.int32), np.ones(len(x)))
    distance = np.linalg.norm(x - centre, axis=1)
    assert set(donors.points) == set(np.flatnonzero(distance < radius * R))
    assert distance[donors.nearest[0]] == distance.min()


NO_C = np.zeros((0, 1, 1))


def test_new_points_draw_one_after_another():
    """Each lies between its two donors, where these cannot surround it, so it takes a third of each."""
    donors = Donors(np.array([0, 1]), np.array([0, 2, 4]), np.array([0, 1, 1, 2]))
    x = np.array([[0.0, 0.0], [2.0, 0.0], [4.0, 0.0], [1.0, 0.0], [3.0, 0.0]])
    mass, volume = np.array([3.0, 6.0, 9.0, 0.0, 0.0]), np.array([30.0, 60.0, 90.0, 0.0, 0.0])
    fraction = share_mass(donors, np.arange(2), np.array([3, 4]), mass, x, np.zeros((5, 2)), NO_C, 0.0)
    share(donors, np.arange(2), np.array([3, 4]), fraction, volume)
    # the first takes a third of 3 and 6; the second a third of the 4 that are left, and of 9
    np.testing.assert_allclose(mass, [2.0, 8.0 / 3.0, 6.0, 3.0, 4.0 / 3.0 + 3.0], rtol=1e-15)
    np.testing.assert_allclose(volume, 10.0 * mass, rtol=1e-15)


def test_donors_that_do_not_surround_a_new_point_move_to_keep_the_centre_of_mass():
    donors = Donors(np.array([0]), np.array([0, 2]), np.array([0, 1]))
    x = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.25]])
    mass, v = np.array([1.0, 2.0, 0.0]), np.array([[1.0, 2.0], [-1.0, 3.0], [5.0, -1.0]])
    centre, momentum, spin = mass @ x, mass @ v, angular_momentum(mass, x, v)
    share_mass(donors, np.arange(1), np.array([2]), mass, x, v, NO_C, 0.0)
    assert mass[2] == 1.0
    assert np.all(x[:2, 0] < 0.0)
    np.testing.assert_allclose(mass @ x, centre, rtol=1e-15)
    np.testing.assert_allclose(mass @ v, momentum, rtol=1e-15)
    np.testing.assert_allclose(angular_momentum(mass, x, v), spin, rtol=1e-14)


def test_donors_that_surround_a_new_point_give_so_that_the_centre_of_mass_stays():
    """Four donors about a point that is not in their middle: those on the far side give more, none more than twice the
    paper's fifth."""
    donors = Donors(np.array([0]), np.array([0, 4]), np.arange(4))
    x = np.array([[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0], [0.3, 0.1]])
    places, mass = x.copy(), np.array([1.0, 1.5, 2.0, 0.7, 0.0])
    centre = mass @ x
    fraction = share_mass(donors, np.arange(1), np.array([4]), mass, x, np.zeros((5, 2)), NO_C, 0.0)
    np.testing.assert_allclose(mass @ x, centre, atol=1e-15)
    assert np.array_equal(x, places)
    assert np.all((fraction > 0) & (fraction < 2 / 5))


@pytest.mark.parametrize("d", [2, 3])
@pytest.mark.parametrize("affine", [False, True])
def test_angular_momentum_and_the_centre_of_mass_stay_and_the_energy_does_not_grow(d, affine):
    """Sums of some thousand terms, each of the size of the mass, the extent and the velocity; random velocities are far
    from a rigid rotation, so no part of the cloud needs more energy."""
    state = make_state(scattered(np.random.default_rng(6), d, 1.5), affine=affine)
    p = state.particles
    extent = np.abs(p.x).max()
    p.v[:] += 3.0  # a body that moves must not start to spin because its mass was moved
    before = mpm_angular_momentum(state), p.mass @ p.x, kinetic_energy(state), p.mass.sum()
    report = avoid_a_void(state, 0.0, (1, 2), ResamplingSettings(merge_distance=0.1))
    assert report.inserted > 50
    assert report.merged > 5
    spin, moment, energy, mass = before
    np.testing.assert_allclose(mpm_angular_momentum(state), spin, rtol=0, atol=1e-12 * mass * extent)
    np.testing.assert_allclose(p.mass @ p.x, moment, rtol=0, atol=1e-12 * mass * extent)
    assert kinetic_energy(state) < energy


@pytest.mark.parametrize("affine", [False, True])
def test_a_rotating_body_gains_only_the_energy_that_its_smaller_inertia_needs(affine):
    """The angular momentum L of each group stays while its inertia I falls, and L²/2I grows: by less than ½ ω² times
    the second moment of mass about the axis that the body as a whole has lost, and only in the second order of ΔI."""
    state = make_state(scattered(np.random.default_rng(7), 2, 1.0), affine=affine)
    p, rate = state.particles, 20.0
    p.v[:] = rate * np.stack([-p.x[:, 1], p.x[:, 0]], axis=1)
    if affine:
        p.C[:] = rate * np.array([[0.0, -1.0], [1.0, 0.0]])
    spin, energy, inertia = mpm_angular_momentum(state), kinetic_energy(state), p.mass @ (p.x**2).sum(axis=1)
    assert avoid_a_void(state, 0.0, (1, 2), NO_MERGING).inserted > 50
    lost = inertia - p.mass @ (p.x**2).sum(axis=1)
    assert lost > 0
    np.testing.assert_allclose(mpm_angular_momentum(state), spin, rtol=1e-12)
    # ½ L² (1/I′ − 1/I) = ½ ω² ΔI (1 + ΔI/I′); no group loses more than half of its inertia
    assert 0 < kinetic_energy(state) - energy < 0.5 * rate**2 * lost * 2


def test_the_correction_is_a_rigid_motion_when_the_energy_falls():
    """Four donors around a new point whose interpolated velocity is their mean: corrections of all five velocities are
    those of one rigid motion, and distances change as they would have."""
    donors = Donors(np.array([0]), np.array([0, 4]), np.arange(4))
    x = np.array([[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0], [0.2, 0.1]])
    mass = np.array([1.0, 1.5, 2.0, 0.7, 0.0])
    v = np.array([[1.0, 0.0], [0.0, 3.0], [-2.0, 1.0], [0.5, 0.5], [0.0, 1.0]])
    interpolated = v.copy()
    momentum, spin = mass @ v, angular_momentum(mass, x, v)
    share_mass(donors, np.arange(1), np.array([4]), mass, x, v, NO_C, 0.0)
    np.testing.assert_allclose(mass @ v, momentum, rtol=1e-14)
    np.testing.assert_allclose(angular_momentum(mass, x, v), spin, rtol=1e-14)
    change = v - interpolated
    for i, j in itertools.combinations(range(5), 2):
        np.testing.assert_allclose((change[i] - change[j]) @ (x[i] - x[j]), 0.0, atol=1e-14)


def test_a_degenerate_average_is_replaced_by_the_nearest_tensor_and_counted():
    """Half a turn apart about z: their mean has determinant zero."""
    state = make_state(np.zeros((1, 3)))
    field = next(f for f in state.particles.fields if f.name == "F")
    turn = np.diag([-1.0, -1.0, 1.0])
    mean = 0.5 * (np.eye(3) + turn)[None]
    tensor, count = restore_determinant(field, mean, np.array([1.331]), turn[None])
    assert count == 1
    np.testing.assert_allclose(tensor[0], 1.1 * turn, rtol=1e-14)
