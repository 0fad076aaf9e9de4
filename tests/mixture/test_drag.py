"""Drag between overlapping blocks of sand and water."""

import numpy as np
import pytest
from mixtures import body, simulate

CELL = 0.05
SPEED = 0.01  # m/s; so slow that the blocks stay where they are


def two_blocks(**tables):
    """Sand and water in the same 16 × 16 cells, moving apart at 2 SPEED, without gravity."""
    corners = ([0.0, 0.0], [16 * CELL, 16 * CELL])
    bodies = [body("sand", *corners, velocity=[SPEED, 0.0]), body("pore water", *corners, velocity=[-SPEED, 0.0])]
    return simulate(**({"gravity": [0, 0], "grid": {"cell": CELL}, "body": bodies} | tables))


def interior(particles):
    """Points so deep in the blocks that three steps bring them nothing from the edges."""
    return np.all(np.abs(particles.x - 8 * CELL) < 2 * CELL, axis=1)


def relative_velocity(sim):
    return [sim.method.species[name].v[interior(sim.method.species[name]), 0] for name in ("sand", "water")]


@pytest.mark.parametrize("conductivity", [1.0, 1e-2, 1e-4])
def test_relative_velocity_shrinks_by_the_closed_form_in_a_step(conductivity):
    """By 1/(1 + Δt C (1/ρ̄s + 1/ρ̄w)), C = n² ρw g/k̂, for any size of the drag; momentum to 1e-12."""
    dt = 1e-3
    sim = two_blocks(mixture={"hydraulic_conductivity": conductivity}, time={"dt": dt})
    momentum = np.array(sim.diagnostics()["momentum"])
    C = 0.4**2 * 1000.0 * 9.81 / conductivity
    factor = 1.0 / (1.0 + dt * C * (1 / 1600.0 + 1 / 400.0))
    for step in range(1, 4):
        sim.advance(dt)
        sand, water = relative_velocity(sim)
        np.testing.assert_allclose(sand - water[: len(sand)], 2 * SPEED * factor**step, rtol=1e-9, atol=1e-15)
    scale = 1600.0 * (16 * CELL) ** 2 * SPEED
    np.testing.assert_allclose(sim.diagnostics()["momentum"], momentum, rtol=0, atol=1e-12 * scale)


def test_relative_velocity_decays_exponentially():
    """exp(−C (1/ρ̄s + 1/ρ̄w) t) as the step goes to zero: an implicit step of x = Δt rate errs by x/2 in the exponent."""
    rate = 0.4**2 * 1000.0 * 9.81 / 1e-1 * (1 / 1600.0 + 1 / 400.0)
    dt = 0.01 / rate
    sim = two_blocks(mixture={"hydraulic_conductivity": 1e-1}, time={"dt": dt})
    for _ in range(100):
        sim.advance(dt)
    sand, water = relative_velocity(sim)
    assert (sand.mean() - water.mean()) / (2 * SPEED) == pytest.approx(np.exp(-1.0), rel=0.01)


def test_the_coefficient_of_the_paper_multiplies_both_masses():
    """Eqs. (20) and (21): by 1/(1 + Δt c_E (m_s + m_w)) a step, m the masses of an interior node."""
    dt, c = 1e-3, 100.0
    sim = two_blocks(mixture={"drag_coefficient": c}, time={"dt": dt})
    sim.advance(dt)
    sand, water = relative_velocity(sim)
    factor = 1.0 / (1.0 + dt * c * (1600.0 + 400.0) * CELL**2)
    np.testing.assert_allclose(sand - water[: len(sand)], 2 * SPEED * factor, rtol=1e-9)


@pytest.mark.parametrize("spline", ["quadratic", pytest.param("cubic", marks=pytest.mark.slow_suite)])
def test_flip_and_cubic_splines_drag_in_the_same_way(spline):
    dt = 1e-3
    sim = two_blocks(time={"dt": dt}, transfer={"scheme": "flip", "flip": 1.0}, grid={"cell": CELL, "spline": spline})
    sim.advance(dt)
    sand, water = relative_velocity(sim)
    factor = 1.0 / (1.0 + dt * 0.4**2 * 1000.0 * 9.81 / 1e-2 * (1 / 1600.0 + 1 / 400.0))
    np.testing.assert_allclose(sand - water[: len(sand)], 2 * SPEED * factor, rtol=1e-9)
