"""The contract of `spume.materials.law.Law`, held by every law: energy, stress, objectivity, dissipation.

A new law is tested as soon as it is in LAWS, with the parameters of its named materials.
"""

from typing import Any

import numpy as np
import pytest
from law_cases import (
    EPS,
    Points,
    deformations,
    every_flowing_material,
    every_material,
    full,
    materials_of,
    rotated,
    rotations,
    shear_stiffness,
    stiffness,
    unyielding,
)
from scipy.linalg import expm

from spume.materials import LAWS, Law, Parameters
from spume.materials.loops import ConstitutiveModel


@every_material
def test_starts_without_stress_and_energy(law: Law, parameters: Parameters):
    points = Points(law, parameters, 4)
    assert np.all(points.stress() == 0.0)
    assert np.all(points.energy() == 0.0)


@every_material
def test_stress_is_the_derivative_of_the_energy(law: Law, parameters: Parameters):
    """dW(f F) = τ : δ for f = I + δ, by central differences, whose error is O(δ²) of the modulus."""
    rng = np.random.default_rng(1)
    count, delta = 100, 1e-5
    points = Points(law, unyielding(law, parameters), count)
    stress = points.step(deformations(rng, count, 0.5))
    direction = rng.standard_normal((count, 3, 3))
    energies = []
    for sign in (1.0, -1.0):
        moved = points.copy()
        moved.step(np.eye(3) + sign * delta * direction)
        energies.append(moved.energy())
    slope = (energies[0] - energies[1]) / (2.0 * delta)
    expected = np.einsum("nij,nij->n", stress, direction)
    scale = stiffness(law, parameters)
    # truncation: third derivatives, a few tens of the modulus times ‖direction‖³ ≈ 30, times δ²; rounding: ε W/δ
    np.testing.assert_allclose(slope, expected, rtol=0, atol=scale * (1e4 * delta**2 + 20 * EPS / delta))


@every_material
def test_energy_is_positive_away_from_rest(law: Law, parameters: Parameters):
    rng = np.random.default_rng(2)
    points = Points(law, unyielding(law, parameters), 200)
    points.step(deformations(rng, 200, 0.4))
    assert np.all(points.energy() > 0.0)


@every_material
def test_wave_speed_is_the_second_derivative_of_the_energy(law: Law, parameters: Parameters):
    """ρ c² = d²W/dε² at rest in uniaxial strain; central differences, error O(ε²) of the modulus."""
    epsilon = 1e-3
    increments = np.tile(np.eye(3), (2, 1, 1))
    increments[:, 0, 0] += [epsilon, -epsilon]
    points = Points(law, unyielding(law, parameters), 2)
    points.step(increments)
    modulus = points.energy().sum() / epsilon**2  # the energy at rest is zero
    assert law.wave_speed(parameters) == pytest.approx(np.sqrt(modulus / parameters.density), rel=20 * epsilon**2)


@every_material
@pytest.mark.parametrize("rate", [1e-3, 10.0, 1e4])
def test_rotated_history_gives_rotated_stress(law: Law, parameters: Parameters, rate: float):
    """Objectivity, through yield and flow: Q first, then every increment seen from the rotated frame."""
    rng = np.random.default_rng(3)
    count, strain = 50, 0.05
    q = rotations(rng, count)
    here, there = Points(law, parameters, count), Points(law, parameters, count)
    there.step(q)
    for _ in range(12):
        increment = np.eye(3) + strain * rng.uniform(-1, 1, (count, 3, 3))
        stress = here.step(increment, strain / rate)
        turned = there.step(rotated(q, increment), strain / rate)
        # the flow amplifies differences of the excess over yield by 1/h
        np.testing.assert_allclose(turned, rotated(q, stress), rtol=0, atol=1e-11 * stiffness(law, parameters))
    np.testing.assert_allclose(there.energy(), here.energy(), rtol=1e-9, atol=1e-11 * stiffness(law, parameters))


@every_material
def test_rotation_turns_the_stress_and_keeps_the_energy(law: Law, parameters: Parameters):
    rng = np.random.default_rng(4)
    points = Points(law, unyielding(law, parameters), 100)
    stress = points.step(deformations(rng, 100, 0.4))
    energy = points.energy()
    q = rotations(rng, 100)
    tolerance = 100 * EPS * stiffness(law, parameters)
    np.testing.assert_allclose(points.step(q), rotated(q, stress), rtol=0, atol=tolerance)
    np.testing.assert_allclose(points.energy(), energy, rtol=0, atol=tolerance)


@every_material
def test_isotropic(law: Law, parameters: Parameters):
    """A rotation of the rest state is not felt: f after Q gives the stress of f Q, which is that of f alone."""
    rng = np.random.default_rng(5)
    plain, turned = Points(law, parameters, 100), Points(law, parameters, 100)
    increments = deformations(rng, 100, 0.3)
    turned.step(rotations(rng, 100), 1e-3)
    tolerance = 1e-11 * stiffness(law, parameters)
    np.testing.assert_allclose(turned.step(increments, 1e-3), plain.step(increments, 1e-3), rtol=0, atol=tolerance)


@every_material
def test_update_writes_the_stress_of_the_history_it_leaves(law: Law, parameters: Parameters):
    rng = np.random.default_rng(6)
    points = Points(law, parameters, 100)
    for _ in range(5):
        stress = points.step(np.eye(3) + 0.1 * rng.uniform(-1, 1, (100, 3, 3)), 1e-3)
        np.testing.assert_allclose(points.stress(), stress, rtol=0, atol=20 * EPS * stiffness(law, parameters))


