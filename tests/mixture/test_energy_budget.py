"""The energy budget of sand and water: drag, volumes, drains and pore pressure, and what remains unaccounted for."""

import json

import numpy as np
import pytest
from mixtures import PORE_WATER, SAND, WATER, body, rectangle, simulate

COUNTED = {"frames": {"energy": True}}
CELL = 0.05
WALLS = {"lower": [0.0, 0.0], "upper": [0.5, 2.0], "contact": "separate", "friction": 0.4}
MATERIAL = {"sand": SAND | {"cohesion": 200.0}, "water": WATER, "pore water": PORE_WATER}
HALF = 5e-3
"""Largest part of the energy that may remain unaccounted for: half of what a run warns of."""


def budget(sim):
    """The terms, with the energy of the points as `own`."""
    report = sim.diagnostics()
    return report["energy_budget"] | {"own": report["kinetic_energy"] + report["elastic_energy"]}


def dam(**tables):
    """Water that falls onto sand in a box and splashes."""
    full = {
        "grid": {"cell": CELL, "walls": WALLS},
        "material": MATERIAL,
        "mixture": {"hydraulic_conductivity": 0.05, "porosity": 0.4},
        "body": [body("sand", [0.2, 0.0], [0.4, 0.15]), body("water", [0.0, 0.05], [0.18, 0.35])],
    }
    return simulate(**(COUNTED | full | tables))


def test_drag_takes_the_energy_of_the_relative_motion():
    """Drag so strong that one step ends the relative motion of sand and water at the same places:
    −½ m_s m_w/(m_s + m_w) v²."""
    lower, upper = [0.0, 0.0], [0.2, 0.2]
    sim = simulate(
        **COUNTED, gravity=[0.0, 0.0], grid={"cell": CELL}, mixture={"drag_coefficient": 1e12}, time={"dt": 1e-4},
        body=[body("sand", lower, upper, velocity=[0.7, 0.2]), body("water", lower, upper, velocity=[-0.3, 0.2])],
    )  # fmt: skip
    sand, water = (sim.method.species[name].mass.sum() for name in ("sand", "water"))
    sim.advance(1e-4)
    terms = budget(sim)
    assert terms["drag"] == pytest.approx(-0.5 * sand * water / (sand + water), rel=1e-7)
    assert terms["sources"] + terms["drag"] == pytest.approx(terms["own"], rel=1e-7)
    assert terms["contacts"] == 0.0


@pytest.mark.parametrize("coupling", ["drag", "pore-pressure"])
def test_the_budget_of_a_dam_that_breaks_closes(coupling):
    """With sticking and sliding contacts, drag, flow, and corrections of volumes in the splash."""
    sim = dam(mixture={"hydraulic_conductivity": 0.05, "porosity": 0.4, "coupling": coupling})
    largest = 0.0
    for _ in range(5):
        sim.advance(0.08)
        terms = budget(sim)
        largest = max(largest, terms["own"])
        assert abs(terms["unaccounted"]) < HALF * largest
    assert terms["drag"] < -0.01 * terms["gravity"]
    assert terms["contacts"] < 0.0
    assert terms["flow"] < 0.0
    assert abs(terms["volume correction"]) > HALF * largest


def test_water_that_splashes_dissipates_what_its_viscosity_takes():
    """The pressure of water that parts and meets is no flow; what its viscosity takes is the record of the law."""
    water = WATER | {"viscosity": 1.0}
    sim = dam(body=[body("water", [0.0, 0.0], [0.18, 0.35])], material={"sand": SAND, "water": water})
    sim.advance(0.5)
    terms, report = budget(sim), sim.diagnostics()
    assert abs(terms["flow"] + report["dissipated_energy"]) < 0.001 * terms["gravity"]
    assert abs(terms["unaccounted"]) < 0.001 * terms["gravity"]


