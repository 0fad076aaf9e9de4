"""The viscoelastic law in simple shear at small strain: the standard linear solid, or a Maxwell fluid if μE = 0.

A spring μE is parallel to a spring μN in series with a dashpot; the relaxation time is τ = νd/(2 μN). The equilibrium
spring may yield at σY/√3.
"""

import math

import numpy as np
from numpy.typing import NDArray

from spume.materials.viscoelastic import ViscoelasticParameters, relaxation_time

Array = NDArray[np.float64]


def _spring(p: ViscoelasticParameters, strain: Array) -> Array:
    """Stress of the equilibrium part [Pa]."""
    elastic = p.shear_modulus * np.asarray(strain)
    return elastic if p.yield_stress is None else np.minimum(elastic, p.yield_stress / math.sqrt(3.0))


def relaxation(p: ViscoelasticParameters, strain: float, times: Array) -> Array:
    """(μE + μN exp(−t/τ)) γ [Pa] after a sudden strain γ."""
    decay = np.exp(-np.asarray(times) / relaxation_time(p))
    return np.asarray(_spring(p, np.full(np.shape(times), strain)) + p.viscous_shear_modulus * strain * decay)


def start_up(p: ViscoelasticParameters, rate: float, times: Array) -> Array:
    """μE γ̇ t + μN γ̇ τ (1 − exp(−t/τ)) [Pa]."""
    if not p.viscous_shear_modulus:
        return _spring(p, rate * times)
    viscous = -0.5 * p.deviatoric_viscosity * rate * np.expm1(-np.asarray(times) / relaxation_time(p))
    return np.asarray(_spring(p, rate * times) + viscous)


def flow_curve(p: ViscoelasticParameters, rates: Array) -> Array:
    """σY/√3 + νd/2 γ̇ [Pa], for a material that flows; if μE = 0 the first term is zero."""
    yielding = p.yield_stress / math.sqrt(3.0) if p.yield_stress and p.shear_modulus else 0.0
    viscous = 0.5 * p.deviatoric_viscosity if p.viscous_shear_modulus else 0.0
    return np.asarray(yielding + viscous * np.asarray(rates))


def moduli(p: ViscoelasticParameters, frequencies: Array) -> tuple[Array, Array]:
    """Storage modulus μE + μN ω²τ²/(1 + ω²τ²) and loss modulus μN ωτ/(1 + ω²τ²) [Pa] at ω [rad/s]."""
    x = np.asarray(frequencies) * relaxation_time(p)
    return p.shear_modulus + p.viscous_shear_modulus * x * x / (1 + x * x), p.viscous_shear_modulus * x / (1 + x * x)


def creep(p: ViscoelasticParameters, stress: float, times: Array) -> Array | None:
    """Shear strain under a constant stress [Pa]; None if the equilibrium part would yield or nothing relaxes.

    γ/σ = 1/μE − μN/(μE (μE + μN)) exp(−t μE/((μE + μN) τ)); if μE = 0, γ/σ = 1/μN + t/(μN τ).
    """
    muE, muN = p.shear_modulus, p.viscous_shear_modulus
    if muN == 0.0 or (p.yield_stress is not None and stress > p.yield_stress / math.sqrt(3.0)):
        return None
    t = np.asarray(times) / relaxation_time(p)
    if muE == 0.0:
        return np.asarray(stress / muN * (1.0 + t))
    return np.asarray(stress / muE * (1.0 - muN / (muE + muN) * np.exp(-t * muE / (muE + muN))))
