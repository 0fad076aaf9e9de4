"""Tearing on single points: [Yue15] algorithms 7, 8 (its limit) and 11 (its limit)."""

import numpy as np
import pytest
from foam_bench import Bench, elastic_plastic, full, rotations, symmetric, unit
from scipy.linalg import sqrtm

from spume import Scene
from spume.foam.plastic_strain import plastic_strain
from spume.foam.tearing import detect_tearing, is_torn, keep_rotation, limit_deformation
from spume.methods import method_class

EPS = np.finfo(float).eps


def deviator_norm(C):
    return np.linalg.norm(C - np.trace(C, axis1=1, axis2=2)[:, None, None] * np.eye(3) / 3, axis=(1, 2))


def test_plastic_strain_of_a_composed_deformation_is_that_of_its_plastic_factor(rng):
    F, be, Cp = elastic_plastic(rng, 50)
    found = np.array([plastic_strain(tuple(f.ravel()), tuple(b)) for f, b in zip(F, symmetric(be))])
    # Two congruences and an inverse: rounding times the condition numbers of Fe (below 3) and Fp.
    bound = 1e3 * EPS * np.linalg.cond(Cp) * np.linalg.norm(Cp, axis=(1, 2))
    assert np.all(np.linalg.norm(full(found) - Cp, axis=(1, 2)) <= bound)


def test_weak_are_the_points_whose_plastic_strain_exceeds_the_threshold(rng):
    F, be, Cp = elastic_plastic(rng, 200, plastic=0.4)
    measure = deviator_norm(Cp)
    bench = Bench(tear_threshold=float(np.median(measure)) * 1.0001)
    bench.add(F, be)
    detect_tearing(bench.world, 0.0, bench.foam)
    np.testing.assert_array_equal(bench.particles.weak, measure > bench.parameters.tear_threshold)
    assert bench.foam.weak_points == bench.particles.weak.sum() == 100


@pytest.mark.parametrize("plastic", [0.01, 0.4, 3.0])
def test_the_bound_that_saves_the_plastic_strain_hides_no_weak_point(rng, plastic):
    """The threshold of each material is a little less or more than the plastic strain of its point."""
    F, be, Cp = elastic_plastic(rng, 200, plastic=plastic)
    thin, stretched = np.diag([1e-4, 1.0, 1e-4]), np.diag([30.0, 1.0 / 900.0, 30.0])  # ‖B‖ is nearly ‖F‖² ‖b̄e⁻¹‖
    F, be = np.concatenate([F, [thin]]), np.concatenate([be, [stretched]])
    measure = deviator_norm(np.concatenate([Cp, [strain(thin, stretched)]]))
    for side in (-1.0, 1.0):
        for f, b, size in zip(F, symmetric(be), measure):
            assert is_torn(tuple(f.ravel()), tuple(b), size * (1.0 + side * 1e-6)) == (side < 0.0)


def strain(F, be):
    return np.linalg.det(F) ** (-2 / 3) * F.T @ np.linalg.inv(be) @ F


def test_a_point_that_recovered_is_weak_no_more(rng):
    F, be, _ = elastic_plastic(rng, 3)
    bench = Bench(tear_threshold=1e-3)
    bench.add(F, be)
    detect_tearing(bench.world, 0.0, bench.foam)
    assert bench.particles.weak.all()
    bench.particles.F[:] = np.eye(3)
    bench.particles.be[:] = (1, 1, 1, 0, 0, 0)
    detect_tearing(bench.world, 0.0, bench.foam)
    assert not bench.particles.weak.any()


def test_a_material_without_threshold_never_tears(rng):
    F, be, _ = elastic_plastic(rng, 20, plastic=2.0)
    bench = Bench(tear_threshold=None)
    bench.add(F, be, stress=np.ones((20, 6)))
    detect_tearing(bench.world, 0.0, bench.foam)
    assert not bench.particles.weak.any()
    np.testing.assert_array_equal(bench.particles.stress, 1.0)


def torn(bench, rng, count, **values):
    F, be, _ = elastic_plastic(rng, count, plastic=1.0)
    bench.add(F, be, weak=np.ones(count), **values)
    return F, be


def test_weak_stress_loses_its_tension_and_keeps_its_compression(rng):
    bench = Bench(tear_threshold=1e-3)
    V = rotations(rng, 300)
    values = 1e3 * rng.normal(size=(300, 3))
    stress = np.einsum("nij,nj,nkj->nik", V, values, V)
    torn(bench, rng, 300, stress=symmetric(stress))
    detect_tearing(bench.world, 0.0, bench.foam)
    wanted = np.einsum("nij,nj,nkj->nik", V, np.minimum(values, 0), V)
    # an eigendecomposition of backward error a few rounding units of the norm, put together again
    bound = 50 * EPS * np.abs(values).max(axis=1)
    assert np.all(np.abs(full(bench.particles.stress) - wanted).max(axis=(1, 2)) <= bound)
    assert np.all(np.linalg.eigvalsh(full(bench.particles.stress)).max(axis=1) <= bound)


