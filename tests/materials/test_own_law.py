"""Laws that users write: registered from Python, or loaded from a file that a scene names."""

import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import spume
from spume.materials.loops import ConstitutiveModel
from spume.materials.registry import LAWS, load_law_file, register_law
from spume.scene.surroundings import materials_of

TUTORIAL = Path(__file__).with_name("my_law.py")
SCENE = """
title = "A jelly falls"
method = "mpm"
duration = 0.02
frame_rate = 100.0
laws = "my_law.py"
[grid]
cell = 0.02
[time]
dt = 1e-3
[material.jelly]
law = "ciarlet"
density = 1000.0
shear_modulus = 2.0e3
lame_modulus = 8.0e3
[[body]]
material = "jelly"
shape = { sphere = { center = [0.0, 1.0, 0.0], radius = 0.04 } }
[[obstacle]]
shape = { half_space = { point = [0, 0, 0], normal = [0, 1, 0] } }
"""


@pytest.fixture
def folder(tmp_path):
    """A scene beside its file of laws."""
    shutil.copy(TUTORIAL, tmp_path)
    (tmp_path / "scene.toml").write_text(SCENE)
    yield tmp_path
    LAWS.pop("ciarlet", None)


def test_the_tutorial_fits_on_a_page():
    assert len([line for line in TUTORIAL.read_text().splitlines() if line.strip()]) < 40


def test_stress_of_the_tutorial_is_the_derivative_of_its_energy():
    """dW = τ : δ for f = I + δ, central differences: truncation δ² of third derivatives, rounding ε/δ."""
    (law,) = load_law_file(TUTORIAL)
    model = ConstitutiveModel([(law, law.parameters(density=1.0, shear_modulus=2.0, lame_modulus=3.0))])
    rng, delta = np.random.default_rng(0), 1e-5
    start, direction = np.eye(3) + 0.2 * rng.uniform(-1, 1, (50, 3, 3)), rng.uniform(-1, 1, (50, 3, 3))
    energies, stress = [], np.zeros((50, 6))
    for step in (delta, -delta, 0.0):
        arrays = {"material": np.zeros(50, np.int32)} | {f.name: f.allocate(50) for f in model.fields}
        model.update(arrays, 1.0, start, stress)
        model.update(arrays, 1.0, np.eye(3) + step * direction, stress)
        energies.append(model.energy(arrays))
    xx, yy, zz, xy, xz, yz = stress.T
    tau = np.moveaxis(np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]), -1, 0)
    slope = (energies[0] - energies[1]) / (2 * delta)
    np.testing.assert_allclose(slope, np.einsum("nij,nij->n", tau, direction), rtol=0, atol=1e4 * delta**2)


def test_a_scene_runs_with_the_law_of_its_file(folder):
    """Free fall in n steps of symplectic Euler: g Δt² n (n + 1)/2, and no stress but rounding."""
    sim = spume.Simulation(spume.load_scene(folder / "scene.toml"))
    height = sim.particles.x[:, 1].mean()
    sim.advance(0.02)
    assert sim.scene.materials[0].law is LAWS["ciarlet"]
    assert height - sim.particles.x[:, 1].mean() == pytest.approx(9.81e-6 * 20 * 21 / 2, rel=1e-9)
    assert np.abs(sim.particles.stress).max() < 1e-6


@pytest.mark.slow_suite
def test_looking_at_a_run_does_not_run_the_file(folder):
    """`spume info` and `open_run(...).scene` in a new process work while the file would fail if it were run."""
    run = [sys.executable, "-m", "spume"]
    environment = dict(os.environ)
    subprocess.run([*run, "run", "scene.toml", "--out", "out"], cwd=folder, check=True, env=environment)
    (folder / "my_law.py").write_text("raise SystemExit('this file was run')")
    subprocess.run([*run, "info", "out"], cwd=folder, check=True, env=environment)
    code = "import spume; print(spume.open_run('out').scene.materials[0].law.name)"
    found = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, check=True, env=environment, capture_output=True, text=True
    )
    assert found.stdout.strip() == "ciarlet"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("import nothing_of_this_name", "at line 1: ModuleNotFoundError"),
        ("x = 1\nx = = 2", "at line 2: SyntaxError"),
        ("x = 1", "defines no law"),
    ],
)
def test_a_file_that_fails_is_named_with_its_line(tmp_path, text, sentence):
    file = tmp_path / "broken.py"
    file.write_text(text)
    with pytest.raises(spume.SceneError, match=sentence):
        load_law_file(file)


