"""Measurements against closed forms, and where they appear."""

import json
import math
from typing import Any

import numpy as np
import pytest
from mixtures import WATER, body, settle, simulate

import spume
from spume.cli import main
from spume.frames.measurements import rebound
from spume.measuring.quantities import height, neck_width, run_out, stress, von_mises
from spume.measuring.sample import Sample
from spume.scene.measure import Height, NeckWidth, RunOut, Stress

SOFT = {"law": "hencky", "density": 1000.0, "youngs_modulus": 1.0e4, "poisson_ratio": 0.3}
G, SIDE, ARM = 9.81, 0.04, 0.15


def block_scene(**tables: Any) -> dict[str, Any]:
    """A soft block that lies on the ground between x = 0.13 m and 0.17 m."""
    return {
        "title": "a block at rest",
        "method": "mpm",
        "dimension": 2,
        "duration": 0.5,
        "frame_rate": 10.0,
        "grid": {"cell": 0.01},
        "transfer": {"scheme": "pic"},
        "material": {"solid": SOFT},
        "body": [
            {
                "name": "block",
                "material": "solid",
                "shape": {"rectangle": {"center": [ARM, SIDE / 2], "size": [SIDE, SIDE]}},
            }
        ],
        "obstacle": [
            {
                "name": "ground",
                "shape": {"half_plane": {"point": [0.0, 0.0], "normal": [0.0, 1.0]}},
                "contact": "separate",
            }
        ],
        "measure": [
            {"name": "weight", "what": {"force": {"obstacle": "ground", "direction": [0.0, -1.0]}}},
            {"name": "load", "what": {"force": {"obstacle": "ground"}}},
            {"name": "torque", "what": {"torque": {"obstacle": "ground"}}},
            {"name": "own torque", "what": {"torque": {"obstacle": "ground", "about": [ARM, 0.0]}}},
            {"name": "top", "what": {"height": {"body": "block"}}},
        ],
        **tables,
    }


@pytest.fixture(scope="module")
def block(tmp_path_factory) -> spume.Run:
    return spume.run(block_scene(), tmp_path_factory.mktemp("runs") / "block", progress="none")


def test_the_force_on_the_ground_is_the_weight_of_the_block(block):
    """F = M g − ΔP/Δt, exactly. At rest ΔP is nothing: waves run through the block a hundred times in 0.4 s, and PIC
    damps them."""
    weight, mass = block.measurements["weight"], block.diagnostics[0]["mass"]
    assert mass == pytest.approx(1000.0 * SIDE**2, rel=1e-12)
    momentum = np.array([entry["momentum"][1] for entry in block.diagnostics])
    expected = mass * G + np.diff(momentum) / np.diff(weight.times)
    np.testing.assert_allclose(weight.values[1:], expected, rtol=1e-10)
    assert weight.value == pytest.approx(mass * G, rel=1e-3)
    assert math.isnan(weight.values[0])
    np.testing.assert_allclose(block.measurements["load"].value, [0.0, -mass * G], atol=1e-3 * mass * G)


def test_the_torque_on_the_ground_is_the_weight_times_its_arm(block):
    mass = block.diagnostics[0]["mass"]
    torque = block.measurements["torque"]
    assert torque.values.shape == torque.times.shape, "in the plane it is a number"
    assert torque.value == pytest.approx(-ARM * mass * G, rel=1e-3)
    assert abs(block.measurements["own torque"].value) < 1e-3 * ARM * mass * G


def test_the_discharge_of_a_stream_is_density_times_section_times_velocity(tmp_path):
    """The stream comes in layers of points: over a time T the mass is known to a layer."""
    speed, width, cell, density = 1.0, 0.04, 0.01, 1000.0
    tables = block_scene(
        duration=0.4,
        gravity=[0.0, 0.0],
        obstacle=[],
        body=[],
        transfer={"scheme": "apic"},
        emitter=[
            {
                "name": "nozzle",
                "material": "solid",
                "shape": {"rectangle": {"center": [0.0, 0.0], "size": [0.02, width]}},
                "velocity": [speed, 0.0],
            }
        ],
        measure=[
            {"name": "flow", "what": {"discharge": {"point": [0.1, 0.0], "normal": [1.0, 0.0]}}},
            {"name": "back", "what": {"discharge": {"point": [0.1, 0.0], "normal": [-2.0, 0.0]}}},
        ],
    )
    run = spume.run(tables, tmp_path / "run", progress="none")
    flow = run.measurements["flow"]
    steady = flow.values[flow.times > 0.25]
    layer = density * width * cell / 2
    assert abs(steady.mean() - density * width * speed) <= layer / (len(steady) * 0.1)
    assert flow.values[1] == pytest.approx(0.0, abs=layer / 0.1)  # the stream reaches the plane at 0.1 s
    np.testing.assert_allclose(run.measurements["back"].values[1:], -flow.values[1:], rtol=1e-12)


