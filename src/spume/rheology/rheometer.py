"""Simple shear of one point, through the kernels of its law: flow curve, start-up and relaxation.

The point sees the velocity gradient L12 = γ̇ and nothing else; what it answers is the law itself, time-discrete as in a
simulation. Time steps follow from the law's own relaxation, so that the answers belong to the material and not to dt.
"""

import contextlib
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numba
import numpy as np
from numpy.typing import NDArray

from spume.errors import RunFailed, SceneError
from spume.materials.herschel_bulkley import HerschelBulkleyParameters
from spume.materials.loops import ConstitutiveModel
from spume.materials.table import Material
from spume.rheology import small_strain

Array = NDArray[np.float64]

STEPS_PER_RELAXATION = 200
LARGEST_STRAIN_STEP = 0.01
"""Shear strain per step at most: the split into elastic prediction and flow has an error of its order."""

STEADY = 1e-6
"""A flow is steady when stresses change by less than this part of their magnitude during one relaxation."""

MOST_RELAXATIONS = 400
ELASTIC_STEPS = 50

FINITE_STRAIN = 0.1
"""From this elastic strain on, the theory of small strain is off by about its square: a percent."""

LARGE_STRAIN = 0.5
"""From this elastic strain on, the theory of small strain is of no use."""


@dataclass(frozen=True)
class Curve:
    """An answer of the rheometer, one entry per rate or per time."""

    abscissa: str
    """What was varied: "rate" [1/s] or "time" [s]"""
    values: Array
    shear_stress: Array
    """τ12 [Pa]"""
    normal_stress_difference: Array
    """τ11 − τ22 [Pa]"""
    small_strain_theory: Array | None
    """τ12 by the theory of small elastic strain [Pa]; none if the law has no such theory"""
    notes: tuple[str, ...] = ()

    def records(self) -> list[dict[str, float]]:
        """One object per entry."""
        columns = {
            self.abscissa: self.values,
            "shear_stress": self.shear_stress,
            "normal_stress_difference": self.normal_stress_difference,
        }
        if self.small_strain_theory is not None:
            columns["small_strain_theory"] = self.small_strain_theory
        return [dict(zip(columns, map(float, row))) for row in zip(*columns.values())]


class Point:
    """One point in simple shear."""

    def __init__(self, material: Material) -> None:
        self.model = ConstitutiveModel([(material.law, material.parameters)])
        self.arrays = {"material": np.zeros(1, dtype=np.int32)} | {f.name: f.allocate(1) for f in self.model.fields}
        self.stress = np.zeros((1, 6))

    def shear(self, strain: float, dt: float) -> None:
        """Shear by `strain` during dt [s]."""
        deformation = np.eye(3)[None].copy()
        deformation[0, 0, 1] = strain
        self.model.update(self.arrays, dt, deformation, self.stress)

    def stresses(self) -> tuple[float, float]:
        """Shear stress and first normal stress difference [Pa]."""
        xx, yy, _, xy, _, _ = self.stress[0]
        return float(xy), float(xx - yy)

    def magnitude(self) -> float:
        """s = ‖dev τ‖ [Pa]."""
        xx, yy, zz, xy, xz, yz = self.stress[0]
        mean = (xx + yy + zz) / 3.0
        diagonal = (xx - mean) ** 2 + (yy - mean) ** 2 + (zz - mean) ** 2
        return math.sqrt(diagonal + 2.0 * (xy * xy + xz * xz + yz * yz))

    def energy(self) -> float:
        """Elastic energy [J/m³]."""
        return float(self.model.energy(self.arrays)[0])


@contextlib.contextmanager
def _one_thread() -> Iterator[None]:
    """One point needs no second thread, and waking it costs more than the step."""
    threads = numba.get_num_threads()
    numba.set_num_threads(1)
    try:
        yield
    finally:
        numba.set_num_threads(threads)


@_one_thread()
def flow_curve(material: Material, rates: Array) -> Curve:
    """Steady shear stress at each of the shear rates [1/s]."""
    for rate in rates:
        _positive(float(rate), "a shear rate", "1/s")
    parameters = _flowing(material, "flow curve")
    stresses = np.array([_steady(material, parameters, float(rate)) for rate in rates])
    theory = small_strain.flow_curve(parameters, rates)
    strain = float(np.max(stresses[:, 0])) / parameters.shear_modulus
    return Curve("rate", np.asarray(rates, float), stresses[:, 0], stresses[:, 1], theory, _notes(strain))


