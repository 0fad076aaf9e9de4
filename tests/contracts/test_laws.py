"""The contract of `spume.materials.law.Law`, held by every law: a new one is tested as soon as it is in LAWS.

The laws are tested with the parameters of the named materials, so a law needs at least one of those.
"""

from dataclasses import dataclass
from typing import Any, Literal, get_origin

import numba
import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.linalg import expm
from scipy.spatial.transform import Rotation

from spume.materials import LAWS, Law, Parameters
from spume.materials.loops import ConstitutiveModel
from spume.materials.table import complete_entry, named_materials

Array = NDArray[np.float64]
EPS = np.finfo(float).eps
PAIRS = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))


@pytest.fixture(autouse=True)
def _one_thread():
    """Waking a second thread costs more than these few points."""
    threads = numba.get_num_threads()
    numba.set_num_threads(1)
    yield
    numba.set_num_threads(threads)


def materials_of(law: Law) -> list[tuple[str, Parameters]]:
    """The named materials of a law."""
    found = []
    for name in named_materials():
        entry = complete_entry(name, {})
        if entry.pop("law") == law.name:
            found.append((name, law.parameters.model_validate(entry, strict=True)))
    return found


CASES = [
    pytest.param(law, parameters, id=f"{law.name}: {name}")
    for law in LAWS.values()
    for name, parameters in materials_of(law)
]
every_law = pytest.mark.parametrize("law", [pytest.param(law, id=law.name) for law in LAWS.values()])
every_material = pytest.mark.parametrize(("law", "parameters"), CASES)
every_flowing_material = pytest.mark.parametrize(
    ("law", "parameters"), [case for case in CASES if "dissipation" in {f.name for f in case.values[0].fields}]
)


@dataclass
class Points:
    """Points of one material, driven through the law's loops."""

    law: Law
    parameters: Parameters
    count: int

    def __post_init__(self) -> None:
        self.model = ConstitutiveModel([(self.law, self.parameters)])
        self.arrays: dict[str, Any] = {"material": np.zeros(self.count, dtype=np.int32)}
        self.arrays |= {field.name: field.allocate(self.count) for field in self.law.fields}

    def copy(self) -> "Points":
        other = Points(self.law, self.parameters, self.count)
        other.arrays = {name: values.copy() for name, values in self.arrays.items()}
        return other

    def step(self, increment: Array, dt: float = 1.0) -> Array:
        """Deform by f = increment, shape (n, 3, 3), in a time of dt; returns the stress, shape (n, 3, 3)."""
        stress = np.full((self.count, 6), np.nan)
        deformation = np.array(np.broadcast_to(increment, (self.count, 3, 3)))  # writable: one kernel for all calls
        self.model.update(self.arrays, dt, deformation, stress)
        return full(stress)

    def stress(self) -> Array:
        stress = np.full((self.count, 6), np.nan)
        self.model.stress(self.arrays, stress)
        return full(stress)

    def energy(self) -> Array:
        return self.model.energy(self.arrays)

    def volume_ratio(self) -> Array:
        return self.model.volume_ratio(self.arrays)

    def field(self, name: str) -> Array:
        return self.arrays[name]

    def history(self, p: int) -> tuple[Any, ...]:
        """The history of one point as its law's functions take it."""
        values = (self.arrays[field.name][p] for field in self.law.fields)
        return tuple(tuple(value.ravel().tolist()) if value.ndim else float(value) for value in values)


def full(symmetric: Array) -> Array:
    """(n, 3, 3) from (n, 6)."""
    tensors = np.empty((len(symmetric), 3, 3))
    for k, (i, j) in enumerate(PAIRS):
        tensors[:, i, j] = tensors[:, j, i] = symmetric[:, k]
    return tensors


def rotations(rng: np.random.Generator, count: int) -> Array:
    """About random axes, by up to 1.5 rad."""
    axes = rng.standard_normal((count, 3))
    axes /= np.linalg.norm(axes, axis=1)[:, None]
    return Rotation.from_rotvec(axes * rng.uniform(0, 1.5, (count, 1))).as_matrix()


def deformations(rng: np.random.Generator, count: int, size: float) -> Array:
    """Deformation gradients with logarithmic principal stretches of about `size`."""
    stretches = np.exp(size * rng.uniform(-1, 1, (count, 3)))
    return rotations(rng, count) @ (stretches[:, :, None] * np.eye(3)) @ rotations(rng, count)


def rotated(q: Array, tensors: Array) -> Array:
    return q @ tensors @ np.swapaxes(q, 1, 2)


def stiffness(law: Law, parameters: Parameters) -> float:
    """Modulus of uniaxial strain ρ c² [Pa]: the scale of the stresses."""
    return parameters.density * law.wave_speed(parameters) ** 2