def test_the_pressure_at_a_probe_in_water_is_hydrostatic():
    """p = ρ g (H − Y) with the rest height Y of the water at the probe, in equilibrium by construction. The average
    over points is exact for a linear pressure; 1 % of that at the bottom is left for the lattice."""
    depth = 0.8
    probes = [0.25, 0.4, 0.55]
    sim = simulate(
        grid={"cell": 0.05, "walls": {"lower": [0.0, 0.0], "upper": [0.4, 2.0], "contact": "slip"}},
        body=[body("water", [0.0, 0.0], [0.4, depth])],
        material={"water": WATER},
        measure=[
            *({"name": f"{y}", "what": {"pressure": {"point": [0.2, y]}}} for y in probes),
            {"name": "above", "what": {"pressure": {"point": [0.2, 1.5]}}},
        ],
    )
    water = sim.method.species["water"]
    rest = water.x[:, 1].copy()
    settle(sim, depth)
    found = sim.diagnostics()["measured"]
    for y in probes:
        Y = np.interp(y, np.unique(water.x[:, 1]), np.unique(rest))
        assert abs(found[f"{y}"] - 1000.0 * G * (depth - Y)) < 0.01 * 1000.0 * G * depth
    assert found["above"] is None


def lattice(size: tuple[float, ...], count: tuple[int, ...]) -> Sample:
    """A box of points from the origin, each with its share of the volume."""
    steps = [length / n for length, n in zip(size, count)]
    axes = [(np.arange(n) + 0.5) * step for n, step in zip(count, steps)]
    x = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(size))
    volume = np.full(len(x), math.prod(steps))
    return Sample(x, 1000.0 * volume, volume, np.zeros(len(x), int), np.zeros((len(x), 6)), np.arange(len(x)), steps[0])


def test_height_and_run_out_end_where_the_material_ends():
    column = lattice((0.08, 0.12), (16, 24))
    assert height(Height(), column) == pytest.approx(0.12, rel=1e-12)
    assert height(Height(direction=(-1.0, 0.0), origin=(0.08, 0.0)), column) == pytest.approx(0.08, rel=1e-12)
    assert run_out(RunOut(center=(0.03, 0.0)), column) == pytest.approx(0.05, rel=1e-12)
    beam = lattice((0.08, 0.12, 0.04), (16, 24, 8))
    corner = math.hypot(0.08 - 0.0025, 0.04 - 0.0025) + 0.0025
    assert run_out(RunOut(), beam) == pytest.approx(corner, rel=1e-12)


def test_a_stray_drop_can_be_ignored():
    column = lattice((0.1, 0.1), (10, 10))
    x = column.x.copy()
    x[np.argmax(x[:, 1])] = (0.05, 3.0)
    stray = Sample(x, column.mass, column.volume, column.body, column.stress, column.id, column.spacing)
    assert height(Height(), stray) > 3.0
    assert height(Height(ignore=0.02), stray) == pytest.approx(0.1, rel=1e-12)


def test_the_neck_is_the_least_section():
    """A strand of width 0.08 m that is 0.02 m wide between 0.05 m and 0.07 m."""
    strand = lattice((0.08, 0.12), (16, 24))
    middle = (strand.x[:, 1] > 0.05) & (strand.x[:, 1] < 0.07)
    thin = strand.of(~middle | (np.abs(strand.x[:, 0] - 0.04) < 0.01))
    what = NeckWidth(between=(0.0, 0.12), slice=0.01)
    assert neck_width(what, strand) == pytest.approx(0.08, rel=1e-12)
    assert neck_width(what, thin) == pytest.approx(0.02, rel=1e-12)
    assert neck_width(what, strand.of(~middle)) == 0.0
    beam = lattice((0.04, 0.12, 0.04), (8, 24, 8))
    assert neck_width(what, beam) == pytest.approx(math.sqrt(4 * 0.04**2 / math.pi), rel=1e-12)