def test_pure_compression_of_a_weak_point_is_kept_bit_for_bit(rng):
    bench = Bench(tear_threshold=1e-3)
    V = rotations(rng, 50)
    stress = symmetric(-np.einsum("nij,nj,nkj->nik", V, rng.uniform(0.1, 10, (50, 3)), V))
    torn(bench, rng, 50, stress=stress)
    detect_tearing(bench.world, 0.0, bench.foam)
    np.testing.assert_array_equal(bench.particles.stress, stress)


def test_whole_points_keep_stress_and_deformation_bit_for_bit(rng):
    bench = Bench(tear_threshold=1e6)
    F, be, _ = elastic_plastic(rng, 50)
    stress, f = rng.normal(size=(50, 6)), np.eye(3) + 1e-3 * rng.normal(size=(50, 3, 3))
    bench.add(F, be, stress=stress)
    bench.world.deformation[:] = f
    detect_tearing(bench.world, 0.0, bench.foam)
    limit_deformation(bench.world, 0.0, bench.foam)
    np.testing.assert_array_equal(bench.particles.stress, stress)
    np.testing.assert_array_equal(bench.world.deformation, f)


DT = 1e-3


def increment(L):
    """f of a step that follows the velocity gradient L: the exponential to second order."""
    return np.eye(3) + DT * L + DT**2 * (L @ L) / 2


def limited(bench, L):
    """f of the step after the limiter."""
    bench.world.deformation[:] = increment(L)
    limit_deformation(bench.world, 0.0, bench.foam)
    return bench.world.deformation.copy()


def oracle(f, F, be):
    """[Yue15] algorithm 11, one point."""
    Jf = np.linalg.det(f)
    f_bar = f / np.cbrt(Jf)
    corrected = f
    if np.linalg.eigvalsh(f_bar @ be @ f_bar.T)[-1] > np.linalg.eigvalsh(be)[-1]:
        U, _, Vt = np.linalg.svd(f_bar)
        corrected = np.cbrt(Jf) * U @ Vt
    J = np.linalg.det(corrected)
    return corrected / np.cbrt(J) if np.linalg.det(F) * J > 1 and J > 1 else corrected


def test_limiter_is_algorithm_11(rng):
    bench = Bench()
    F, be = torn(bench, rng, 400)
    L = 30 * rng.normal(size=(400, 3, 3))
    f = limited(bench, L)
    wanted = np.array([oracle(increment(L[p]), F[p], be[p]) for p in range(400)])
    cases = (
        np.linalg.det(wanted) > 1 + 1e-9,
        np.linalg.det(wanted) < 1 - 1e-9,
        np.abs(wanted - increment(L)).max(axis=(1, 2)) < 1e-12,
    )
    assert all(40 < case.sum() < 360 for case in cases[1:])  # compressed ones; ones left alone
    np.testing.assert_allclose(f, wanted, rtol=0, atol=1e-13)  # sums of numbers of size one, 100 rounding units


def test_limiter_stops_growing_shear_and_keeps_the_rotation(rng):
    bench = Bench()
    F, be = torn(bench, rng, 100)
    F[:] *= 0.9 / np.cbrt(np.linalg.det(F))[:, None, None]  # compressed, so that expansion is not in question
    bench.particles.F[:] = F
    # stretch along the longest axis of b̄e, together with a turn
    longest = np.linalg.eigh(be)[1][:, :, 2]
    L = 20 * (longest[:, :, None] * longest[:, None, :] - np.eye(3) / 3)
    spin = rng.normal(size=(100, 3, 3))
    L += 20 * (spin - spin.transpose(0, 2, 1))
    f = unit(limited(bench, L))
    np.testing.assert_allclose(f @ f.transpose(0, 2, 1), np.broadcast_to(np.eye(3), f.shape), atol=1e-13)
    grown = np.linalg.eigvalsh(f @ be @ f.transpose(0, 2, 1))[:, -1]
    np.testing.assert_allclose(grown, np.linalg.eigvalsh(be)[:, -1], rtol=1e-13)


def test_limiter_lets_shear_that_shrinks_pass_bit_for_bit(rng):
    bench = Bench()
    F, be = torn(bench, rng, 50)
    bench.particles.F[:] = F * (0.9 / np.cbrt(np.linalg.det(F)))[:, None, None]
    longest = np.linalg.eigh(be)[1][:, :, 2]
    L = -5 * longest[:, :, None] * longest[:, None, :]
    np.testing.assert_allclose(limited(bench, L), increment(L), rtol=0, atol=EPS)


