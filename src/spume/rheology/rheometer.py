"""Simple shear of one point with the functions of its law: flow curve, start-up, relaxation, oscillation and creep.

The law is integrated in time steps, as in a simulation. Time steps are halved until the result no longer changes, so
that it depends on the material and not on dt. A measurement that makes no sense for a material raises SceneError with
the reason.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spume.errors import RunFailed, SceneError
from spume.materials.table import Material
from spume.rheology.behaviour import behaviour_of, require_flow, require_relaxation, require_resistance
from spume.rheology.point import Point
from spume.rheology.small_strain import STEPS_PER_RELAXATION
from spume.rheology.theory import theory_of

Array = NDArray[np.float64]

LARGEST_STRAIN_STEP = 0.01
"""Largest shear strain per step: splitting into elastic prediction and flow has an error of this order."""

STEADY = 1e-6
"""A flow is steady when stresses change by less than this fraction of their magnitude in one relaxation time."""

MOST_RELAXATIONS = 400

REFINED = 1e-3
"""Steps are halved until the stress changes by less than this fraction of its largest value."""
MOST_HALVINGS = 10

AMPLITUDE = 1e-5
"""Shear strain of oscillations: small enough for a linear response, large enough for its accuracy."""
STEPS_PER_CYCLE = 200
PERIODIC = 1e-7
"""Oscillations are periodic when the moduli change by less than this fraction between two sets of cycles."""
LINEAR = 0.01
"""The response is not linear if the moduli change by more than this fraction at a tenth of the amplitude."""
MOST_CYCLES = 20_000

FINITE_STRAIN = 0.1
"""Elastic strain above which the small-strain theory is in error by about its square: one per cent."""

LARGE_STRAIN = 0.5
"""Elastic strain above which the small-strain theory does not apply."""

LARGEST_CREEP = 10.0
"""Shear strain at which a creep test ends."""


@dataclass(frozen=True)
class Measurement:
    """Columns of equal length, with notes."""

    columns: dict[str, Array]
    """by name; the first is the independent variable"""
    notes: tuple[str, ...] = ()

    def records(self) -> list[dict[str, float]]:
        """One object per entry."""
        return [dict(zip(self.columns, map(float, row))) for row in zip(*self.columns.values())]


@dataclass(frozen=True)
class Curve:
    """Shear stress for each rate or time."""

    abscissa: str
    """Independent variable: "rate" [1/s] or "time" [s]"""
    values: Array
    shear_stress: Array
    """τ12 [Pa]"""
    normal_stress_difference: Array
    """τ11 − τ22 [Pa]"""
    small_strain_theory: Array | None
    """τ12 by the theory of small elastic strain [Pa]; None if the law has no such theory"""
    notes: tuple[str, ...] = ()

    @property
    def columns(self) -> dict[str, Array]:
        """All columns by name."""
        columns = {
            self.abscissa: self.values,
            "shear_stress": self.shear_stress,
            "normal_stress_difference": self.normal_stress_difference,
        }
        if self.small_strain_theory is not None:
            columns["small_strain_theory"] = self.small_strain_theory
        return columns

    def records(self) -> list[dict[str, float]]:
        """One object per entry."""
        return Measurement(self.columns).records()


def flow_curve(material: Material, rates: Array) -> Curve:
    """Steady shear stress at each of the shear rates [1/s]."""
    for rate in rates:
        _positive(float(rate), "a shear rate", "1/s")
    modulus = require_flow(material, "flow curve").modulus
    theory = theory_of(material)
    stresses = np.array([_steady(material, float(rate)) for rate in rates])
    expected = theory.flow_curve(material.parameters, rates) if theory.flow_curve else None
    notes: tuple[str, ...] = ()
    if modulus and expected is not None:
        notes = _notes(_elastic_strain(stresses[:, 0], expected, modulus))
    if len(rates) > 1 and np.ptp(stresses[:, 0]) <= 10 * STEADY * stresses[:, 0].max():
        notes += ("the stress does not depend on the rate",)
    return Curve("rate", np.asarray(rates, float), stresses[:, 0], stresses[:, 1], expected, notes)


def start_up(material: Material, rate: float) -> Curve:
    """Shear stress as a function of time after a shear rate [1/s] is switched on, up to steady flow.

    A material whose approach to steady flow is unknown is sheared to a strain of one.
    """
    _positive(rate, "a shear rate", "1/s")
    found = require_resistance(material, "start-up of shear")
    theory = theory_of(material)
    times = np.linspace(0.0, 1.0 / rate, 51)
    if theory.start_up_times and np.isfinite(suggested := theory.start_up_times(material.parameters, rate)).all():
        times = suggested
    stresses = refine(lambda parts: _follow(Point(material), rate, times, parts))
    expected = theory.start_up(material.parameters, rate, times) if theory.start_up else None
    notes: tuple[str, ...] = ()
    if found.elastic:
        notes = (f"'{material.name}' is elastic (law {material.law.name}): it does not flow",)
    elif found.modulus and expected is not None:
        held = 0.0 if found.flows else rate * times[-1]
        notes = _notes(max(held, _elastic_strain(stresses[:, 0], expected, found.modulus)))
    return Curve("time", times, stresses[:, 0], stresses[:, 1], expected, notes)


def step_strain(material: Material, strain: float, times: Array | None = None) -> Curve:
    """Shear stress as a function of time after a sudden shear strain.

    times: when to measure, increasing from 0 [s]; by default, times that resolve the relaxation.
    """
    _positive(strain, "a shear strain", "")
    found = require_resistance(material, "relaxation")
    theory = theory_of(material)
    if found.viscous:
        raise SceneError(
            f"'{material.name}' (law {material.law.name}) is a viscous fluid, whose stress ends with the motion, so it "
            "has no relaxation: ask for --rates"
        )
    if theory.relaxation_times and found.flows | found.relaxes:
        followed = theory.relaxation_times(material.parameters, strain)
    else:
        followed = _trial_times(material, strain)
    times, followed, wanted = _times(times, followed)
    stresses = refine(lambda parts: _relax(Point(material), strain, followed, parts))[wanted]
    expected = theory.relaxation(material.parameters, strain, times) if theory.relaxation else None
    notes = _notes(strain) if expected is not None else ()
    if np.ptp(stresses[:, 0]) == 0.0:
        notes += ("the stress does not relax after this strain",)
    return Curve("time", times, stresses[:, 0], stresses[:, 1], expected, notes)


def frequency_sweep(material: Material, frequencies: Array) -> Measurement:
    """Storage and loss modulus [Pa] in oscillating shear of small amplitude, at the angular frequencies [rad/s]."""
    for frequency in frequencies:
        _positive(float(frequency), "an angular frequency", "rad/s")
    require_relaxation(material, "loss modulus")
    theory = theory_of(material)
    moduli = np.array([_moduli(material, float(frequency)) for frequency in frequencies])
    smaller = _periodic_moduli(material, float(frequencies[0]), STEPS_PER_CYCLE, 0.1 * AMPLITUDE)
    usual = _periodic_moduli(material, float(frequencies[0]), STEPS_PER_CYCLE, AMPLITUDE)
    if not np.abs(smaller - usual).max() <= LINEAR * np.abs(usual).max():
        raise SceneError(
            f"'{material.name}' (law {material.law.name}) does not respond linearly to small oscillations, so "
            "it has no storage and loss modulus"
        )
    columns = {
        "frequency": np.asarray(frequencies, float),
        "storage_modulus": moduli[:, 0],
        "loss_modulus": moduli[:, 1],
    }
    if theory.moduli:
        storage, loss = theory.moduli(material.parameters, np.asarray(frequencies, float))
        columns |= {"storage_modulus_theory": storage, "loss_modulus_theory": loss}
    return Measurement(columns)


def creep(material: Material, stress: float, times: Array | None = None) -> Measurement:
    """Shear strain as a function of time under a constant shear stress [Pa], applied suddenly.

    times: when to measure, increasing from 0 [s]; by default times that resolve the creep.
    """
    _positive(stress, "a shear stress", "Pa")
    found = require_resistance(material, "creep")
    if found.viscous:
        raise SceneError(
            f"'{material.name}' (law {material.law.name}) is a viscous fluid, which flows at a constant rate under a "
            "constant stress, so it has no creep: ask for --rates"
        )
    point = Point(material)
    strain = _strain_step(point, stress, 1e-12, stress / found.modulus)
    if math.isnan(strain):
        raise SceneError(
            f"'{material.name}' (law {material.law.name}) cannot bear a shear stress of {stress:g} Pa, so it has no "
            "creep there"
        )
    times, followed, wanted = _times(times, _trial_times(material, strain, "creep"))
    strains = refine(lambda parts: _creep(Point(material), stress, strain, followed, parts))[wanted, 0]
    expected = theory_of(material).creep
    columns = {"time": times, "shear_strain": strains}
    notes: tuple[str, ...] = ()
    if expected and (theory := expected(material.parameters, stress, times)) is not None:
        columns["small_strain_theory"] = theory
        notes = _notes(float(np.nanmax(strains)))
    if not np.isfinite(strains).all():
        kept = np.isfinite(strains)
        columns = {name: values[kept] for name, values in columns.items()}
        notes += (f"the strain exceeds {LARGEST_CREEP:g} at {times[~kept][0]:.3g} s, where the test ends",)
    return Measurement(columns, notes)


def _steady(material: Material, rate: float) -> tuple[float, float]:
    """Shear stress and normal stress difference of the steady flow.

    What remains of an exponential approach after a relaxation time is less than the change during it, so if the change
    is below STEADY, the remainder is, too.
    """
    theory, parameters = theory_of(material), material.parameters
    point = Point(material)
    found = behaviour_of(material)
    scale = 0.0 if theory.relaxation_strain or found.viscous else rate * (_half_time(material, 0.1) or 0.0)
    if theory.first_strain and (strain := theory.first_strain(parameters, rate)):
        # the first rise is elastic and exact in one step, because I + L dt = exp(L dt) in simple shear
        point.shear(strain, strain / rate)
    else:
        point.shear(1e-4, 1e-4 / rate)
    before, calm = np.array(point.stresses()), 0
    for _ in range(MOST_RELAXATIONS):
        if theory.relaxation_strain:
            relaxation = theory.relaxation_strain(parameters, rate, point)
        elif found.viscous:
            relaxation = 1e-4  # the stress follows the rate immediately
        else:
            relaxation = max(scale, point.magnitude() / (math.sqrt(2.0) * found.modulus))
        if not relaxation < 1e6:
            break
        steps = max(STEPS_PER_RELAXATION, math.ceil(relaxation / LARGEST_STRAIN_STEP))
        point.shear(relaxation / steps, relaxation / steps / rate, steps)
        after = np.array(point.stresses())
        calm = calm + 1 if np.all(np.abs(after - before) <= STEADY * point.magnitude()) else 0
        if calm == 2:
            return float(after[0]), float(after[1])
        before = after
    raise RunFailed(
        f"'{material.name}' reached no steady flow at {rate:g} 1/s within {MOST_RELAXATIONS} relaxation times: "
        "its elastic strain is beyond the validity of the law; use lower rates"
    )


def refine(measure: Callable[[int], Array], tolerance: float = REFINED, halvings: int = MOST_HALVINGS) -> Array:
    """Evaluate `measure(parts)` with 1, 2, 4, … times as many steps per interval until the values change by no more
    than `tolerance` times the largest of them."""
    coarse = measure(1)
    for k in range(1, halvings + 1):
        fine = measure(2**k)
        known = np.isfinite(fine) & np.isfinite(coarse)
        if np.all(np.abs(fine - coarse)[known] <= tolerance * np.abs(fine[known]).max(initial=0.0)):
            return fine
        coarse = fine
    return coarse


def _follow(point: Point, rate: float, times: Array, parts: int) -> Array:
    """Shear stress and normal stress difference at `times` during shear at a constant rate, from rest."""
    found = [(0.0, 0.0)]
    for dt in np.diff(times):
        steps = parts * math.ceil(rate * dt / LARGEST_STRAIN_STEP)
        point.shear(rate * dt / steps, dt / steps, steps)
        found.append(point.stresses())
    return np.array(found)


def _relax(point: Point, strain: float, times: Array, parts: int) -> Array:
    """Stresses at `times` after a strain within a thousandth of times[1], during which almost nothing flows."""
    point.shear(strain, 1e-3 * times[1])
    found = [point.stresses()]
    for dt in np.diff(times):
        point.hold(dt / parts, parts)
        found.append(point.stresses())
    return np.array(found)


def _creep(point: Point, stress: float, first: float, times: Array, parts: int) -> Array:
    """Shear strains at `times` under a constant stress, shape (n, 1); NaN after they have become too large."""
    total = _strain_step(point, stress, 1e-3 * times[1], first)
    found, guess = [total], 0.0
    for dt in np.diff(times):
        for _ in range(parts):
            guess = _strain_step(point, stress, dt / parts, guess) if total < LARGEST_CREEP else math.nan
            total += guess
        found.append(total)
    return np.array(found)[:, None]


def _strain_step(point: Point, stress: float, dt: float, guess: float) -> float:
    """Shear the point within dt so that its shear stress becomes `stress`; return the strain of the step.

    Uses the secant method; returns NaN if there is no such strain below LARGEST_CREEP.
    """
    start = point.state()

    def miss(strain: float) -> float:
        point.restore(start)
        point.shear(strain, dt)
        return point.stresses()[0] - stress

    # rounding errors of stresses scale with the stiffness
    rounding = 1e-15 * point.stiffness
    a, b = 0.0, guess or 1e-6
    fa, fb = miss(a), miss(b)
    for _ in range(100):
        if abs(fb) <= max(1e-10 * stress, rounding):
            return b
        if fb == fa:
            break
        a, fa, b = b, fb, b - fb * (b - a) / (fb - fa)
        if not abs(b) < LARGEST_CREEP:
            break
        fb = miss(b)
    return math.nan


def _moduli(material: Material, omega: float) -> tuple[float, float]:
    """Storage and loss modulus [Pa], extrapolated from two step sizes: the error of a law's step is of first order."""
    coarse = _periodic_moduli(material, omega, STEPS_PER_CYCLE, AMPLITUDE)
    fine = _periodic_moduli(material, omega, 2 * STEPS_PER_CYCLE, AMPLITUDE)
    storage, loss = 2.0 * fine - coarse
    return float(storage), float(loss)


