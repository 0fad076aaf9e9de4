"""Pore pressure from the motion of both phases; consolidation itself is in validation/consolidation.py."""

import numpy as np
import pytest
from coupled_blocks import overlapping, system_of
from mixtures import PORE_WATER, SAND, WATER, body, rectangle, simulate

from spume.errors import SceneError
from spume.matter.material import update_material
from spume.mixture.method import build_mixture
from spume.mixture.mixture import MixtureStep
from spume.mixture.pore_pressure import deform_by_flux, find_pores, find_walls, share_pressure
from spume.mixture.reflection import closed_walls
from spume.mpm.step import accelerate, find_contacts, gather, rasterize, sort_points

CELL, POROSITY = 0.05, 0.4
PORES = {"drag_coefficient": 0.0, "porosity": POROSITY, "coupling": "pore-pressure"}


def saturated(mixture=PORES, **tables):
    """Saturated sand of 12 × 12 cells without gravity."""
    corners = ([0.0, 0.0], [12 * CELL, 12 * CELL])
    bodies = [body("sand", *corners), body("pore water", *corners)]
    return simulate(
        **(
            {"gravity": [0, 0], "grid": {"cell": CELL}, "time": {"dt": 1e-5}, "body": bodies, "mixture": mixture}
            | tables
        )
    )


def interior(p, margin=3):
    return np.all(np.abs(p.x - 6 * CELL) < (6 - margin) * CELL, axis=1)


def squeeze(p, rate):
    """Give points the velocity −rate y along y."""
    p.v[:, 1] = -rate * p.x[:, 1]
    p.C[:, 1, 1] = -rate


@pytest.mark.parametrize(("sand_rate", "water_rate"), [(1.0, 0.0), (0.0, 1.0), (2.0, 2.0), (1.0, -1.5)])
def test_the_water_is_squeezed_by_both_phases(sand_rate, water_rate):
    """n d ln J = ∇·(n v_w + (1 − n) v_s) dt; 1 and −1.5 bring as much as they take away."""
    sim = saturated()
    sand, water = sim.method.species["sand"], sim.method.species["water"]
    squeeze(sand, sand_rate)
    squeeze(water, water_rate)
    sim.advance(1e-5)
    expected = -1e-5 * (POROSITY * water_rate + (1.0 - POROSITY) * sand_rate) / POROSITY
    np.testing.assert_allclose(np.log(water.Jw[interior(water)]), expected, rtol=1e-9, atol=1e-15)


def squeezed(saturation, strain, integrator="explicit"):
    """Mean pressure of the water [Pa] after both phases have been squeezed by `strain` in 0.1 ms."""
    moist = PORE_WATER | {"density": saturation * 1000.0 * POROSITY, "exponent": 1.0}
    material = {"sand": SAND | {"cohesion": 1e5}, "pore water": moist}
    sim = saturated(material=material, time={"dt": 1e-5, "integrator": integrator})
    for p in sim.method.species.values():
        squeeze(p, strain / 1e-4)
    sim.advance(1e-4)
    water = sim.method.species["water"]
    return float(np.mean(sim.method.frame()["water"]["pressure"][interior(water, 4)]))


@pytest.mark.parametrize("integrator", ["explicit", "semi-implicit"])
@pytest.mark.parametrize("saturation", [0.1, 0.4, 0.8])
def test_pores_that_are_not_full_carry_no_pressure(saturation, integrator):
    """A strain of 0.1 % closes no pores of which a fifth or more is air."""
    assert squeezed(saturation, 1e-3, integrator) == 0.0


def test_full_pores_carry_the_pressure_of_their_compression():
    """p = K ε/n for a small strain ε. Waves from the free surface arrive at the interior, 4 cells away, later than the
    end: within 0.1 ms they travel at most 3 mm."""
    assert squeezed(1.0, 1e-3) == pytest.approx(1e5 * 1e-3 / POROSITY, rel=0.02)


