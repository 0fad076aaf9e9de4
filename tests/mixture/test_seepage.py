"""Water that seeps through sand which a sieve holds."""

import numpy as np
import pytest
from mixtures import body, rectangle, simulate

CELL = 0.05


@pytest.mark.parametrize("conductivity", [1e-2, 1e-4])
def test_seepage_follows_darcy(conductivity):
    """Steady v = ρ̄w g/C; with pore water of the partial density n ρw the flux n v is the conductivity k̂.

    The implicit drag has this very steady state at any step, though Δt C/ρ̄w is 0.8 and 79 here. The water moves by up
    to 2 % of a cell against the nodes, whose masses are then uneven by the square of that.
    """
    corners = ([0.0, 0.0], [12 * CELL, 12 * CELL])
    # all sand but for the last column of points is held: sand that could not move at all would be refused
    sieve = {"shape": rectangle([-1.0, -1.0], [11.6 * CELL, 2.0]), "contact": "stick", "holds": "sand"}
    sim = simulate(
        grid={"cell": CELL}, time={"dt": 2e-3}, obstacle=[sieve],
        body=[body("sand", *corners), body("pore water", *corners)],
        mixture={"hydraulic_conductivity": conductivity, "porosity": 0.4},
    )  # fmt: skip
    sim.advance(0.05)
    sand, water = sim.method.species["sand"], sim.method.species["water"]
    assert np.all(sand.v[sand.x[:, 0] < 9 * CELL] == 0.0)
    inner = np.all(np.abs(water.x - [5 * CELL, 6 * CELL]) < 2 * CELL, axis=1)
    np.testing.assert_allclose(-0.4 * water.v[inner, 1], conductivity, rtol=1e-3)


def test_a_membrane_holds_water_and_lets_sand_pass():
    corners = ([0.0, 0.0], [4 * CELL, 4 * CELL])
    membrane = {"shape": rectangle([-1.0, -1.0], [3.6 * CELL, 2.0]), "contact": "stick", "holds": "water"}
    sim = simulate(
        grid={"cell": CELL}, time={"dt": 1e-3}, obstacle=[membrane], mixture={"drag_coefficient": 0.0},
        body=[body("sand", *corners), body("water", *corners)],
    )  # fmt: skip
    sim.advance(0.01)
    water = sim.method.species["water"]
    assert np.all(water.v[water.x[:, 0] < 1.5 * CELL] == 0.0)
    np.testing.assert_allclose(sim.method.species["sand"].v[:, 1], -9.81 * 0.01, rtol=1e-9)
