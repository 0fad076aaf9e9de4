"""Tests of soil mechanics on one point: triaxial compression and the shear box.

Stresses are Cauchy stresses. As usual in soil mechanics, compression is positive in all reported values.
"""

import math
from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from spume.errors import RunFailed, SceneError
from spume.materials.table import Material
from spume.rheology.behaviour import behaviour_of
from spume.rheology.point import Point
from spume.rheology.rheometer import Measurement, refine
from spume.rheology.theory import theory_of

Array = NDArray[np.float64]

ROWS = 200
"""Number of strains at which values are reported."""
REFINED = 2e-4
"""Steps are halved until the stresses change by less than this fraction of the largest of them."""
MOST_HALVINGS = 6
RATE = 1e-3
"""Strain rate [1/s] of the tests, as slow as in a laboratory."""
LARGEST = 3.0
"""Largest strain of the tests."""
CLOSE = 1e-9
"""Tolerance of the controlled stresses, relative to the largest stress."""


def triaxial(
    material: Material, pressure: float, largest: float = 0.1, drainage: Literal["drained", "undrained"] = "drained"
) -> Measurement:
    """Axial compression after isotropic consolidation to `pressure` [Pa], up to the logarithmic strain `largest`:
    drained, at a constant lateral stress, or undrained, at a constant volume.

    Columns: axial_strain, deviator_stress q [Pa], mean_stress p [Pa] (effective), volumetric_strain (from the start of
    shear), undrained also pore_pressure [Pa], the excess at a constant lateral total stress; and, if the law has a
    closed form, failure_deviator_stress, the largest q at that p.
    """
    _pressure(pressure)
    _strain(largest)
    _shear_resistance(material, pressure, "triaxial strength")
    rows = refine(
        lambda parts: _compress(material, pressure, largest, parts, drainage == "drained"), REFINED, MOST_HALVINGS
    )
    columns = dict(zip(("axial_strain", "deviator_stress", "mean_stress", "volumetric_strain"), rows.T))
    if drainage == "undrained":  # the lateral effective stress is p − q/3
        columns["pore_pressure"] = pressure - columns["mean_stress"] + columns["deviator_stress"] / 3.0
    expected = _strength(material, theory_of(material).triaxial_strength, columns["mean_stress"])
    return Measurement(columns | ({} if expected is None else {"failure_deviator_stress": expected}))


def shear_box(material: Material, pressure: float, largest: float = 0.3) -> Measurement:
    """Simple shear in plane strain under a constant normal stress `pressure` [Pa], up to the shear strain `largest`.

    The sample is first compressed without lateral strain. Columns: shear_strain, shear_stress [Pa], normal_stress [Pa],
    volumetric_strain (from the start of shear), and, if the law has a closed form, failure_shear_stress.
    """
    _pressure(pressure)
    _strain(largest)
    _shear_resistance(material, pressure, "shear strength")
    rows = refine(lambda parts: _shear(material, pressure, largest, parts), REFINED, MOST_HALVINGS)
    columns = dict(zip(("shear_strain", "shear_stress", "normal_stress", "volumetric_strain"), rows.T))
    expected = _strength(material, theory_of(material).shear_strength, columns["normal_stress"])
    return Measurement(columns | ({} if expected is None else {"failure_shear_stress": expected}))


def _strength(material: Material, closed_form: Callable[..., Any] | None, stress: Array) -> Array | None:
    """The stress at failure by the closed form of the law, if it has one."""
    expected = closed_form(material.parameters, stress) if closed_form else None
    return None if expected is None else np.asarray(expected)