def test_limiter_passes_rotation(rng):
    bench = Bench()
    torn(bench, rng, 50)
    turn = 0.05 * rng.normal(size=(50, 3))
    zero = np.zeros(50)
    W = np.moveaxis(
        np.array([[zero, -turn[:, 2], turn[:, 1]], [turn[:, 2], zero, -turn[:, 0]], [-turn[:, 1], turn[:, 0], zero]]),
        2,
        0,
    )
    # Cayley's formula: an exact rotation, and the L that leads to it: I + Δt L + ½ (Δt L)² = R
    R = np.linalg.solve(np.eye(3) - W / 2, np.eye(3) + W / 2)
    L = np.array([(sqrtm(2 * r - np.eye(3)) - np.eye(3)).real / DT for r in R])
    np.testing.assert_allclose(limited(bench, L), R, rtol=0, atol=1e-14)


@pytest.mark.parametrize(
    ("volume", "rate", "passes"), [(1.2, 1.0, False), (1.2, -1.0, True), (0.5, 1.0, True), (0.5, -1.0, True)]
)
def test_limiter_blocks_expansion_beyond_rest_and_passes_compression(rng, volume, rate, passes):
    bench = Bench()
    F, _ = torn(bench, rng, 20)
    bench.particles.F[:] = F * np.cbrt(volume / np.linalg.det(F))[:, None, None]
    f = limited(bench, rate * np.eye(3))
    wanted = (1 + DT * rate + (DT * rate) ** 2 / 2) ** 3 if passes else 1.0
    np.testing.assert_allclose(np.linalg.det(f), wanted, rtol=1e-14)


def test_expansion_is_judged_by_the_volume_it_leads_to(rng):
    """The algorithm's J_n J_f > 1, not the text's J_n > 1: a step across the rest volume is blocked already."""
    bench = Bench()
    F, _ = torn(bench, rng, 1)
    bench.particles.F[:] = F * np.cbrt(0.9999 / np.linalg.det(F))[:, None, None]
    assert np.linalg.det(limited(bench, np.eye(3)))[0] == pytest.approx(1.0, rel=1e-14)


def test_in_the_plane_a_limited_change_of_volume_stretches_all_axes_alike():
    """A squeeze along one axis adds shear; what is left of it is a rotation times the cube root of its volume."""
    bench = Bench(dimension=2)
    bench.add(np.eye(3)[None] * 0.9, np.eye(3)[None], weak=[1])
    f = limited(bench, np.diag([-1.0, 0.0, 0.0]))
    stretch = np.cbrt(np.linalg.det(increment(np.diag([-1.0, 0.0, 0.0]))))
    np.testing.assert_allclose(f[0], stretch * np.eye(3), rtol=0, atol=1e-15)


def test_the_affine_velocity_of_weak_points_keeps_its_rotation_alone(rng):
    """The skew part has the whole angular momentum; strain rates of other points stay."""
    C = rng.normal(size=(4, 3, 3))
    before = C.copy()
    keep_rotation(C, np.array([1, 0, 1, 0], np.int8))
    np.testing.assert_array_equal(C[1::2], before[1::2])
    np.testing.assert_array_equal(C[::2], -C[::2].transpose(0, 2, 1))
    np.testing.assert_array_equal(C[::2] - C[::2].transpose(0, 2, 1), before[::2] - before[::2].transpose(0, 2, 1))
    keep_rotation(np.zeros((0, 1, 1)), np.ones(4, np.int8))  # FLIP has none


def test_a_lone_weak_point_does_not_accelerate_itself():
    """Its stress pushes the nodes around it apart in every step, and its limited deformation does not relieve it."""
    scene = Scene(
        title="fragment", method="continuum-foam", duration=1.0, gravity=[0.0, 0.0, 0.0], grid={"cell": 0.01},
        recovery={"enabled": False}, subgrid_removal={"enabled": False}, resampling={"enabled": False},
        body=[{"material": "shaving cream", "shape": {"sphere": {"center": [0.0, 0.0, 0.0], "radius": 0.01}}}],
    )  # fmt: skip
    method = method_class(scene.method)(scene)
    p = method.particles
    p.take(np.array([0]))
    p.F[:] = np.diag([30.0, 1.0, 1.0 / 30.0])  # plastic strain far beyond the threshold
    p.be[:] = [1.2, 1.0, 1.0 / 1.2, 0.0, 0.0, 0.0]
    method.advance(0.05, lambda: False, lambda _: None)
    assert p.weak[0] == 1
    assert np.abs(p.C).max() * method.world.time_step.last < 1e-2