def test_pores_that_are_closed_by_compression_carry_pressure():
    """Four fifths full: air is a fifth of the pores, 8 % of the volume, so there is no pressure at a strain of 2 %. A
    strain of 12 % leaves (1 − 0.12 − 0.6)/0.4 = 0.7 of the pores, and J = 0.7/0.8, less by at most the band, 0.05/n."""
    assert squeezed(0.8, 0.02) == 0.0
    low, high = (1e5 * (0.8 / (0.7 * full) - 1.0) for full in (1.0, 1.0 - 0.05 / POROSITY))
    assert low < squeezed(0.8, 0.12) < high


def test_pressures_give_no_momentum():
    """Pressures at random: total momentum to rounding."""
    sim = saturated(material={"sand": SAND, "pore water": PORE_WATER | {"tension": "full"}})
    water = sim.method.species["water"]
    water.Jw[:] = np.exp(0.01 * np.random.default_rng(5).normal(size=len(water)))
    sim.method.world.species[1].model.stress(water.arrays(), water.stress)
    sim.advance(1e-5)
    scale = sum(np.sum(p.mass * np.abs(p.v[:, 0])) for p in sim.method.species.values())
    np.testing.assert_allclose(sim.diagnostics()["momentum"], [0.0, 0.0], rtol=0, atol=1e-12 * scale)


@pytest.mark.parametrize("dt", [1e-5, 1e-6])
def test_pressures_work_what_the_water_stores(dt):
    """One step of squeezed pores with noise in pressures and velocities: the energy of the water, m/ρw ψ(J) with
    ψ' = −p, grows by what its forces take from the nodes of both species, Δt Σ F·v. F is that at the start of the step,
    so the difference is the remainder of Taylor's series in ε = ln J, ½ ψ''(ε) Δε² for each point, which bounds it."""
    k, gamma = 1e5 / 7.0, 7.0
    sim = saturated(material={"sand": SAND, "pore water": PORE_WATER | {"tension": "full"}})
    state, mixture, step, rng = sim.method.world, build_mixture(sim.scene), MixtureStep(), np.random.default_rng(5)
    sand, water = sim.method.species["sand"], sim.method.species["water"]
    water.Jw[:] = 0.97 * np.exp(0.01 * rng.normal(size=len(water)))
    state.species[1].model.stress(water.arrays(), water.stress)
    for p, rate in ((sand, 2.0), (water, 0.5)):
        squeeze(p, rate)
        p.v += 0.01 * rng.normal(size=p.v.shape)
    sort_points(state)
    rasterize(state)
    step.fields.fit(state, dt)
    find_pores(state, dt, mixture, step)
    find_contacts(state, dt)
    find_walls(state, dt, step)
    share_pressure(state, dt, step)
    forces = [species.fields["force"].copy() for species in state.species]
    accelerate(state, dt)
    work = dt * sum(np.sum(F * species.fields["velocity"]) for F, species in zip(forces, state.species))
    gather(state, dt)
    deform_by_flux(state, dt, step)
    before = water.Jw.copy()
    update_material(state, dt)

    def energy(J):
        return np.sum(water.mass / 1000.0 * k * (J ** (1.0 - gamma) / (gamma - 1.0) + J))

    smallest, largest = np.minimum(before, water.Jw), np.maximum(before, water.Jw)
    curvature = k * ((gamma - 1.0) * smallest ** (1.0 - gamma) + largest)
    remainder = 0.5 * np.sum(water.mass / 1000.0 * curvature * np.log(water.Jw / before) ** 2)
    stored = energy(water.Jw) - energy(before)
    assert remainder < 1e3 * dt * abs(work)  # of one order more than the work, and at most a hundredth of it
    assert abs(stored + work) <= remainder + 1e-12 * energy(before)