def _periodic_moduli(material: Material, omega: float, steps: int, amplitude: float) -> Array:
    point, cycles, done = Point(material), 2, 0
    rounding = 1e-15 * point.stiffness / amplitude
    before = np.array(point.oscillate(amplitude, omega, steps, cycles))
    while done < MOST_CYCLES:
        after = np.array(point.oscillate(amplitude, omega, steps, cycles))
        done += cycles
        if np.abs(after - before).max() <= max(PERIODIC * np.abs(after).max(), rounding):
            return after
        before, cycles = after, 2 * cycles
    raise RunFailed(
        f"'{material.name}' is not yet periodic after {MOST_CYCLES} cycles at {omega:g} rad/s: it relaxes much more "
        "slowly than it oscillates; use lower frequencies"
    )


def _trial_times(material: Material, strain: float, wanted: str = "relaxation") -> Array:
    """0, then times evenly spaced in their logarithm around the half-time of the relaxation after `strain`."""
    half = _half_time(material, strain)
    if half is None:
        point = Point(material)
        point.shear(strain, 1e-12)
        raise SceneError(
            f"'{material.name}' (law {material.law.name}) does not relax after a shear strain of {strain:.3g}: its "
            f"stress stays at {point.stresses()[0]:.4g} Pa, so it has no {wanted} there"
        )
    return np.concatenate([[0.0], half * np.logspace(-3.0, 2.0, 101)])


