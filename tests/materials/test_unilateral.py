"""The unilateral energy of sand: derivatives, smoothness, regions."""

import numpy as np
import pytest

from spume.materials.drucker_prager import DRUCKER_PRAGER, DruckerPragerParameters, project, tip
from spume.materials.hencky import hencky_stress
from spume.materials.principal import hencky_energy
from spume.materials.unilateral import (
    Unilateral,
    at_tip,
    bend,
    cone_opening,
    ramp,
    unilateral_energy,
    unilateral_stress,
)
from spume.mpm.implicit.tangent import lagged_stress

MU, LAM = 3.0, 4.5
SHAPES = [Unilateral(-3.0, 0.0, 0.01, 0.15, 1.0), Unilateral(-0.5, 0.1, 2.5, 0.05, 0.7, 0.3)]
SHAPES += [shape.scaled(1e-3) for shape in SHAPES]


def moved(shape: Unilateral) -> tuple[float, ...]:
    """The numbers of the shape at a cohesive point."""
    return at_tip(shape.packed(), 0.2 * abs(shape.a))


every_shape = pytest.mark.parametrize("shape", SHAPES, ids=lambda s: f"a={s.a:g} c0={s.c0:g}")


def strains(shape: Unilateral, count: int) -> np.ndarray:
    """In all three regions, on the scale of the shape."""
    return abs(shape.a) * np.random.default_rng(1).uniform(-1.5, 0.8, (count, 3))


@every_shape
def test_stress_and_stiffness_are_derivatives(shape: Unilateral):
    """Central differences: truncation δ² and rounding ε/δ, relative to the strain scale."""
    packed, size = moved(shape), min(abs(shape.a), shape.v0)
    delta = 1e-5 * size
    for strain in strains(shape, 60):
        stress, stiffness = unilateral_stress(MU, LAM, packed, tuple(strain))
        for j in range(3):
            step = delta * np.eye(3)[j]
            ahead, back = tuple(strain + step), tuple(strain - step)
            slope = (unilateral_energy(MU, LAM, packed, ahead) - unilateral_energy(MU, LAM, packed, back)) / (2 * delta)
            assert stress[j] == pytest.approx(slope, rel=0, abs=1e-6 * (MU + LAM) * abs(shape.a))
            column = np.subtract(
                unilateral_stress(MU, LAM, packed, ahead)[0], unilateral_stress(MU, LAM, packed, back)[0]
            ) / (2 * delta)
            np.testing.assert_allclose(np.reshape(stiffness, (3, 3))[:, j], column, rtol=0, atol=1e-5 * (MU + LAM))


@every_shape
def test_stiffness_is_continuous(shape: Unilateral):
    """C²: along lines through all regions, through the hydrostatic axis and both ends of the ramp, the change of the
    second derivative over a step falls with the step; one that stays would be a kink of the stress."""
    packed = moved(shape)
    rng = np.random.default_rng(2)
    for k in range(10):
        # from deep compression to tension; the first line runs along the hydrostatic axis, the next ones meet it
        start = abs(shape.a) * (np.full(3, -2.0) if k < 2 else rng.uniform(-2, 0, 3))
        end = abs(shape.a) * (np.full(3, 1.0) if k % 2 == 0 else rng.uniform(0, 1, 3))
        jumps = []
        for count in (2000, 20000):
            line = start + np.linspace(0, 1, count)[:, None] * (end - start)
            stiffness = np.array([unilateral_stress(MU, LAM, packed, tuple(e))[1] for e in line])
            jumps.append(np.abs(np.diff(stiffness, axis=0)).max())
        assert jumps[1] < 0.2 * jumps[0]


def test_ramp_ends_with_two_zero_derivatives():
    """Beyond both ends: 1 and 0. At the ends the second derivative is of the order of the distance, 60 z."""
    assert ramp(-1.0) == ramp(0.0) == (1.0, 0.0, 0.0)
    assert ramp(2.0) == ramp(1.0) == (0.0, 0.0, 0.0)
    for z, y in ((1e-6, 1.0), (1.0 - 1e-6, 0.0)):
        value, first, second = ramp(z)
        assert value == pytest.approx(y, abs=1e-15)
        assert abs(first) < 1e-10
        assert abs(second) < 1e-4
    assert ramp(0.5)[0] == pytest.approx(0.5, rel=1e-14)


def test_bend_is_a_cone_far_from_the_tip_and_flat_at_it():
    c0, v0 = 1.7, 0.02
    assert bend(c0, v0, 100 * v0)[0] == pytest.approx(c0 * 100 * v0, rel=2e-6)
    assert bend(c0, v0, 0.0) == (0.0, 0.0, pytest.approx(8 * c0 / v0**3))
    assert bend(c0, 1.0, 0.3)[0] == pytest.approx(c0 * 0.3**4 / (1 + 0.3**3), rel=1e-14)  # eq. (8)


@every_shape
def test_regions(shape: Unilateral):
    """Hencky's energy and stress deep in compression, nothing in tension."""
    packed = moved(shape)
    a, b, _, s_C, _ = packed
    pressed = (2.0 * (a + s_C) - 0.1 * abs(a),) * 3
    assert unilateral_energy(MU, LAM, packed, pressed) == pytest.approx(hencky_energy(MU, LAM, pressed), rel=1e-14)
    np.testing.assert_allclose(
        unilateral_stress(MU, LAM, packed, pressed)[0], hencky_stress(MU, LAM, pressed), rtol=1e-13
    )
    pulled = (b + s_C + 0.1 * abs(a),) * 3
    assert unilateral_energy(MU, LAM, packed, pulled) == 0.0
    assert np.all(np.array(unilateral_stress(MU, LAM, packed, pulled)[0]) == 0.0)