def test_sand_under_water_at_rest_feels_the_buoyancy_of_its_solids():
    """With p = ρw g (H − y) pore water stays at rest and sand falls with −g + (1 − n) ρw g/ρs."""
    sim = saturated(gravity=[0.0, -9.81], material={"sand": SAND, "pore water": PORE_WATER | {"exponent": 1.0}})
    water, sand = sim.method.species["water"], sim.method.species["sand"]
    water.Jw[:] = 1.0 / (1.0 + 1000.0 * 9.81 * (12 * CELL - water.x[:, 1]) / 1e5)
    sim.method.world.species[1].model.stress(water.arrays(), water.stress)
    sim.advance(1e-5)
    buoyancy = (1.0 - POROSITY) * 1000.0 * 9.81 / 1600.0
    # the Kirchhoff stress is p J, and J is up to 6 % below one here: that of the depth is taken into account
    J = water.Jw[interior(water)].mean()
    assert sand.v[interior(sand), 1].mean() / 1e-5 + 9.81 == pytest.approx(buoyancy * J**2, rel=0.02)
    assert abs(water.v[interior(water), 1].mean() / 1e-5 + 9.81 * (1.0 - J**2)) < 0.02 * 9.81


@pytest.mark.parametrize("unilateral", [None])
def test_the_matrix_is_the_derivative_of_the_residual_and_symmetric(unilateral):
    """As without pore pressure."""
    system = system_of(overlapping(mixture=PORES | {"drag_coefficient": 10.0}), unilateral)
    rng = np.random.default_rng(1)
    v, x, y = (rng.normal(size=(system.count, 2)) for _ in range(3))
    v *= 0.3
    step = 1e-6
    up, low = system.residual(v + step * x)[0], system.residual(v - step * x)[0]
    system.residual(v)
    ax, ay = system.multiply(x), system.multiply(y)
    assert np.linalg.norm((up - low) / (2 * step) - ax) < 1e-5 * np.linalg.norm(ax)
    assert np.sum(y * ax) == pytest.approx(np.sum(x * ay), rel=1e-11)


SMOOTH, ROUGH = {"contact": "slip"}, {"contact": "separate", "friction": 0.3}


def boxed(base=0.0, contact=SMOOTH, **tables):
    """Saturated sand of 6 × 6 cells in a closed box, whose floor is `base` cells above a row of nodes."""
    lower, upper = [0.0, base * CELL], [6 * CELL, (6 + base) * CELL]
    walls = {"lower": lower, "upper": [upper[0], 2.0], **contact}
    bodies = [body("sand", lower, upper), body("pore water", lower, upper)]
    material = {"sand": SAND, "pore water": PORE_WATER | {"exponent": 1.0}}
    grid = {"cell": CELL, "walls": walls}
    sim = saturated(**({"grid": grid, "body": bodies, "material": material} | tables))
    for p in sim.method.species.values():  # bodies are filled on the lattice of the grid
        p.x[:, 1] += (base + 0.25) * CELL - p.x[:, 1].min()
    return sim


@pytest.mark.parametrize("base", [0.0, 0.5])
@pytest.mark.parametrize(
    ("integrator", "contact"), [("explicit", SMOOTH), ("explicit", ROUGH), ("semi-implicit", SMOOTH)]
)
def test_a_wall_bears_the_pressure_of_the_water(base, integrator, contact):
    """Uniform pressure in a box whose walls are on nodes or midway between them: both phases stay at rest more than a
    stencil below the free surface, compared with Δt p/(ρ h). Walls whose friction acts on the sand alone do so, too."""
    solver = {"semi_implicit": {"tolerance": 1e-10, "linear_tolerance": 1e-10}} if integrator != "explicit" else {}
    sim = boxed(base, contact, time={"integrator": integrator, "dt": 1e-6}, **solver)
    water = sim.method.species["water"]
    water.Jw[:] = 0.99
    sim.method.world.species[1].model.stress(water.arrays(), water.stress)
    sim.advance(1e-6)
    scale = 1e-6 * 1e5 * (0.99**-1 - 1.0) / (1000.0 * CELL)
    for points in sim.method.species.values():
        deep = points.x[:, 1] < (3.0 + base) * CELL
        assert np.abs(points.v[deep]).max() < 1e-6 * scale


