"""Compressible neo-Hookean elasticity with separate volume and shear: [Yue15] eqs. (1) and (2), [SimoHughes98] §9.2."""

import math

from pydantic import Field as Describe

from spume.fields import IDENTITY, Field
from spume.materials.law import Branch, Law, Parameters
from spume.numerics.jit import compiled
from spume.numerics.roots import inverse_cube_root
from spume.numerics.tensor3 import det, deviator_sym, gram, multiply


class NeoHookeanParameters(Parameters):
    """Compressible neo-Hookean solid."""

    bulk_modulus: float = Describe(gt=0, description="κ, resistance to change of volume [Pa]")
    shear_modulus: float = Describe(gt=0, description="μ, resistance to change of shape [Pa]")


@compiled
def volume_energy(kappa, J):
    """W_v = κ/2 ((J² − 1)/2 − ln J) [J/m³], [Yue15] eq. (1)."""
    return 0.5 * kappa * (0.5 * (J * J - 1.0) - math.log(J))


@compiled
def stress(parameters, history):
    """τ = κ/2 (J² − 1) I + μ dev b̄, [Yue15] eq. (2), with b̄ = J^(−2/3) F Fᵀ."""
    kappa, mu = parameters
    (F,) = history
    J = det(F)
    pressure = 0.5 * kappa * (J * J - 1.0)
    scale = mu * inverse_cube_root(J) ** 2
    xx, yy, zz, xy, xz, yz = deviator_sym(gram(F))
    return (
        pressure + scale * xx, pressure + scale * yy, pressure + scale * zz, scale * xy, scale * xz, scale * yz
    )  # fmt: skip


@compiled
def energy(parameters, history):
    """W = W_v(J) + μ/2 (tr b̄ − 3), [Yue15] eq. (1)."""
    kappa, mu = parameters
    (F,) = history
    J = det(F)
    xx, yy, zz, _, _, _ = gram(F)
    return volume_energy(kappa, J) + 0.5 * mu * (inverse_cube_root(J) ** 2 * (xx + yy + zz) - 3.0)


@compiled
def update(f, dt, parameters, history):
    """F ← f F."""
    after = (multiply(f, history[0]),)
    return stress(parameters, after), after


@compiled
def volume_ratio(history):
    """J = det F."""
    return det(history[0])


@compiled
def deformation(parameters, history):
    """F."""
    return history[0]


@compiled
def split_principal_stress(kappa, mu, strain):
    """τ_i = κ/2 (J² − 1) + μ (b̄_i − tr b̄/3) and dτ_i/dε_j, with ln J = tr ε and b̄_i = exp(2 ε_i − 2/3 tr ε)."""
    e0, e1, e2 = strain
    trace = e0 + e1 + e2
    J2 = math.exp(2.0 * trace)
    b0, b1, b2 = math.exp(2.0 * e0 - trace / 1.5), math.exp(2.0 * e1 - trace / 1.5), math.exp(2.0 * e2 - trace / 1.5)
    m = (b0 + b1 + b2) / 3.0
    pressure = 0.5 * kappa * (J2 - 1.0)
    # db̄_i/dε_j = 2 b̄_i (δ_ij − 1/3), dm/dε_j = 2/3 (b̄_j − m)
    k, c = kappa * J2, mu / 1.5
    d01, d02, d12 = k - c * (b0 + b1 - m), k - c * (b0 + b2 - m), k - c * (b1 + b2 - m)
    d00, d11, d22 = k + c * (b0 + m), k + c * (b1 + m), k + c * (b2 + m)
    tau = (pressure + mu * (b0 - m), pressure + mu * (b1 - m), pressure + mu * (b2 - m))
    return tau, (d00, d01, d02, d01, d11, d12, d02, d12, d22)


@compiled
def principal_stress(parameters, history, strain):
    """Principal Kirchhoff stresses and their derivative."""
    kappa, mu = parameters
    return split_principal_stress(kappa, mu, strain)


DEFORMATION = Field(
    "F", (3, 3), IDENTITY, "1", "average-keep-determinant", description="deformation gradient", in_frames=True
)

NEO_HOOKEAN = Law(
    name="neo-hookean",
    parameters=NeoHookeanParameters,
    fields=(DEFORMATION,),
    constants=("kappa", "mu"),
    pack=lambda p: (p.bulk_modulus, p.shear_modulus),
    update=update,
    stress=stress,
    energy=energy,
    volume_ratio=volume_ratio,
    wave_speed=lambda p: math.sqrt((p.bulk_modulus + 4.0 / 3.0 * p.shear_modulus) / p.density),
    branches=(Branch(deformation, principal_stress),),
    description="elastic solid of [Yue15] eqs. (1)-(2): separate volume and shear energies",
)
