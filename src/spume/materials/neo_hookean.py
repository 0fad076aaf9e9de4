"""Compressible neo-Hookean elasticity with separate volume and shear: [Yue15] eqs. (1) and (2), [SimoHughes98] §9.2."""

import math

from numba import prange
from pydantic import Field as Describe

from spume.fields import IDENTITY, Field
from spume.materials.kinematics import deform, load, store, store_sym
from spume.materials.law import Law, Parameters
from spume.numerics.jit import compiled
from spume.numerics.roots import inverse_cube_root
from spume.numerics.tensor3 import det, deviator_sym, gram


class NeoHookeanParameters(Parameters):
    """Compressible neo-Hookean solid."""

    bulk_modulus: float = Describe(gt=0, description="κ, resistance to change of volume [Pa]")
    shear_modulus: float = Describe(gt=0, description="μ, resistance to change of shape [Pa]")


@compiled
def volume_energy(kappa, J):
    """W_v = κ/2 ((J² − 1)/2 − ln J) [J/m³], [Yue15] eq. (1)."""
    return 0.5 * kappa * (0.5 * (J * J - 1.0) - math.log(J))


@compiled
def point_stress(kappa, mu, F):
    """τ = κ/2 (J² − 1) I + μ dev b̄, [Yue15] eq. (2), with b̄ = J^(−2/3) F Fᵀ."""
    J = det(F)
    pressure = 0.5 * kappa * (J * J - 1.0)
    scale = mu * inverse_cube_root(J) ** 2
    xx, yy, zz, xy, xz, yz = deviator_sym(gram(F))
    return (
        pressure + scale * xx, pressure + scale * yy, pressure + scale * zz, scale * xy, scale * xz, scale * yz
    )  # fmt: skip


@compiled
def point_energy(kappa, mu, F):
    """W = W_v(J) + μ/2 (tr b̄ − 3), [Yue15] eq. (1)."""
    J = det(F)
    xx, yy, zz, _, _, _ = gram(F)
    return volume_energy(kappa, J) + 0.5 * mu * (inverse_cube_root(J) ** 2 * (xx + yy + zz) - 3.0)


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


DEFORMATION = Field(
    "F", (3, 3), IDENTITY, "1", "average-keep-determinant", description="deformation gradient", in_frames=True
)

NEO_HOOKEAN = Law(
    name="neo-hookean",
    parameters=NeoHookeanParameters,
    fields=(DEFORMATION,),
    pack=lambda p: (p.bulk_modulus, p.shear_modulus),
    update=_update,
    stress=_stress,
    energy=_energy,
    wave_speed=lambda p: math.sqrt((p.bulk_modulus + 4.0 / 3.0 * p.shear_modulus) / p.density),
    description="elastic solid of [Yue15] eqs. (1)-(2): volume and shear energies apart",
)
