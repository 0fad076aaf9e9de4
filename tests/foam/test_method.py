"""Continuum foam as a whole: short runs of a dollop that falls on a ball, tears and goes on."""

from dataclasses import replace

import numba
import numpy as np
import pytest
from foam_bench import dollop

from spume.foam.method import ContinuumFoam
from spume.laws import Tearing, Traits
from spume.materials import LAWS, register_law
from spume.materials.herschel_bulkley import HERSCHEL_BULKLEY, HerschelBulkleyParameters
from spume.materials.table import complete_entry


def advance(method, until):
    assert method.advance(until, lambda: False, lambda progress: None)


def simulated(scene, until):
    method = ContinuumFoam(scene)
    advance(method, until)
    return method


SCHEMES = pytest.mark.parametrize("scheme", ["apic", "flip"])


@pytest.mark.parametrize(
    ("dimension", "scheme"),
    [(2, "apic"), (2, "flip"), (3, "apic"), pytest.param(3, "flip", marks=pytest.mark.slow_suite)],
)
def test_torn_foam_stays_sane(dimension, scheme):
    method = simulated(dollop(dimension, transfer={"scheme": scheme}), 0.02)
    p = method.particles
    report = method.diagnostics()
    assert all(np.isfinite(array).all() for array in p.arrays().values())
    assert 0 < report["weak_points"] == p.weak.sum()
    assert report["points_inserted"] > 0
    # nothing is lost but what is counted: sums of a few thousand masses
    start = ContinuumFoam(dollop(dimension)).particles.mass.sum()
    assert report["mass"] + report["mass_removed"] == pytest.approx(start, rel=1e-12)
    # what the normalised strain is by definition, after hundreds of steps with an error of a few units each
    xx, yy, zz, xy, xz, yz = p.be.T
    det = xx * (yy * zz - yz**2) + xy * (yz * xz - xy * zz) + xz * (xy * yz - yy * xz)
    np.testing.assert_allclose(det, 1.0, rtol=1e-12)


@SCHEMES
def test_bit_for_bit_the_same_with_one_thread_and_two(scheme):
    threads = numba.get_num_threads()
    if numba.config.NUMBA_NUM_THREADS < 2:
        pytest.skip("needs two threads")
    try:
        results = []
        for n in (1, 2):
            numba.set_num_threads(n)
            results.append(simulated(dollop(2, transfer={"scheme": scheme}), 0.012).particles.arrays())
    finally:
        numba.set_num_threads(threads)
    for name, array in results[0].items():
        np.testing.assert_array_equal(array, results[1][name], err_msg=name)


@SCHEMES
def test_a_resumed_run_is_the_uninterrupted_one(scheme):
    """Stopped between two recoveries, so that the time they have to cover is remembered."""
    scene = dollop(2, transfer={"scheme": scheme})
    whole = ContinuumFoam(scene)
    stopped = ContinuumFoam(scene)
    calls = iter(range(10**6))
    assert not stopped.advance(0.02, lambda: next(calls) == 123, lambda progress: None)
    arrays, values = stopped.checkpoint()
    resumed = ContinuumFoam(scene)
    resumed.restore({name: array.copy() for name, array in arrays.items()}, values)
    for method in (whole, resumed):
        advance(method, 0.02)
    for name, array in whole.particles.arrays().items():
        np.testing.assert_array_equal(array, resumed.particles.arrays()[name], err_msg=name)
    assert whole.checkpoint()[1] | {"seconds": 0} == resumed.checkpoint()[1] | {"seconds": 0}


def test_stages_are_switched_by_their_tables():
    off = {"enabled": False}
    method = simulated(dollop(2, tearing=off, recovery=off, subgrid_removal=off, resampling=off), 0.01)
    report = method.diagnostics()
    assert report["weak_points"] == report["points_removed"] == report["points_inserted"] == 0
    stages = {"tear detection", "plastic recovery", "subgrid geometry removal", "particle resampling"}
    assert not stages & set(report["seconds"])


def test_without_tearing_recovery_does_not_change_the_motion():
    """It changes F but neither J nor b̄e, so that the stress is the same but for rounding."""
    off = {"enabled": False}
    runs = [simulated(dollop(2, tearing=off, resampling=off, recovery=table), 0.005) for table in (off, {"every": 1})]
    a, b = (run.particles for run in runs)
    assert np.abs(a.F - b.F).max() > 1e-6
    np.testing.assert_allclose(a.x, b.x, rtol=0, atol=1e-12)


@pytest.mark.parametrize("flip", [0.95, 1.0])
def test_energy_never_grows_and_dissipation_is_never_negative(flip):
    """Free foam, stretched by its initial velocities until it flows, then left to jiggle.

    Symplectic Euler conserves a nearby energy, which differs from the true one by at most ω Δt/2 for a mode of
    frequency ω; transfers and flow only take. So between any two times the energy grows by less than ω Δt of itself.
    ω is that of the lowest pressure wave across the disc, π c/R, the fastest with a noteworthy part of the energy.
    With pure FLIP the transfers take little, so that the flow has nearly all of the energy.
    """
    radius, cell, courant = 0.03, 0.005, 0.1
    scene = dollop(
        2,
        gravity=[0.0, 0.0],
        grid={"cell": cell},
        time={"courant": courant},
        transfer={"scheme": "flip", "flip": flip},
        obstacle=[],
        material={"cream": {"base": "shaving cream", "bulk_modulus": 5e3}},
        body=[{"material": "cream", "shape": {"circle": {"center": [0.0, 0.0], "radius": radius}}}],
        tearing={"enabled": False},
        resampling={"enabled": False},
    )
    method = ContinuumFoam(scene)
    p = method.particles
    p.v[:] = p.x * [30.0, -30.0]
    energy, dissipated = [], []
    for k in range(60):
        report = method.diagnostics()
        energy.append(report["kinetic_energy"] + report["elastic_energy"])
        dissipated.append(report["dissipated_energy"])
        assert p.dissipation.min() >= 0.0
        advance(method, (k + 1) * 1e-3)
    growth = np.max(np.array(energy) - np.minimum.accumulate(energy))
    assert growth <= courant * np.pi * cell / radius * energy[0]
    assert np.all(np.diff(dissipated) >= 0.0)
    assert np.max(np.array(energy) + dissipated) <= energy[0] * (1 + courant * np.pi * cell / radius)
    assert dissipated[-1] > 0.3 * energy[0]  # it did flow


class ParametersOfMyFoam(HerschelBulkleyParameters):
    weakness: float | None = None
    healing: float | None = None


def test_a_law_with_the_traits_of_foam_tears_like_foam():
    """The built-in law under another name, with other names of its parameters for tearing and recovery."""
    traits = Traits(tearing=Tearing("weakness", "healing"))
    register_law(replace(HERSCHEL_BULKLEY, name="my-foam", parameters=ParametersOfMyFoam, traits=traits))
    entry = complete_entry("shaving cream", {}) | {"bulk_modulus": 2e4}
    recovery_time = entry.pop("recovery_time")
    del entry["tear_threshold"]
    names = {"herschel-bulkley": ("tear_threshold", "recovery_time"), "my-foam": ("weakness", "healing")}
    runs = []
    for law, (threshold, time) in names.items():
        material = entry | {"law": law, threshold: 1.0, time: recovery_time}
        runs.append(simulated(dollop(2, material={"cream": material}), 0.012))
    LAWS.pop("my-foam")
    assert runs[0].diagnostics()["weak_points"] > 0
    for name, array in runs[0].particles.arrays().items():
        np.testing.assert_array_equal(array, runs[1].particles.arrays()[name], err_msg=name)
