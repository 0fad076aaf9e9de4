"""The viscoelastic law in simple shear at small strain: a standard linear solid, or a Maxwell fluid if μE = 0.

A spring μE is parallel to springs μk in series with dashpots, whose relaxation times are τk = νd/(2 μk): a Prony series
if there are several. The equilibrium spring may yield at σY/√3, or at c_C/√2 with friction and without pressure.
"""

import math

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import expm

from spume.materials.drucker_prager import cone_coefficients
from spume.materials.viscoelastic_parameters import RelaxingPart, ViscoelasticParameters

Array = NDArray[np.float64]


def relaxing(p: ViscoelasticParameters) -> list[RelaxingPart]:
    """The parts with a stiffness in shear."""
    return [part for part in p.parts if part.shear_modulus]


def strength(p: ViscoelasticParameters) -> float:
    """Shear stress at which the equilibrium spring yields without pressure [Pa]; infinite if it does not."""
    if p.friction_angle is not None:
        return cone_coefficients(p.friction_angle, p.cohesion, p.cone)[1] / math.sqrt(2.0)
    return math.inf if p.yield_stress is None else p.yield_stress / math.sqrt(3.0)


def _spring(p: ViscoelasticParameters, strain: Array) -> Array:
    """Stress of the equilibrium part [Pa]."""
    return np.asarray(np.minimum(p.shear_modulus * np.asarray(strain), strength(p)))


def relaxation(p: ViscoelasticParameters, strain: float, times: Array) -> Array:
    """(μE + Σ μk exp(−t/τk)) γ [Pa] after a sudden strain γ."""
    found = _spring(p, np.full(np.shape(times), strain))
    for part in relaxing(p):
        found = found + part.shear_modulus * strain * np.exp(-np.asarray(times) / part.relaxation_time)
    return np.asarray(found)


def start_up(p: ViscoelasticParameters, rate: float, times: Array) -> Array:
    """μE γ̇ t + Σ μk γ̇ τk (1 − exp(−t/τk)) [Pa]."""
    found = _spring(p, rate * times)
    for part in relaxing(p):
        viscous = -0.5 * part.deviatoric_viscosity * rate * np.expm1(-np.asarray(times) / part.relaxation_time)
        found = np.asarray(found + viscous)
    return found


def flow_curve(p: ViscoelasticParameters, rates: Array) -> Array:
    """σY/√3 + Σ νd/2 γ̇ [Pa], for a material that flows; if μE = 0 the first term is zero."""
    yielding = strength(p) if p.shear_modulus and math.isfinite(strength(p)) else 0.0
    viscous = 0.5 * sum(part.deviatoric_viscosity for part in relaxing(p))
    return np.asarray(yielding + viscous * np.asarray(rates))


def moduli(p: ViscoelasticParameters, frequencies: Array) -> tuple[Array, Array]:
    """Storage modulus μE + Σ μk ω²τk²/(1 + ω²τk²) and loss modulus Σ μk ωτk/(1 + ω²τk²) [Pa] at ω [rad/s]."""
    storage, loss = np.full(np.shape(frequencies), p.shear_modulus), np.zeros(np.shape(frequencies))
    for part in relaxing(p):
        x = np.asarray(frequencies) * part.relaxation_time
        storage = storage + part.shear_modulus * x * x / (1 + x * x)
        loss = loss + part.shear_modulus * x / (1 + x * x)
    return storage, loss


def creep(p: ViscoelasticParameters, stress: float, times: Array) -> Array | None:
    """Shear strain under a constant stress [Pa]; None if the equilibrium part would yield or nothing relaxes.

    With one part, γ/σ = 1/μE − μN/(μE (μE + μN)) exp(−t μE/((μE + μN) τ)); if μE = 0, γ/σ = 1/μN + t/(μN τ). With
    several, the strains of the dashpots follow γk' = (γ − γk)/τk with (μE + Σ μk) γ = σ + Σ μk γk, solved exactly.
    """
    parts = relaxing(p)
    if not parts or stress > strength(p):
        return None
    muE, muN = p.shear_modulus, parts[0].shear_modulus
    if len(parts) == 1:
        t = np.asarray(times) / parts[0].relaxation_time
        if muE == 0.0:
            return np.asarray(stress / muN * (1.0 + t))
        return np.asarray(stress / muE * (1.0 - muN / (muE + muN) * np.exp(-t * muE / (muE + muN))))
    mu, tau = np.array([part.shear_modulus for part in parts]), np.array([part.relaxation_time for part in parts])
    strain = np.append(mu, stress) / (muE + mu.sum())  # γ as a row of (γk, 1)
    rates = np.zeros((len(mu) + 1, len(mu) + 1))
    rates[:-1] = (strain - np.eye(len(mu), len(mu) + 1)) / tau[:, None]
    start = np.append(np.zeros(len(mu)), 1.0)
    return np.array([strain @ expm(t * rates) @ start for t in np.asarray(times)])
