"""Saturation of sand by water, and its cohesion."""

import numpy as np
import pytest
from mixtures import SAND, body, simulate

from spume.mixture.saturation import cohesion_factor, strongest_saturation, suction_stress

CELL = 0.05


def half_wet(water="water", **mixture):
    """Sand of 16 × 8 cells, the left half of it with water, after a step without gravity."""
    sim = simulate(
        gravity=[0, 0], grid={"cell": CELL}, time={"dt": 1e-5},
        body=[body("sand", [0.0, 0.0], [0.8, 0.4]), body(water, [0.0, 0.0], [0.4, 0.4])],
        mixture={"drag_coefficient": 0.0} | mixture,
    )  # fmt: skip
    sim.advance(1e-5)
    sand = sim.method.species["sand"]
    return sand, sand.x[:, 0] < 0.4 - 1.5 * CELL, sand.x[:, 0] > 0.4 + 3 * CELL


def test_overlap_is_one_deep_in_the_water_and_zero_away_from_it():
    """Eqs. (24) and (25): between, the indicator of the nodes falls over the width of a stencil, monotonically."""
    sand, wet, dry = half_wet()
    np.testing.assert_allclose(sand.saturation[wet], 1.0, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(sand.saturation[dry], 0.0)
    row = sand.x[:, 1] == sand.x[0, 1]
    order = np.argsort(sand.x[row, 0])
    assert np.all(np.diff(sand.saturation[row][order]) <= 1e-12)
    np.testing.assert_allclose(sand.cohesion_factor, 1.0 - sand.saturation, rtol=0, atol=1e-15)


@pytest.mark.parametrize(("partial", "own"), [(200.0, {}), (240.0, {"water_density": 1200.0})], ids=["water", "brine"])
def test_degree_of_saturation_is_the_water_over_the_room_in_the_pores(partial, own):
    """Water of the partial density 200 kg/m³ fills half of the pores (n = 0.4, ρw = 1000), brine of 240 (1200), too."""
    thin = {"law": "water", "density": partial, "bulk_modulus": 1e5}
    sim = simulate(
        gravity=[0, 0], grid={"cell": CELL}, time={"dt": 1e-5}, material={"sand": SAND, "thin": thin},
        body=[body("sand", [0.0, 0.0], [0.8, 0.4]), body("thin", [0.0, 0.0], [0.8, 0.4])],
        mixture={"drag_coefficient": 0.0, "saturation": "degree", "cohesion_curve": "robert-soga"} | own,
    )  # fmt: skip
    sim.advance(1e-5)
    sand = sim.method.species["sand"]
    np.testing.assert_allclose(sand.saturation, 0.5, rtol=1e-9)  # at the edges, too: a ratio of masses
    np.testing.assert_allclose(sand.cohesion_factor, cohesion_factor("robert-soga", np.array([0.5]))[0], rtol=1e-9)


def test_robert_and_soga_has_its_maximum_at_four_tenths():
    s = np.linspace(0.0, 1.0, 101)
    factor = cohesion_factor("robert-soga", s)
    assert s[np.argmax(factor)] == pytest.approx(0.4)
    assert factor.max() == pytest.approx(1.0, abs=1e-6)
    assert factor[0] == factor[-1] == 0.0
    assert np.all(np.diff(factor[:41]) > 0.0)
    assert np.all(np.diff(factor[40:]) < 0.0)


@pytest.mark.parametrize("n", [2.1, 2.2354, 2.68, 4.0])
def test_cohesion_by_suction_is_that_of_the_retention_curve(n):
    """The saturation at a suction ψ is (1 + (αψ)ⁿ)^(1/n − 1) [vanGenuchten80]; S ψ must come out of it again."""
    suction = np.geomspace(1e-2, 1e2, 50)
    S = (1.0 + suction**n) ** (1.0 / n - 1.0)
    np.testing.assert_allclose(suction_stress(n, S), S * suction, rtol=1e-6)
    s = np.linspace(0.0, 1.0, 2001)
    assert s[np.argmax(suction_stress(n, s))] == pytest.approx(strongest_saturation(n), abs=1e-3)
    assert cohesion_factor("robert-soga", s, n).max() == pytest.approx(1.0, abs=1e-5)


def test_a_table_is_joined_by_straight_lines_and_constant_beyond_its_ends():
    pairs = ((0.1, 0.2), (0.4, 1.0), (0.9, 0.0))
    s = np.array([0.0, 0.1, 0.25, 0.4, 0.65, 0.9, 1.0])
    np.testing.assert_allclose(cohesion_factor(pairs, s), [0.2, 0.2, 0.6, 1.0, 0.5, 0.0, 0.0], rtol=0, atol=1e-15)


def test_the_table_of_a_scene_is_used():
    """Where the sand is dry, a tenth of the cohesion is active; where the pores are full, nothing."""
    sand, wet, dry = half_wet(saturation="degree", cohesion_curve=[[0.0, 0.1], [0.4, 1.0], [1.0, 0.0]])
    np.testing.assert_allclose(sand.cohesion_factor[dry], 0.1, rtol=1e-12)
    np.testing.assert_allclose(sand.cohesion_factor[wet], 0.0, rtol=0, atol=1e-12)


def test_constant_cohesion_does_not_know_the_water():
    sand, _, _ = half_wet(cohesion_curve="constant")
    np.testing.assert_array_equal(sand.cohesion_factor, 1.0)
