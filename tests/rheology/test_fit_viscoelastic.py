"""Fits of measured frequency sweeps and relaxation curves."""

import json
import tomllib
from pathlib import Path

import numpy as np
import pytest

from spume.cli import main
from spume.errors import SceneError
from spume.rheology.choosing import choose_material
from spume.rheology.fit_viscoelastic import fit_viscoelastic
from spume.rheology.measured import Measured, read_measured
from spume.rheology.rheometer import frequency_sweep
from spume.rheology.standard_linear_solid import moduli
from spume.scene.material import MaterialTable, resolve_materials

TRUE = {"shear_modulus": 2e3, "viscous_shear_modulus": 9e3, "deviatoric_viscosity": 3.6e3}  # τ = 0.2 s


def sweep(noise: float = 0.0, seed: int = 0, count: int = 15, muE: float = 2e3) -> Measured:
    rng = np.random.default_rng(seed)
    omega = np.logspace(-1, 2.5, count)
    x = 0.2 * omega
    storage, loss = muE + 9e3 * x * x / (1 + x * x), 9e3 * x / (1 + x * x)
    size = np.hypot(storage, loss)
    columns = {
        "frequency": omega,
        "storage modulus": storage + noise * size * rng.standard_normal(count),
        "loss modulus": loss + noise * size * rng.standard_normal(count),
    }
    return Measured("frequency sweep", columns, tuple(range(2, count + 2)))


def relaxation(noise: float = 0.0, seed: int = 0) -> Measured:
    rng = np.random.default_rng(seed)
    t = np.concatenate([[0.0], np.logspace(-3, 1, 25)])
    modulus = (2e3 + 9e3 * np.exp(-t / 0.2)) * (1 + noise * rng.standard_normal(len(t)))
    return Measured("relaxation curve", {"time": t, "relaxation modulus": modulus}, tuple(range(2, len(t) + 2)))


@pytest.mark.parametrize("measured", [sweep(), relaxation()], ids=["sweep", "relaxation"])
def test_exact_data_give_the_parameters_back(measured: Measured):
    fit = fit_viscoelastic(measured)
    assert {key: e.value for key, e in fit.estimates.items()} == pytest.approx(TRUE, rel=1e-6)
    assert fit.relaxation_time.value == pytest.approx(0.2, rel=1e-6)
    assert not fit.notes


@pytest.mark.slow_suite
@pytest.mark.parametrize("make", [sweep, relaxation])
def test_limits_hold_the_truth_as_often_as_they_say(make):
    """Limits of 95 %, 40 noisy curves with 3 parameters each: 114 of 120 hits expected, 100 is far below."""
    hits = 0
    for seed in range(40):
        fit = fit_viscoelastic(make(0.02, seed), parts=1)
        for key, estimate in fit.estimates.items():
            hits += abs(estimate.value - TRUE[key]) <= fit.solution.coverage_factor * estimate.error
    assert hits >= 100


def test_bad_measurements_are_left_out_and_named():
    measured = sweep(0.01, 1)
    clean = fit_viscoelastic(measured)
    measured.columns["storage modulus"][5] *= 4.0
    fit = fit_viscoelastic(measured)
    assert 5 in fit.solution.outliers
    for key, estimate in fit.estimates.items():
        assert abs(estimate.value - clean.estimates[key].value) < 3 * clean.estimates[key].error


def test_says_what_the_data_do_not_tell():
    assert any("cannot be distinguished from zero" in note for note in fit_viscoelastic(sweep(0.01, 2, muE=0.0)).notes)
    with pytest.raises(SceneError, match="2 different frequencies are too few"):
        fit_viscoelastic(sweep(count=2))


def test_the_law_measured_by_the_rheometer_is_found_again():
    material = choose_material("silicone rubber")
    found = frequency_sweep(material, np.logspace(-0.5, 2.5, 7)).columns
    columns = {
        "frequency": found["frequency"],
        "storage modulus": found["storage_modulus"],
        "loss modulus": found["loss_modulus"],
    }
    fit = fit_viscoelastic(Measured("frequency sweep", columns, tuple(range(7))))
    for key, estimate in fit.estimates.items():
        assert estimate.value == pytest.approx(getattr(material.parameters, key), rel=2e-3)


def write(tmp_path: Path, measured: Measured) -> Path:
    file = tmp_path / "curve.csv"
    header = ",".join(name.replace(" ", "_") for name in measured.columns).replace("frequency", "angular_frequency")
    rows = "\n".join(",".join(f"{value:.8g}" for value in row) for row in zip(*measured.columns.values()))
    file.write_text(f"{header}\n{rows}\n")
    return file


