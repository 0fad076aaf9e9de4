"""Hencky elasticity: quadratic in the logarithmic strain ε = ½ log(F Fᵀ), W = μ tr ε² + λ/2 (tr ε)²."""

import math

from pydantic import Field as Describe

from spume.materials.law import Branch, Law, Parameters
from spume.materials.neo_hookean import DEFORMATION, deformation, volume_ratio
from spume.materials.principal import hencky_energy
from spume.numerics.jit import compiled
from spume.numerics.spectral3 import eigen_sym, eigenvalues_sym
from spume.numerics.tensor3 import compose_sym, gram, multiply


class HenckyParameters(Parameters):
    """Hencky solid."""

    youngs_modulus: float = Describe(gt=0, description="E, stiffness in uniaxial stress [Pa]")
    poisson_ratio: float = Describe(gt=-1, lt=0.5, description="ν, lateral contraction [1]")


def lame_parameters(youngs_modulus: float, poisson_ratio: float) -> tuple[float, float]:
    """μ and λ [Pa]."""
    mu = youngs_modulus / (2.0 * (1.0 + poisson_ratio))
    return mu, youngs_modulus * poisson_ratio / ((1.0 + poisson_ratio) * (1.0 - 2.0 * poisson_ratio))


def hencky_wave_speed(parameters: HenckyParameters) -> float:
    """√((2 μ + λ)/ρ) [m/s]."""
    mu, lam = lame_parameters(parameters.youngs_modulus, parameters.poisson_ratio)
    return math.sqrt((2.0 * mu + lam) / parameters.density)


@compiled
def principal_strain(squares):
    """ε_i = ½ log l_i for the eigenvalues l of F Fᵀ."""
    return (0.5 * math.log(squares[0]), 0.5 * math.log(squares[1]), 0.5 * math.log(squares[2]))


@compiled
def hencky_stress(mu, lam, strain):
    """Principal Kirchhoff stresses τ_i = 2 μ ε_i + λ tr ε."""
    e0, e1, e2 = strain
    pressure = lam * (e0 + e1 + e2)
    return (2.0 * mu * e0 + pressure, 2.0 * mu * e1 + pressure, 2.0 * mu * e2 + pressure)


@compiled
def stress_of_b(parameters, history):
    """τ = 2 μ ε + λ tr(ε) I for a law whose first parameters are μ, λ and whose first field is b = Fe Feᵀ."""
    squares, V = eigen_sym(history[0])
    return compose_sym(hencky_stress(parameters[0], parameters[1], principal_strain(squares)), V)


@compiled
def energy_of_b(parameters, history):
    """W = μ tr ε² + λ/2 (tr ε)² for such a law."""
    return hencky_energy(parameters[0], parameters[1], principal_strain(eigenvalues_sym(history[0])))


@compiled
def hencky_stiffness(mu, lam):
    """dτ_i/dε_j = 2 μ δ_ij + λ, row-major."""
    d = 2.0 * mu + lam
    return (d, lam, lam, lam, d, lam, lam, lam, d)


@compiled
def stress(parameters, history):
    """τ = 2 μ ε + λ tr(ε) I."""
    mu, lam = parameters
    squares, V = eigen_sym(gram(history[0]))
    return compose_sym(hencky_stress(mu, lam, principal_strain(squares)), V)


@compiled
def energy(parameters, history):
    """W = μ tr ε² + λ/2 (tr ε)²."""
    mu, lam = parameters
    return hencky_energy(mu, lam, principal_strain(eigenvalues_sym(gram(history[0]))))


@compiled
def update(f, dt, parameters, history):
    """F ← f F."""
    after = (multiply(f, history[0]),)
    return stress(parameters, after), after


@compiled
def hencky_branch_stress(parameters, history, strain):
    """Principal Kirchhoff stresses and their derivative, for laws whose first two constants are μ and λ."""
    mu, lam = parameters[0], parameters[1]
    return hencky_stress(mu, lam, strain), hencky_stiffness(mu, lam)


HENCKY = Law(
    name="hencky",
    parameters=HenckyParameters,
    fields=(DEFORMATION,),
    constants=("mu", "lam"),
    pack=lambda p: lame_parameters(p.youngs_modulus, p.poisson_ratio),
    update=update,
    stress=stress,
    energy=energy,
    volume_ratio=volume_ratio,
    wave_speed=hencky_wave_speed,
    branches=(Branch(deformation, hencky_branch_stress),),
    description="elastic solid, quadratic in the logarithmic strain",
)
