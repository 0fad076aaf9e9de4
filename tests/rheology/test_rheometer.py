"""The rheometer: what it does with its questions; the physics is in tests/verification/test_rheology.py."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from law_cases import every_name

from spume.cli import main
from spume.errors import MissingExtra, RunFailed, SceneError
from spume.materials.table import named_materials
from spume.rheology import small_strain
from spume.rheology.choosing import choose_material
from spume.rheology.rheometer import flow_curve, frequency_sweep, start_up, step_strain

FLOWING = [name for name, entry in named_materials().items() if entry["law"] == "herschel-bulkley"]
ELASTIC = [name for name, entry in named_materials().items() if entry["law"] in ("neo-hookean", "hencky")]


@pytest.mark.parametrize("name", FLOWING)
def test_every_flowing_material_has_a_flow_curve(name: str):
    """Stresses are above yield, grow with the rate, and lie below the theory of small strain."""
    curve = flow_curve(choose_material(name), np.array([0.01, 1.0, 100.0]))
    assert np.all(np.diff(curve.shear_stress) > 0.0)
    assert np.all(curve.shear_stress <= curve.small_strain_theory * (1.0 + 1e-5))
    assert np.all(curve.normal_stress_difference > 0.0)


def test_start_up_ends_in_the_steady_flow():
    """The start-up is followed for eight relaxations: e⁻⁸ = 3e-4 is left."""
    for name in FLOWING:
        material = choose_material(name)
        steady = flow_curve(material, np.array([1.0])).shear_stress[0]
        assert start_up(material, 1.0).shear_stress[-1] == pytest.approx(steady, rel=1e-3), name


def test_normal_stress_of_elastic_shear():
    """Neo-Hookean simple shear: τ12 = μ γ, τ11 − τ22 = μ γ²."""
    material = choose_material("soft rubber")
    curve = start_up(material, 2.0)
    strain = 2.0 * curve.values
    np.testing.assert_allclose(curve.shear_stress, 4e4 * strain, rtol=1e-12, atol=1e-9)
    np.testing.assert_allclose(curve.normal_stress_difference, 4e4 * strain**2, rtol=1e-12, atol=1e-9)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("exponent", [2.0, 5.0])
def test_start_up_of_an_ogden_solid(exponent: float):
    """The spring that relaxes has no modulus. In simple shear λ − 1/λ = γ and τ = dW/dγ, with
    W = 2 μ/α² (λ^α + λ^−α − 2)."""
    own = ("viscous_shear_modulus=0", "viscous_lame_modulus=0", "elasticity=ogden", f"ogden_exponents=[{exponent}]")
    material = choose_material("silicone rubber", own)
    curve = start_up(material, 1.0)
    strain = curve.values
    assert strain[-1] == 1.0
    stretch = strain / 2 + np.sqrt(1 + strain**2 / 4)
    mu = material.parameters.shear_modulus
    expected = 2 * mu / exponent * (stretch ** (exponent - 1) - stretch ** (-exponent - 1)) / (1 + stretch**-2)
    np.testing.assert_allclose(curve.shear_stress, expected, rtol=1e-11, atol=1e-9)


@pytest.mark.parametrize("name", ELASTIC)
def test_elastic_materials_have_no_flow_curve(name: str):
    material = choose_material(name)
    with pytest.raises(SceneError, match="never flows"):
        flow_curve(material, np.array([1.0]))
    with pytest.raises(SceneError, match="does not relax"):
        step_strain(material, 0.1)


@pytest.mark.parametrize("rate", [0.0, -1.0, float("nan"), float("inf")])
def test_impossible_rates_are_refused(rate: float):
    material = choose_material("pie")
    with pytest.raises(SceneError, match="should be positive"):
        start_up(material, rate)
    with pytest.raises(SceneError, match="should be positive"):
        flow_curve(material, np.array([1.0, rate]))
    with pytest.raises(SceneError, match="should be positive"):
        step_strain(material, rate)


def test_says_when_the_elastic_strain_is_finite():
    assert not flow_curve(choose_material("pie"), np.array([0.1])).notes
    (note,) = flow_curve(choose_material("shaving cream"), np.array([10.0])).notes
    assert "elastic strains reach 0.16" in note


def test_shear_parameters_go_and_return():
    parameters = choose_material("shaving cream").parameters
    shear = small_strain.to_shear(parameters)
    assert shear.yield_stress == pytest.approx(31.9 / np.sqrt(3.0), rel=1e-15)
    assert shear.consistency == pytest.approx(27.2 * 2.0 ** (-0.61), rel=1e-15)
    assert small_strain.from_shear(shear) == pytest.approx((31.9, 27.2, 0.22), rel=1e-14)


def test_yield_strain_is_where_the_law_begins_to_flow():
    """‖dev b̄e‖ of simple shear, by NumPy."""
    for size in (1e-4, 0.3, 5.0):
        parameters = choose_material("pie", [f"yield_stress={1600.0 * size}"]).parameters
        g = small_strain.yield_strain(parameters)
        b = np.array([[1 + g * g, g, 0], [g, 1, 0], [0, 0, 1.0]])
        s = 1600.0 * np.linalg.norm(b - np.trace(b) / 3 * np.eye(3))
        assert s == pytest.approx(np.sqrt(2 / 3) * 1600.0 * size, rel=1e-12)


def test_json_of_a_flow_curve(capsys: pytest.CaptureFixture[str]):
    assert main(["rheometer", "shaving cream", "--rates", "0.1,10", "--json"]) == 0
    records = json.loads(capsys.readouterr().out)
    assert [record["rate"] for record in records] == [0.1, 10.0]
    assert all(record["shear_stress"] > 18.4 for record in records)


@pytest.mark.parametrize("question", [["--startup", "1"], ["--step-strain", "0.5"]])
def test_json_in_the_course_of_time(question: list[str], capsys: pytest.CaptureFixture[str]):
    assert main(["rheometer", "pie", *question, "--json"]) == 0
    records = json.loads(capsys.readouterr().out)
    times = [record["time"] for record in records]
    assert times[0] == 0.0
    assert times == sorted(times)
    assert all(np.isfinite(record["shear_stress"]) for record in records)


def test_json_of_a_frequency_sweep(capsys: pytest.CaptureFixture[str]):
    assert main(["rheometer", "silicone rubber", "--frequencies", "0.1,1,10", "--json"]) == 0
    records = json.loads(capsys.readouterr().out)
    assert [record["frequency"] for record in records] == [0.1, 1.0, 10.0]
    assert all({"storage_modulus", "loss_modulus"} <= record.keys() for record in records)


@pytest.mark.parametrize(
    ("question", "keys"),
    [
        (["dry sand", "--triaxial", "1e5"], ["axial_strain", "deviator_stress", "mean_stress", "volumetric_strain"]),
        (["wet sand", "--shear-box", "1e3"], ["shear_strain", "shear_stress", "normal_stress", "volumetric_strain"]),
        (["memory foam", "--creep", "50"], ["time", "shear_strain", "small_strain_theory"]),
    ],
)
def test_json_of_other_tests(question: list[str], keys: list[str], capsys: pytest.CaptureFixture[str]):
    assert main(["rheometer", *question, "--json"]) == 0
    records = json.loads(capsys.readouterr().out)
    assert list(records[0])[: len(keys)] == keys
    assert records[0][keys[0]] == 0.0
    assert all(np.isfinite(list(record.values())).all() for record in records)


@every_name
def test_every_material_answers_or_refuses_in_one_sentence(name: str):
    """Each measurement of each material: finite numbers, or a sentence with the material's name; never a constant."""
    material = choose_material(name)
    for measure in (
        lambda: flow_curve(material, np.array([0.01, 0.1])),
        lambda: start_up(material, 0.1),
        lambda: step_strain(material, 0.02),
        lambda: frequency_sweep(material, np.array([1.0])),
    ):
        columns, sentence = {}, f"'{name}'"
        try:
            columns = measure().columns
        except (SceneError, RunFailed) as error:
            sentence = str(error)
        assert f"'{name}'" in sentence
        assert "\n" not in sentence
        assert all(np.isfinite(column).all() for column in columns.values())


