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

from spume.materials import LAWS, Law, Parameters, checks
from spume.materials.loops import ConstitutiveModel


@every_material
def test_starts_without_stress_and_energy(law: Law, parameters: Parameters):
    assert not checks.nothing_at_rest(law, parameters)


@every_material
def test_stress_is_the_derivative_of_the_energy(law: Law, parameters: Parameters):
    assert not checks.stress_of_energy(law, unyielding(law, parameters))


@every_material
def test_the_history_is_the_declared_one(law: Law, parameters: Parameters):
    assert not checks.history_as_declared(law, parameters)


@every_material
def test_energy_is_positive_away_from_rest(law: Law, parameters: Parameters):
    rng = np.random.default_rng(2)
    points = Points(law, unyielding(law, parameters), 200)
    points.step(deformations(rng, 200, 0.4))
    assert np.all(points.energy() > 0.0)


@every_material
def test_wave_speed_is_the_second_derivative_of_the_energy(law: Law, parameters: Parameters):
    assert not checks.wave_speed_of_tangent(law, unyielding(law, parameters))


@every_material
@pytest.mark.parametrize("rate", [1e-3, 10.0, 1e4])
def test_rotated_history_gives_rotated_stress(law: Law, parameters: Parameters, rate: float):
    assert not checks.objectivity(law, parameters, rate)


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
    expected = plain.step(increments, 1e-3)
    tolerance = 1e-11 * checks.present_stiffness(plain)[:, None, None]
    assert np.all(np.abs(turned.step(increments, 1e-3) - expected) <= tolerance)


@every_material
def test_update_writes_the_stress_of_the_history_it_leaves(law: Law, parameters: Parameters):
    assert not checks.stress_of_history(law, parameters)


@every_material
def test_plane_strain_stays_plane(law: Law, parameters: Parameters):
    """With (0, 0, 1) in the third row and column of the deformation no stress tilts out of the plane."""
    rng = np.random.default_rng(7)
    points = Points(law, parameters, 50)
    for _ in range(5):
        increment = np.tile(np.eye(3), (50, 1, 1))
        increment[:, :2, :2] += 0.1 * rng.uniform(-1, 1, (50, 2, 2))
        stress = points.step(increment, 1e-3)
        assert np.all(np.abs(stress[:, 2, :2]) <= 10 * EPS * checks.present_stiffness(points)[:, None])


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
    assert not checks.volume_of_motion(law, unyielding(law, parameters))


@pytest.mark.parametrize("forms", [False, pytest.param(True, marks=pytest.mark.slow_suite)], ids=["laws", "forms"])
def test_laws_in_one_scene_touch_only_their_own_points(forms: bool):
    """A scene of every named material, with those that have forms of laws or without: each point ends with the history,
    stress and energy it would have alone, bit for bit, and the fields of other laws stay at their initial values."""
    rng = np.random.default_rng(9)
    every = [(law.of(parameters), parameters) for law in LAWS.values() for _, parameters in materials_of(law)]
    scene = [(law, parameters) for law, parameters in every if forms or not law.form_of]
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
    assert not checks.dissipation_grows(law, parameters, rate)


@every_flowing_material
def test_flow_dissipates(law: Law, parameters: Parameters):
    points = Points(law, parameters, 20)
    for _ in range(10):
        points.step(np.eye(3) + 0.05 * np.random.default_rng(10).uniform(-1, 1, (20, 3, 3)), 0.05)
    assert points.dissipation().max() > 0.0


@every_flowing_material
def test_work_is_stored_or_dissipated(law: Law, parameters: Parameters):
    assert not checks.work_is_stored_or_dissipated(law, parameters, shear_stiffness(law, parameters))