def _half_time(material: Material, strain: float) -> float | None:
    """Time [s] in which half of the relaxing stress after a sudden strain decays, in one step; None if none relaxes."""

    def left(dt: float) -> float:
        point = Point(material)
        point.shear(strain, 1e-12)
        point.hold(dt)
        return point.stresses()[0]

    start, end = left(1e-12), left(1e30)
    if start - end <= 1e-6 * abs(start):
        return None
    low, high = -12.0, 30.0
    while high - low > 0.01:
        middle = 0.5 * (low + high)
        low, high = (low, middle) if left(10.0**middle) < 0.5 * (start + end) else (middle, high)
    return float(10.0**high)


def _times(given: Array | None, resolving: Array) -> tuple[Array, Array, NDArray[np.int64]]:
    """The times of a measurement, those at which the point is followed, and the places of the first in the second."""
    if given is None:
        return resolving, resolving, np.arange(len(resolving))
    if len(given) < 2 or given[0] != 0.0 or not (np.diff(given) > 0.0).all() or not math.isfinite(given[-1]):
        raise SceneError("the times of a measurement should be finite and increase from 0")
    followed = np.union1d(given, resolving[resolving < given[-1]])
    return given, followed, np.searchsorted(followed, given)


def _positive(value: float, what: str, unit: str) -> None:
    if not (value > 0.0 and math.isfinite(value)):
        raise SceneError(f"{what} is {value:g}{f' {unit}' if unit else ''}: it should be positive and finite")


def _elastic_strain(stress: Array, theory: Array, modulus: float) -> float:
    """Largest stress over modulus; at least that of the theory if large, as a law's stress may fall at large strain."""
    measured, expected = float(stress.max()) / modulus, float(theory.max()) / modulus
    return max(measured, expected) if expected > LARGE_STRAIN else measured


def _notes(elastic_strain: float) -> tuple[str, ...]:
    if elastic_strain < FINITE_STRAIN:
        return ()
    verdict = "does not apply there"
    if elastic_strain < LARGE_STRAIN:
        verdict = f"has an error of the order of their square, {100 * elastic_strain**2:.2g} %"
    return (f"elastic strains reach {elastic_strain:.2g}: the small-strain theory {verdict}",)
