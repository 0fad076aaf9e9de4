"""Closed forms of each law, and the scales on which its response changes.

A law without an entry can also be measured; its scales are then found by trial (`rheometer`).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spume.materials.corotated_plastic import CorotatedPlasticParameters
from spume.materials.drucker_prager import DruckerPragerParameters, cone_coefficients
from spume.materials.granular_flow import friction_at
from spume.materials.hencky import HenckyParameters, lame_parameters
from spume.materials.herschel_bulkley import HerschelBulkleyParameters
from spume.materials.table import Material
from spume.materials.viscoelastic_parameters import ViscoelasticParameters
from spume.rheology import small_strain, standard_linear_solid
from spume.rheology.point import Point

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Theory:
    """Closed forms of a law at small elastic strain as functions of its parameters; None where there is none."""

    flow_curve: Callable[..., Any] | None = None
    """(parameters, rates) -> steady shear stress [Pa]"""
    start_up: Callable[..., Any] | None = None
    """(parameters, rate, times) -> shear stress [Pa]"""
    relaxation: Callable[..., Any] | None = None
    """(parameters, strain, times) -> shear stress [Pa]"""
    moduli: Callable[..., Any] | None = None
    """(parameters, frequencies) -> storage and loss modulus [Pa]"""
    creep: Callable[..., Any] | None = None
    """(parameters, stress, times) -> shear strain, or None"""
    triaxial_strength: Callable[..., Any] | None = None
    """(parameters, mean stress) -> deviator stress at failure in triaxial compression [Pa], or None"""
    shear_strength: Callable[..., Any] | None = None
    """(parameters, normal stress) -> shear stress at failure in plane strain [Pa], or None"""
    first_strain: Callable[..., float] | None = None
    """(parameters, rate) -> elastic shear strain from rest, exact in one step"""
    relaxation_strain: Callable[..., float] | None = None
    """(parameters, rate, point) -> shear strain in which the stress approaches that of steady flow by a factor e"""
    start_up_times: Callable[..., Any] | None = None
    """(parameters, rate) -> times [s] that resolve the start-up"""
    relaxation_times: Callable[..., Any] | None = None
    """(parameters, strain) -> times [s] that resolve the relaxation"""


def theory_of(material: Material) -> Theory:
    """Theory of the material's law; empty if there is none."""
    return THEORIES.get(material.law.family, Theory())


def _herschel_bulkley_relaxation(p: HerschelBulkleyParameters, rate: float, point: Point) -> float:
    """Relaxation strain. With the plastic rate γ̇/√2, the direction of the stress relaxes in a strain of s/(√2 μ̃), its
    magnitude in h (s − k)/(√2 μ̃), where μ̃ = μ tr b̄e/3; the trace follows from the energy μ/2 (tr b̄e − 3)."""
    s, k = point.magnitude(), math.sqrt(2.0 / 3.0) * p.yield_stress
    mean = 1.0 + 2.0 * point.energy() / (3.0 * p.shear_modulus)
    return max(s, p.flow_index * (s - k)) / (math.sqrt(2.0) * p.shear_modulus * mean)


def _herschel_bulkley_first_strain(p: HerschelBulkleyParameters, rate: float) -> float:
    climb = float(small_strain.flow_curve(p, np.array([rate]))[0]) / p.shear_modulus
    return small_strain.yield_strain(p) or climb


def _relaxation_times(p: ViscoelasticParameters) -> tuple[float, float]:
    """The shortest and the longest [s]; infinite if nothing relaxes."""
    found = [part.relaxation_time for part in standard_linear_solid.relaxing(p) if part.shear_modulus] or [math.inf]
    return min(found), max(found)


def _viscoelastic_start_up_times(p: ViscoelasticParameters, rate: float) -> Array:
    shortest, longest = _relaxation_times(p)
    if longest == math.inf:
        return np.array([math.inf])
    if shortest == longest:
        return np.linspace(0.0, 8.0 * longest, 201)
    return np.concatenate([[0.0], np.geomspace(0.04 * shortest, 8.0 * longest, 201)])


def _viscoelastic_relaxation_times(p: ViscoelasticParameters, strain: float) -> Array:
    shortest, longest = _relaxation_times(p)
    if shortest == longest:
        return np.concatenate([[0.0], longest * np.logspace(-3.0, 1.0, 81)])
    return np.concatenate([[0.0], np.geomspace(1e-3 * shortest, 10.0 * longest, 121)])


def _viscoelastic_relaxation_strain(p: ViscoelasticParameters, rate: float, point: Point) -> float:
    elastic = point.magnitude() / (math.sqrt(2.0) * p.instantaneous_modulus)
    return max(rate * _relaxation_times(p)[1], elastic)