@pytest.mark.parametrize(("cohesion", "factor"), [(0.0, 1.0), (3e3, 1.0), (3e3, 0.3)])
def test_opening_and_tip_follow_the_return_map(cohesion: float, factor: float):
    """Strains on the cone have u + c0 v = u_t with the c0 of `cone_opening` and the tip of the point's cohesion; beyond
    the tip they are returned to it."""
    parameters = DruckerPragerParameters(
        density=1.0, youngs_modulus=1e7, poisson_ratio=0.3, friction_angle=35.0, cohesion=cohesion
    )
    packed = DRUCKER_PRAGER.pack(parameters)
    mu, lam, c_F, _, _ = packed
    at = tip(packed, ((1.0, 1.0, 1.0, 0.0, 0.0, 0.0), 0.0, factor, 0.0))
    (on_cone, _) = project(packed, 0.0, factor, (-0.03, 0.025, -0.005))
    u = sum(on_cone) / np.sqrt(3)
    v = np.linalg.norm(np.subtract(on_cone, sum(on_cone) / 3))
    assert u + cone_opening(mu, lam, c_F) * v == pytest.approx(at, abs=1e-16)
    (pulled, _) = project(packed, 0.0, factor, (0.03, 0.02, 0.01))
    assert sum(pulled) / np.sqrt(3) == pytest.approx(at, abs=1e-18)


def pressure_on_cone(c0: float, strain: float) -> float:
    """Mean pressure that the energy of figure 6 bears where the cone has the size `strain` of the deviator."""
    opening, q = 0.67, strain / np.sqrt(2.0)
    third = -opening * strain / np.sqrt(3.0)
    shape = at_tip(Unilateral(-0.5, 0.0, c0, 0.0, 1.0).packed(), 0.0)
    return -sum(unilateral_stress(MU, LAM, shape, (third + q, third, third - q))[0]) / 3.0


def test_a_cone_cut_by_the_energy_bears_nothing_beyond_a_strain():
    """With c0 above its opening o, u = -o v on the cone is in the region without energy from v³ (c0/o - 1) = v0³ on;
    with the opening itself there is no such strain."""
    end = (3.0 / 0.67 - 1.0) ** (-1.0 / 3.0)
    assert pressure_on_cone(3.0, 0.999 * end) > 0.0
    assert pressure_on_cone(3.0, 1.001 * end) == 0.0
    assert all(pressure_on_cone(0.67, strain) > 0.0 for strain in (0.01, 0.1, 1.0, 10.0))


def test_without_friction_there_is_no_tip():
    parameters = DruckerPragerParameters(
        density=1.0, youngs_modulus=1e7, poisson_ratio=0.3, friction_angle=0.0, cohesion=1e3
    )
    history = ((1.0, 1.0, 1.0, 0.0, 0.0, 0.0), 0.0, 1.0, 0.0)
    packed = DRUCKER_PRAGER.pack(parameters)
    assert tip(packed, history) == np.inf
    strain = (0.01, -0.002, 0.003)
    faded, _ = lagged_stress(DRUCKER_PRAGER, "unilateral")(packed, history, strain, 1.0, SHAPES[0].packed())
    np.testing.assert_allclose(faded, hencky_stress(packed[0], packed[1], strain), rtol=1e-14)


def test_the_stress_of_a_point_is_the_derivative_of_its_energy():
    """With cohesion that water has reduced, and volume gained before, which moves the energy by v_c."""
    parameters = DruckerPragerParameters(
        density=1.0, youngs_modulus=1e6, poisson_ratio=0.3, friction_angle=35.0, cohesion=5e3
    )
    packed = DRUCKER_PRAGER.pack(parameters)
    mu, lam = packed[:2]
    stress, shape = lagged_stress(DRUCKER_PRAGER, "unilateral"), Unilateral(-8e-3, 0.0, 0.7, 0.0, 2e-3, 0.5).packed()
    rng, gained, delta = np.random.default_rng(3), 4e-3, 1e-8
    for factor in (1.0, 0.4):
        history = ((1.0, 1.0, 1.0, 0.0, 0.0, 0.0), gained, factor, 0.0)
        numbers = at_tip(shape, tip(packed, history))

        def energy(strain, numbers=numbers):
            trace = sum(strain)
            left = trace + gained if trace < -gained else max(trace, 0.0)
            return unilateral_energy(mu, lam, numbers, tuple(np.add(strain, (left - trace) / 3.0)))

        for strain in rng.uniform(-0.012, 0.006, (40, 3)):
            found, stiffness = stress(packed, history, tuple(strain), 1.0, shape)
            ahead = [stress(packed, history, tuple(strain + e), 1.0, shape)[0] for e in delta * np.eye(3)]
            back = [stress(packed, history, tuple(strain - e), 1.0, shape)[0] for e in delta * np.eye(3)]
            slope = [(energy(strain + e) - energy(strain - e)) / (2 * delta) for e in delta * np.eye(3)]
            np.testing.assert_allclose(found, slope, rtol=0, atol=1e-6 * mu)
            np.testing.assert_allclose(
                np.reshape(stiffness, (3, 3)), np.subtract(ahead, back) / (2 * delta), rtol=0, atol=1e-4 * mu
            )


def test_impossible_shapes_are_refused():
    with pytest.raises(ValueError, match="a should be below b"):
        Unilateral(0.0, -1.0, 1.0, 0.0, 1.0)
    with pytest.raises(ValueError, match="v0 positive"):
        Unilateral(-1.0, 0.0, 1.0, 0.0, 0.0)
    with pytest.raises(ValueError, match="b_tip is -1"):
        Unilateral(-1.0, 0.0, 1.0, 0.0, 1.0, -1.0)
