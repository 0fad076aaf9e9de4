"""Sand and water by laws of the user's: what their traits say is all that the methods know of them."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from coupled_blocks import CELL, DT, system_of
from mixtures import SAND, WATER, body, simulate

from spume import Scene, Simulation
from spume.materials import LAWS, register_law
from spume.materials.history import field_of
from spume.materials.registry import load_law_file

TUTORIALS = Path(__file__).parents[1] / "materials"
ROCKFILL = {
    "law": "rockfill", "density": 1600.0, "youngs_modulus": 1.0e5, "poisson_ratio": 0.3, "strength": 0.5,
}  # fmt: skip
TAIT = {"law": "tait", "density": 1000.0, "bulk_modulus": 1.0e5}
CORNERS = ([0.0, 0.0], [6 * CELL, 6 * CELL])


@pytest.fixture
def twins():
    """Sand and water whose laws have other names, and other names of fields and constants."""
    sand, water = LAWS["drucker-prager"], LAWS["water"]
    granular, fluid = sand.traits.granular, water.traits.fluid
    names = [granular.gained_volume, granular.elastic_strain, granular.cohesion_factor]
    mine = replace(granular, **{
        "gained_volume": "my_gained_volume", "elastic_strain": "my_b", "cohesion_factor": "my_cohesion_factor",
        "corrects_volume": "gives_back",
    })  # fmt: skip
    register_law(
        replace(
            sand, name="my-sand", traits=replace(sand.traits, granular=mine),
            fields=tuple(field.renamed(f"my_{field.name}") if field.name in names else field for field in sand.fields),
            constants=tuple("gives_back" if name == "forgiving" else name for name in sand.constants),
        )
    )  # fmt: skip
    register_law(
        replace(
            water, name="my-water", traits=replace(water.traits, fluid=replace(fluid, volume_ratio="my_J")),
            fields=tuple(each.renamed("my_J") if each.name == fluid.volume_ratio else each for each in water.fields),
        )
    )  # fmt: skip
    yield {"sand": "my-sand", "water": "my-water"}
    LAWS.pop("my-sand"), LAWS.pop("my-water")


@pytest.fixture
def tutorials():
    """The laws of the tutorial."""
    yield [law for name in ("my_granular_law.py", "my_fluid_law.py") for law in load_law_file(TUTORIALS / name)]
    LAWS.pop("rockfill", None), LAWS.pop("tait", None)


def disturb(sim):
    """Give strains, gained volumes, volume ratios and velocities at random, by the traits of the laws."""
    rng = np.random.default_rng(3)
    for species in sim.method.world.species:
        p, arrays = species.particles, species.particles.arrays()
        for use in species.model.laws:
            if (granular := use.law.traits.granular) is not None:
                b = field_of(use, granular.elastic_strain, arrays)
                b[:] += 0.02 * rng.normal(size=b.shape)
                field_of(use, granular.gained_volume, arrays)[:] = 0.02 * rng.random(len(p))
            if (fluid := use.law.traits.fluid) is not None:
                field_of(use, fluid.volume_ratio, arrays)[:] *= 1.0 + 0.05 * rng.normal(size=len(p))
        p.v[:] = 0.2 * rng.normal(size=p.v.shape)
        species.model.stress(arrays, p.stress)
    return sim


def overlapping(sand, water, **tables):
    """Sand and water in one place, which fall on the ground."""
    materials = {"sand": sand, "water": water}
    bodies = [body("sand", *CORNERS), body("water", *CORNERS)]
    walls = {"lower": [-1.0, 0.0], "upper": [1.0, 2.0], "contact": "separate"}
    grid = {"cell": CELL, "walls": walls}
    return disturb(simulate(material=materials, body=bodies, **({"grid": grid} | tables)))


def bits(sim):
    """Bits of the fields in frames that do not belong to a law."""
    names = ("x", "v", "J", "cohesion", "pore_pressure", "pressure", "saturation")
    return {
        (population, name): arrays[name][np.argsort(arrays["id"])].tobytes()
        for population, arrays in sim.method.frame().items()
        for name in names
        if name in arrays
    }


@pytest.mark.parametrize(
    "tables",
    [
        {"time": {"dt": 2e-4}},
        {"time": {"dt": 2e-4}, "mixture": {"hydraulic_conductivity": 1e-2, "coupling": "pore-pressure"}},
        {"time": {"integrator": "semi-implicit", "dt": DT},
         "semi_implicit": {"unilateral": {"a": -0.02, "b": 0.01, "c0": 0.5, "v0": 0.01}}},
    ],
    ids=["explicit", "pore-pressure", "semi-implicit"],
)  # fmt: skip
def test_laws_with_the_traits_of_sand_and_water_give_the_same_bits(twins, tables):
    """The built-in laws under other names, with other names of fields and constants."""
    sand, water = SAND | {"cohesion": 50.0}, WATER | {"viscosity": 10.0}
    found = []
    for names in ({"sand": SAND["law"], "water": WATER["law"]}, twins):
        sim = overlapping(sand | {"law": names["sand"]}, water | {"law": names["water"]}, **tables)
        sim.advance(2e-3 if "integrator" not in tables["time"] else 2 * DT)
        found.append(bits(sim))
    assert found[0] == found[1]


def test_crowded_points_of_a_granular_law_are_pushed_apart_like_those_of_sand(twins):
    found = []
    for law in (SAND["law"], twins["sand"]):
        sim = Simulation(
            Scene(
                title="crowded", method="mpm", dimension=2, duration=1.0, gravity=[0.0, 0.0],
                grid={"cell": CELL, "spline": "quadratic"}, material={"sand": SAND | {"law": law}},
                body=[body("sand", *CORNERS)],
            )
        )  # fmt: skip
        sim.particles.x[:] /= 1.2
        sim.advance(0.02)
        found.append(bits(sim))
        assert np.abs(sim.particles.v).max() > 0.0
    assert found[0] == found[1]


def test_laws_whose_fields_have_the_same_names_do_not_mix_them_up():
    """Sand beside sand of a law that declares its fields differently: the correction alone moves each of them."""
    sand = LAWS["drucker-prager"]
    register_law(replace(sand, name="other", fields=tuple(replace(each, description="") for each in sand.fields)))
    sim = Simulation(
        Scene(
            title="two", method="mpm", dimension=2, duration=1.0, gravity=[0.0, 0.0],
            grid={"cell": CELL, "spline": "quadratic"},
            material={"sand": SAND, "other": SAND | {"law": "other"}},
            body=[body("sand", *CORNERS), body("other", [1.0, 0.0], [1.3, 0.3])],
        )
    )  # fmt: skip
    LAWS.pop("other")
    for k in range(2):
        own = sim.particles.material == k
        center = sim.particles.x[own].mean(axis=0)
        sim.particles.x[own] = center + (sim.particles.x[own] - center) / 1.2
    sim.advance(0.02)
    p = sim.particles
    assert all(np.abs(p.v[p.material == k]).max() > 0.0 for k in range(2))


def momentum(sim):
    return sum(p.mass @ p.v for p in sim.method.species.values())


@pytest.mark.parametrize("integrator", ["explicit", pytest.param("semi-implicit", marks=pytest.mark.slow_suite)])
def test_the_laws_of_the_tutorial_are_sand_and_water(tutorials, integrator):
    """They meet in free fall: drag brings their velocities together, and the momentum changes by M g t alone, up to
    the residual that the solver leaves, or rounding."""
    step = {"dt": 2e-4} if integrator == "explicit" else {"integrator": integrator, "dt": DT}
    table = {} if integrator == "explicit" else {"semi_implicit": {"tolerance": 1e-8, "linear_tolerance": 1e-6}}
    sim = overlapping(ROCKFILL, TAIT, grid={"cell": CELL}, time=step, **table)
    assert list(sim.method.species) == ["sand", "water"]
    sand, water = sim.method.species.values()
    sand.v[:, 0] += 1.0
    mass, start, duration = sand.mass.sum() + water.mass.sum(), momentum(sim), 2 * DT
    sim.advance(duration)
    expected = start + mass * duration * np.array([0.0, -9.81])
    np.testing.assert_allclose(momentum(sim), expected, rtol=0, atol=(1e-11 if not table else 1e-6) * mass)
    sand, water = sim.method.species.values()
    assert abs(np.average(sand.v[:, 0], weights=sand.mass) - np.average(water.v[:, 0], weights=water.mass)) < 0.5


@pytest.mark.slow_suite
def test_the_equations_of_a_step_know_the_laws_of_the_tutorial(tutorials):
    """The matrix is the derivative of the residual, by central differences, and symmetric."""
    sim = overlapping(ROCKFILL, TAIT, grid={"cell": CELL}, time={"integrator": "semi-implicit", "dt": DT})
    system = system_of(sim)
    rng = np.random.default_rng(1)
    v, x, y = (rng.normal(size=(system.count, 2)) for _ in range(3))
    v *= 0.3
    step = 1e-6
    up, low = system.residual(v + step * x)[0], system.residual(v - step * x)[0]
    system.residual(v)
    ax, ay = system.multiply(x), system.multiply(y)
    assert np.linalg.norm((up - low) / (2 * step) - ax) < 1e-5 * np.linalg.norm(ax)
    assert np.sum(y * ax) == pytest.approx(np.sum(x * ay), rel=1e-11)


def test_rockfill_gives_back_the_volume_it_gained(tutorials):
    """ln J = tr ε + v_c: stretched by a tenth and pressed back to the rest volume, it has no stress."""
    rockfill, _ = tutorials
    parameters = rockfill.pack(rockfill.parameters(**{k: v for k, v in ROCKFILL.items() if k != "law"}))
    history = ((1.0, 1.0, 1.0, 0.0, 0.0, 0.0), 0.0, 0.0)
    for stretch in (1.1, 1.0 / 1.1):
        f = (stretch, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
        stress, history = rockfill.update(f, 1e-3, parameters, history)
        np.testing.assert_allclose(stress, 0.0, atol=1e-9 * ROCKFILL["youngs_modulus"])
    assert history[1] == pytest.approx(0.0, abs=1e-12)
    pressed, _ = rockfill.update((0.99, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0), 1e-3, parameters, history)
    assert pressed[0] < -100.0
