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
    """Away from floor and surface, the pressure of each row of points, averaged over four periods, is that of the water
    above it, to 1 % of the pressure at the bottom. The start is an equilibrium of the continuum, not of the grid, so
    slow waves remain."""
    sim = column()
    water = sim.method.species["water"]
    rest = dict(zip(water.id, water.x[:, 1].copy()))
    settle(sim, HEIGHT)
    period = 4 * HEIGHT / np.sqrt(K / DENSITY)
    sums, samples = dict.fromkeys(rest.values(), 0.0), 64
    for _ in range(samples):
        sim.advance(4 * period / samples)
        assert np.abs(water.v).max() < 0.05 * np.sqrt(G * HEIGHT)
        height = np.array([rest[k] for k in water.id])
        for row in sums:
            sums[row] += pressure(water.Jw)[height == row].mean() / samples
    inner = [row for row in sums if 3 * CELL < row < HEIGHT - 3 * CELL]
    assert len(inner) == 20
    for row in inner:
        assert abs(sums[row] - DENSITY * G * (HEIGHT - row)) < 0.01 * DENSITY * G * HEIGHT


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
