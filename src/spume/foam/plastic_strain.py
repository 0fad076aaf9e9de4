"""The plastic part of a deformation, from the fields F (total) and b̄e (elastic, determinant one) of a point."""

from spume.numerics.jit import compiled
from spume.numerics.roots import inverse_cube_root
from spume.numerics.tensor3 import congruence, det, transpose


@compiled
def scaled_plastic_strain(F, be):
    """Fᵀ b̄e⁻¹ F = J^(2/3) Cp."""
    xx, yy, zz, xy, xz, yz = be
    # the inverse is the adjugate, because the determinant is one
    inverse = (
        yy * zz - yz * yz, xx * zz - xz * xz, xx * yy - xy * xy,
        xz * yz - xy * zz, xy * yz - xz * yy, xy * xz - xx * yz,
    )  # fmt: skip
    return congruence(transpose(F), inverse)


@compiled
def plastic_strain(F, be):
    """Cp = J^(−2/3) Fᵀ b̄e⁻¹ F, the plastic right Cauchy-Green tensor. [Yue15] algorithm 7

    With F = Fe Fp and b̄e = J^(−2/3) Fe Feᵀ it equals Fpᵀ Fp and has determinant one.
    """
    scale = inverse_cube_root(det(F)) ** 2
    xx, yy, zz, xy, xz, yz = scaled_plastic_strain(F, be)
    return (scale * xx, scale * yy, scale * zz, scale * xy, scale * xz, scale * yz)
