"""Fits of measured flow curves."""

import json
import tomllib
from pathlib import Path

import numpy as np
import pytest

from spume.cli import main
from spume.errors import SceneError
from spume.rheology.choosing import choose_material
from spume.rheology.fit import fit_flow_curve
from spume.rheology.measured import FlowCurve, read_flow_curve
from spume.rheology.rheometer import flow_curve
from spume.rheology.small_strain import ShearParameters
from spume.scene.material import MaterialTable, resolve_materials

FOAM = ShearParameters(18.4, 17.8, 0.22)
EMULSION = ShearParameters(40.0, 9.0, 0.45)
BINGHAM = ShearParameters(10.0, 5.0, 1.0)
THICKENING = ShearParameters(1.0, 2.0, 1.8)


def measured(true: ShearParameters, count: int, noise: float, seed: int) -> FlowCurve:
    rng = np.random.default_rng(seed)
    rates = np.logspace(-2, 2, count)
    stresses = (true.yield_stress + true.consistency * rates**true.flow_index) * (
        1 + noise * rng.standard_normal(count)
    )
    return FlowCurve(rates, stresses, tuple(range(2, count + 2)))


@pytest.mark.parametrize("true", [FOAM, EMULSION, BINGHAM, THICKENING])
def test_exact_data_give_the_parameters_back(true: ShearParameters):
    fit = fit_flow_curve(measured(true, 12, 0.0, 0))
    np.testing.assert_allclose(fit.shear, true, rtol=1e-6)
    assert fit.yield_stress.value == pytest.approx(np.sqrt(3.0) * true.yield_stress, rel=1e-6)
    expected = true.consistency * 2.0 ** ((1.0 + true.flow_index) / 2.0)
    assert fit.viscosity.value == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize(
    "true", [FOAM, *(pytest.param(true, marks=pytest.mark.slow_suite) for true in (EMULSION, BINGHAM))]
)
def test_limits_hold_the_truth_as_often_as_they_say(true: ShearParameters):
    """Limits of 95 %, of 40 noisy curves with 3 parameters each: 114 of 120 hits expected; fewer than 100 would be a
    coverage below 0.9 by more than 2.5 standard deviations even if the parameters of a curve went together."""
    hits = 0
    for seed in range(40):
        fit = fit_flow_curve(measured(true, 20, 0.02, seed))
        off = np.abs(np.array(fit.shear) - np.array(true)) / np.array(fit.shear_errors)
        hits += int(np.count_nonzero(off <= fit.solution.coverage_factor))
    assert hits >= 100


def test_limits_are_not_idle():
    """Standard errors are within a factor of two of the scatter of the estimates themselves."""
    fits = [fit_flow_curve(measured(EMULSION, 20, 0.02, seed)) for seed in range(40)]
    scatter = np.std([fit.shear for fit in fits], axis=0)
    stated = np.median([fit.shear_errors for fit in fits], axis=0)
    assert np.all((stated > 0.5 * scatter) & (stated < 2.0 * scatter))
    law = np.std([(f.yield_stress.value, f.viscosity.value, f.flow_index.value) for f in fits], axis=0)
    stated = np.median([(f.yield_stress.error, f.viscosity.error, f.flow_index.error) for f in fits], axis=0)
    assert np.all((stated > 0.5 * law) & (stated < 2.0 * law))


def test_bad_measurements_pull_with_bounded_force():
    """Two of twenty points off by factors of 3 and 30: the others decide, and they are named."""
    curve = measured(EMULSION, 20, 0.01, 1)
    clean = fit_flow_curve(curve)
    spoilt = curve.stresses.copy()
    spoilt[4] *= 30.0
    spoilt[15] /= 3.0
    fit = fit_flow_curve(FlowCurve(curve.rates, spoilt, curve.lines))
    assert {4, 15} <= set(fit.solution.outliers)
    off = np.abs(np.array(fit.shear) - np.array(clean.shear)) / np.array(clean.shear_errors)
    assert np.all(off < 3.0)


