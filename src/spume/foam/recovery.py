"""Torn connections grow again: the plastic part of the deformation relaxes to the identity. [Yue15] section 7.3

With Cp = U S Uᵀ, after a time t the eigenvalues are S^exp(−t/ηp), and F ← F U S^((exp(−t/ηp) − 1)/2) Uᵀ: algorithm 14.
The factor has determinant one, so J stays, and b̄e is not touched, so the stress stays.

It need not be done in every step. Applied after t1 and again after t2 it gives the exponent exp(−t1/ηp) exp(−t2/ηp) =
exp(−(t1 + t2)/ηp), that of one application after t1 + t2; and as the factor multiplies F from the right and depends on
Cp alone, which an elastic deformation F ← f F, b̄e ← f̄ b̄e f̄ᵀ leaves as it is, it commutes with any motion. So one
application for several steps is exact as long as no plastic flow happens in between, and with flow it is a splitting of
first order, as a step is itself.
"""

import math

import numpy as np
from numba import prange

from spume.foam.foam import FoamState
from spume.foam.plastic_strain import plastic_strain
from spume.materials.kinematics import load, load_sym, store
from spume.mpm.state import State
from spume.numerics.jit import compiled
from spume.numerics.tensor3 import compose_sym, deviator_sym, eigen_sym, norm_sym

ROUNDING = 2.0**-53


def recover(state: State, foam: FoamState, dt: float) -> None:
    """Every so many steps, let the plastic strain relax over the time since the last time: procedure 11, [Yue15]
    algorithm 14."""
    if not foam.recovers or (state.steps + 1) % foam.recovery.every != 0:
        return
    with state.timed("plastic recovery"):
        p = state.particles
        now = state.time + dt
        exponents = 0.5 * np.expm1((foam.recovered_until - now) / foam.recovery_time)
        recover_points(p.material, exponents, p.F, p.be)
        foam.recovered_until = now


@compiled
def relaxed(F, be, exponent):
    """F U S^exponent Uᵀ with Cp = U S Uᵀ."""
    Cp = plastic_strain(F, be)
    # F changes by about |exponent| ‖dev Cp‖ relative to itself: nothing that rounding would keep
    if -exponent * norm_sym(deviator_sym(Cp)) < ROUNDING:
        return F
    (S1, S2, _), U = eigen_sym(Cp)
    r1 = math.expm1(exponent * math.log(S1))
    r2 = math.expm1(exponent * math.log(S2))
    # The third factor follows from the determinant one: it keeps J to rounding, and the smallest eigenvalue, which has
    # the largest relative error, is not needed.
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