@pytest.mark.parametrize("coupling", ["drag", "pore-pressure"])
def test_the_budget_of_semi_implicit_steps_closes(coupling):
    solver = {"tolerance": 1e-5, "linear_tolerance": 1e-3}
    sim = dam(
        mixture={"hydraulic_conductivity": 0.05, "porosity": 0.4, "coupling": coupling},
        time={"integrator": "semi-implicit", "dt": 2e-3}, semi_implicit=solver,
    )  # fmt: skip
    sim.advance(0.06)
    terms = budget(sim)
    assert abs(terms["unaccounted"]) < HALF * terms["own"]
    assert terms["drag"] <= 0.0
    assert abs(terms["time integration"]) < 0.1 * terms["gravity"]


def test_pore_water_stores_energy_in_its_own_volume():
    """ψ(J) of the volume n V of the water, where its points stand for V of the sand."""
    corners = ([0.0, 0.0], [0.2, 0.2])
    sim = simulate(
        **COUNTED, gravity=[0.0, 0.0], grid={"cell": CELL}, body=[body("sand", *corners), body("pore water", *corners)],
        mixture={"hydraulic_conductivity": 0.1, "porosity": 0.4, "coupling": "pore-pressure"},
    )  # fmt: skip
    water = sim.method.species["water"]
    water.Jw[:] = 0.99
    density = sim.method.world.species[1].model.energy(water.arrays())
    assert sim.diagnostics()["elastic_energy"] == pytest.approx(0.4 * 0.2**2 * density[0], rel=1e-12)


def test_the_pressure_of_the_pores_does_the_work_that_the_water_stores():
    """Saturated sand squeezed by its motion: the error of the steps is of first order, as without pores, so that it
    vanishes with the steps and neither forces nor flux lose work."""
    found = []
    for dt in (4e-5, 2e-5):
        corners = ([0.1, 0.1], [0.3, 0.3])
        sim = simulate(
            **COUNTED, gravity=[0.0, 0.0], grid={"cell": CELL}, time={"dt": dt},
            body=[body("sand", *corners), body("pore water", *corners)], transfer={"scheme": "flip", "flip": 1.0},
            mixture={"hydraulic_conductivity": 0.1, "porosity": 0.4, "coupling": "pore-pressure"},
        )  # fmt: skip
        for points in sim.method.species.values():
            points.v[:] = -0.5 * (points.x - 0.2)
        sim.advance(1.6e-3)
        terms = budget(sim)
        found.append(terms["time integration"])
    assert sim.diagnostics()["elastic_energy"] > 0.05 * terms["own"]
    assert abs(found[1]) < 0.02 * terms["own"]
    assert found[0] / found[1] == pytest.approx(2.0, rel=0.1)


def test_water_that_leaves_by_a_drain_takes_its_energy_along():
    drain = {"shape": rectangle([-1.0, -1.0], [1.0, 0.0]), "contact": "separate", "drained": True, "holds": "none"}
    sim = simulate(
        **COUNTED, grid={"cell": CELL}, obstacle=[drain], gravity=[0.0, 0.0],
        body=[body("water", [0.0, 0.02], [0.2, 0.12], velocity=[0.0, -2.0])],
    )  # fmt: skip
    sim.advance(0.2)
    terms = budget(sim)
    assert len(sim.method.species["water"]) == 0
    assert terms["removal"] == pytest.approx(-0.5 * 20.0 * 4.0, rel=1e-6)
    assert abs(terms["unaccounted"]) < 1e-9


def test_the_budget_survives_a_restart_and_does_not_change_the_run():
    tables = {"mixture": {"hydraulic_conductivity": 0.05, "porosity": 0.4, "coupling": "pore-pressure"}}
    sim = dam(**tables)
    sim.advance(0.05)
    arrays, values = sim.method.checkpoint()
    saved = {name: array.copy() for name, array in arrays.items()}
    sim.advance(0.03)

    resumed = dam(**tables)
    resumed.method.restore(saved, json.loads(json.dumps(values)))
    resumed.advance(0.03)
    assert budget(resumed) == budget(sim)

    plain = dam(**tables, frames={"energy": False})
    plain.advance(0.05)
    plain.advance(0.03)
    for name, points in plain.method.species.items():
        assert np.array_equal(points.x, sim.method.species[name].x)
    assert "energy_budget" not in plain.diagnostics()