@pytest.mark.parametrize("measured", [sweep(0.01), relaxation(0.01)], ids=["sweep", "relaxation"])
def test_the_block_is_a_material_of_a_scene(measured: Measured, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    file = write(tmp_path, measured)
    assert read_measured(file).kind == measured.kind
    assert main(["fit", str(file), "--name", "my rubber", "--base", "silicone rubber", "--bulk-modulus", "1e5"]) == 0
    tables = tomllib.loads(capsys.readouterr().out)["material"]
    made = {name: MaterialTable.model_validate(table) for name, table in tables.items()}
    materials, problems = resolve_materials(made, [])
    assert not problems
    parameters = materials["my rubber"].parameters
    assert parameters.shear_modulus == pytest.approx(2e3, rel=0.1)
    assert parameters.lame_modulus + 2 / 3 * parameters.shear_modulus == pytest.approx(1e5, rel=1e-4)


def test_without_a_base_the_rest_is_left_to_fill_in(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["fit", str(write(tmp_path, sweep(0.01)))]) == 0
    printed = capsys.readouterr().out
    assert "# volumetric_viscosity =   to be filled in" in printed
    assert "# density =   to be filled in" in printed


def test_json_and_plot(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    pytest.importorskip("matplotlib")
    for measured in (sweep(0.01), relaxation(0.01)):
        picture = tmp_path / "fit.png"
        question = ["fit", str(write(tmp_path, measured)), "--base", "dough", "--json", "--plot", str(picture)]
        assert main(question) == 0
        record = json.loads(capsys.readouterr().out)
        assert record["relaxation_time"] == pytest.approx(0.2, rel=0.1)
        assert record["standard_errors"].keys() == TRUE.keys()
        assert picture.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--base", "pie"], "it should have the law viscoelastic"),
        (["--shear-modulus", "5"], "the frequency sweep determines it"),
        (["--bulk-modulus", "5"], "at least 2/3 of the shear modulus"),
    ],
)
def test_wrong_options_are_one_sentence(options: list[str], sentence: str, tmp_path: Path, capsys):
    assert main(["fit", str(write(tmp_path, sweep(0.01))), *options]) == 2
    printed = capsys.readouterr()
    assert sentence in printed.err
    assert printed.err.count("\n") == 1


def test_missing_column_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    file = tmp_path / "curve.csv"
    file.write_text("frequency [rad/s],storage_modulus [Pa]\n1,2\n")
    assert main(["fit", str(file)]) == 2
    assert "no column is called loss_modulus or g" in capsys.readouterr().err
    file.write_text("frequency [rpm],storage_modulus,loss_modulus\n1,2,3\n")
    assert main(["fit", str(file)]) == 2
    assert "the frequency is in 'rpm': it should be in rad/s" in capsys.readouterr().err


@pytest.mark.slow_suite
def test_plain_noise_excludes_no_measurement():
    """Each modulus with 2 % of noise: one curve in a thousand may lose a measurement if all residuals have the same
    size; relative to |G*|, those of the smaller modulus are smaller, which triples the tail. The binomial probability
    of more than 2 losses in 40 curves, 0.3 % each, is 2e-4."""
    omega = np.logspace(-1.5, 1.5, 13)
    lost = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        moduli = np.stack([100.0 + 900.0 * omega**2 / (1.0 + omega**2), 900.0 * omega / (1.0 + omega**2)])
        storage, loss = moduli * (1.0 + 0.02 * rng.standard_normal(moduli.shape))
        columns = {"frequency": omega, "storage modulus": storage, "loss modulus": loss}
        fit = fit_viscoelastic(Measured("frequency sweep", columns, tuple(range(13))), parts=1)
        lost += bool(fit.solution.outliers)
    assert lost <= 2


def test_linear_loss_uses_all_measurements():
    measured = sweep(0.01)
    measured.columns["loss modulus"][5] *= 10.0
    fit = fit_viscoelastic(measured, "linear")
    assert not fit.solution.outliers
    assert np.all(fit.solution.weights == 1.0)