def test_csv_holds_what_json_does(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    file = tmp_path / "curve.csv"
    assert main(["rheometer", "pie", "--rates", "1,10", "--csv", str(file), "--json"]) == 0
    records = json.loads(capsys.readouterr().out)
    with file.open(newline="") as stream:
        rows = [{key.partition(" [")[0]: float(value) for key, value in row.items()} for row in csv.DictReader(stream)]
    assert rows == records


def test_table_names_the_theory_beside_the_law(capsys: pytest.CaptureFixture[str]):
    assert main(["rheometer", "shaving cream"]) == 0
    printed = capsys.readouterr().out
    assert "small-strain" in printed
    assert "[1/s]" in printed
    assert "24.888" in printed  # 31.9/√3 + 27.2 · 2^(−0.61) · 0.01^0.22
    assert "note: elastic strains reach" in printed


def test_changes_and_scenes(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """--set changes a parameter, --scene brings a scene's own materials."""
    scene = tmp_path / "mine.toml"
    scene.write_text('[material."my foam"]\nbase = "pie"\nviscosity = 0.0\n')
    question = ["rheometer", "my foam", "--scene", str(scene), "--rates", "1", "--json"]
    assert main(question) == 0
    (perfect,) = json.loads(capsys.readouterr().out)
    assert perfect["small_strain_theory"] == pytest.approx(120 / np.sqrt(3), rel=1e-14)
    assert main([*question, "--set", "yield_stress=60"]) == 0
    (weaker,) = json.loads(capsys.readouterr().out)
    assert weaker["small_strain_theory"] == pytest.approx(60 / np.sqrt(3), rel=1e-14)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["pye"], "did you mean 'pie'?"),
        (["pie", "--set", "viscosty=3"], "viscosty is unknown: did you mean 'viscosity'?"),
        (["pie", "--set", "viscosity=-3"], "viscosity is -3"),
        (["pie", "--set", "flow.index=3"], "it should name a parameter"),
        (["pie", "--rates", "1,x"], "numbers separated by commas"),
        (["pie", "--rates", "1,0"], "should be positive"),
        (["pie", "--startup", "1", "--rates", "1"], "different measurements"),
        (["dough", "--frequencies", "1;2"], "--frequencies 1;2: it should be numbers"),
        (["dough", "--frequencies", "0"], "should be positive"),
        (["dough", "--creep", "-5"], "should be positive"),
        (["dry sand", "--triaxial", "-1"], "not negative"),
        (["gelatin"], "never flows"),
        (["steel"], "hardens and never flows"),
        (["silicone rubber"], "keeps a part of its stiffness and never flows"),
        (["dry sand"], "bears shear only under pressure"),
        (["dry sand", "--triaxial", "0"], "falls apart without pressure"),
        (["gelatin", "--frequencies", "1"], "is elastic at small strain, with a shear modulus of 1497 Pa"),
        (["pie", "--creep", "20"], "does not relax after a shear strain of 0.0125"),
        (["slurry", "--step-strain", "0.1"], "stress ends with the motion"),
        (["slurry", "--creep", "1"], "constant rate under a constant stress"),
        (["water", "--set", "viscosity=0.0"], "has no shear stress at all"),
        (["slurry", "--triaxial", "10"], "bears no shear at rest"),
        (["cornstarch putty", "--frequencies", "1"], "does not respond linearly"),
        (["pie", "--scene", "nowhere.toml"], "there is no scene file"),
        (["pie", "--rates", "1", "--csv", "/nowhere/at/all.csv"], "cannot be written"),
    ],
)
def test_mistakes_are_one_sentence(arguments: list[str], sentence: str, capsys: pytest.CaptureFixture[str]):
    assert main(["rheometer", *arguments]) == 2
    printed = capsys.readouterr()
    assert sentence in printed.err
    assert printed.err.count("\n") == 1


def test_plot(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    pytest.importorskip("matplotlib")
    questions = (
        ["pie", "--rates", "1,10"],
        ["pie", "--startup", "1"],
        ["pie", "--step-strain", "0.5"],
        ["dough", "--frequencies", "1,10"],
        ["dough", "--creep", "10"],
        ["dry sand", "--triaxial", "100"],
    )
    for question in questions:
        file = tmp_path / "curve.png"
        assert main(["rheometer", *question, "--plot", str(file)]) == 0
        assert file.read_bytes().startswith(b"\x89PNG")
        file.unlink()
    assert main(["rheometer", "pie", "--rates", "1", "--plot", str(tmp_path / "curve.doc")]) == 2
    assert "cannot be written" in capsys.readouterr().err


def test_plot_without_matplotlib_says_what_to_install(monkeypatch: pytest.MonkeyPatch, capsys):
    import sys

    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    assert main(["rheometer", "pie", "--rates", "1", "--plot", "curve.png"]) == MissingExtra.exit_code
    assert "pip install 'spume[look]'" in capsys.readouterr().err