@_one_thread()
def start_up(material: Material, rate: float) -> Curve:
    """Shear stress in the course of time after a shear rate [1/s] is switched on, up to the steady flow.

    A material that does not flow is sheared to a strain of one.
    """
    _positive(rate, "a shear rate", "1/s")
    parameters = material.parameters
    if isinstance(parameters, HerschelBulkleyParameters):
        times = _start_up_times(parameters, rate)
        stresses = _follow(Point(material), rate, times)
        theory = small_strain.start_up(parameters, rate, times)
        notes = _notes(float(np.max(stresses[:, 0])) / parameters.shear_modulus)
        return Curve("time", times, stresses[:, 0], stresses[:, 1], theory, notes)
    times = np.linspace(0.0, 1.0 / rate, ELASTIC_STEPS + 1)
    stresses = _follow(Point(material), rate, times)
    return Curve("time", times, stresses[:, 0], stresses[:, 1], None, _elastic_note(material))


@_one_thread()
def step_strain(material: Material, strain: float) -> Curve:
    """Shear stress in the course of time after a sudden shear strain."""
    _positive(strain, "a shear strain", "")
    point = Point(material)
    parameters = material.parameters
    if not isinstance(parameters, HerschelBulkleyParameters):
        point.shear(strain, 1.0)
        times = np.linspace(0.0, 1.0, 11)
        shear, normal = (np.full(times.shape, stress) for stress in point.stresses())
        return Curve("time", times, shear, normal, None, _elastic_note(material))
    times = _relaxation_times(parameters, strain)
    stresses = _relax(point, strain, times, parameters)
    theory = small_strain.relaxation(parameters, strain, times)
    return Curve("time", times, stresses[:, 0], stresses[:, 1], theory, _notes(strain))


def _steady(material: Material, parameters: HerschelBulkleyParameters, rate: float) -> tuple[float, float]:
    """Shear stress and normal stress difference of the steady flow.

    With the plastic rate γ̇/√2, the direction of the stress relaxes in a strain of s/(√2 μ̃), its magnitude in
    h (s − k)/(√2 μ̃), μ̃ = μ tr b̄e/3. Whatever is left of an exponential approach after a relaxation is less than what
    changed during it, so a change below STEADY leaves less than STEADY.
    """
    mu, h = parameters.shear_modulus, parameters.flow_index
    k = math.sqrt(2.0 / 3.0) * parameters.yield_stress
    point = Point(material)
    # the first climb is elastic and exact in one step, for I + L dt is the whole of exp(L dt) in simple shear
    strain = small_strain.yield_strain(parameters) or small_strain.flow_curve(parameters, np.array([rate]))[0] / mu
    point.shear(strain, strain / rate)
    before, calm = np.array(point.stresses()), 0
    for _ in range(MOST_RELAXATIONS):
        s = point.magnitude()
        mean = 1.0 + 2.0 * point.energy() / (3.0 * mu)  # tr b̄e/3, from the energy μ/2 (tr b̄e − 3)
        relaxation = max(s, h * (s - k)) / (math.sqrt(2.0) * mu * mean)
        steps = max(STEPS_PER_RELAXATION, math.ceil(relaxation / LARGEST_STRAIN_STEP))
        for _ in range(steps):
            point.shear(relaxation / steps, relaxation / steps / rate)
        after = np.array(point.stresses())
        calm = calm + 1 if np.all(np.abs(after - before) <= STEADY * point.magnitude()) else 0
        if calm == 2:
            return float(after[0]), float(after[1])
        before = after
    raise RunFailed(
        f"'{material.name}' found no steady flow at {rate:g} 1/s within {MOST_RELAXATIONS} relaxations: "
        "its elastic strain there is beyond what the law describes; ask for lower rates"
    )


