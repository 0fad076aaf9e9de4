"""Recovery on single points: [Yue15] algorithm 14, λ(t) = λ(0)^exp(−t/ηp) for the eigenvalues λ of √Cp."""

import numpy as np
import pytest
from foam_bench import Bench, elastic_plastic, symmetric, unit

from spume.foam.recovery import recover
from spume.matter.material import update_material

EPS = np.finfo(float).eps


def plastic(F, be):
    """Cp, full tensors."""
    return unit(F.transpose(0, 2, 1) @ np.linalg.solve(be, F))


def let_recover(bench, *times):
    for dt in times:
        recover(bench.world, dt, bench.foam)
        bench.world.time += dt
        bench.world.steps += 1


@pytest.mark.parametrize("time", [1e-5, 1e-2, 0.5, 4.0])
def test_plastic_stretches_follow_their_power_law(rng, time):
    F, be, Cp = elastic_plastic(rng, 100)
    bench = Bench(recovery_time=0.5)
    bench.add(F, be)
    let_recover(bench, time)
    stretches, axes = np.linalg.eigh(Cp)
    relaxed = stretches ** np.exp(-time / 0.5)
    wanted = np.einsum("nij,nj,nkj->nik", axes, relaxed, axes)
    # the conditioning of Cp, computed from F and b̄e, times rounding
    bound = 1e3 * EPS * (np.linalg.cond(Cp) * np.linalg.norm(Cp, axis=(1, 2)))
    assert np.all(np.linalg.norm(plastic(bench.particles.F, be) - wanted, axis=(1, 2)) <= bound)


def test_volume_ratio_and_elastic_strain_stay(rng):
    F, be, _ = elastic_plastic(rng, 100)
    bench = Bench()
    bench.add(F, be)
    let_recover(bench, *[0.01] * 100)
    # 100 factors of determinant one, each with a few rounding errors of ‖F‖³/J ≤ 100 or so
    np.testing.assert_allclose(np.linalg.det(bench.particles.F), np.linalg.det(F), rtol=100 * 100 * EPS)
    np.testing.assert_array_equal(bench.particles.be, symmetric(be))


def test_a_unit_plastic_strain_leaves_the_deformation_bit_for_bit(rng):
    F, _, _ = elastic_plastic(rng, 50)
    bench = Bench()
    bench.add(F, unit(F @ F.transpose(0, 2, 1)))
    let_recover(bench, 1e-4)
    np.testing.assert_array_equal(bench.particles.F, F)


def test_recovery_composes_over_steps(rng):
    F, be, Cp = elastic_plastic(rng, 50)
    often, once = Bench(), Bench()
    for bench in (often, once):
        bench.add(F, be)
    let_recover(often, *[0.002] * 64)
    let_recover(once, 0.128)
    bound = 64 * 100 * EPS * np.linalg.cond(Cp).max()
    np.testing.assert_allclose(often.particles.F, once.particles.F, rtol=0, atol=bound * np.abs(F).max())


def test_every_k_steps_is_every_step_while_nothing_flows(rng):
    """The factor commutes with elastic motion, F ← f F and b̄e ← f̄ b̄e f̄ᵀ, so that the steps in between may move."""
    F, be, Cp = elastic_plastic(rng, 40, elastic=0.01)
    benches = [Bench(every=k, yield_stress=1e12) for k in (1, 5)]
    motions = 0.5 * rng.normal(size=(20, 40, 3, 3))
    steps = rng.uniform(0.5e-3, 1e-3, 20)
    for bench in benches:
        bench.add(F, be)
        for L, dt in zip(motions, steps):
            bench.world.deformation[:] = np.eye(3) + dt * L + dt**2 * (L @ L) / 2
            update_material(bench.world, dt)
            let_recover(bench, dt)
    bound = 20 * 100 * EPS * np.linalg.cond(Cp).max()
    a, b = (bench.particles.F for bench in benches)
    assert np.abs(a - F).max() > 1e-4
    np.testing.assert_allclose(a, b, rtol=0, atol=bound * np.abs(F).max())


def test_recovery_waits_for_its_turn_and_then_covers_all_the_time(rng):
    F, be, _ = elastic_plastic(rng, 5)
    bench = Bench(every=3)
    bench.add(F, be)
    let_recover(bench, 0.1, 0.2)
    np.testing.assert_array_equal(bench.particles.F, F)
    let_recover(bench, 0.1)
    once = Bench()
    once.add(F, be)
    let_recover(once, 0.4)
    np.testing.assert_allclose(bench.particles.F, once.particles.F, rtol=1e-14)


def test_a_material_without_recovery_time_stays_torn(rng):
    F, be, _ = elastic_plastic(rng, 5)
    bench = Bench(recovery_time=None)
    bench.add(F, be)
    let_recover(bench, 10.0)
    np.testing.assert_array_equal(bench.particles.F, F)
