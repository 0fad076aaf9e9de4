"""Linear functions fitted around nodes, and the removal of pressures that exert no force."""

import numpy as np
import pytest
from mixtures import PORE_WATER, SAND, WATER, body, simulate
from validation import consolidation as case

import spume.mixture.linear_fit as linear_fit
from spume.mixture.even_pressure import CROSSINGS, even_pressure
from spume.mixture.mixture import Mixture
from spume.mpm.step import sort_points

CELL, WIDTH = 0.05, 0.4
WALLS = {"lower": [0.0, -WIDTH], "upper": [WIDTH, 2 * WIDTH], "contact": "slip"}


def column(shift=0.0, uneven=0.0, exponent=1.0, **tables):
    """Saturated sand, free of walls above and below, with points moved at random by `uneven` cells; sorted."""
    corners = ([0.0, shift], [WIDTH, WIDTH + shift])
    material = {"sand": SAND, "pore water": PORE_WATER | {"exponent": exponent}}
    scene = {"bodies": [body("sand", *corners), body("pore water", *corners)], "gravity": [0.0, 0.0]} | tables
    sim = simulate(
        body=scene.pop("bodies"), material=material, grid={"cell": CELL, "walls": WALLS},
        mixture={"hydraulic_conductivity": 0.1, "coupling": "pore-pressure"}, **scene,
    )  # fmt: skip
    rng = np.random.default_rng(3)
    for p in sim.method.species.values():
        p.x += uneven * CELL * rng.normal(size=p.x.shape)
    sort_points(sim.method.world)
    return sim.method.world


def fitted(world, share=1.0):
    """Fits to the points of the water, and their volumes."""
    sand, water = world.species
    volume = water.particles.mass / 1000.0
    return sand, water, volume, linear_fit.fit_linear(world, water, volume, np.full((len(world.nodes), 64), share))


def weights(world, p):
    """w of all nodes [1] and x − x_i [m] at each point: quadratic splines."""
    away = p.x[:, None, :] - world.nodes.places(np.arange(len(world.nodes) * 64))[None]
    a = np.abs(away) / CELL
    return np.prod(np.where(a < 0.5, 0.75 - a**2, np.where(a < 1.5, 0.5 * (1.5 - a) ** 2, 0.0)), axis=2), away


