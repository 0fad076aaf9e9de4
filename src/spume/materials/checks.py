"""Checks of the mechanics of a law, for the laws of the package (tests) and those of users (`spume check-law`).

Each check drives points of a material through the law's loops and returns a sentence for each miss; no sentence means
that the law keeps this part of the contract. Tolerances are those of rounding and of the differences used.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spume.materials.driven_points import (
    EPS,
    PAIRS,
    Array,
    Points,
    deformations,
    flows,
    initial_history,
    present_stiffness,
    rotated,
    rotations,
    stiffness,
)
from spume.materials.law import Branch, Law, Parameters
from spume.numerics.spectral3 import eigen_sym
from spume.numerics.tensor3 import compose_sym, congruence, gram

NAMES = ("xx", "yy", "zz", "xy", "xz", "yz")
SIZES = (0.5, 0.1, 1e-2, 1e-3)
"""Logarithmic strains at which stress and energy are compared; a law may flow at all but the smallest."""
SOME_DEFORMATION = (1.01, 0.02, 0.0, 0.0, 0.99, 0.0, 0.0, 0.0, 1.0)
BRANCH = 1e-8
"""Part of the stiffness by which branches and `update` may differ: rounding, and return maps that are iterated."""
STEPS = (1e-12, 1.0, 1e30)
"""Lengths of steps [s]: a law that relaxes is elastic in the shortest, a viscous one in the longest."""


def failure(law: Law, parameters: Parameters) -> str | None:
    """Why methods cannot use a user's law: a function that cannot be compiled, or fails, or returns something of
    another form than the contract's. None if there is no such reason."""
    history = initial_history(law)
    try:
        constants = tuple(map(float, law.pack(parameters)))
    except Exception as error:  # as below
        return f"its function pack fails: {_words_of(error)}"
    if len(constants) != len(law.constants):
        return f"pack returns {len(constants)} numbers, and `constants` names {len(law.constants)}"
    trials: dict[str, Callable[[], object]] = {
        "wave_speed": lambda: law.wave_speed(parameters),
        "volume_ratio": lambda: law.volume_ratio(history),
        "energy": lambda: law.energy(constants, history),
        "stress": lambda: law.stress(constants, history),
        "update": lambda: law.update(SOME_DEFORMATION, 1e-3, constants, history),
    }
    for name, trial in trials.items():
        try:
            trial()
        except Exception as error:  # the user's code may raise anything, and the compiler, too
            return f"its function {name} fails: {_words_of(error)}"
    if not 0.0 < (speed := law.wave_speed(parameters)) < np.inf:
        return f"wave_speed gives {speed:g} m/s: it should be positive"
    try:
        return next(iter(history_as_declared(law, parameters)), None)
    except (TypeError, ValueError):
        return "update should return two things, the stress and the history, each as a tuple"