ELASTIC: dict[str, dict[str, Any]] = {
    "herschel-bulkley": {"yield_stress": 1e12},
    "von-mises": {"yield_stress": 1e12},
    "viscoelastic": {"yield_stress": 1e12, "deviatoric_viscosity": 1e30, "volumetric_viscosity": 1e30},
    "drucker-prager": {"cohesion": 1e12},
    "corotated-plastic": {"flow_rate": 0.0},
    "water": {"viscosity": 0.0, "tension": "full", "exponent": 2.0},
}
"""Values of parameters with which a law is elastic at every stress these tests reach, by the name of the law. Pressures
with a high exponent would be so stiff at the compressions of these tests that differences cannot resolve them."""


def unyielding(law: Law, parameters: Parameters) -> Parameters:
    """The same material, elastic at every stress these tests reach."""
    return parameters.model_copy(update=ELASTIC.get(law.name, {}))


def shear_stiffness(law: Law, parameters: Parameters) -> float:
    """dτ12/dγ at rest [Pa]."""
    increment = np.eye(3)[None].copy()
    increment[0, 0, 1] = 1e-6
    return float(Points(law, unyielding(law, parameters), 1).step(increment)[0, 0, 1]) / 1e-6


def deviatoric(stress: Array) -> Array:
    """‖dev τ‖."""
    return np.linalg.norm(stress - np.trace(stress, axis1=1, axis2=2)[:, None, None] / 3 * np.eye(3), axis=(1, 2))


@every_law
def test_has_a_named_material(law: Law):
    assert materials_of(law), f"give a material of the law '{law.name}' in materials/table.toml"


@every_law
def test_packs_as_many_numbers_as_it_names(law: Law):
    for _, parameters in materials_of(law):
        packed = law.pack(parameters)
        assert len(packed) == len(law.constants)
        assert np.all(np.isfinite(packed))


@every_law
def test_every_parameter_and_field_says_its_unit(law: Law):
    for name, field in law.parameters.model_fields.items():
        assert field.description, name
        assert field.description.rstrip().endswith("]"), f"{name}: the description should end with the unit"
    for declared in law.fields:
        assert declared.unit
        assert declared.description


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


def broken(law: Law, parameters: Parameters) -> list[tuple[str, Any]]:
    """Pairs of a key and a value it must refuse."""
    wrong: list[tuple[str, Any]] = []
    for name, field in law.parameters.model_fields.items():
        values = (float("nan"), float("inf"), float("-inf"), "soft", [1.0], True)
        wrong += [(name, value) for value in values if not (field.annotation is bool and value is True)]
        for rule in field.metadata:
            limits = {"gt": (0, -1), "ge": (-1e-9, -1), "lt": (0, 1), "le": (1e-9, 1)}
            for kind, (at, beyond) in limits.items():
                if (bound := getattr(rule, kind, None)) is not None:
                    wrong += [(name, float(bound + at)), (name, float(bound + beyond))]
    return wrong


@every_law
def test_every_number_is_bounded(law: Law):
    """No parameter of a law may be just any number: each declares where it ends."""
    for name, field in law.parameters.model_fields.items():
        if field.annotation is bool or get_origin(field.annotation) is Literal:
            continue
        bounds = [rule for rule in field.metadata if any(hasattr(rule, kind) for kind in ("gt", "ge", "lt", "le"))]
        assert bounds, f"{name} accepts any number"


@every_law
def test_invalid_parameters_are_rejected_with_a_sentence(law: Law):
    """As a scene meets them: the sentence names the material, the key and what was found."""
    from spume.scene.material import MaterialTable, resolve_materials

    _, parameters = materials_of(law)[0]
    good = {"law": law.name, **parameters.model_dump(exclude_none=True)}
    for key, value in broken(law, parameters):
        table = MaterialTable.model_construct(**(good | {key: value}))
        materials, problems = resolve_materials({"mine": table}, [])
        assert not materials, (key, value)
        assert len(problems) == 1, [str(problem) for problem in problems]
        assert problems[0].path == f"material.mine.{key}"
        assert "should be" in problems[0].sentence


@every_law
def test_missing_and_unknown_parameters_are_rejected(law: Law):
    from spume.scene.material import MaterialTable, resolve_materials

    _, parameters = materials_of(law)[0]
    good = {"law": law.name, **parameters.model_dump(exclude_none=True)}
    required = [name for name, field in law.parameters.model_fields.items() if field.is_required()]
    for name in required:
        table = {key: value for key, value in good.items() if key != name}
        _, problems = resolve_materials({"mine": MaterialTable.model_validate(table)}, [])
        assert [(p.path, p.sentence.split(":")[0]) for p in problems] == [(f"material.mine.{name}", "is missing")]
    _, problems = resolve_materials({"mine": MaterialTable.model_validate(good | {"colour": 1.0})}, [])
    assert [p.path for p in problems] == ["material.mine.colour"]


