"""Torn material: detection of weak points, and limits of their stress and deformation. [Yue15] section 7.2

A weak point resists only compression, and accumulates neither shear nor expansion.
"""

import math

import numpy as np
from numba import prange
from numpy.typing import NDArray

from spume.foam.foam import FoamState
from spume.foam.plastic_strain import scaled_plastic_strain
from spume.materials.kinematics import load, load_sym, store, store_sym
from spume.mpm.world import GridWorld
from spume.numerics.jit import compiled
from spume.numerics.tensor3 import (
    compose_sym,
    congruence,
    det,
    det_sym,
    deviator_sym,
    eigen_sym,
    eigenvalues_sym,
    polar,
)


def detect_tearing(world: GridWorld, dt: float, foam: FoamState) -> None:
    """Mark the points whose plastic strain exceeds their material's threshold as weak, and remove tension from their
    stress: procedures 2 and 4, [Yue15] algorithms 7 and 8."""
    p = world.particles
    foam.weak_points = detect_and_limit(p.material, foam.tear_threshold, p.F, p.be, p.weak, p.stress)


def limit_deformation(world: GridWorld, dt: float, foam: FoamState) -> None:
    """Remove shear and expansion from the deformation of weak points: procedure 8, [Yue15] algorithm 11.

    A remaining change of volume is isotropic in three dimensions, also in 2D scenes. The affine velocity of APIC, which
    [Yue15] does not have, keeps its rotation alone: the compression of a point that has left its neighbours would
    otherwise push the nodes around it apart in every step, since its limited deformation does not relieve it.
    """
    p = world.particles
    limit_increments(p.weak, p.F, p.be, world.deformation)
    keep_rotation(world.only.affine_velocity, p.weak)


def keep_rotation(C: NDArray[np.float64], weak: NDArray[np.int8]) -> None:
    """Replace the affine velocity C (n, d, d) [1/s] of weak points by its skew part, in place; C is empty for FLIP."""
    torn = np.flatnonzero(weak[: len(C)])
    C[torn] = 0.5 * (C[torn] - C[torn].transpose(0, 2, 1))


@compiled
def is_torn(F, be, threshold):
    """Whether ‖dev Cp‖ > σT, [Yue15] algorithm 7."""
    # For most points a bound is enough: with B = Fᵀ b̄e⁻¹ F, ‖dev B‖ ≤ ‖F‖² ‖b̄e⁻¹‖ ≤ ‖F‖² ‖b̄e‖² / √3, because the
    # inverse is the adjugate. 5.1 is a little less than √3³, which leaves room for rounding.
    a, b, c, d, e, f, g, h, i = F
    xx, yy, zz, xy, xz, yz = be
    size = a * a + b * b + c * c + d * d + e * e + f * f + g * g + h * h + i * i
    size *= xx * xx + yy * yy + zz * zz + 2.0 * (xy * xy + xz * xz + yz * yz)
    J = det(F)
    if size * size * size < 5.1 * threshold * threshold * threshold * J * J:
        return False
    # Cp = J^(−2/3) B: comparing sixth powers, ‖dev B‖⁶ > σT⁶ J⁴, avoids the root, half of the work
    xx, yy, zz, xy, xz, yz = deviator_sym(scaled_plastic_strain(F, be))
    square = xx * xx + yy * yy + zz * zz + 2.0 * (xy * xy + xz * xz + yz * yz)
    limit = threshold * J
    return square * square * square > limit * limit * limit * limit * threshold * threshold


@compiled
def _is_positive(xx, yy, zz, xy, xz, yz):
    """Whether a symmetric tensor is positive definite, by its leading minors."""
    minor = xx * yy - xy * xy
    return xx > 0.0 and minor > 0.0 and det_sym((xx, yy, zz, xy, xz, yz)) > 0.0


@compiled
def without_tension(stress):
    """`stress` with its positive eigenvalues set to zero, [Yue15] algorithm 8.

    The Kirchhoff stress τ = J σ has the eigenvectors of σ and, because J > 0, eigenvalues of the same signs.
    """
    # If the pressure dominates, as usual, the eigenvalues are not needed.
    xx, yy, zz, xy, xz, yz = stress
    if _is_positive(-xx, -yy, -zz, -xy, -xz, -yz):
        return stress
    if _is_positive(xx, yy, zz, xy, xz, yz):
        return (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    (s1, s2, s3), V = eigen_sym(stress)
    return compose_sym((min(s1, 0.0), min(s2, 0.0), min(s3, 0.0)), V)


@compiled
def limited_increment(f, F, be):
    """f of a weak point without added shear or expansion, [Yue15] algorithm 11."""
    Jf = det(f)
    stretch = Jf ** (1.0 / 3.0)
    limited = f
    # shear is accumulating if λ_pre > λ_n, with b̄e_pre = f b̄e fᵀ / Jf^(2/3)
    if eigenvalues_sym(congruence(f, be))[0] > stretch * stretch * eigenvalues_sym(be)[0]:
        limited = _scaled(stretch, polar(f)[0])
    # The text of [Yue15] section 7.2 requires J_n > 1; algorithm 11 uses the volume at the end of the step.
    if det(F) * Jf > 1.0 and Jf > 1.0:
        limited = _scaled(1.0 / stretch, limited)
    return limited


@compiled
def _scaled(c, a):
    return (c * a[0], c * a[1], c * a[2], c * a[3], c * a[4], c * a[5], c * a[6], c * a[7], c * a[8])


@compiled(parallel=True)
def detect_and_limit(material, threshold, F, be, weak, stress):
    """Mark weak points and remove tension from their stress; return their number."""
    count = 0
    for p in prange(material.size):
        limit = threshold[material[p]]
        if limit < math.inf and is_torn(load(F, p), load_sym(be, p), limit):
            weak[p] = 1
            count += 1
            store_sym(stress, p, without_tension(load_sym(stress, p)))
        else:
            weak[p] = 0
    return count


@compiled(parallel=True)
def limit_increments(weak, F, be, deformation):
    for p in prange(weak.size):
        if weak[p]:
            store(deformation, p, limited_increment(load(deformation, p), load(F, p), load_sym(be, p)))