def test_a_missing_file_is_named(tmp_path):
    (tmp_path / "scene.toml").write_text(SCENE)
    with pytest.raises(spume.SceneError, match=r"there is no file '.*my_law\.py'"):
        spume.load_scene(tmp_path / "scene.toml")


def test_names_of_built_in_laws_are_taken():
    (law,) = load_law_file(TUTORIAL)
    with pytest.raises(spume.SceneError, match="'hencky' is built in"):
        register_law(replace(law, name="hencky"))


def test_functions_must_be_compiled():
    (law,) = load_law_file(TUTORIAL)
    with pytest.raises(spume.SceneError, match="is not compiled"):
        register_law(replace(law, update=lambda f, dt, parameters, history: None))


def test_the_granular_law_of_the_tutorial_has_the_derivative_of_its_flow():
    """By central differences, where the strain is elastic, flows, and is partly given back; truncation δ² of third
    derivatives, which are of the order of ‖ε‖⁻², here below 1e4, and rounding ε/δ."""
    (law,) = load_law_file(Path(__file__).with_name("my_granular_law.py"))
    packed = law.pack(law.parameters(density=1.0, youngs_modulus=1e5, poisson_ratio=0.3, strength=0.5))
    flow, delta = law.branches[0].return_map, 1e-6
    flowed = 0
    for strain in np.random.default_rng(5).uniform(-0.1, 0.02, (50, 3)):
        for gained in (0.0, 0.01):
            history = ((1.0, 1.0, 1.0, 0.0, 0.0, 0.0), gained, 0.0)
            after, found = flow(packed, history, tuple(strain), 1.0)
            flowed += not np.allclose(after, strain)
            steps = delta * np.eye(3)
            columns = [
                (
                    np.array(flow(packed, history, tuple(strain + e), 1.0)[0])
                    - flow(packed, history, tuple(strain - e), 1.0)[0]
                )
                / (2 * delta)
                for e in steps
            ]
            np.testing.assert_allclose(np.reshape(found, (3, 3)), np.transpose(columns), rtol=0, atol=1e-7)
    assert 10 < flowed < 100
    LAWS.pop("rockfill")


def test_stress_of_the_fluid_of_the_tutorial_is_the_derivative_of_its_energy():
    """−p = dW/dJ, central differences in compression; truncation δ² of third derivatives K/C², rounding ε/δ."""
    (law,) = load_law_file(Path(__file__).with_name("my_fluid_law.py"))
    packed, delta = law.pack(law.parameters(density=1.0, bulk_modulus=1.0)), 1e-5
    for J in (0.7, 0.9, 0.99):
        slope = (law.energy(packed, (J + delta,)) - law.energy(packed, (J - delta,))) / (2 * delta)
        assert law.stress(packed, (J,))[0] / J == pytest.approx(slope, abs=1e3 * delta**2)
    assert law.stress(packed, (1.5,)) == (0.0,) * 6
    LAWS.pop("tait")


def test_a_mixture_with_a_law_that_is_not_loaded_can_be_looked_at():
    """Whether its bodies are sand or water is unknown, so both populations may have its material."""
    scene = spume.Scene(
        title="unknown", method="sand-water", dimension=2, duration=1.0, laws="not_loaded.py", grid={"cell": 0.1},
        mixture={"hydraulic_conductivity": 1e-2}, time={"integrator": "semi-implicit"},
        material={
            "mine": {"law": "of-a-file", "density": 1.0}, "sea": {"base": "water"}, "dune": {"base": "dry sand"}
        },
        body=[
            {"material": name, "shape": {"rectangle": {"center": [float(k), 0.0], "size": [0.5, 0.5]}}}
            for k, name in enumerate(("mine", "sea", "dune"))
        ],
    )  # fmt: skip
    names = [material.name for material in scene.materials]
    assert [names[k] for k in materials_of(scene, "water")] == ["mine", "sea"]
    assert [names[k] for k in materials_of(scene, "sand")] == ["mine", "dune"]
