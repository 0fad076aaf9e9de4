"""Sand under water: forces of the pressure, weights, level of the pool."""

import numpy as np
import pytest
from mixtures import PORE_WATER, SAND, WATER, body, simulate

from spume.mixture.free_surface import BAND, volume_ratios
from spume.mixture.method import build_mixture
from spume.mixture.mixture import MixtureStep
from spume.mixture.pore_pressure import find_pores, find_walls, share_pressure
from spume.mpm.step import find_contacts, rasterize, sort_points

CELL, WIDTH, BED, LEVEL, POROSITY = 0.05, 0.3, 0.3, 0.6, 0.4
MIXTURE = {"hydraulic_conductivity": 0.1, "porosity": POROSITY, "coupling": "pore-pressure"}
MATERIAL = {
    "sand": SAND | {"youngs_modulus": 1e6},
    "water": WATER | {"exponent": 1.0},
    "pore water": PORE_WATER | {"exponent": 1.0},
}


def pool(*bodies, bed=BED, level=LEVEL, width=WIDTH, shift=0.0, **tables):
    """Saturated sand under water in a box, or `bodies`."""
    walls = {"lower": [0.0, shift], "upper": [width, 2.0 + shift], "contact": "slip"}
    below, above = ([0.0, shift], [width, bed + shift]), ([0.0, bed + shift], [width, level + shift])
    full = [body("sand", *below), body("pore water", *below), body("water", *above)]
    return simulate(
        **(
            {"grid": {"cell": CELL, "walls": walls}, "material": MATERIAL, "mixture": MIXTURE}
            | {"body": list(bodies) or full}
            | tables
        )
    )


def prepared(sim, *stages):
    """The world after the first stages of a step, its mixture and what they found."""
    world, mixture, step, dt = sim.method.world, build_mixture(sim.scene), MixtureStep(), 1e-5
    sort_points(world)
    rasterize(world)
    step.fields.fit(world, dt)
    find_pores(world, dt, mixture, step)
    find_contacts(world, dt)
    find_walls(world, dt, step)
    return world, mixture, step


def test_a_uniform_pressure_is_in_equilibrium_at_the_surface_of_sand_under_water():
    """−Σ_water V τ ∇w − Σ_sand V τ̄ ∇w = −τ Σ V ∇w is zero where points on a lattice fill the space, whatever the
    porosity: at all nodes between the floor and the free surface, more than a stencil from both."""
    sim = pool()
    water = sim.method.species["water"]
    water.Jw[:] = 0.99
    sim.method.world.species[1].model.stress(water.arrays(), water.stress)
    world, _, step = prepared(sim)
    for species in world.species:
        species.fields["force"][:] = 0.0
    share_pressure(world, 1e-5, step)
    force = sum(species.fields["force"] for species in world.species)
    place = world.nodes.places(np.arange(force.shape[0] * 64)).reshape(force.shape[0], 64, 2)
    inner = (np.abs(place[..., 1] - BED) < 0.2) & (np.abs(place[..., 0] - 0.5 * WIDTH) < 0.1)
    assert inner.sum() > 20
    pressure = 1e5 * (0.99**-1.0 - 1.0)
    assert np.abs(force.transpose(0, 2, 1)[inner]).max() < 1e-11 * pressure * CELL


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_limits_of_the_volume_ratio_never_contradict_each_other(seed):
    """Points of water at random in sand in a box: clusters at walls, holes, and sand that has moved."""
    corners = ([0.0, 0.0], [WIDTH, BED])
    sim = pool(body("sand", *corners), body("pore water", *corners))
    rng = np.random.default_rng(seed)
    water, sand = sim.method.species["water"], sim.method.species["sand"]
    water.x[:] = rng.random(water.x.shape) * [WIDTH, BED]
    sand.x[:] += 0.1 * CELL * rng.normal(size=sand.x.shape)
    world, mixture, step = prepared(sim)
    now, wider, least = volume_ratios(world, mixture, step)
    bounded = least > 1.0  # elsewhere pores are full and J is free
    assert bounded.sum() > 10
    assert np.all(least[bounded] <= ((1.0 + BAND * wider) * now)[bounded])


def in_equilibrium(sim, level=LEVEL, gravity=9.81):
    """Put the water under the pressure ρw g (level − y); with γ = 1 this is p = K (1/J − 1)."""
    water = sim.method.species["water"]
    water.Jw[:] = 1.0 / (1.0 + 1000.0 * gravity * (level - water.x[:, 1]) / 1e5)
    sim.method.world.species[1].model.stress(water.arrays(), water.stress)
    return sim