def test_units_do_not_matter():
    """A thousandfold stress and a hundredfold rate scale the parameters, and the standard errors with them."""
    curve = measured(EMULSION, 15, 0.02, 3)
    fit = fit_flow_curve(curve)
    other = fit_flow_curve(FlowCurve(100.0 * curve.rates, 1000.0 * curve.stresses, curve.lines))
    factors = np.array([1000.0, 1000.0 * 100.0**-fit.shear.flow_index, 1.0])
    np.testing.assert_allclose(other.shear, np.array(fit.shear) * factors, rtol=1e-5)
    assert other.shear_errors.yield_stress == pytest.approx(1000.0 * fit.shear_errors.yield_stress, rel=1e-4)


def test_says_what_the_data_do_not_tell():
    rates = np.logspace(1, 3, 12)
    power_law = FlowCurve(rates, 3.0 * rates**0.5 * (1 + 0.01 * np.cos(7 * np.log(rates))), tuple(range(12)))
    assert any("cannot be distinguished from zero" in note for note in fit_flow_curve(power_law).notes)
    rates = np.logspace(-5, -3, 12)
    plateau = FlowCurve(rates, 30.0 * (1 + 0.01 * np.cos(7 * np.log(rates))), tuple(range(12)))
    assert any("hardly determined" in note for note in fit_flow_curve(plateau).notes)


def test_too_few_rates_are_refused():
    curve = measured(FOAM, 4, 0.0, 0)
    with pytest.raises(SceneError, match="4 different shear rates are too few"):
        fit_flow_curve(curve)


def test_the_law_measured_by_the_rheometer_is_found_again():
    """The rheometer's curve of a stiff foam lies within e² ≈ 1e-4 of its parameters."""
    material = choose_material("pie", ["shear_modulus=16000"])
    curve = flow_curve(material, np.logspace(-2, 2, 9))
    fit = fit_flow_curve(FlowCurve(curve.values, curve.shear_stress, tuple(range(9))))
    found = (fit.yield_stress.value, fit.viscosity.value, fit.flow_index.value)
    assert found == pytest.approx((120.0, 5.0, 0.27), rel=0.01)


def write(tmp_path: Path, text: str) -> Path:
    file = tmp_path / "curve.csv"
    file.write_text(text, encoding="utf-8")
    return file


@pytest.mark.parametrize(
    "text",
    [
        "rate,stress\n0.1,20\n1,30\n",
        "shear_rate,shear_stress\n0.1,20\n1,30\n",
        "Shear rate [1/s]; Shear stress (Pa)\n0.1; 20\n1; 30\n",
        "stress\trate\n20\t0.1\n30\t1\n",
        "\ufeff# rheometer 7\nsample,rate [s^-1],stress [Pa]\n\na,0.1,20\nb,1,30\n",
        "rate,stress\r\n0.1,20\r\n1,30\r\n",
    ],
)
def test_spellings_of_a_csv(tmp_path: Path, text: str):
    curve = read_flow_curve(write(tmp_path, text))
    np.testing.assert_array_equal(curve.rates, [0.1, 1.0])
    np.testing.assert_array_equal(curve.stresses, [20.0, 30.0])


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "is empty"),
        ("# only remarks\n", "is empty"),
        ("rate,stress\n", "no measurements"),
        ("0.1,20\n1,30\n", "has no header: say what its columns hold, as in --columns rate,stress"),
        ("rate,power\n1,2\n", "line 1: no column is called stress or shear_stress"),
        ("power,stress\n1,2\n", "line 1: no column is called rate or shear_rate"),
        ("rate,shear_rate,stress\n1,1,2\n", "line 1: two columns hold the rate"),
        ("rate,stress [bar]\n1,2\n", "line 1: the stress is in 'bar': it should be in Pa"),
        ("rate,stress\n1,2\n3\n", "line 3: it has 1 columns"),
        ("rate,stress\n1,2\n# remark\n3,high\n", "line 4: the stress is 'high', which is not a number"),
        ("rate,stress\n1,2\n0,3\n", "line 3: the rate is 0: it should be positive"),
        ("rate,stress\n1,nan\n", "line 2: the stress is nan"),
        ("rate,stress\n1,\n", "line 2: the stress is '', which is not a number"),
        ("rate,stress\n1,1e999\n", "line 2: the stress is 1e999"),
        ("rate,stress\n1," + 140_000 * "2" + "\n", "line 2: field larger than field limit (131072)"),
    ],
)
def test_a_bad_csv_is_one_sentence_with_the_line(tmp_path: Path, text: str, sentence: str, capsys):
    assert main(["fit", str(write(tmp_path, text))]) == 2
    printed = capsys.readouterr().err
    assert sentence in printed
    assert printed.count("\n") == 1


