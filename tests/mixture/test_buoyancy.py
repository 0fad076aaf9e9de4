"""Buoyancy of sand in water at rest."""

import numpy as np
import pytest
from mixtures import SAND, WATER, body, settle, simulate

CELL, HEIGHT, WIDTH, DT = 0.05, 0.8, 0.6, 1e-4


def submerged(buoyancy, **mixture):
    """A block of sand in the middle of water in hydrostatic equilibrium, one step later."""
    sim = simulate(
        grid={"cell": CELL}, time={"dt": DT},
        obstacle=[{"shape": {"half_space": {"point": [0.0, 0.0], "normal": [0.0, 1.0]}}, "contact": "slip"}],
        body=[body("water", [0.0, 0.0], [WIDTH, HEIGHT]), body("sand", [0.15, 0.2], [0.45, 0.5])],
        mixture={"drag_coefficient": 0.0, "buoyancy": buoyancy, "porosity": 0.4} | mixture,
        material={"sand": SAND, "water": WATER | {"bulk_modulus": 1e6}},
    )  # fmt: skip
    settle(sim, HEIGHT)
    sim.advance(DT)
    sand = sim.method.species["sand"]
    inner = np.all(np.abs(sand.x - [0.3, 0.35]) < 0.08, axis=1)
    return sand.v[inner, 1] / DT


def test_without_buoyancy_sand_falls_freely():
    np.testing.assert_allclose(submerged("none"), -9.81, rtol=1e-9)


def test_submerged_sand_loses_the_weight_of_the_water_its_solids_displace():
    """ρs a = −(ρs − (1 − n) ρ g), with ρ the density of the water at that depth, by pore pressure. The force at single
    nodes is uneven by the arrangement of the points; its mean over the block is exact to the compression of the water,
    below 1 %."""
    buoyancy = 0.6 * 1000.0 * 9.81 / 1600.0
    assert submerged("archimedes").mean() + 9.81 == pytest.approx(buoyancy, rel=0.02)


def test_the_printed_buoyancy_is_the_share_of_the_water_in_the_mass():
    """[Tampubolon17] section 5.3 with volumes: m_w/(m_s + m_w) of the pressure force, here 1000/2600 of ρ g."""
    printed = 1000.0 / 2600.0 * 1000.0 * 9.81 / 1600.0
    assert submerged("paper").mean() + 9.81 == pytest.approx(printed, rel=0.02)