@pytest.mark.parametrize("integrator", ["explicit", "semi-implicit"])
def test_walls_receive_what_the_material_loses(integrator):
    """Momentum and impulses on the walls, to rounding, while pores at random pressures press on them."""
    solver = {"semi_implicit": {"tolerance": 1e-10, "linear_tolerance": 1e-10}} if integrator != "explicit" else {}
    sim = boxed(0.3, time={"integrator": integrator, "dt": 1e-5}, **solver)
    sim.method.world.obstacle_loads.active = True
    water = sim.method.species["water"]
    water.Jw[:] = 0.99 + 0.005 * np.random.default_rng(2).random(len(water))
    sim.method.world.species[1].model.stress(water.arrays(), water.stress)
    sim.advance(1e-4)
    momentum = sum((p.mass[:, None] * p.v).sum(axis=0) for p in sim.method.species.values())
    taken = sim.method.world.obstacle_loads.impulse.sum(axis=0)
    assert np.abs(taken).max() > 1e-4
    tolerance = 1e-11 if integrator == "explicit" else 1e-8  # that of the solver, of several steps
    np.testing.assert_allclose(momentum + taken, 0.0, atol=tolerance * np.abs(taken).max())


def test_the_matrix_with_walls_is_the_derivative_of_the_residual_and_symmetric():
    """As without, for changes that the contacts allow."""
    sim = boxed(0.3, time={"integrator": "semi-implicit", "dt": 5e-3})
    system = system_of(sim)
    rng = np.random.default_rng(1)
    v, x, y = (rng.normal(size=(system.count, 2)) for _ in range(3))
    v *= 0.01
    system.close_contacts(v)
    sand, water = system.parts
    walls = closed_walls(system.world, water.species, sand.species)
    assert water.contacts.engaged[walls.contact].sum() > 20
    for change in (x, y):
        system.project(change)
    step = 1e-6
    up, low = system.residual(v + step * x)[0], system.residual(v - step * x)[0]
    system.residual(v)
    ax, ay = system.multiply(x), system.multiply(y)
    for result in (up, low, ax, ay):
        system.project(result)
    assert np.linalg.norm((up - low) / (2 * step) - ax) < 1e-5 * np.linalg.norm(ax)
    assert np.sum(y * ax) == pytest.approx(np.sum(x * ay), rel=1e-11)


def test_explicit_and_semi_implicit_steps_agree_when_they_are_short():
    """Velocities after a step of 1e-6 s from squeezed pores, to the first order of the step."""
    found = []
    for integrator in ("explicit", "semi-implicit"):
        solver = {"semi_implicit": {"tolerance": 1e-10, "linear_tolerance": 1e-10}}
        sim = saturated(
            time={"integrator": integrator, "dt": 1e-6}, **(solver if integrator == "semi-implicit" else {})
        )  # fmt: skip
        water = sim.method.species["water"]
        water.Jw[:] = 1.0 - 0.02 * water.x[:, 1]
        sim.method.world.species[1].model.stress(water.arrays(), water.stress)
        sim.advance(1e-6)
        found.append([p.v.copy() for p in sim.method.species.values()])
    for explicit, implicit in zip(*found):
        assert np.abs(explicit - implicit).max() < 1e-3 * np.abs(explicit).max()


