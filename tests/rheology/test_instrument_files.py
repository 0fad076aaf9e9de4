"""Files as rheometers and spreadsheets export them."""

import math

import numpy as np
import pytest

from spume.cli import main
from spume.errors import SceneError
from spume.rheology.measured import read_flow_curve, read_measured

RATES, STRESSES = [0.1, 1.0, 10.0], [21.5, 30.0, 77.25]


def written(tmp_path, text, encoding="utf-8"):
    file = tmp_path / "measured.csv"
    file.write_bytes(text.encode(encoding))
    return file


COMMA = "Scherversuch;\nDatum: 1.2.2024;\nShear Rate;Shear Stress\n0,1;21,5\n1,0;30,0\n10,0;77,25\n"
PREAMBLE = """Project:\tfoam study
Test:\tShaving cream 20 °C
Result:\tFlow curve 1
Interval and data points:\t1\t3
Interval data:\tPoint No.\tTime\tShear Rate\tShear Stress\tViscosity
\t\t[s]\t[1/s]\t[Pa]\t[mPa·s]
\t1\t10\t0.1\t21.5\t215,000
\t2\t20\t1\t30\t30,000
\t3\t30\t10\t77.25\t7,725
"""
STEPS = """[step]
Flow sweep - 1
Stress\tShear rate\tTemperature
kPa\t1/s\t°C
0.0215\t0.1\t20
0.03\t1\t20
0.07725\t10\t20
"""
CASES = {
    "decimal commas behind semicolons": (COMMA, "utf-8"),
    "byte order mark": ("\ufeffrate,stress\n0.1,21.5\n1,30\n10,77.25\n", "utf-8"),
    "preamble, units below, viscosity too": (PREAMBLE, "utf-8"),
    "the same in UTF-16": (PREAMBLE, "utf-16"),
    "Windows-1252": (PREAMBLE, "cp1252"),
    "steps, kPa": (STEPS, "utf-8"),
    "viscosity instead of stress": ("rate [1/s],viscosity [mPa s]\n0.1,215e3\n1,30e3\n10,7725\n", "utf-8"),
    "per minute, dyn/cm²": ("shear_rate (1/min);τ in dyn/cm²\n6;215\n60;300\n600;772,5\n", "utf-8"),
    "thousands": ("rate;stress [mPa]\n0,1;21.500,0\n1;30.000,0\n10;77.250,0\n", "utf-8"),
}


@pytest.mark.parametrize("case", CASES)
def test_the_same_curve_is_read_however_it_is_written(tmp_path, case):
    text, encoding = CASES[case]
    curve = read_flow_curve(written(tmp_path, text, encoding))
    np.testing.assert_allclose(curve.rates, RATES, rtol=1e-12)
    np.testing.assert_allclose(curve.stresses, STRESSES, rtol=1e-12)


def test_lines_are_those_of_the_file(tmp_path):
    assert read_flow_curve(written(tmp_path, PREAMBLE)).lines == (7, 8, 9)


def test_a_file_without_a_header_is_read_with_the_columns_given(tmp_path):
    file = written(tmp_path, "1;0,1;215000\n2;1;30000\n3;10;7725\n")
    with pytest.raises(SceneError, match="has no header"):
        read_measured(file)
    found = read_measured(file, columns="-,rate,viscosity [mPa s]")
    np.testing.assert_allclose(found.columns["stress"], STRESSES)
    with pytest.raises(SceneError, match="'colour' is none of rate, stress"):
        read_measured(file, columns="rate,colour")


TWO = PREAMBLE + PREAMBLE.replace("77.25", "80").replace("points:\t1", "points:\t2")


def test_of_several_intervals_one_or_all_are_chosen(tmp_path):
    file = written(tmp_path, TWO)
    with pytest.raises(SceneError, match=r"holds 2 intervals .*choose one, or all, as in --interval 2"):
        read_measured(file)
    assert read_measured(file, interval="1").columns["stress"][-1] == 77.25
    assert read_measured(file, interval="2").columns["stress"][-1] == 80.0
    assert len(read_measured(file, interval="all").lines) == 6
    with pytest.raises(SceneError, match=r"--interval 3: .*give one of these numbers"):
        read_measured(file, interval="3")