def test_unreadable_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["fit", str(tmp_path / "none.csv")]) == 2
    assert "cannot be read: No such file" in capsys.readouterr().err
    binary = tmp_path / "binary.csv"
    binary.write_bytes(b"\xff\xfe\x00rate")
    assert main(["fit", str(binary)]) == 2
    assert "not a text file" in capsys.readouterr().err


def curve_file(tmp_path: Path) -> Path:
    curve = measured(FOAM, 12, 0.01, 5)
    rows = "\n".join(f"{float(r)!r},{float(s)!r}" for r, s in zip(curve.rates, curve.stresses))
    return write(tmp_path, f"rate,stress\n{rows}\n")


def test_the_block_is_a_material_of_a_scene(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    out = tmp_path / "block.toml"
    file = curve_file(tmp_path)
    assert main(["fit", str(file), "--name", "my foam", "--base", "shaving cream", "--out", str(out)]) == 0
    printed = capsys.readouterr().out
    for text in (printed, out.read_text(encoding="utf-8")):
        tables = tomllib.loads(text)["material"]
        materials, problems = resolve_materials(
            {name: MaterialTable.model_validate(table) for name, table in tables.items()}, []
        )
        assert not problems
        found = materials["my foam"].parameters
        assert found.density == 77.7
        assert found.yield_stress == pytest.approx(np.sqrt(3) * 18.4, rel=0.2)
    assert "(95 %)" in printed


def test_without_density_and_moduli_they_are_left_to_fill_in(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["fit", str(curve_file(tmp_path)), "--density", "80"]) == 0
    printed = capsys.readouterr().out
    table = tomllib.loads(printed)["material"]["curve"]
    assert table["density"] == 80.0
    assert set(table) == {"law", "density", "yield_stress", "viscosity", "flow_index"}
    assert "# bulk_modulus =" in printed
    assert "# shear_modulus =" in printed


def test_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["fit", str(curve_file(tmp_path)), "--base", "pie", "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["material"]["law"] == "herschel-bulkley"
    for key in ("yield_stress", "viscosity", "flow_index"):
        low, high = record["limits_95"][key]
        assert low < record["material"][key] < high
        assert record["standard_errors"][key] > 0.0


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--base", "gelatin"], "it should have the law herschel-bulkley"),
        (["--base", "shaving creme"], "did you mean 'shaving cream'?"),
        (["--density", "-1"], "density is -1"),
        (["--base", "pie", "--out", "/nowhere/at/all.toml"], "cannot be written"),
    ],
)
def test_wrong_options_are_one_sentence(tmp_path: Path, options: list[str], sentence: str, capsys):
    assert main(["fit", str(curve_file(tmp_path)), *options]) == 2
    assert sentence in capsys.readouterr().err


def test_plot(tmp_path: Path):
    pytest.importorskip("matplotlib")
    picture = tmp_path / "fit.svg"
    assert main(["fit", str(curve_file(tmp_path)), "--base", "pie", "--plot", str(picture)]) == 0
    assert "<svg" in picture.read_text(encoding="utf-8")


def test_the_measurements_that_count_less_are_named_with_the_reason(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """One is off by a factor, one by 3.2 % where the others scatter by 0.6 %."""
    curve = measured(EMULSION, 20, 0.01, 1)
    curve.stresses[4] *= 30.0
    curve.stresses[12] = 1.032 * (40.0 + 9.0 * curve.rates[12] ** 0.45)
    rows = "\n".join(f"{float(r)!r},{float(s)!r}" for r, s in zip(curve.rates, curve.stresses))
    file = write(tmp_path, f"rate,stress [Pa]\n{rows}\n")
    assert main(["fit", str(file)]) == 0
    printed = capsys.readouterr().out
    assert "# columns: rate (no unit: SI), stress [Pa]" in printed
    assert "excluded, too far from the fit of the others to be one of them: line 6 (off by 97 %" in printed
    assert "less weight, more than three times the scatter from the fit: line 14 (off by" in printed
    assert "Pa (95 %)" in printed
    assert main(["fit", str(file), "--loss", "linear"]) == 0
    printed = capsys.readouterr().out
    assert "excluded" not in printed
    assert "covariance of the linear fit" in printed
