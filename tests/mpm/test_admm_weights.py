"""Weights of points in ADMM: the stiffness, less where a point yields, more where the energy is concave."""

import math

import numpy as np
import pytest

from spume.materials import LAWS
from spume.mpm.implicit.concavity import MARGIN
from spume.mpm.implicit.weights import FLOWING, WEIGHTS, YIELDING, point_weight

E, NU = 1e5, 0.3
MU, LAME = E / (2 * (1 + NU)), E * NU / ((1 + NU) * (1 - 2 * NU))
SOLID = {"density": 1000.0, "youngs_modulus": E, "poisson_ratio": NU}


def weight(name, strain, kind="stiffness", branch=0, dt=1e-2, rho=1.0, **parameters):
    """Weight of a point of the law `name` at a principal strain."""
    law = LAWS[name]
    packed = law.pack(law.parameters(**parameters))
    history = tuple(field.allocate(1)[0] for field in law.fields)
    history = tuple(tuple(h.ravel()) if np.ndim(h) else float(h) for h in history)
    s = tuple(math.exp(e) for e in strain)
    return point_weight(law.branches[branch], 3)(WEIGHTS[kind], packed, history, s, strain, dt, rho)


def stiffness(strain, mu=MU, lame=LAME):
    """‖∂²Ψ/∂s²‖ of a Hencky solid."""
    strain = np.array(strain)
    tau = 2 * mu * strain + lame * strain.sum()
    s = np.exp(strain)
    return np.linalg.norm((2 * mu * np.eye(3) + lame - np.diag(tau)) / np.outer(s, s))


def test_the_weight_of_an_elastic_point_is_its_stiffness():
    strain = (0.1, -0.2, 0.05)
    assert weight("hencky", strain, **SOLID) == pytest.approx(stiffness(strain), rel=1e-12)


def test_where_the_energy_is_concave_the_penalty_is_above_twice_the_concavity():
    """With all stretches e, the energy of a change of shape has the second derivative (2 μ − τ)/e² = −3 λ/e²."""
    strain, rho = (1.0, 1.0, 1.0), 0.3
    enough = 2.0 * MARGIN * 3.0 * LAME / math.e**2 / rho
    assert stiffness(strain) < enough
    assert weight("hencky", strain, rho=rho, **SOLID) == pytest.approx(enough, rel=1e-12)
    assert weight("hencky", strain, kind="ruiz", rho=rho, **SOLID) == pytest.approx(stiffness(strain), rel=1e-12)


def test_plain_stiffness_is_that_of_the_flow_without_factors():
    """[Fang19] section 7.3: of a metal that yields, the derivative of the stress after its return map."""
    shear = math.sqrt(2.0 / 3.0) * 500.0 / (2 * MU) / math.sqrt(2.0)
    for strain in ((0.5 * shear, -0.5 * shear, 0.0), (1.0, 1.0, 1.0)):
        metal = SOLID | {"yield_stress": 1e9}
        found = weight("von-mises", strain, kind="plain-stiffness", **metal)
        assert found == pytest.approx(stiffness(strain), rel=1e-9)
    yielding = weight("von-mises", (2 * shear, -2 * shear, 0.0), kind="plain-stiffness", **SOLID, yield_stress=500.0)
    assert yielding < stiffness((2 * shear, -2 * shear, 0.0))


@pytest.mark.parametrize(("share", "factor"), [(0.5, 1.0), (0.99, YIELDING), (1.0, YIELDING)])
def test_points_of_metal_at_their_yield_stress_have_a_smaller_weight(share, factor):
    """Shear at a share of the yield strain: a growth of 5 % makes a point at 0.99 of it yield."""
    shear = share * math.sqrt(2.0 / 3.0) * 500.0 / (2 * MU) / math.sqrt(2.0)
    strain = (shear, -shear, 0.0)
    found = weight("von-mises", strain, **SOLID, yield_stress=500.0)
    assert found == pytest.approx(FLOWING * factor * stiffness(strain), rel=1e-9)


def test_hardening_points_keep_their_share_of_the_stiffness():
    """The tangent along the deviator is H/(3 μ + H) of the elastic one: a half for H = 3 μ."""
    shear = math.sqrt(2.0 / 3.0) * 500.0 / (2 * MU) / math.sqrt(2.0)
    strain = (shear, -shear, 0.0)
    found = weight("von-mises", strain, **SOLID, yield_stress=500.0, hardening=3 * MU)
    assert found == pytest.approx(FLOWING * 0.5 * stiffness(strain), rel=1e-6)


def test_sand_that_slides_has_a_smaller_weight_than_sand_that_rests():
    """The cone scales with the pressure, so that only a growth of the deviator alone shows which sand slides."""
    sand = SOLID | {"friction_angle": 30.0}
    alpha = math.sqrt(2.0 / 3.0) * 2.0 * 0.5 / (3.0 - 0.5)
    pressed = -0.01
    largest = -alpha * (2 * MU + 3 * LAME) * 3 * pressed / (2 * MU)  # of the norm of the deviator
    for share, factor in ((0.5, 1.0), (1.0, YIELDING)):
        d = share * largest / math.sqrt(2.0)
        strain = (pressed + d, pressed - d, pressed)
        whole = weight("drucker-prager", strain, kind="ruiz", **sand)
        assert weight("drucker-prager", strain, **sand) == pytest.approx(FLOWING * factor * whole, rel=1e-12)


def test_relaxation_is_not_taken_for_yielding():
    """The strain of the viscous branch relaxes whatever its size: the weight is that of the relaxed stiffness."""
    silicone = {"density": 1000.0, "shear_modulus": 900.0, "lame_modulus": 3.5e4, "viscous_shear_modulus": 9e3,
                "viscous_lame_modulus": 3.5e4, "deviatoric_viscosity": 5e2, "volumetric_viscosity": 5e2}  # fmt: skip
    small, large = (1e-6, -1e-6, 0.0), (1e-2, -1e-2, 0.0)
    found = [weight("viscoelastic", strain, branch=1, **silicone) for strain in (small, large)]
    assert found[0] == pytest.approx(found[1], rel=0.05)
    assert found[0] < FLOWING * stiffness(small, 9e3, 3.5e4)
    whole = weight("viscoelastic", small, kind="ruiz", branch=1, **silicone)
    assert found[0] == pytest.approx(FLOWING * whole, rel=1e-12)
