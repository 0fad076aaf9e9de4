"""The contract of `spume.materials.law.Law`, held by every law: a new one is tested as soon as it is in LAWS.

The laws are tested with the parameters of the named materials, so a law needs at least one of those.
"""

import inspect
from dataclasses import dataclass
from typing import Any

import numba
import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from spume.materials import LAWS, Law, Parameters
from spume.materials.law import pack_rows
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
    """Points of one material, driven through the law's kernels."""

    law: Law
    parameters: Parameters
    count: int

    def __post_init__(self) -> None:
        self.mine, self.rows = pack_rows(self.law, [(self.law, self.parameters)])
        self.material = np.zeros(self.count, dtype=np.int32)
        self.history = [field.allocate(self.count) for field in self.law.fields]

    def copy(self) -> "Points":
        other = Points(self.law, self.parameters, self.count)
        other.history = [values.copy() for values in self.history]
        return other

    def step(self, increment: Array, dt: float = 1.0) -> Array:
        """Apply f = increment, shape (n, 3, 3), in a time of dt; returns the stress, shape (n, 3, 3)."""
        return self.flow(gradient_of(increment, dt), dt)

    def flow(self, gradient: Array, dt: float) -> Array:
        """Follow the velocity gradient, shape (n, 3, 3), for a time of dt; returns the stress, shape (n, 3, 3)."""
        stress = np.full((self.count, 6), np.nan)
        self.law.update(self.material, self.mine, self.rows, dt, np.ascontiguousarray(gradient), stress, *self.history)
        return full(stress)

    def stress(self) -> Array:
        stress = np.full((self.count, 6), np.nan)
        self.law.stress(self.material, self.mine, self.rows, stress, *self.history)
        return full(stress)

    def energy(self) -> Array:
        energy = np.full(self.count, np.nan)
        self.law.energy(self.material, self.mine, self.rows, energy, *self.history)
        return energy

    def field(self, name: str) -> Array:
        return self.history[[field.name for field in self.law.fields].index(name)]


def gradient_of(increment: Array, dt: float) -> Array:
    """The velocity gradient L with I + Δt L + ½ (Δt L)² = increment, so I + Δt L is a square root of 2 increment − I.
    By the iteration of Denman and Beavers, [Higham08] section 6.3."""
    increment = np.broadcast_to(increment, (*np.shape(increment)[:-2], 3, 3))
    root, inverse = 2.0 * increment - np.eye(3), np.broadcast_to(np.eye(3), increment.shape)
    for _ in range(30):
        root, inverse = (root + np.linalg.inv(inverse)) / 2, (inverse + np.linalg.inv(root)) / 2
    return (root - np.eye(3)) / dt


def full(symmetric: Array) -> Array:
    """(n, 3, 3) from (n, 6)."""
    tensors = np.empty((len(symmetric), 3, 3))
    for k, (i, j) in enumerate(PAIRS):
        tensors[:, i, j] = tensors[:, j, i] = symmetric[:, k]
    return tensors


def rotations(rng: np.random.Generator, count: int) -> Array:
    """About random axes, by up to 1.5 rad: one step cannot turn by half a circle (see gradient_of)."""
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


def unyielding(parameters: Parameters) -> Parameters:
    """The same material, elastic at every stress these tests reach."""
    if "yield_stress" not in type(parameters).model_fields:
        return parameters
    return parameters.model_copy(update={"yield_stress": 1e12})


def deviatoric(stress: Array) -> Array:
    """‖dev τ‖."""
    return np.linalg.norm(stress - np.trace(stress, axis1=1, axis2=2)[:, None, None] / 3 * np.eye(3), axis=(1, 2))


@every_law
def test_has_a_named_material(law: Law):
    assert materials_of(law), f"give a material of the law '{law.name}' in materials/table.toml"


@every_law
def test_fields_are_the_arguments_of_the_kernels(law: Law):
    names = [field.name for field in law.fields]
    for kernel, own in (
        (law.update, ["material", "mine", "rows", "dt", "velocity_gradient", "stress"]),
        (law.stress, ["material", "mine", "rows", "stress"]),
        (law.energy, ["material", "mine", "rows", "energy"]),
    ):
        assert list(inspect.signature(kernel.py_func).parameters) == own + names


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
    points = Points(law, unyielding(parameters), count)
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
    points = Points(law, unyielding(parameters), 200)
    points.step(deformations(rng, 200, 0.4))
    assert np.all(points.energy() > 0.0)


@every_material
def test_wave_speed_is_the_second_derivative_of_the_energy(law: Law, parameters: Parameters):
    """ρ c² = d²W/dε² at rest in uniaxial strain; central differences, error O(ε²) of the modulus."""
    epsilon = 1e-3
    increments = np.tile(np.eye(3), (2, 1, 1))
    increments[:, 0, 0] += [epsilon, -epsilon]
    points = Points(law, unyielding(parameters), 2)
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
    points = Points(law, unyielding(parameters), 100)
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
    """With zeros in the third row and column of the velocity gradient no stress tilts out of the plane."""
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
    for values, others in zip(points.history, shuffled.history):
        np.testing.assert_array_equal(others, values[order])