BRANCHES = [
    pytest.param(law, parameters, k, id=f"{case.id}, branch {k}")
    for case in CASES
    for law, parameters in [case.values]
    for k in range(len(law.branches))
]
every_branch = pytest.mark.parametrize(("law", "parameters", "k"), BRANCHES)


def principal_strains(rng: np.random.Generator, count: int, size: float) -> Array:
    """Well apart, so that the flow is smooth in each."""
    return size * (rng.uniform(-1, 1, (count, 3)) + np.array([0.0, 0.5, -0.4]))


def derivative(function: Any, strain: Array, delta: float) -> Array:
    """Central differences of a map of 3-tuples, row i, column j = d/dε_j of component i."""
    columns = []
    for j in range(3):
        step = np.zeros(3)
        step[j] = delta
        ahead, back = np.array(function(tuple(strain + step))), np.array(function(tuple(strain - step)))
        columns.append((ahead - back) / (2 * delta))
    return np.array(columns).T


@every_branch
def test_principal_stress_has_its_derivative(law: Law, parameters: Parameters, k: int):
    """dτ/dε by central differences: truncation δ² of third derivatives (8 moduli for e^(2ε)), rounding ε/δ."""
    branch, packed = law.branches[k], law.pack(parameters)
    history = Points(law, parameters, 1).history(0)
    rng, delta = np.random.default_rng(20), 1e-5
    scale = stiffness(law, parameters)
    for strain in principal_strains(rng, 20, 0.2):
        _, found = branch.principal_stress(packed, history, tuple(strain))
        expected = derivative(lambda e: branch.principal_stress(packed, history, e)[0], strain, delta)
        np.testing.assert_allclose(
            np.reshape(found, (3, 3)), expected, rtol=0, atol=scale * (100 * delta**2 + 10 * EPS / delta)
        )


@every_branch
@pytest.mark.parametrize("rate", [0.1, 10.0, 1e3])
def test_return_map_has_its_derivative(law: Law, parameters: Parameters, k: int, rate: float):
    """dε/dε_trial by Richardson's extrapolation of central differences with two steps, where these agree: a point whose
    trial strains straddle the yield surface or an edge of it has no derivative to compare with."""
    branch, packed = law.branches[k], law.pack(parameters)
    if branch.return_map is None:
        pytest.skip("the branch never flows")
    history = Points(law, parameters, 1).history(0)
    rng = np.random.default_rng(21)
    compared = 0
    for size in (1e-3, 0.05, 0.3):
        for strain in principal_strains(rng, 20, size):
            dt = size / rate
            delta = 1e-4 * size
            coarse, fine = (
                derivative(lambda e, dt=dt: branch.return_map(packed, history, e, dt)[0], strain, d)
                for d in (delta, delta / 2)
            )
            scale = max(1.0, np.abs(fine).max())  # the map of a viscous fluid gives rates, in 1/dt
            error = np.abs(fine - coarse).max() / scale
            if error < 1e-5:
                _, found = branch.return_map(packed, history, tuple(strain), dt)
                extrapolated = fine + (fine - coarse) / 3
                np.testing.assert_allclose(np.reshape(found, (3, 3)), extrapolated, rtol=0, atol=scale * (1e-7 + error))
                compared += 1
    assert compared > 30


@every_material
@pytest.mark.parametrize("rate", [0.1, 10.0, 1e3])
def test_branches_give_the_stress_of_the_update(law: Law, parameters: Parameters, rate: float):
    """Explicit and implicit solvers integrate the same law: the trial deformation f Fe of each branch, its return map
    and its principal stress, summed over the branches, give the stress that `update` writes."""
    if not law.branches:
        pytest.skip("the law has no branches: it works with explicit steps only")
    rng = np.random.default_rng(22)
    packed, size = law.pack(parameters), 0.02
    points = Points(law, parameters, 20)
    for _ in range(6):
        increment = np.eye(3) + size * rng.uniform(-1, 1, (20, 3, 3))
        expected = np.zeros((20, 3, 3))
        for p in range(20):
            history = points.history(p)
            for branch in law.branches:
                trial = increment[p] @ np.reshape(branch.deformation(packed, history), (3, 3))
                squares, V = np.linalg.eigh(trial @ trial.T)
                strain = tuple((0.5 * np.log(squares)).tolist())
                if branch.return_map is not None:
                    strain, _ = branch.return_map(packed, history, strain, size / rate)
                tau, _ = branch.principal_stress(packed, history, strain)
                expected[p] += V @ np.diag(tau) @ V.T
        stress = points.step(increment, size / rate)
        # the flow amplifies differences of the excess over yield by 1/h
        np.testing.assert_allclose(stress, expected, rtol=0, atol=1e-11 * stiffness(law, parameters))