@pytest.mark.parametrize("uneven", [0.0, 0.2])
def test_values_at_the_sand_are_means_of_functions_fitted_around_the_nodes(uneven):
    """Against sums over all pairs of points and nodes."""
    world = column(uneven=uneven)
    sand, water, volume, fit = fitted(world, share=0.7)
    f = np.random.default_rng(4).normal(size=len(volume))
    (w, d), (w_sand, d_sand) = weights(world, water.particles), weights(world, sand.particles)
    expected = np.zeros(len(sand.particles))
    for i in np.flatnonzero((w * volume[:, None]).sum(axis=0) > 0.0):
        V = w[:, i] * volume
        e = V @ d[:, i] / V.sum()
        own = d[:, i] - e
        slopes = np.linalg.solve(own.T @ (V[:, None] * own) + 0.02 * CELL**2 * V.sum() * np.eye(2), own.T @ (V * f))
        expected += 0.7 * w_sand[:, i] * (V @ f / V.sum() + (d_sand[:, i] - e) @ slopes)
    np.testing.assert_allclose(fit.carry(water, volume * f, sand), expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("shift", [0.0, 0.5 * CELL, 0.3 * CELL])
def test_linear_fields_are_exact_up_to_their_edges(shift, monkeypatch):
    """Without SPREAD; the edges are free above and below, where a mean is off by up to half a cell."""
    monkeypatch.setattr(linear_fit, "SPREAD", 1e-12)
    sand, water, volume, fit = fitted(column(shift))
    found = fit.carry(water, volume * (3.0 + water.particles.x @ [2.0, -5.0]), sand)
    np.testing.assert_allclose(found, 3.0 + sand.particles.x @ [2.0, -5.0], rtol=1e-6)


def test_spread_costs_a_tenth_of_a_cell_at_edges_at_most_and_nothing_of_a_constant():
    """A slope is too small by SPREAD over the variance, between 2/25 inside and a third in single rows at an edge; the
    distance to the centre of the points of a node is up to half a cell there, but such nodes have little weight."""
    sand, water, volume, fit = fitted(column(0.3 * CELL))
    np.testing.assert_allclose(fit.carry(water, volume, sand), 1.0, rtol=1e-12)
    y = sand.particles.x[:, 1]
    assert np.abs(fit.carry(water, volume * water.particles.x[:, 1], sand) - y).max() < 0.1 * CELL


def test_the_other_direction_is_the_transpose():
    world = column(uneven=0.2)
    sand, water, volume, fit = fitted(world, share=0.7)
    rng = np.random.default_rng(5)
    f, g = rng.normal(size=len(volume)), rng.normal(size=len(sand.particles))
    there, back = g @ fit.carry(water, f, sand), f @ fit.carry(sand, g, water)
    assert there == pytest.approx(back, rel=1e-11)


def evened(world, J, steps=200, dt=None):
    """J after `steps` steps of the stage alone, by default each of half its decay time."""
    water = world.species[1].particles
    water.Jw[:] = J
    decay = CROSSINGS * CELL / np.sqrt(1e5 / 1000.0)
    for _ in range(steps):
        even_pressure(world, dt or 0.5 * decay, Mixture())
    return water.Jw.copy()


def test_pressures_that_alternate_from_row_to_row_vanish():
    """Their sums Σ w V τ are zero at every node two cells from the edges, and so are their forces. One long step
    removes them where the edges are out of reach, 3 cells for each A."""
    tall = ([0.0, -4 * CELL], [WIDTH, 12 * CELL])
    world = column(bodies=[body("sand", *tall), body("pore water", *tall)])
    water = world.species[1].particles
    away = np.abs(water.x[:, 1] - 4 * CELL)
    pattern = 0.01 * (-1.0) ** np.round(water.x[:, 1] / (0.5 * CELL) - 0.5)
    w, _ = weights(world, water)
    middle = np.abs(world.nodes.places(np.arange(w.shape[1]))[:, 1] - 4 * CELL) < 6 * CELL
    assert np.abs(w.T @ pattern)[middle].max() < 1e-14
    J = evened(world, 0.97 + pattern, steps=1, dt=1e3)
    assert np.abs(J - 0.97)[away < 1.9 * CELL].max() < 1e-12


@pytest.mark.parametrize("exponent", [1.0, 7.0])
def test_volume_is_kept_and_energy_does_not_grow(exponent):
    """Points and pressures at random, all below J = 1. Σ V J to rounding; ψ = k (J − 1 + (J^(1−γ) − 1)/(γ − 1)), or
    k (J − 1 − ln J)."""
    world = column(uneven=0.2, exponent=exponent)
    water = world.species[1].particles
    J = 0.9 + 0.02 * np.random.default_rng(6).random(len(water))

    def energy(J):
        work = np.log(J) if exponent == 1.0 else (1.0 - J ** (1.0 - exponent)) / (exponent - 1.0)
        return float(np.sum(water.mass * (J - 1.0 - work)))

    now = evened(world, J, steps=10)
    assert np.std(now) < 0.8 * np.std(J)
    assert np.sum(water.mass * now) == pytest.approx(np.sum(water.mass * J), rel=1e-14)
    assert energy(now) <= energy(J)


def test_a_hydrostatic_pressure_stays():
    """Linear up to free edges, where J comes to 1. SPREAD makes the slope of two rows, whose variance is 1/16 cells²,
    too small by 0.02/(0.02 + 1/16), so in 20 decay times, without forces, pressures at edges change by less than a
    quarter of the difference between rows."""
    world = column()
    y = world.species[1].particles.x[:, 1]
    J = 1.0 - 0.02 * (WIDTH - y) / WIDTH
    assert np.abs(evened(world, J, 40) - J).max() < 0.25 * 0.02 * 0.5 * CELL / WIDTH


def test_air_takes_no_part():
    """Water without tension has no pressure at J > 1, which is not mixed with pressures."""
    world = column()
    y = world.species[1].particles.x[:, 1]
    J = np.where(y > 0.5 * WIDTH, 1.3, 0.98)
    np.testing.assert_allclose(evened(world, J, 3), J, rtol=1e-12)


def test_the_stage_acts_about_four_times_in_its_decay_time():
    """Many short steps remove as much as few long ones."""
    world = column(uneven=0.2)
    J = 0.9 + 0.02 * np.random.default_rng(6).random(len(world.species[1].particles))
    decay = CROSSINGS * CELL / np.sqrt(1e5 / 1000.0)
    long = evened(world, J, 4, 0.25 * decay)
    water = world.species[1].particles
    water.Jw[:] = J
    for _ in range(100):
        even_pressure(world, 0.01 * decay, Mixture())
        world.steps += 1
    np.testing.assert_allclose(water.Jw, long, atol=1e-3 * np.std(J))


def test_water_alone_and_sand_alone_are_no_mistake():
    for material in ("water", "sand"):
        sim = simulate(
            body=[body(material, [0.0, 0.0], [0.2, 0.2])], grid={"cell": CELL},
            material={"sand": SAND, "water": WATER},
            mixture={"hydraulic_conductivity": 0.1, "coupling": "pore-pressure"},
        )  # fmt: skip
        sim.advance(1e-3)
        assert sim.time == pytest.approx(1e-3)


@pytest.mark.slow_suite
@pytest.mark.parametrize("integrator", ["explicit", "semi-implicit"])
def test_every_row_of_points_consolidates_as_terzaghi_says(integrator, monkeypatch):
    """A column of 16 cells on a closed base, drained and loaded at the top: all rows within 5 % of the load."""
    implicit = {"time": {"integrator": "semi-implicit", "dt": 1e-3}, "semi_implicit": {"tolerance": 1e-5}}
    monkeypatch.setattr(case, "CELLS", 16)
    monkeypatch.setattr(case, "TIMES", (0.05, 0.2))
    built = case.scene(closed=True, **(implicit if integrator == "semi-implicit" else {}))
    for T, depth, found in case.rows_of_points(built):
        assert np.abs(found - case.excess_pressure(depth, T)).max() < 0.05