@every_law
def test_touches_only_its_own_materials(law: Law):
    """A scene of every named material: the points of other laws keep their history, stress and energy bit for bit,
    and each point follows the parameters of its own material."""
    rng = np.random.default_rng(9)
    scene: list[tuple[Law, Parameters]] = [(l, p) for l in LAWS.values() for _, p in materials_of(l)]
    mine, rows = pack_rows(law, scene)
    material = rng.integers(0, len(scene), 400).astype(np.int32)
    gradient = rng.uniform(-1, 1, (400, 3, 3))
    history = [field.allocate(400) for field in law.fields]
    stress, energy = rng.standard_normal((400, 6)), rng.standard_normal(400)
    before = [values.copy() for values in (*history, stress, energy)]
    law.update(material, mine, rows, 1e-2, gradient, stress, *history)
    law.energy(material, mine, rows, energy, *history)
    others = ~mine[material]
    assert others.any()
    for values, start in zip((*history, stress, energy), before):
        np.testing.assert_array_equal(values[others], start[others])
    for k, (owner, parameters) in enumerate(scene):
        if owner is law:
            chosen = material == k
            alone = Points(law, parameters, int(chosen.sum()))
            np.testing.assert_array_equal(full(stress[chosen]), alone.flow(gradient[chosen], 1e-2))
    again = np.full((400, 6), 7.0)
    law.stress(material, mine, rows, again, *history)
    assert np.all(again[others] == 7.0)
    assert np.all(again[~others] != 7.0)


def test_rows_of_a_law_without_materials_are_empty():
    for law in LAWS.values():
        mine, rows = pack_rows(law, [])
        assert mine.shape == (0,)
        assert rows.shape[0] == 0


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
    is in D and not in the rule. Apart from it, f = I + ε d is not exp(ε d): O(ε) of the work.
    """
    rng = np.random.default_rng(11)
    count, strain, steps = 50, 1e-3, 400
    direction = rng.standard_normal((count, 3, 3))
    direction -= np.trace(direction, axis1=1, axis2=2)[:, None, None] / 3 * np.eye(3)
    direction /= np.linalg.norm(direction, axis=(1, 2))[:, None, None]
    points = Points(law, parameters, count)
    work = np.zeros(count)
    before = points.stress()
    for _ in range(steps):
        after = points.step(np.eye(3) + strain * direction, strain / 10.0)
        work += 0.5 * strain * np.einsum("nij,nij->n", before + after, direction)
        before = after
    balance = points.energy() + points.field("dissipation")
    climbs = 2 * parameters.shear_modulus * strain**2 * steps
    np.testing.assert_allclose(balance, work, rtol=0, atol=climbs + 4 * strain * work.max())


@every_flowing_material
def test_perfect_plasticity_ends_on_the_yield_surface(law: Law, parameters: Parameters):
    """η = 0: ‖dev τ‖ ≤ √(2/3) σY always. While flowing, the normalisation of b̄e takes from it no more than the part
    of the volume it removes, of the order of the strain of the step times the elastic strain."""
    perfect = parameters.model_copy(update={"viscosity": 0.0})
    k = np.sqrt(2.0 / 3.0) * parameters.yield_stress
    rng = np.random.default_rng(12)
    strain = 0.1 * k / parameters.shear_modulus
    rounding = 20 * EPS * stiffness(law, parameters)
    points = Points(law, perfect, 100)
    direction = rng.uniform(-1, 1, (100, 3, 3))
    for _ in range(200):
        stress = points.step(np.eye(3) + strain * direction, 1e-3)
        assert np.all(deviatoric(stress) <= k * (1.0 + 1e-12) + rounding)
    flowed = points.field("dissipation") > 0
    assert flowed.all()
    elastic = k / parameters.shear_modulus
    assert np.all(deviatoric(stress) >= k * (1.0 - 10 * strain * elastic) - rounding)


@every_flowing_material
def test_elastic_below_yield(law: Law, parameters: Parameters):
    """Strains of 0.4 of the yield strain dissipate nothing, and reverse to no stress."""
    rng = np.random.default_rng(13)
    size = 0.2 * parameters.yield_stress / parameters.shear_modulus
    increment = np.eye(3) + size * rng.uniform(-0.4, 0.4, (100, 3, 3))
    points = Points(law, parameters, 100)
    points.step(increment, 1e-3)
    stress = points.step(np.linalg.inv(increment), 1e-3)
    assert np.all(points.field("dissipation") == 0.0)
    np.testing.assert_allclose(stress, 0.0, atol=100 * EPS * stiffness(law, parameters))


def broken(law: Law, parameters: Parameters) -> list[tuple[str, Any]]:
    """Pairs of a key and a value it must refuse."""
    wrong: list[tuple[str, Any]] = []
    for name, field in law.parameters.model_fields.items():
        wrong += [(name, value) for value in (float("nan"), float("inf"), float("-inf"), "soft", [1.0], True)]
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