def test_a_frequency_in_hertz_is_made_angular_and_an_angular_one_is_preferred(tmp_path):
    text = "Frequency [Hz],G' [kPa],G'' [kPa]\n1,2,3\n"
    found = read_measured(written(tmp_path, text))
    assert found.kind == "frequency sweep"
    assert found.columns["frequency"][0] == pytest.approx(2 * math.pi)
    assert found.columns["storage modulus"][0] == 2000.0
    both = "Frequency [Hz],Angular frequency [rad/s],Storage modulus [Pa],Loss modulus [Pa]\n1,6.2831853,2,3\n"
    assert read_measured(written(tmp_path, both)).columns["frequency"][0] == 6.2831853


def test_a_relaxation_modulus_is_known_by_its_symbol(tmp_path):
    found = read_measured(written(tmp_path, "t [min],G(t)\n0,5\n1,4\n"))
    assert found.kind == "relaxation curve"
    assert found.columns["time"].tolist() == [0.0, 60.0]


def test_fit_takes_an_interval_and_columns(tmp_path, capsys):
    rates = np.geomspace(0.01, 100, 12)
    rows = "".join(f"{rate:.6g};{20 + 8 * rate**0.5:.6g}\n" for rate in rates)
    file = written(tmp_path, rows)
    assert main(["fit", str(file), "--columns", "rate,stress", "--base", "shaving cream"]) == 0
    assert "yield_stress" in capsys.readouterr().out
    assert main(["fit", str(file)]) == 2
    assert "has no header" in capsys.readouterr().err


def test_the_step_of_a_relaxation_or_creep_test_is_read_from_its_column(tmp_path):
    found = read_measured(written(tmp_path, "time,G(t) [kPa],strain [%]\n1,5,2\n2,4,2.1\n4,3,2\n"))
    assert found.step == pytest.approx(0.02)
    assert list(found.columns) == ["time", "relaxation modulus"]
    creep = read_measured(written(tmp_path, "time [s];J(t);shear stress [Pa]\n1;0,001;50\n2;0,002;50\n"))
    assert (creep.kind, creep.step, creep.columns["creep compliance"].tolist()) == ("creep curve", 50.0, [1e-3, 2e-3])
    ramp = written(tmp_path, "time,G(t),strain\n0.1,5,0.01\n1,4,0.02\n2,3,0.02\n")
    with pytest.raises(SceneError, match=r"the strain goes from 0.01 to 0.02: it should be constant after the step"):
        read_measured(ramp)


def test_fit_refers_creep_curves_to_calibrate(tmp_path, capsys):
    file = written(tmp_path, "time,creep_compliance\n1,0.001\n2,0.002\n")
    assert main(["fit", str(file)]) == 2
    assert "is a creep curve: 'spume calibrate'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("heading", "angular"),
    [
        ("frequency_hz", 2 * math.pi),
        ("Frequency Hz", 2 * math.pi),
        ("frequency_rad/s", 1.0),
        ("freq (Hz)", 2 * math.pi),
        ("omega", 1.0),
        ("omega_rad_s", 1.0),
        ("Angular Frequency [1/s]", 1.0),
        ("angular_frequency [rad/s]", 1.0),
    ],
)
def test_the_unit_of_a_frequency_follows_from_its_heading(heading: str, angular: float, tmp_path):
    """An angular frequency is in radians, also where the instrument writes 1/s."""
    found = read_measured(written(tmp_path, f"{heading},G' [Pa],G'' [Pa]\n1,2,3\n"))
    assert found.columns["frequency"][0] == pytest.approx(angular)


def test_units_may_be_part_of_names(tmp_path):
    found = read_measured(written(tmp_path, "rate_1_s,stress_kPa\n1,2\n"))
    assert found.columns["stress"][0] == 2000.0
    assert found.units == {"rate": "1/s", "stress": "kPa"}