def _compress(material: Material, pressure: float, largest: float, parts: int, drained: bool) -> Array:
    """Rows of the triaxial test, with `parts` steps between rows."""
    point, step, guess = Point(material), largest / (ROWS * parts), 0.0
    if pressure:
        _solve(point, lambda e: point.stretch(e, e, e, 1.0), lambda: -point.cauchy()[0] - pressure, -1e-6)
    start = math.log(point.volume_ratio())
    rows = [_triaxial_row(point, 0.0, start)]
    for k in range(1, ROWS * parts + 1):
        if drained:
            guess = _solve(
                point,
                lambda e: point.stretch(-step, e, e, step / RATE),
                lambda: -point.cauchy()[1] - pressure,
                guess or 0.3 * step,
            )
        else:
            point.stretch(-step, 0.5 * step, 0.5 * step, step / RATE)
        if k % parts == 0:
            rows.append(_triaxial_row(point, k * step, start))
    return np.array(rows)


def _shear(material: Material, pressure: float, largest: float, parts: int) -> Array:
    """Rows of the shear box, with `parts` steps between rows."""
    point, step, guess = Point(material), largest / (ROWS * parts), 0.0
    if pressure:
        _solve(point, lambda e: point.stretch(0.0, e, 0.0, 1.0), lambda: -point.cauchy()[1] - pressure, -1e-6)
    start = math.log(point.volume_ratio())
    rows = [_box_row(point, 0.0, start)]
    for k in range(1, ROWS * parts + 1):
        guess = _solve(
            point,
            lambda e: point.deform((1.0, step, 0.0, 0.0, math.exp(e), 0.0, 0.0, 0.0, 1.0), step / RATE),
            lambda: -point.cauchy()[1] - pressure,
            guess or 1e-3 * step,
        )
        if k % parts == 0:
            rows.append(_box_row(point, k * step, start))
    return np.array(rows)


def _triaxial_row(point: Point, strain: float, start: float) -> tuple[float, ...]:
    xx, yy, zz, _, _, _ = point.cauchy()
    return strain, yy - xx, -(xx + yy + zz) / 3.0, start - math.log(point.volume_ratio())


def _box_row(point: Point, strain: float, start: float) -> tuple[float, ...]:
    _, yy, _, xy, _, _ = point.cauchy()
    return strain, xy, -yy, start - math.log(point.volume_ratio())


def _solve(point: Point, move: Callable[[float], None], miss: Callable[[], float], guess: float) -> float:
    """Deform the point by the strain e at which `miss()` vanishes; return e.

    The stress grows with e: a bracket is widened from `guess`, then narrowed by regula falsi with bisection.
    """
    start = point.state()

    def at(e: float) -> float:
        point.restore(start)
        move(e)
        return miss()

    low, high = -abs(guess), abs(guess)
    for _ in range(80):
        f_low, f_high = at(low), at(high)
        if f_low >= 0.0 >= f_high:
            break
        low, high = 2.0 * low, 2.0 * high
        if high > 5.0:
            raise RunFailed("no deformation gives the stress prescribed by the test: the material cannot sustain it")
    for k in range(200):
        e = 0.5 * (low + high)
        if f_low > f_high and k % 3:
            e = low + (high - low) * f_low / (f_low - f_high)
        f = at(e)
        scale = max(abs(s) for s in point.stress)
        if abs(f) <= max(CLOSE * scale, 1e-15 * point.stiffness) or high - low <= 1e-17:
            return e
        low, high, f_low, f_high = (e, high, f, f_high) if f > 0.0 else (low, e, f_low, f)
    return e


def _pressure(pressure: float) -> None:
    if not (pressure >= 0.0 and math.isfinite(pressure)):
        raise SceneError(f"the pressure is {pressure:g} Pa: it should be finite and not negative")


def _strain(largest: float) -> None:
    if not 0.0 < largest <= LARGEST:
        raise SceneError(f"the largest strain is {largest:g}: it should be positive and at most {LARGEST:g}")


def _shear_resistance(material: Material, pressure: float, wanted: str) -> None:
    found = behaviour_of(material)
    if found.viscous or not (found.resists or found.needs_pressure):
        raise SceneError(
            f"'{material.name}' (law {material.law.name}) is a fluid that bears no shear at rest, so it has no {wanted}"
        )
    if found.needs_pressure and pressure == 0.0:
        raise SceneError(f"'{material.name}' falls apart without pressure: the pressure should be positive")