def _words_of(error: Exception) -> str:
    """An error in one line, with the line of the file if the compiler names it."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    place = next((line.rstrip(":") for line in lines if line.startswith("File ")), "")
    first = next((line for line in lines if not line.startswith("Failed in")), "")
    return f"{type(error).__name__}: {first:.200}" + (f" ({place})" if place else "")


def history_as_declared(law: Law, parameters: Parameters) -> list[str]:
    """`update` returns a stress of six numbers and a history with the entries and shapes that `fields` declares."""
    stress, after = law.update(SOME_DEFORMATION, 1e-3, tuple(map(float, law.pack(parameters))), initial_history(law))
    if not isinstance(stress, tuple) or len(stress) != 6:
        count = len(stress) if isinstance(stress, tuple) else 1
        return [f"update returns a stress of {count} numbers: it should be symmetric, (xx, yy, zz, xy, xz, yz)"]
    if len(after) != len(law.fields):
        listed = ", ".join(field.name for field in law.fields)
        return [f"update returns a history of {len(after)} entries: `fields` declares {len(law.fields)}, {listed}"]
    misses = []
    for field, value in zip(law.fields, after):
        found, wanted = np.size(value), int(np.prod(field.shape))
        if found != wanted:
            misses.append(
                f"update returns {found} numbers for the field '{field.name}', which is declared with {wanted}"
            )
    return misses


def nothing_at_rest(law: Law, parameters: Parameters) -> list[str]:
    """The initial history has no stress and no energy."""
    points = Points(law, parameters, 1)
    misses = []
    if np.any(points.stress() != 0.0):
        largest = np.abs(points.stress()).max()
        misses.append(f"the stress at rest is {largest:.4g} Pa: the initial values of the fields should give zero")
    if points.energy()[0] != 0.0:
        misses.append(f"the energy at rest is {points.energy()[0]:.4g} J/m³: it should be zero")
    return misses


def stress_of_energy(law: Law, parameters: Parameters) -> list[str]:
    """dW(f F) = τ : δ for f = I + δ, by central differences, where the law does not flow.

    Truncation: third derivatives, a few tens of the modulus times ‖direction‖³ ≈ 30, times δ²; rounding: ε W/δ.
    """
    delta = 1e-5
    tolerance = stiffness(law, parameters) * (1e4 * delta**2 + 20 * EPS / delta)
    compared = 0
    for size in SIZES:
        for dt in STEPS if flows(law) else (1.0,):
            direction = np.random.default_rng(1).standard_normal((100, 3, 3))
            points, stress, slope, elastic = _energy_slope(law, parameters, size, dt, direction, delta, tolerance)
            compared += int(elastic.sum())
            off = np.abs(slope - np.einsum("nij,nij->n", stress, direction))
            if not np.all(off[elastic] <= tolerance):  # also if one is not a number
                worst = int(np.argmax(np.where(elastic, np.nan_to_num(off, nan=np.inf), -1.0)))
                return [_wrong_component(points, stress, worst, dt, size, delta)]
    if not compared:
        return ["stress and energy could not be compared: the law flows at every strain and rate that was tried"]
    return []


def _energy_slope(
    law: Law, parameters: Parameters, size: float, dt: float, direction: Array, delta: float, tolerance: float
) -> tuple[Points, Array, Array, NDArray[np.bool_]]:
    """Deformed points, their stress, the slope of their energy along `direction`, and which do not flow on the way."""
    points = Points(law, parameters, len(direction))
    stress = points.step(deformations(np.random.default_rng(1), len(direction), size), dt)
    before, energies, flow = points.dissipation(), [], np.zeros(len(direction))
    for sign in (1.0, -1.0):
        moved = points.copy()
        moved.step(np.eye(3) + sign * delta * direction, dt)
        energies.append(moved.energy())
        flow += np.abs(moved.dissipation() - before)
    elastic = (flow <= 0.1 * tolerance * delta) & (before <= EPS * stiffness(law, parameters))
    return points, stress, (energies[0] - energies[1]) / (2.0 * delta), elastic


def _wrong_component(points: Points, stress: Array, p: int, dt: float, size: float, delta: float) -> str:
    """A sentence with the component of the stress that differs most from the derivative of the energy."""
    found, expected = [], []
    for i, j in PAIRS:
        direction = np.zeros((3, 3))
        direction[i, j] += 0.5
        direction[j, i] += 0.5
        energies = []
        for sign in (1.0, -1.0):
            moved = points.copy()
            moved.step(np.eye(3) + sign * delta * direction, dt)
            energies.append(moved.energy()[p])
        expected.append((energies[0] - energies[1]) / (2.0 * delta))
        found.append(stress[p, i, j])
    k = int(np.argmax(np.nan_to_num(np.abs(np.subtract(found, expected)), nan=np.inf)))
    hint = "" if flows(points.law) else "; a law that flows declares a field 'dissipation'"
    return (
        f"the stress is not the derivative of the energy: at strains of about {size:g}, τ{NAMES[k]} = {found[k]:.6g} "
        f"Pa and the energy gives {expected[k]:.6g} Pa{hint}"
    )


def stress_of_history(law: Law, parameters: Parameters) -> list[str]:
    """`update` returns the stress that `stress` gives for the history it returns."""
    rng = np.random.default_rng(6)
    points = Points(law, parameters, 100)
    for _ in range(5):
        stress = points.step(np.eye(3) + 0.1 * rng.uniform(-1, 1, (100, 3, 3)), 1e-3)
        again = points.stress()
        off = np.abs(again - stress)
        if not np.all(off <= 20 * EPS * present_stiffness(points)[:, None, None]):
            p, i, j = np.unravel_index(np.argmax(np.nan_to_num(off, nan=np.inf)), off.shape)
            return [
                f"update returns a stress of {stress[p, i, j]:.6g} Pa, and stress() gives {again[p, i, j]:.6g} Pa for "
                "the history it returns: they should be equal"
            ]
    return []


def objectivity(law: Law, parameters: Parameters, rate: float = 10.0) -> list[str]:
    """Through yield and flow: Q first, then every increment seen from the rotated frame, gives the rotated stress and
    the same energy. The flow amplifies differences of the excess over yield."""
    rng = np.random.default_rng(3)
    count, strain, scale = 50, 0.05, stiffness(law, parameters)
    q = rotations(rng, count)
    here, there = Points(law, parameters, count), Points(law, parameters, count)
    there.step(q)
    for _ in range(12):
        increment = np.eye(3) + strain * rng.uniform(-1, 1, (count, 3, 3))
        stress = here.step(increment, strain / rate)
        turned = there.step(rotated(q, increment), strain / rate)
        off = np.abs(turned - rotated(q, stress)).max()
        if not off <= 1e-11 * scale:
            return [
                f"a rotated point does not have the rotated stress: the difference is {off:.4g} Pa, where rounding "
                f"gives {1e-11 * scale:.2g} Pa; is a component out of place, or F multiplied from the wrong side?"
            ]
    if not np.allclose(there.energy(), here.energy(), rtol=1e-9, atol=1e-11 * scale):
        return ["a rotation changes the energy: it should depend on the stretches only"]
    return []


def dissipation_grows(law: Law, parameters: Parameters, rate: float = 10.0) -> list[str]:
    """A correction never raises the stored energy."""
    if not flows(law):
        return []
    rng = np.random.default_rng(10)
    points = Points(law, parameters, 200)
    before = points.dissipation()
    for _ in range(30):
        points.step(np.eye(3) + 0.05 * rng.uniform(-1, 1, (200, 3, 3)), 0.05 / rate)
        after = points.dissipation()
        if not np.all(after >= before):
            lost = float(np.nanmax(before - after))
            return [f"the dissipated energy falls by {lost:.4g} J/m³ in a step: flow should never return energy"]
        before = after
    return []


def work_is_stored_or_dissipated(law: Law, parameters: Parameters, shear_modulus: float) -> list[str]:
    """∫ τ : L dt = ΔW + D, integrated by the trapezoidal rule in steps of strain ε.

    A step of the split scheme climbs elastically by up to 2 μ ε and falls back: the work of that climb, μ ε² a step,
    is in D and not in the rule. The first step of a viscous fluid jumps to its stress: half a step of work. Steps are
    f = exp(ε d), so that the volume is kept.
    """
    from scipy.linalg import expm

    if not flows(law):
        return []
    rng = np.random.default_rng(11)
    count, strain, steps = 50, 1e-3, 400
    direction = rng.standard_normal((count, 3, 3))
    direction -= np.trace(direction, axis1=1, axis2=2)[:, None, None] / 3 * np.eye(3)
    direction /= np.linalg.norm(direction, axis=(1, 2))[:, None, None]
    points = Points(law, parameters, count)
    work, before = np.zeros(count), points.stress()
    increment = expm(strain * direction)
    for _ in range(steps):
        after = points.step(increment, strain / 10.0)
        work += 0.5 * strain * np.einsum("nij,nij->n", before + after, direction)
        before = after
    balance = points.energy() + points.dissipation()
    off = np.abs(balance - work)
    if np.all(off <= 2 * shear_modulus * strain**2 * steps + 4 * strain * work.max()):
        return []
    p = int(np.argmax(np.nan_to_num(off, nan=np.inf)))
    return [
        f"energy and dissipation do not balance the work: {balance[p]:.4g} J/m³ of {work[p]:.4g} J/m³ after a strain "
        f"of {strain * steps:g}"
    ]


def volume_of_motion(law: Law, parameters: Parameters) -> list[str]:
    """While nothing flows, J multiplies by det f; a law that keeps det F has J² = det(F Fᵀ) to rounding."""
    for size in (0.2, 1e-4):
        rng = np.random.default_rng(14)
        points = Points(law, parameters, 50)
        expected = np.ones(50)
        for _ in range(4):
            increment = deformations(rng, 50, size)
            points.step(increment, 1e-3)
            expected *= np.linalg.det(increment)
        elastic = points.dissipation() == 0.0
        found = points.volume_ratio()
        if not np.allclose(found[elastic], expected[elastic], rtol=1e-13, atol=0.0):
            p = int(np.argmax(np.where(elastic, np.abs(found / expected - 1.0), -1.0)))
            return [f"volume_ratio gives {found[p]:.6g} for a motion that changes the volume by {expected[p]:.6g}"]
    return []


def wave_speed_of_tangent(law: Law, parameters: Parameters) -> list[str]:
    """ρ c² = d²W/dε² at rest in uniaxial strain; central differences, error O(ε²) of the modulus. If the law flows at
    once under tension, as sand does, or does not resist it, as drops do, a sudden compression is used, with an error
    O(ε)."""
    epsilon = 1e-3
    increments = np.tile(np.eye(3), (2, 1, 1))
    increments[:, 0, 0] += [epsilon, -epsilon]
    points = Points(law, parameters, 2)
    points.step(increments)
    modulus, tolerance = points.energy().sum() / epsilon**2, 20 * epsilon**2  # the energy at rest is zero
    if np.any(points.dissipation() > 0.0) or points.energy()[0] == 0.0:
        increments = np.eye(3)[None].copy()
        increments[0, 0, 0] -= 1e-5
        points = Points(law, parameters, 1)
        points.step(increments, STEPS[0])
        modulus, tolerance = 2.0 * points.energy()[0] / 1e-10, 0.01
    speed, expected = law.wave_speed(parameters), float(np.sqrt(max(modulus, 0.0) / parameters.density))
    if abs(speed - expected) <= tolerance * expected:
        return []
    effect = "too long, and runs blow up" if speed < expected else "shorter than needed"
    return [
        f"wave_speed gives {speed:.5g} m/s, and the stiffness at rest {expected:.5g} m/s: time steps would be {effect}"
    ]


def plain_numbers(law: Law, parameters: Parameters) -> list[str]:
    """Stress and energy are finite at strains of up to 1, in steps of any length."""
    for dt in STEPS:
        points = Points(law, parameters, 100)
        stress = points.step(deformations(np.random.default_rng(2), 100, 1.0), dt)
        if not (np.isfinite(stress).all() and np.isfinite(points.energy()).all()):
            return [f"stress or energy is not a number at strains of up to 1, in a step of {dt:g} s"]
    return []


def branches_of_update(law: Law, parameters: Parameters) -> list[str]:
    """The branches, which implicit steps use, give the stress that `update` gives."""
    scale = stiffness(law, parameters)
    rng = np.random.default_rng(15)
    for size, dt in ((1e-4, 1.0), (0.1, 1e-3), (0.1, 1.0)) if law.branches else ():
        f = tuple((np.eye(3) + size * rng.uniform(-1.0, 1.0, (3, 3))).ravel().tolist())
        constants, history = tuple(map(float, law.pack(parameters))), initial_history(law)
        tau, _ = law.update(f, dt, constants, history)
        total = np.zeros(6)
        for branch in law.branches:
            squares, V = eigen_sym(congruence(f, _left(branch, constants, history)))
            strain = (0.5 * math.log(squares[0]), 0.5 * math.log(squares[1]), 0.5 * math.log(squares[2]))
            if branch.return_map is not None:
                strain, _ = branch.return_map(constants, history, strain, dt)
            total += compose_sym(branch.principal_stress(constants, history, strain)[0], V)
        off = np.abs(total - tau).max() / scale
        if not off <= BRANCH:
            return [
                f"the branches give another stress than update, by {off:.4g} of the stiffness: {total} and {tau} Pa"
            ]
    return []


def _left(branch: Branch, constants: tuple[float, ...], history: tuple[Any, ...]) -> tuple[float, ...]:
    """b = Fe Feᵀ of a branch."""
    if branch.left is not None:
        found: tuple[float, ...] = branch.left(constants, history)
        return found
    return tuple(gram(branch.deformation(constants, history)))


FLOW_CHECKS = ("dissipation", "work")
"""Checks of laws that flow."""
CHECKS: dict[str, Callable[[Law, Parameters], list[str]]] = {
    "nothing at rest": nothing_at_rest,
    "finite": plain_numbers,
    "stress = dW": stress_of_energy,
    "stress of the history": stress_of_history,
    "objectivity": objectivity,
    "dissipation": dissipation_grows,
    "work": lambda law, parameters: work_is_stored_or_dissipated(law, parameters, stiffness(law, parameters)),
    "volume": volume_of_motion,
    "wave speed": wave_speed_of_tangent,
    "branches": branches_of_update,
}
"""All checks of a law whose functions have the declared form (`history_as_declared`)."""