def test_a_ball_rebounds_by_the_square_of_its_restitution():
    """A ballistic bounce: falls from 1 m, leaves the ground with e times its speed, rises to e²."""
    t, e, g = np.linspace(0.0, 1.0, 2001), 0.6, 9.81
    impact = math.sqrt(2 / g)
    rising = e * math.sqrt(2 * g) * (t - impact) - g / 2 * (t - impact) ** 2
    assert rebound(np.where(t < impact, 1 - g / 2 * t**2, rising)) == pytest.approx(e * e, abs=1e-3)
    assert rebound(np.array([0.0, 1.0, 2.0])) is None, "it never fell"


def test_von_mises_stress_of_pure_shear_and_of_pressure():
    tau, p = 5.0, 7.0
    np.testing.assert_allclose(von_mises(np.array([[0, 0, 0, tau, 0, 0], [p, p, p, 0, 0, 0]])), [math.sqrt(3) * tau, 0])


@pytest.mark.parametrize(
    ("what", "expected"),
    [({}, 9.0), ({"statistic": "mean"}, 9.0 / 4.0), ({"component": "pressure"}, 6.0),
     ({"component": "pressure", "statistic": "mean"}, (3 * 6.0 - 3.0) / 4.0)],
)  # fmt: skip
def test_stress_is_the_largest_or_the_mean_by_volume(what, expected):
    """A point of 1 m² in tension by 9 Pa, of pressure −3 Pa, beside 3 m² under a pressure of 6 Pa."""
    sigma = np.array([[9.0, 0, 0, 0, 0, 0], [-6.0, -6.0, -6.0, 0, 0, 0]])
    two = Sample(np.zeros((2, 2)), np.ones(2), np.array([1.0, 3.0]), np.zeros(2, int), sigma, np.arange(2), 1.0)
    assert stress(Stress(**what), two) == pytest.approx(expected, rel=1e-14)


def test_measurements_are_in_info_csv_tables_and_plots(block, tmp_path, capsys):
    assert main(["info", str(block.path), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["measurements"]["weight"]
    assert told["unit"] == "N"
    assert told["value"] == block.measurements["weight"].value
    assert told["values"] == [None, *block.measurements["weight"].values[1:]]
    assert main(["info", str(block.path)]) == 0
    assert "weight" in capsys.readouterr().out
    assert main(["info", str(block.path), "--csv", str(tmp_path / "table.csv")]) == 0
    lines = (tmp_path / "table.csv").read_text().splitlines()
    header = lines[0].split(",")
    last = dict(zip(header, lines[-1].split(",")))
    assert float(last["weight"]) == block.measurements["weight"].values[-1]
    assert float(last["load.y"]) == block.measurements["load"].values[-1, 1]
    assert dict(zip(header, lines[1].split(",")))["weight"] == ""
    capsys.readouterr()
    pytest.importorskip("matplotlib")
    assert main(["plot", str(block.path), "--out", str(tmp_path / "plot.png")]) == 0
    assert "weight, load, torque" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        ({"name": "a", "what": {"force": {"obstacle": "grund"}}}, "measure.0.what.obstacle is 'grund'.*'ground'"),
        ({"name": "a", "what": {"height": {"body": "blok"}}}, "measure.0.what.body is 'blok'.*'block'"),
        ({"name": "a", "what": {"height": {"direction": [0, 1, 0]}}}, "direction .* 2 components"),
        ({"name": "a", "what": {"hight": {}}}, "there is no quantity 'hight'; did you mean 'height'"),
        ({"name": "a", "what": {"neck_width": {"between": [1.0, 0.0]}}}, "beyond the first"),
        ({"name": "a", "what": {"height": {}}, "reduce": "rebound"}, "for the quantity 'rebound' only"),
    ],
)
def test_a_wrong_measurement_is_one_sentence(table, sentence):
    with pytest.raises(spume.SceneError, match=sentence):
        spume.load_scene(block_scene(measure=[table]))


def test_two_measurements_of_one_name_are_refused():
    table = {"name": "a", "what": {"height": {}}}
    with pytest.raises(spume.SceneError, match=r"the name of measure\.0 already"):
        spume.load_scene(block_scene(measure=[table, table]))


def test_a_scene_with_measurements_survives_its_own_tables():
    scene = spume.load_scene(block_scene())
    assert spume.Scene(**scene.resolved()) == scene
