"""The compressible neo-Hookean solid of Ciarlet's textbook: the law of the tutorial."""

import math

from pydantic import Field as Describe

from spume.laws import DEFORMATION, Law, Parameters, compiled, tensor3


class CiarletParameters(Parameters):
    shear_modulus: float = Describe(gt=0, description="μ [Pa]")
    lame_modulus: float = Describe(ge=0, description="λ [Pa]")


@compiled
def stress(parameters, history):
    mu, lam = parameters
    (F,) = history
    xx, yy, zz, xy, xz, yz = tensor3.gram(F)
    p = lam * math.log(tensor3.det(F)) - mu
    return (mu * xx + p, mu * yy + p, mu * zz + p, mu * xy, mu * xz, mu * yz)


@compiled
def energy(parameters, history):
    mu, lam = parameters
    (F,) = history
    xx, yy, zz, _, _, _ = tensor3.gram(F)
    log_J = math.log(tensor3.det(F))
    return 0.5 * mu * (xx + yy + zz - 3.0) - mu * log_J + 0.5 * lam * log_J * log_J


@compiled
def update(f, dt, parameters, history):
    after = (tensor3.multiply(f, history[0]),)
    return stress(parameters, after), after


@compiled
def volume_ratio(history):
    return tensor3.det(history[0])


CIARLET = Law(
    name="ciarlet", parameters=CiarletParameters, fields=(DEFORMATION,), constants=("mu", "lam"),
    pack=lambda p: (p.shear_modulus, p.lame_modulus),
    update=update, stress=stress, energy=energy, volume_ratio=volume_ratio,
    wave_speed=lambda p: math.sqrt((p.lame_modulus + 2.0 * p.shear_modulus) / p.density),
)  # fmt: skip