def test_a_drained_obstacle_takes_the_water_and_holds_the_sand():
    """Pore water runs out through the floor; what is gone is counted."""
    corners = ([0.0, 0.0], [4 * CELL, 4 * CELL])
    floor = {"shape": rectangle([-1.0, -1.0], [1.0, 0.0]), "contact": "slip", "drained": True}
    walls = {"lower": [0.0, -2.0], "upper": [4 * CELL, 2.0], "contact": "slip"}
    sim = simulate(
        grid={"cell": CELL, "walls": walls}, obstacle=[floor], mixture=PORES | {"drag_coefficient": 1.0},
        material={"sand": SAND | {"cohesion": 1e5}, "pore water": PORE_WATER | {"bulk_modulus": 1e4}},
        body=[body("sand", *corners), body("pore water", *corners)],
    )  # fmt: skip
    mass = sim.diagnostics()["water_mass"]
    sim.advance(0.4)
    report = sim.diagnostics()
    assert report["drained_mass"] > 0.5 * mass
    assert report["drained_mass"] + report["water_mass"] == pytest.approx(mass, rel=1e-12)
    assert sim.method.species["sand"].x[:, 1].min() > -0.2 * CELL


def test_a_drained_region_takes_the_water_and_lets_the_sand_through():
    """Sand and water fall freely through a region that holds nothing: only the sand leaves it."""
    corners = ([0.0, 0.0], [4 * CELL, 4 * CELL])
    region = {"shape": rectangle([-1.0, -4 * CELL], [1.0, -2 * CELL]), "drained": True, "holds": "none"}
    sim = simulate(
        grid={"cell": CELL}, obstacle=[region], mixture=PORES | {"drag_coefficient": 1.0},
        material={"sand": SAND, "pore water": PORE_WATER | {"bulk_modulus": 1e4}},
        body=[body("sand", *corners), body("pore water", *corners)],
    )  # fmt: skip
    masses = sim.diagnostics()
    while sim.method.species["sand"].x[:, 1].max() > -5 * CELL and sim.time < 2.0:
        sim.advance(0.05)
    report = sim.diagnostics()
    assert report["drained_mass"] == pytest.approx(masses["water_mass"], rel=1e-12)
    assert report["sand_mass"] == masses["sand_mass"]
    assert sim.method.species["sand"].x[:, 1].max() <= -5 * CELL


def test_frames_carry_pressures_and_cohesion():
    sim = saturated(material={"sand": SAND | {"cohesion": 500.0}, "pore water": PORE_WATER, "water": WATER})
    water = sim.method.species["water"]
    water.Jw[:] = 0.99
    sim.method.world.species[1].model.stress(water.arrays(), water.stress)
    frame = sim.method.frame()
    p = 1e5 / 7.0 * (0.99**-7.0 - 1.0)
    np.testing.assert_allclose(frame["water"]["pressure"], p, rtol=1e-9)
    sand = sim.method.species["sand"]
    np.testing.assert_allclose(frame["sand"]["pore_pressure"][interior(sand, 1)], p, rtol=1e-9)
    np.testing.assert_allclose(frame["sand"]["cohesion"], 500.0)
    declared = {population.name: {f.name for f in population.fields} for population in sim.method.declarations()}
    for name, arrays in frame.items():
        assert declared[name] == set(arrays)


@pytest.mark.parametrize(
    ("tables", "sentence"),
    [
        (
            {"mixture": PORES | {"buoyancy": "archimedes"}},
            "mixture.buoyancy is 'archimedes' with coupling 'pore-pressure'",
        ),
        (
            {"mixture": PORES | {"coupling": "drag", "buoyancy": "archimedes"}},
            "mixture.buoyancy is 'archimedes' with coupling 'drag', in which sand displaces no water",
        ),
        (
            {"obstacle": [{"shape": rectangle([0, -1], [1, 0]), "drained": True, "holds": "water"}]},
            "obstacle.0.drained is true with holds = 'water'",
        ),
        (
            {"obstacle": [{"shape": rectangle([0, -1], [1, 0]), "holds": "none"}]},
            "obstacle.0.holds is 'none' without drained = true",
        ),
        ({"mixture": PORES | {"coupling": "pores"}}, "mixture.coupling"),
    ],
)
def test_a_mistake_is_named(tables, sentence):
    with pytest.raises(SceneError) as caught:
        saturated(**tables)
    assert sentence in str(caught.value)
