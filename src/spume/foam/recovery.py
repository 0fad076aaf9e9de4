"""Recovery of torn material: the plastic part of the deformation relaxes to the identity. [Yue15] section 7.3

With Cp = U S Uᵀ, after a time t the eigenvalues are S^exp(−t/ηp), and F ← F U S^((exp(−t/ηp) − 1)/2) Uᵀ: algorithm 14.
The factor has determinant one, so J does not change; b̄e does not change either, so the stress stays the same.

Recovery need not be applied in every step. Applied after t1 and again after t2, it gives the exponent
exp(−t1/ηp) exp(−t2/ηp) = exp(−(t1 + t2)/ηp), that of one application after t1 + t2. The factor multiplies F from the
right and depends only on Cp, which an elastic deformation F ← f F, b̄e ← f̄ b̄e f̄ᵀ does not change, so it commutes
with any motion. One application for several steps is therefore exact if there is no plastic flow in between; with flow
it is a first-order splitting, like the step itself.
"""

import math

import numpy as np
from numba import prange

from spume.foam.foam import FoamState
from spume.foam.plastic_strain import plastic_strain
from spume.materials.kinematics import load, load_sym, store
from spume.mpm.world import GridWorld
from spume.numerics.jit import compiled
from spume.numerics.tensor3 import compose_sym, deviator_sym, eigen_sym, norm_sym

ROUNDING = 2.0**-53


def recover(world: GridWorld, dt: float, foam: FoamState) -> None:
    """Every few steps, relax the plastic strain over the time since the last application: procedure 11, [Yue15]
    algorithm 14."""
    now = world.time + dt
    if not foam.due(foam.recovery.every, foam.recovered_until, now, world.steps + 1):
        return
    p = world.particles
    exponents = 0.5 * np.expm1((foam.recovered_until - now) / foam.recovery_time)
    recover_points(p.material, exponents, p.F, p.be)
    foam.recovered_until = now


def rehearse_recovery(world: GridWorld, dt: float, foam: FoamState) -> None:
    """Call the kernel without a change."""
    p = world.particles
    recover_points(p.material, np.zeros(len(foam.materials)), p.F, p.be)


@compiled
def relaxed(F, be, exponent):
    """F U S^exponent Uᵀ with Cp = U S Uᵀ."""
    Cp = plastic_strain(F, be)
    # the relative change of F, about |exponent| ‖dev Cp‖, is below rounding
    if -exponent * norm_sym(deviator_sym(Cp)) < ROUNDING:
        return F
    (S1, S2, _), U = eigen_sym(Cp)
    r1 = math.expm1(exponent * math.log(S1))
    r2 = math.expm1(exponent * math.log(S2))
    # The third factor follows from determinant one: this keeps J to rounding and avoids the smallest eigenvalue, which
    # has the largest relative error.
    r3 = -(r1 + r2 + r1 * r2) / ((1.0 + r1) * (1.0 + r2))
    xx, yy, zz, xy, xz, yz = compose_sym((r1, r2, r3), U)
    a, b, c, d, e, f, g, h, i = F
    return (
        a + (a * xx + b * xy + c * xz), b + (a * xy + b * yy + c * yz), c + (a * xz + b * yz + c * zz),
        d + (d * xx + e * xy + f * xz), e + (d * xy + e * yy + f * yz), f + (d * xz + e * yz + f * zz),
        g + (g * xx + h * xy + i * xz), h + (g * xy + h * yy + i * yz), i + (g * xz + h * yz + i * zz),
    )  # fmt: skip


@compiled(parallel=True)
def recover_points(material, exponents, F, be):
    for p in prange(material.size):
        exponent = exponents[material[p]]
        if exponent < 0.0:
            store(F, p, relaxed(load(F, p), load_sym(be, p), exponent))