@pytest.mark.parametrize("claim", [{"coupling": "pore-pressure"}, {"buoyancy": "archimedes"}])
@pytest.mark.parametrize(("integrator", "shift"), [("explicit", 0.0), ("explicit", 0.5 * CELL), ("semi-implicit", 0.0)])
def test_bed_and_water_carry_their_weights(integrator, shift, claim):
    """In hydrostatic water the unloaded bed begins to fall with −g + (1 − n) ρw g/ρs, from its floor to its surface,
    and all of the water stays at rest, within 2 %: means of the points more than a stencil from floor and free surface.
    Gravity is a tenth, so that the water is compressed by 0.6 % at most."""
    dt, gravity = 1e-5, 0.981
    solver = {"semi_implicit": {"tolerance": 1e-8, "linear_tolerance": 1e-8}} if integrator != "explicit" else {}
    mixture = {"hydraulic_conductivity": 0.1, "porosity": POROSITY} | claim
    time = {"integrator": integrator, "dt": dt}
    sim = pool(shift=shift, gravity=[0.0, -gravity], time=time, mixture=mixture, **solver)
    in_equilibrium(sim, LEVEL + shift, gravity).advance(dt)
    mean = {}
    for name, p in sim.method.species.items():
        y = p.x[:, 1] - shift
        mean[name] = p.v[(y > 2 * CELL) & (y < LEVEL - 2 * CELL), 1].mean() / (dt * gravity)
    assert mean["sand"] + 1.0 == pytest.approx(0.6 * 1000.0 / 1600.0, rel=0.02)
    assert abs(mean["water"]) < 0.02


def test_the_pressure_of_a_pool_on_sand_at_rest_grows_with_the_depth():
    """After the bed has settled, dp/dy = −ρw g through bed and pool, within 2 %, by a straight line through all points
    more than a cell from the floor and two from the free surface."""
    gravity = 0.981
    sim = in_equilibrium(pool(gravity=[0.0, -gravity]), gravity=gravity)
    sim.advance(0.4)
    water = sim.method.species["water"]
    inner = (water.x[:, 1] > CELL) & (water.x[:, 1] < LEVEL - 2 * CELL)
    slope = np.polyfit(water.x[inner, 1], sim.method.frame()["water"]["pressure"][inner], 1)[0]
    assert slope == pytest.approx(-1000.0 * gravity, rel=0.02)


def level_of(sim):
    """Median over columns of a cell of the highest point of the water, and half the spacing of points."""
    water = sim.method.species["water"]
    column = np.floor(water.x[:, 0] / CELL).astype(int)
    return float(np.median([water.x[column == k, 1].max() for k in range(round(WIDTH / CELL))])) + 0.25 * CELL


def test_a_pool_rises_by_the_solids_of_the_sand_that_falls_in():
    """Sand of the volume V raises it by (1 − n) V over its width, and not by V nor by nothing: within half a cell and
    the compression of the water, half of its pressure on the floor over K, 2 %."""
    sim = pool(
        body("water", [0.0, 0.0], [WIDTH, 0.3]), body("sand", [0.05, 0.35], [0.25, 0.65]),
        mixture=MIXTURE | {"hydraulic_conductivity": 0.3},
    )  # fmt: skip
    sim.advance(1.0)
    level = 0.3 + (1.0 - POROSITY) * 0.2 * 0.3 / WIDTH  # 0.42
    assert level_of(sim) == pytest.approx(level, abs=0.5 * CELL + 0.02 * level)


@pytest.mark.slow_suite
def test_a_pool_let_into_dry_sand_fills_its_pores_and_comes_to_rest():
    """Water of 0.4 m over 0.3 m of dry sand: its level is 0.4 + 0.6 · 0.3, within half a cell and its compression, 3 %.
    The front that meets the floor sets the water oscillating; after 1.5 s drag and transfers have taken nearly all of
    its energy, of which it had 130 J. Limits of J that contradict each other kept 3 J in motion. No point more than two
    cells below the level is then without pressure, or under twice that of its depth."""
    sim = pool(
        body("sand", [0.0, 0.0], [WIDTH, BED]), body("water", [0.0, BED], [WIDTH, BED + 0.4]),
        mixture=MIXTURE | {"hydraulic_conductivity": 0.5}, material=MATERIAL | {"water": WATER},
    )  # fmt: skip
    sim.advance(1.5)
    water = sim.method.species["water"]
    assert level_of(sim) == pytest.approx(0.58, abs=0.5 * CELL + 0.03 * 0.58)
    energies = []
    for _ in range(4):
        sim.advance(0.05)
        energies.append(0.5 * float(np.sum(water.mass[:, None] * water.v**2)))
    assert max(energies) < 0.5
    depth = level_of(sim) - water.x[:, 1]
    deep = depth > 2 * CELL
    ratio = sim.method.frame()["water"]["pressure"][deep] / (9810.0 * depth[deep])
    assert ratio.min() > 0.5
    assert ratio.max() < 1.5
