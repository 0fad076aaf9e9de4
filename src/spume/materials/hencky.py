"""Hencky elasticity: quadratic in the logarithmic strain ε = ½ log(F Fᵀ), W = μ tr ε² + λ/2 (tr ε)²."""

import math

from numba import prange
from pydantic import Field as Describe

from spume.materials.kinematics import deform, load, store, store_sym
from spume.materials.law import Law, Parameters
from spume.materials.neo_hookean import DEFORMATION
from spume.numerics.jit import compiled
from spume.numerics.spectral3 import eigen_sym, eigenvalues_sym
from spume.numerics.tensor3 import compose_sym, gram


class HenckyParameters(Parameters):
    """Hencky solid."""

    youngs_modulus: float = Describe(gt=0, description="E, stiffness in uniaxial stress [Pa]")
    poisson_ratio: float = Describe(gt=-1, lt=0.5, description="ν, lateral contraction [1]")


def lame_parameters(youngs_modulus: float, poisson_ratio: float) -> tuple[float, float]:
    """μ and λ [Pa]."""
    mu = youngs_modulus / (2.0 * (1.0 + poisson_ratio))
    return mu, youngs_modulus * poisson_ratio / ((1.0 + poisson_ratio) * (1.0 - 2.0 * poisson_ratio))


@compiled
def principal_stress(mu, lam, l0, l1, l2):
    """Principal Kirchhoff stresses τ_i = 2 μ ε_i + λ tr ε for the eigenvalues l of F Fᵀ."""
    e0, e1, e2 = 0.5 * math.log(l0), 0.5 * math.log(l1), 0.5 * math.log(l2)
    pressure = lam * (e0 + e1 + e2)
    return (2.0 * mu * e0 + pressure, 2.0 * mu * e1 + pressure, 2.0 * mu * e2 + pressure)


@compiled
def point_stress(mu, lam, F):
    """τ = 2 μ ε + λ tr(ε) I."""
    (l0, l1, l2), V = eigen_sym(gram(F))
    return compose_sym(principal_stress(mu, lam, l0, l1, l2), V)


@compiled
def point_energy(mu, lam, F):
    """W = μ tr ε² + λ/2 (tr ε)² [J/m³]."""
    l0, l1, l2 = eigenvalues_sym(gram(F))
    e0, e1, e2 = 0.5 * math.log(l0), 0.5 * math.log(l1), 0.5 * math.log(l2)
    trace = e0 + e1 + e2
    return mu * (e0 * e0 + e1 * e1 + e2 * e2) + 0.5 * lam * trace * trace


@compiled(parallel=True)
def _update(material, mine, rows, dt, velocity_gradient, stress, F):
    for p in prange(material.size):
        k = material[p]
        if mine[k]:
            moved = deform(dt, load(velocity_gradient, p), load(F, p))
            store(F, p, moved)
            store_sym(stress, p, point_stress(rows[k, 0], rows[k, 1], moved))


@compiled(parallel=True)
def _stress(material, mine, rows, stress, F):
    for p in prange(material.size):
        k = material[p]
        if mine[k]:
            store_sym(stress, p, point_stress(rows[k, 0], rows[k, 1], load(F, p)))


@compiled(parallel=True)
def _energy(material, mine, rows, energy, F):
    for p in prange(material.size):
        k = material[p]
        if mine[k]:
            energy[p] = point_energy(rows[k, 0], rows[k, 1], load(F, p))


def _wave_speed(parameters: HenckyParameters) -> float:
    mu, lam = lame_parameters(parameters.youngs_modulus, parameters.poisson_ratio)
    return math.sqrt((2.0 * mu + lam) / parameters.density)


HENCKY = Law(
    name="hencky",
    parameters=HenckyParameters,
    fields=(DEFORMATION,),
    pack=lambda p: lame_parameters(p.youngs_modulus, p.poisson_ratio),
    update=_update,
    stress=_stress,
    energy=_energy,
    wave_speed=_wave_speed,
    description="elastic solid, quadratic in the logarithmic strain",
)