def test_a_frequency_without_a_unit_is_one_question(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    file = tmp_path / "sweep.csv"
    rows = "\n".join(",".join(f"{value:.8g}" for value in row) for row in zip(*sweep(0.0).columns.values()))
    file.write_text(f"frequency,storage_modulus,loss_modulus\n{rows}\n")
    assert main(["fit", str(file)]) == 2
    printed = capsys.readouterr().err
    assert "line 1: the column 'frequency' has no unit" in printed
    assert printed.count("\n") == 1
    times = []
    for unit in ("rad/s", "Hz"):
        assert main(["fit", str(file), "--unit", unit, "--json"]) == 0
        times.append(json.loads(capsys.readouterr().out)["relaxation_time"])
    assert times[0] == pytest.approx(2 * np.pi * times[1], rel=1e-6)
    assert main(["fit", str(file), "--unit", "rpm"]) == 2
    assert "--unit rpm: the frequency should be in Hz or rad/s" in capsys.readouterr().err


def test_a_sweep_of_the_rheometer_can_be_fitted(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """Its CSV file names its units."""
    file = tmp_path / "sweep.csv"
    assert main(["rheometer", "silicone rubber", "--frequencies", "0.1,1,10,100,1000", "--csv", str(file)]) == 0
    assert file.read_text().startswith("angular_frequency [rad/s],storage_modulus [Pa],loss_modulus [Pa]")
    assert main(["fit", str(file)]) == 0
    printed = capsys.readouterr().out
    assert "# columns: angular frequency [rad/s], storage modulus [Pa], loss modulus [Pa]" in printed


SERIES = [(4e3, 0.01), (3e3, 0.1), (2e3, 1.0), (1.5e3, 10.0)]


def of_series(parts: list[tuple[float, float]], noise: float = 0.0, seed: int = 0, count: int = 31) -> Measured:
    rng = np.random.default_rng(seed)
    omega = np.logspace(-2, 3, count)
    storage = 2e3 + sum(mu * (omega * tau) ** 2 / (1 + (omega * tau) ** 2) for mu, tau in parts)
    loss = sum(mu * omega * tau / (1 + (omega * tau) ** 2) for mu, tau in parts)
    size = np.hypot(storage, loss)
    columns = {
        "frequency": omega,
        "storage modulus": storage + noise * size * rng.standard_normal(count),
        "loss modulus": loss + noise * size * rng.standard_normal(count),
    }
    return Measured("frequency sweep", columns, tuple(range(count)))


@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_exact_data_give_all_parts_back(number: int):
    fit = fit_viscoelastic(of_series(SERIES[:number]))
    assert [part.relaxation_time.value for part in fit.parts] == pytest.approx(
        [t for _, t in SERIES[:number]], rel=1e-5
    )
    assert [part.shear_modulus.value for part in fit.parts] == pytest.approx([m for m, _ in SERIES[:number]], rel=1e-5)
    assert fit.estimates["shear_modulus"].value == pytest.approx(2e3, rel=1e-5)


@pytest.mark.slow_suite
@pytest.mark.parametrize("number", [1, 3])
def test_noise_adds_no_part(number: int):
    """One curve in a hundred may get a part too many: more than one of 10 has a probability of 0.4 %. The parts are a
    decade apart and the noise is 2 %, so none is missed."""
    found = [len(fit_viscoelastic(of_series(SERIES[:number], 0.02, seed)).parts) for seed in range(10)]
    assert min(found) == number
    assert sum(each > number for each in found) <= 1


@pytest.mark.slow_suite
def test_limits_of_several_parts_hold_the_truth_as_often_as_they_say():
    """Limits of 95 %, 30 noisy curves with three parts, seven parameters each: 200 of 210 hits expected."""
    hits = 0
    for seed in range(30):
        fit = fit_viscoelastic(of_series(SERIES[:3], 0.02, seed), parts=3)
        factor = fit.solution.coverage_factor
        pairs = [(fit.estimates["shear_modulus"], 2e3)]
        for part, (mu, tau) in zip(fit.parts, SERIES):
            pairs += [(part.shear_modulus, mu), (part.relaxation_time, tau)]
        hits += sum(abs(estimate.value - truth) <= factor * estimate.error for estimate, truth in pairs)
    assert hits >= 180


def test_a_given_number_of_parts_is_used():
    fit = fit_viscoelastic(of_series(SERIES, 0.01), parts=2)
    assert len(fit.parts) == 2
    assert fit.solution.scale > 0.03
    with pytest.raises(SceneError, match="there should be 1 to 12"):
        fit_viscoelastic(of_series(SERIES), parts=13)
    with pytest.raises(SceneError, match="4 different frequencies are too few for seven parameters"):
        fit_viscoelastic(of_series(SERIES, count=4), parts=3)


def test_the_block_of_a_series_is_a_material_of_a_scene(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """Its rheometer theory gives the measured moduli back, and the number of parts is explained."""
    measured = of_series(SERIES[:3], 0.01)
    file = write(tmp_path, measured)
    assert main(["fit", str(file), "--name", "gel", "--base", "power-law dough"]) == 0
    printed = capsys.readouterr().out
    assert "2 parts instead of 3: scatter" in printed
    assert "4 parts instead of 3: scatter" in printed
    tables = tomllib.loads(printed)["material"]
    materials, problems = resolve_materials({"gel": MaterialTable.model_validate(tables["gel"])}, [])
    assert not problems
    assert len(materials["gel"].parameters.parts) == 3
    storage, loss = moduli(materials["gel"].parameters, measured.columns["frequency"])
    size = np.hypot(storage, loss)
    assert np.abs(storage - measured.columns["storage modulus"]).max() < 0.05 * size.max()
    assert np.median(np.abs(loss - measured.columns["loss modulus"]) / size) < 0.02
    assert main(["fit", str(file), "--parts", "1", "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert len(record["relaxation_times"]) == 1
    assert record["numbers_of_parts"][0]["parts"] == 1
