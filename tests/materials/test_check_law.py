"""`spume check-law` finds the mistakes people make in laws of their own, each with one sentence."""

import json
from pathlib import Path

import pytest

from spume.cli import main
from spume.materials import checks
from spume.materials.registry import LAWS, load_law_file
from spume.rheology.choosing import choose_material
from spume.rheology.own_laws import check_laws, typical_values

TUTORIAL = Path(__file__).with_name("my_law.py")
MISTAKES = {
    "a wrong sign": (
        "lam * math.log(tensor3.det(F)) - mu",
        "lam * math.log(tensor3.det(F)) + mu",
        "the stress at rest",
    ),
    "a factor": ("+ 0.5 * lam * log_J", "+ 0.4 * lam * log_J", "the stress is not the derivative of the energy"),
    "a component": ("mu * xy, mu * xz", "mu * xz, mu * xy", "does not have the rotated stress"),
    "an order": ("multiply(f, history[0])", "multiply(history[0], f)", "does not have the rotated stress"),
    "a volume": ("return tensor3.det(history[0])", "return history[0][0]", "volume_ratio gives"),
    "a speed": ("lame_modulus + 2.0", "lame_modulus + 0.2", "time steps would be too long"),
    "a field": ("after), after", "after), (after[0], 1.0)", "a history of 2 entries: `fields` declares 1, F"),
    "a length": ("mu * xz, mu * yz)", "mu * xz, mu * yz, 0.0)", "a stress of 7 numbers"),
    "a logarithm": (
        "p = lam * math.log(tensor3.det(F))",
        "p = lam * math.log(tensor3.det(F) - 0.9)",
        "is not a number",
    ),
    "a name": ("mu * yy + p", "mu * yy + q", "its function stress fails: TypingError: NameError: name 'q'"),
    "a function": ("log(tensor3.det(F)) - mu", "log(tensor3.dett(F)) - mu", "has no attribute 'dett'"),
    "an exchange": ("(p.shear_modulus, p.lame_modulus)", "(p.lame_modulus, p.shear_modulus)", "too long"),
    "a constant": ("(p.shear_modulus, p.lame_modulus)", "(p.shear_modulus,)", "pack returns 1 numbers"),
    "no stress": ("return stress(parameters, after), after", "return after", "update should return two things"),
    "no speed": ("(p.lame_modulus + 2.0 * p.shear_modulus)", "0.0", "wave_speed gives 0 m/s"),
}


@pytest.fixture(autouse=True)
def _forget_the_law():
    yield
    for name in ("ciarlet", "rockfill", "tait"):
        LAWS.pop(name, None)


def mistaken(folder: Path, right: str, wrong: str) -> Path:
    text = TUTORIAL.read_text(encoding="utf-8")
    assert text.count(right) == 1
    file = folder / "my_law.py"
    file.write_text(text.replace(right, wrong), encoding="utf-8")
    return file


IN_BRIEF = ("a wrong sign", "a constant", "no stress", "no speed")
"""Mistakes that `make test` tries; the others compile a law each."""


