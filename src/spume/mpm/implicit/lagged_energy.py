"""Energy of points after a step without flow, of which the stress of `tangent.lagged_stress` is the derivative.

That of granular laws is Hencky's or the unilateral energy of the corrected strain. Other laws know only their principal
stresses τ: their energy W(ε) = ∫ τ(s ε) · ε ds from 0 to 1 is summed by Gauss's rule with five points, which is exact
for Hencky's and has a relative error of the order of ε¹⁰ for others.
"""

import math
from functools import cache
from typing import Any, Literal

import numpy as np
from numba import prange

from spume.materials.kinematics import load
from spume.materials.law import Law
from spume.materials.loops import constants_reader, history_access
from spume.materials.principal import hencky_energy
from spume.materials.unilateral import at_tip, unilateral_energy
from spume.mpm.implicit.tangent import correction, deformation_of_step
from spume.numerics.jit import compiled
from spume.numerics.spectral3 import eigen_sym
from spume.numerics.tensor3 import congruence, gram

_PLACES, _WEIGHTS = (tuple(numbers.tolist()) for numbers in np.polynomial.legendre.leggauss(5))


@cache
def lagged_energy(law: Law, energy: Literal["hencky", "unilateral"]) -> Any:
    """Compiled function (parameters, history, strain, shape) -> W [J/m³] of the first branch of `law` without flow."""
    principal_stress, granular = law.branches[0].principal_stress, law.traits.granular
    if granular is None:

        @compiled
        def integrated(parameters, history, strain, shape):
            e0, e1, e2 = strain
            result = 0.0
            for k in range(5):
                s = 0.5 * (1.0 + _PLACES[k])
                tau, _ = principal_stress(parameters, history, (s * e0, s * e1, s * e2))
                result += 0.5 * _WEIGHTS[k] * (tau[0] * e0 + tau[1] * e1 + tau[2] * e2)
            return result

        return integrated
    forgiven, tip_of = correction(law, granular), granular.tip
    if energy == "hencky" or tip_of is None:

        @compiled
        def hencky(parameters, history, strain, shape):
            left, _ = forgiven(parameters, history, strain)
            return hencky_energy(parameters[0], parameters[1], left)

        return hencky

    @compiled
    def faded(parameters, history, strain, shape):
        left, _ = forgiven(parameters, history, strain)
        tip = tip_of(parameters, history)
        if tip == math.inf:
            return hencky_energy(parameters[0], parameters[1], left)
        return unilateral_energy(parameters[0], parameters[1], at_tip(shape, tip), left)

    return faded


@cache
def energy_loop(law: Law, energy: Literal["hencky", "unilateral"]) -> Any:
    """Loop over the points of a law that writes their W [J/m³]; infinite if they are inverted."""
    load_history, _ = history_access(law.fields)
    read_constants = constants_reader(len(law.constants))
    deformation, energy_of = law.branches[0].deformation, lagged_energy(law, energy)

    @compiled(parallel=True)
    def store(material, belongs, constants, history, dt, shape, L, result):
        for p in prange(material.size):
            m = material[p]
            if not belongs[m]:
                continue
            parameters, own = read_constants(constants[m]), load_history(history, p)
            f = deformation_of_step(load(L, p), dt)
            beta, _ = eigen_sym(congruence(f, gram(deformation(parameters, own))))
            if beta[0] > 0.0 and beta[1] > 0.0 and beta[2] > 0.0:
                strain = (0.5 * math.log(beta[0]), 0.5 * math.log(beta[1]), 0.5 * math.log(beta[2]))
                result[p] = energy_of(parameters, own, strain, shape)
            else:
                result[p] = math.inf

    return store