@every_material
def test_plane_strain_stays_plane(law: Law, parameters: Parameters):
    """With (0, 0, 1) in the third row and column of the deformation no stress tilts out of the plane."""
    rng = np.random.default_rng(7)
    points = Points(law, parameters, 50)
    for _ in range(5):
        increment = np.tile(np.eye(3), (50, 1, 1))
        increment[:, :2, :2] += 0.1 * rng.uniform(-1, 1, (50, 2, 2))
        stress = points.step(increment, 1e-3)
        assert np.all(np.abs(stress[:, 2, :2]) <= 10 * EPS * stiffness(law, parameters))


@every_material
def test_points_do_not_see_each_other(law: Law, parameters: Parameters):
    """The same points in another order end bit for bit the same."""
    rng = np.random.default_rng(8)
    order = rng.permutation(300)
    points, shuffled = Points(law, parameters, 300), Points(law, parameters, 300)
    for _ in range(3):
        increment = np.eye(3) + 0.1 * rng.uniform(-1, 1, (300, 3, 3))
        stress = points.step(increment, 1e-3)
        np.testing.assert_array_equal(shuffled.step(increment[order], 1e-3), stress[order])
    for name, values in points.arrays.items():
        np.testing.assert_array_equal(shuffled.arrays[name], values[order])


@every_material
def test_volume_ratio_is_the_determinant_of_the_motion(law: Law, parameters: Parameters):
    """While nothing yields, J multiplies by det f; a law that keeps det F has J² = det(F Fᵀ) to rounding."""
    rng = np.random.default_rng(14)
    points = Points(law, unyielding(law, parameters), 50)
    expected = np.ones(50)
    for _ in range(4):
        increment = deformations(rng, 50, 0.2)
        points.step(increment, 1e-3)
        expected *= np.linalg.det(increment)
    np.testing.assert_allclose(points.volume_ratio(), expected, rtol=1e-13)


def test_laws_in_one_scene_touch_only_their_own_points():
    """A scene of every named material: each point ends with the history, stress and energy it would have alone, bit for
    bit, and the fields of other laws stay at their initial values."""
    rng = np.random.default_rng(9)
    scene = [(law, parameters) for law in LAWS.values() for _, parameters in materials_of(law)]
    model = ConstitutiveModel(scene)
    count = 40 * len(scene)
    material = rng.permutation(np.arange(count) % len(scene)).astype(np.int32)
    increment = np.eye(3) + 0.01 * rng.uniform(-1, 1, (count, 3, 3))
    arrays: dict[str, Any] = {"material": material} | {field.name: field.allocate(count) for field in model.fields}
    stress = np.full((count, 6), np.nan)
    model.update(arrays, 1e-2, increment, stress)
    again = np.full((count, 6), np.nan)
    model.stress(arrays, again)
    energy = model.energy(arrays)
    uses = {use.law.name: use for use in model.laws}
    for k, (law, parameters) in enumerate(scene):
        chosen = material == k
        alone = Points(law, parameters, int(chosen.sum()))
        np.testing.assert_array_equal(full(stress[chosen]), alone.step(increment[chosen], 1e-2))
        np.testing.assert_array_equal(full(again[chosen]), alone.stress())
        np.testing.assert_array_equal(energy[chosen], alone.energy())
        own = dict(zip(uses[law.name].columns, law.fields))
        for field in model.fields:
            expected = alone.field(own[field.name].name) if field.name in own else field.allocate(int(chosen.sum()))
            np.testing.assert_array_equal(arrays[field.name][chosen], expected)


@every_flowing_material
@pytest.mark.parametrize("rate", [0.1, 10.0, 1e3])
def test_dissipation_is_never_negative(law: Law, parameters: Parameters, rate: float):
    """A correction never raises the stored energy."""
    rng = np.random.default_rng(10)
    points = Points(law, parameters, 200)
    dissipated = points.field("dissipation").copy()
    for _ in range(30):
        points.step(np.eye(3) + 0.05 * rng.uniform(-1, 1, (200, 3, 3)), 0.05 / rate)
        assert np.all(points.field("dissipation") >= dissipated)
        dissipated = points.field("dissipation").copy()
    assert dissipated.max() > 0.0


@every_flowing_material
def test_work_is_stored_or_dissipated(law: Law, parameters: Parameters):
    """∫ τ : L dt = ΔW + D, integrated by the trapezoidal rule in steps of strain ε.

    A step of the split scheme climbs elastically by up to 2 μ ε and falls back: the work of that climb, μ ε² a step,
    is in D and not in the rule. The first step of a viscous fluid jumps to its stress: half a step of work. Steps are
    f = exp(ε d), so that the volume is kept.
    """
    rng = np.random.default_rng(11)
    count, strain, steps = 50, 1e-3, 400
    direction = rng.standard_normal((count, 3, 3))
    direction -= np.trace(direction, axis1=1, axis2=2)[:, None, None] / 3 * np.eye(3)
    direction /= np.linalg.norm(direction, axis=(1, 2))[:, None, None]
    points = Points(law, parameters, count)
    work = np.zeros(count)
    before = points.stress()
    increment = expm(strain * direction)
    for _ in range(steps):
        after = points.step(increment, strain / 10.0)
        work += 0.5 * strain * np.einsum("nij,nij->n", before + after, direction)
        before = after
    balance = points.energy() + points.field("dissipation")
    climbs = 2 * shear_stiffness(law, parameters) * strain**2 * steps
    np.testing.assert_allclose(balance, work, rtol=0, atol=climbs + 4 * strain * work.max())