@pytest.mark.parametrize(
    "mistake", [name if name in IN_BRIEF else pytest.param(name, marks=pytest.mark.slow_suite) for name in MISTAKES]
)
def test_a_mistake_is_one_sentence(mistake: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    right, wrong, sentence = MISTAKES[mistake]
    assert main(["check-law", str(mistaken(tmp_path, right, wrong))]) == 1
    printed = capsys.readouterr().out
    assert sum(sentence in line for line in printed.splitlines() if line.startswith("    miss: ")) == 1


def test_the_tutorial_has_no_misses(capsys: pytest.CaptureFixture[str]):
    assert main(["check-law", str(TUTORIAL)]) == 0
    printed = capsys.readouterr().out
    assert "miss:" not in printed
    assert "stress = dW" in printed


@pytest.mark.slow_suite
@pytest.mark.parametrize("name", ["my_granular_law.py", "my_fluid_law.py"])
def test_laws_that_separate_have_no_misses(name: str):
    """Their stiffness at rest is that of compression."""
    assert [report.misses for report in check_laws(Path(__file__).with_name(name))] == [()]


def test_dissipation_that_falls_and_work_that_is_lost_are_seen(monkeypatch: pytest.MonkeyPatch):
    """A foam whose dissipation is counted with the wrong sign."""
    foam = choose_material("pie")
    before = checks.Points.dissipation
    monkeypatch.setattr(checks.Points, "dissipation", lambda points: -before(points))
    assert "falls by" in checks.dissipation_grows(foam.law, foam.parameters)[0]
    stiffness = checks.stiffness(foam.law, foam.parameters)
    assert (
        "do not balance the work" in checks.work_is_stored_or_dissipated(foam.law, foam.parameters, 1e-3 * stiffness)[0]
    )


def test_parameters_come_from_units_scene_or_options(tmp_path: Path):
    (law,) = load_law_file(TUTORIAL)
    assert typical_values(law) == {"density": 1000.0, "shear_modulus": 1e4, "lame_modulus": 1.3e4}
    scene = tmp_path / "scene.toml"
    scene.write_text(
        f"""laws = "{TUTORIAL}"
[material.jelly]
law = "ciarlet"
density = 900.0
shear_modulus = 2.0e3
lame_modulus = 8.0e3
"""
    )
    (report,) = check_laws(TUTORIAL, str(scene), changes=["lame_modulus=9e3"])
    assert report.material == "jelly"
    assert report.parameters == {"density": 900.0, "shear_modulus": 2e3, "lame_modulus": 9e3}


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--set", "shear_modulos=1"], "no law of"),
        (["--set", "shear_modulus=-1"], "law 'ciarlet': shear_modulus is -1"),
    ],
)
def test_wrong_parameters_are_one_sentence(options: list[str], sentence: str, capsys: pytest.CaptureFixture[str]):
    assert main(["check-law", str(TUTORIAL), *options]) == 2
    assert sentence in capsys.readouterr().err


def test_the_rheometer_measures_a_law_of_the_scenes_own_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """Simple shear of this law: τ12 = μ γ, exactly."""
    (tmp_path / "my_law.py").write_text(TUTORIAL.read_text(encoding="utf-8"), encoding="utf-8")
    scene = tmp_path / "scene.toml"
    scene.write_text(
        """laws = "my_law.py"
[material.jelly]
law = "ciarlet"
density = 900.0
shear_modulus = 2.0e3
lame_modulus = 8.0e3
"""
    )
    LAWS.pop("ciarlet", None)
    assert main(["rheometer", "jelly", "--scene", str(scene), "--startup", "0.5", "--json"]) == 0
    records = json.loads(capsys.readouterr().out)
    assert records[-1]["shear_stress"] == pytest.approx(2e3 * 0.5 * records[-1]["time"], rel=1e-9)


@pytest.mark.slow_suite
def test_a_branch_that_is_not_that_of_update_is_seen(tmp_path: Path):
    """The law of the tutorial for grains, with the strains before and after the flow exchanged."""
    text = TUTORIAL.with_name("my_granular_law.py").read_text(encoding="utf-8")
    right = "moved, strain, after, V, gained"
    assert text.count(right) == 1
    file = tmp_path / "my_granular_law.py"
    file.write_text(text.replace(right, "moved, after, strain, V, gained"), encoding="utf-8")
    (report,) = check_laws(file)
    assert "the branches give another stress than update" in report.misses[0]


def test_a_run_names_the_function_that_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    mistaken(tmp_path, "log(tensor3.det(F)) - mu", "log(tensor3.dett(F)) - mu")
    scene = tmp_path / "scene.toml"
    scene.write_text(
        'title = "a"\nmethod = "mpm"\nduration = 0.1\ngrid.cell = 0.1\nlaws = "my_law.py"\n'
        '[material.jelly]\nlaw = "ciarlet"\ndensity = 1e3\nshear_modulus = 1e3\nlame_modulus = 1e3\n'
        '[[body]]\nmaterial = "jelly"\nshape.sphere = { center = [0, 1, 0], radius = 0.2 }\n'
    )
    assert main(["run", str(scene), "--out", str(tmp_path / "out")]) == 2
    said = capsys.readouterr().err
    assert "law is 'ciarlet', which cannot be used: its function stress fails" in said
    assert "Traceback" not in said
