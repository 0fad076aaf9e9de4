"""Water at rest under its own weight."""

import numpy as np
import pytest
from mixtures import WATER, body, settle, simulate

CELL, HEIGHT, WIDTH = 0.05, 0.8, 0.2
K, GAMMA, DENSITY, G = 1.0e5, 7.0, 1000.0, 9.81


def column(**tables):
    walls = {"lower": [0.0, 0.0], "upper": [WIDTH, 2.0], "contact": "slip"}
    return simulate(
        grid={"cell": CELL, "walls": walls},
        body=[body("water", [0.0, 0.0], [WIDTH, HEIGHT])],
        **({"material": {"water": WATER}} | tables),
    )


def pressure(J):
    return K / GAMMA * (J**-GAMMA - 1.0)


def test_a_column_in_equilibrium_stays_at_rest():
    """Waves of the tiny imbalance of the discretisation stay below 1 % of the pressure at the bottom and of the speed
    √(g H)."""
    sim = column()
    water = sim.method.species["water"]
    rest = water.x[:, 1].copy()
    settle(sim, HEIGHT)
    expected = dict(zip(water.id, DENSITY * G * (HEIGHT - rest)))
    start = dict(zip(water.id, water.x[:, 1].copy()))
    period = 4 * HEIGHT / np.sqrt(K / DENSITY)
    for _ in range(4):
        sim.advance(0.5 * period)
        wanted = np.array([expected[k] for k in water.id])
        inner = wanted > 2.5 * DENSITY * G * CELL  # where the stencils do not reach the free surface
        assert np.abs(pressure(water.J) - wanted)[inner].max() < 0.01 * DENSITY * G * HEIGHT
        assert np.abs(water.v).max() < 0.01 * np.sqrt(G * HEIGHT)
    moved = np.abs(water.x[:, 1] - np.array([start[k] for k in water.id]))
    assert moved.max() < 0.01 * HEIGHT


def test_a_column_released_at_rest_volume_rings_about_the_equilibrium_and_decays():
    """Mean height of the centre of mass over a period: ∫ y dY/H with y = ∫ J dY; the amplitude falls."""
    sim = column()
    water = sim.method.species["water"]
    Y = (np.arange(1000) + 0.5) * HEIGHT / 1000
    J = (1.0 + GAMMA * DENSITY * G * (HEIGHT - Y) / K) ** (-1 / GAMMA)
    y = (np.cumsum(J) - 0.5 * J) * HEIGHT / 1000
    period = 4 * HEIGHT / np.sqrt(K / DENSITY)
    heights = []
    for _ in range(6 * 16):
        sim.advance(period / 16)
        heights.append(float(water.x[:, 1].mean()))
    early, late = np.array(heights[:32]), np.array(heights[-32:])
    assert np.mean(late) == pytest.approx(y.mean(), abs=0.01 * HEIGHT)
    assert np.ptp(late) < 0.7 * np.ptp(early)