def _shear_modulus(p: HenckyParameters) -> float:
    return lame_parameters(p.youngs_modulus, p.poisson_ratio)[0]


def _corotated_flow_curve(p: CorotatedPlasticParameters, rates: Array) -> Array | None:
    """γ̇ = ν (1 − P_Y/(√2 τ)) τ/μ with ‖P‖ = √2 τ; None with hardening or a stress-dependent rate."""
    if p.hardening or p.reference_stress or not p.flow_rate:
        return None
    return np.asarray(p.yield_stress / math.sqrt(2.0) + _shear_modulus(p) * np.asarray(rates) / p.flow_rate)


def _mohr_coulomb_triaxial(p: DruckerPragerParameters, mean: Array) -> Array:
    """√(2/3) q = c_C + 3 c_F p; with the compression cone (6 sin φ p + 6 c cos φ)/(3 − sin φ)."""
    c_F, c_C = cone_coefficients(p.friction_angle, p.cohesion, p.cone)
    return np.asarray(math.sqrt(1.5) * (c_C + 3.0 * c_F * np.asarray(mean)))


def _mohr_coulomb_shear(p: DruckerPragerParameters, normal: Array) -> Array:
    """τ = (c_C + 3 c_F σ)/√2 in isochoric plane strain; with the plane-strain cone c cos φ + σ sin φ."""
    c_F, c_C = cone_coefficients(p.friction_angle, p.cohesion, p.cone)
    return np.asarray((c_C + 3.0 * c_F * np.asarray(normal)) / math.sqrt(2.0))


THEORIES = {
    "herschel-bulkley": Theory(
        flow_curve=small_strain.flow_curve,
        start_up=small_strain.start_up,
        relaxation=small_strain.relaxation,
        first_strain=_herschel_bulkley_first_strain,
        relaxation_strain=_herschel_bulkley_relaxation,
        start_up_times=small_strain.start_up_times,
        relaxation_times=small_strain.relaxation_times,
    ),
    "viscoelastic": Theory(
        flow_curve=standard_linear_solid.flow_curve,
        start_up=standard_linear_solid.start_up,
        relaxation=standard_linear_solid.relaxation,
        moduli=standard_linear_solid.moduli,
        creep=standard_linear_solid.creep,
        relaxation_strain=_viscoelastic_relaxation_strain,
        start_up_times=_viscoelastic_start_up_times,
        relaxation_times=_viscoelastic_relaxation_times,
    ),
    "von-mises": Theory(
        flow_curve=lambda p, rates: None if p.hardening else np.full(len(rates), p.yield_stress / math.sqrt(3.0)),
        start_up=lambda p, rate, times: (
            np.minimum(_shear_modulus(p) * rate * times, p.yield_stress / math.sqrt(3.0))
            if p.hardening == 0.0
            else None
        ),
        triaxial_strength=lambda p, mean: np.full(np.shape(mean), p.yield_stress) if p.hardening == 0.0 else None,
        shear_strength=lambda p, normal: (
            np.full(np.shape(normal), p.yield_stress / math.sqrt(3.0)) if p.hardening == 0.0 else None
        ),
        relaxation_strain=lambda p, rate, point: point.magnitude() / (math.sqrt(2.0) * _shear_modulus(p)),
        start_up_times=lambda p, rate: np.linspace(
            0.0, 4.0 * p.yield_stress / (math.sqrt(3.0) * _shear_modulus(p) * rate), 101
        ),
    ),
    "drucker-prager": Theory(triaxial_strength=_mohr_coulomb_triaxial, shear_strength=_mohr_coulomb_shear),
    "granular-flow": Theory(
        triaxial_strength=lambda p, mean: math.sqrt(3.0) * (friction_at(p, 0.0) * np.asarray(mean) + p.cohesion),
        shear_strength=lambda p, normal: friction_at(p, 0.0) * np.asarray(normal) + p.cohesion,
    ),
    "cam-clay": Theory(
        triaxial_strength=lambda p, mean: p.critical_ratio * (np.asarray(mean) + p.reference_pressure),
    ),
    "water": Theory(
        flow_curve=lambda p, rates: p.viscosity * np.asarray(rates),
        moduli=lambda p, frequencies: (np.zeros(len(frequencies)), p.viscosity * np.asarray(frequencies)),
    ),
    "corotated-plastic": Theory(
        flow_curve=_corotated_flow_curve,
        relaxation_strain=lambda p, rate, point: max(
            point.magnitude() / (math.sqrt(2.0) * _shear_modulus(p)), rate / p.flow_rate if p.flow_rate else 0.0
        ),
    ),
}