def _follow(point: Point, rate: float, times: Array) -> Array:
    """Shear stress and normal stress difference at `times` during shear at a constant rate, from rest."""
    found = [(0.0, 0.0)]
    for dt in np.diff(times):
        steps = math.ceil(rate * dt / LARGEST_STRAIN_STEP)
        for _ in range(steps):
            point.shear(rate * dt / steps, dt / steps)
        found.append(point.stresses())
    return np.array(found)


def _relax(point: Point, strain: float, times: Array, parameters: HerschelBulkleyParameters) -> Array:
    """Stresses at `times` after a strain so sudden that next to nothing flows during it: a thousandth of times[1]."""
    k = math.sqrt(2.0 / 3.0) * parameters.yield_stress
    point.shear(strain, 1e-3 * times[1])
    found = [point.stresses()]
    for dt in np.diff(times):
        steps = 1
        if (excess := point.magnitude() - k) > 0.0 and parameters.viscosity > 0.0:
            # for h > 1 the relaxation time shrinks to nothing as the flow comes to its end
            part = STEPS_PER_RELAXATION * dt / small_strain.relaxation_time(parameters, excess)
            steps = math.ceil(min(part, STEPS_PER_RELAXATION))
        for _ in range(steps):
            point.shear(0.0, dt / steps)
        found.append(point.stresses())
    return np.array(found)


def _start_up_times(parameters: HerschelBulkleyParameters, rate: float) -> Array:
    """The elastic climb, exact in any steps; then the approach of the steady flow, resolved by its relaxation times."""
    mu, h = parameters.shear_modulus, parameters.flow_index
    climb = np.linspace(0.0, small_strain.yield_strain(parameters) / rate, ELASTIC_STEPS + 1)
    steady = float(small_strain.flow_curve(parameters, np.array([rate]))[0])
    excess = steady - parameters.yield_stress / math.sqrt(3.0)
    magnitude = max(excess, h * excess) / (mu * rate)  # time to climb to the steady excess, or to relax to it
    direction = steady / (mu * rate)
    approach = np.array([direction / STEPS_PER_RELAXATION])
    if magnitude > 0.0:
        approach = np.arange(1, 8 * STEPS_PER_RELAXATION + 1) * (magnitude / STEPS_PER_RELAXATION)
    late = [float(approach[-1])]
    while late[-1] < 8.0 * max(direction, magnitude):
        late.append(late[-1] + min(4.0 * late[-1], direction) / STEPS_PER_RELAXATION)
    rest = np.concatenate([approach, late[1:]])
    return np.concatenate([climb if climb[-1] > 0.0 else [0.0], climb[-1] + rest])


def _relaxation_times(parameters: HerschelBulkleyParameters, strain: float) -> Array:
    """0, then even in the logarithm, to where nothing but a power law's tail is left."""
    excess = small_strain.step_excess(parameters, strain)
    if excess <= 0.0 or parameters.viscosity == 0.0:
        return np.concatenate([[0.0], np.logspace(-3.0, 0.0, 31)])
    decades = 3.0 if parameters.flow_index < 1.0 else 1.3
    clock = small_strain.relaxation_time(parameters, excess)
    return np.concatenate([[0.0], clock * np.logspace(-3.0, decades, 121)])


def _flowing(material: Material, wanted: str) -> HerschelBulkleyParameters:
    parameters = material.parameters
    if isinstance(parameters, HerschelBulkleyParameters):
        return parameters
    raise SceneError(
        f"'{material.name}' is elastic (law {material.law.name}) and never flows, so it has no {wanted}: "
        "ask for --startup or --step-strain"
    )


def _positive(value: float, what: str, unit: str) -> None:
    if not (value > 0.0 and math.isfinite(value)):
        raise SceneError(f"{what} is {value:g}{f' {unit}' if unit else ''}: it should be positive and finite")


def _notes(elastic_strain: float) -> tuple[str, ...]:
    if elastic_strain < FINITE_STRAIN:
        return ()
    verdict = "does not apply there"
    if elastic_strain < LARGE_STRAIN:
        verdict = f"is off by the order of their square, {100 * elastic_strain**2:.2g} %"
    return (f"elastic strains reach {elastic_strain:.2g}: the theory of small strain, beside it, {verdict}",)


def _elastic_note(material: Material) -> tuple[str, ...]:
    return (f"'{material.name}' is elastic (law {material.law.name}): it does not flow",)
