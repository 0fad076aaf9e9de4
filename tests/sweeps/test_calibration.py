"""Calibration: known parameters are found again, with the uncertainties of linear regression."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import spume
from spume.cli import main
from spume.rheology import choose_material, flow_curve
from spume.sweeps.calibration import _Search
from spume.sweeps.samples import Range
from spume.sweeps.targets import Target

FOAM = {
    "title": "foam",
    "method": "continuum-foam",
    "dimension": 2,
    "duration": 0.01,
    "grid": {"cell": 0.01},
    "material": {"foam": {"base": "shaving cream", "yield_stress": 40.0}},
    "body": [{"material": "foam", "shape": {"circle": {"center": [0.0, 0.0], "radius": 0.03}}}],
}
BLOCK = {
    "title": "a block sags under its weight",
    "method": "mpm",
    "dimension": 2,
    "duration": 0.2,
    "frame_rate": 20.0,
    "grid": {"cell": 0.01},
    "transfer": {"scheme": "pic"},
    "material": {"solid": {"law": "hencky", "density": 1000.0, "youngs_modulus": 6.0e3, "poisson_ratio": 0.3}},
    "body": [{"material": "solid", "shape": {"rectangle": {"center": [0.0, 0.02], "size": [0.04, 0.04]}}}],
    "obstacle": [{"shape": {"half_plane": {"point": [0.0, 0.0], "normal": [0.0, 1.0]}}, "contact": "separate"}],
    "measure": [{"name": "top", "what": {"height": {}}}],
}


def search(y, x, scale, absolute, limits, folder, most=60) -> _Search:
    """A search whose simulation is a straight line through the points x."""

    def simulate(samples):
        return [np.array(sample["slope"] * x + sample["offset"]) for sample in samples]

    target = Target(tuple(map(str, x)), y, scale, absolute)
    return _Search(simulate, target, limits, dict.fromkeys(limits, ""), most, lambda text: None, folder)


def test_a_linear_model_gives_the_estimates_and_limits_of_linear_regression(tmp_path):
    """For s = a x + b least squares, standard errors and Student's t are in closed form."""
    rng = np.random.default_rng(5)
    x = np.linspace(0.0, 1.0, 12)
    y = 3.0 * x + 1.0 + 0.05 * rng.normal(size=x.size)
    limits = {"slope": Range(0.0, 10.0), "offset": Range(0.0, 4.0)}
    found = search(y, x, np.ones(12), False, limits, tmp_path).run([0.5, 0.5])
    line = stats.linregress(x, y)
    t = stats.t.ppf(0.975, 10)
    assert found.converged
    for key, value, error in (("slope", line.slope, line.stderr), ("offset", line.intercept, line.intercept_stderr)):
        estimate = found.parameters[key]
        assert estimate.value == pytest.approx(value, rel=1e-4)
        np.testing.assert_allclose(estimate.limits, [value - t * error, value + t * error], rtol=1e-3)


def test_given_errors_make_the_limits_whatever_the_scatter(tmp_path):
    x = np.linspace(0.0, 1.0, 5)
    limits = {"slope": Range(0.0, 10.0), "offset": Range(0.0, 4.0)}
    found = search(2.0 * x + 1.0, x, np.full(5, 0.1), True, limits, tmp_path).run([0.5, 0.5])
    error = 0.1 / np.sqrt(np.sum((x - 0.5) ** 2))
    width = np.diff(found.parameters["slope"].limits)[0]
    assert width == pytest.approx(2 * stats.norm.ppf(0.975) * error, rel=1e-3)


def test_what_cannot_be_told_is_said(tmp_path):
    limits = {"slope": Range(0.0, 10.0), "offset": Range(0.0, 4.0)}
    few = search(np.array([1.0, 2.0]), np.array([0.0, 1.0]), np.ones(2), False, limits, tmp_path).run([0.5, 0.5])
    assert few.parameters["slope"].limits is None
    assert "no more values than parameters" in few.notes[0]
    same = search(np.ones(4), np.ones(4), np.ones(4), False, limits, tmp_path).run([0.5, 0.5])
    assert any("does not distinguish the parameters" in note for note in same.notes)
    narrow = {"slope": Range(0.0, 1.0), "offset": Range(0.0, 4.0)}
    x = np.linspace(0.0, 1.0, 5)
    at_limit = search(3.0 * x, x, np.ones(5), False, narrow, tmp_path).run([0.5, 0.5])
    assert any("slope is at one of its limits" in note for note in at_limit.notes)


def test_a_search_cut_short_still_has_limits(tmp_path):
    """The search leaves as many evaluations as there are parameters to the derivatives at its result."""
    x = np.linspace(0.0, 1.0, 5)
    limits = {"slope": Range(0.0, 10.0), "offset": Range(0.0, 4.0)}
    found = search(np.exp(x), x, np.ones(5), False, limits, tmp_path, most=6).run([0.1, 0.9])
    assert not found.converged
    assert found.evaluations <= 6
    assert all(each.limits is not None for each in found.parameters.values())


def test_errors_smaller_than_the_misfit_are_said(tmp_path):
    x = np.linspace(0.0, 1.0, 5)
    limits = {"slope": Range(0.0, 10.0), "offset": Range(0.0, 4.0)}
    found = search(np.exp(3.0 * x), x, np.full(5, 0.01), True, limits, tmp_path).run([0.5, 0.5])
    assert any("misses the measurement by more than its errors" in note for note in found.notes)


def test_evaluations_are_on_disk_from_the_first_on(tmp_path):
    """A simulation that fails after the first evaluation leaves a table with it."""
    x = np.linspace(0.0, 1.0, 5)
    limits = {"slope": Range(0.0, 10.0), "offset": Range(0.0, 4.0)}
    made = search(x, x, np.ones(5), False, limits, tmp_path)
    simulate = made.simulate

    def once(samples):
        if made.known:
            raise KeyboardInterrupt
        return simulate(samples)

    made.simulate = once
    with pytest.raises(KeyboardInterrupt):
        made.run([0.5, 0.5])
    rows = (tmp_path / "evaluations.csv").read_text().splitlines()
    assert rows[0] == "slope,offset,residual"
    assert len(rows) == 2


def test_a_rheometers_curve_gives_its_parameters_back(tmp_path, capsys):
    """The curve is that of the material itself, so the parameters come back to the search's tolerance."""
    rates = np.logspace(-1, 2, 7)
    true = choose_material("shaving cream", ["yield_stress=25.0", "viscosity=12.0"])
    curve = flow_curve(true, rates).shear_stress
    lines = "\n".join(f"{rate!r},{stress!r}" for rate, stress in zip(rates.tolist(), curve.tolist()))
    (tmp_path / "curve.csv").write_text(f"rate [1/s],stress [Pa]\n{lines}\n")
    (tmp_path / "foam.toml").write_text(
        'title = "foam"\nmethod = "continuum-foam"\ndimension = 2\nduration = 0.01\ngrid.cell = 0.01\n'
        '[material.foam]\nbase = "shaving cream"\nyield_stress = 40.0\n'
        '[[body]]\nmaterial = "foam"\nshape = { circle = { center = [0, 0], radius = 0.03 } }\n'
    )
    command = ["calibrate", str(tmp_path / "foam.toml"), "--target", str(tmp_path / "curve.csv")]
    command += ["--fit", "material.foam.yield_stress=5:100:log", "--fit", "material.foam.viscosity=1:100:log"]
    assert main([*command, "--out", str(tmp_path / "out"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["parameters"]
    assert found["material.foam.yield_stress"]["value"] == pytest.approx(25.0, rel=1e-2)
    assert found["material.foam.viscosity"]["value"] == pytest.approx(12.0, rel=1e-2)
    assert json.loads((tmp_path / "out" / "calibration.json").read_text())["converged"]


@pytest.mark.slow_suite
def test_a_block_that_sagged_gives_its_modulus_back_and_runs_are_not_made_again(tmp_path):
    """The target is a run of the scene itself with another modulus."""
    true = 1.0e4
    run = spume.run(BLOCK, tmp_path / "true", changes={"material.solid.youngs_modulus": true}, progress="none")
    top = run.measurements["top"]
    chosen = [1, 2, 4]
    rows = "\n".join(f"{top.times[k]!r},{top.values[k]!r}" for k in chosen)
    target = tmp_path / "slump.csv"
    target.write_text(f"time,top\n{rows}\n".replace("np.float64(", "").replace(")", ""))
    key = "material.solid.youngs_modulus"
    found = spume.calibrate(BLOCK, target, {key: "3e3:3e4:log"}, tmp_path / "out", processes=1, progress="none")
    assert found.converged
    assert found.parameters[key].value == pytest.approx(true, rel=0.01)
    low, high = found.parameters[key].limits
    assert low <= found.parameters[key].value <= high
    made = {file: file.stat().st_mtime_ns for file in (tmp_path / "out" / "runs").rglob("frame_*")}
    assert len({file.parts[-3] for file in made}) == found.evaluations
    again = spume.calibrate(BLOCK, target, {key: "3e3:3e4:log"}, tmp_path / "out", processes=1, progress="none")
    assert again.parameters == found.parameters
    assert {file: file.stat().st_mtime_ns for file in (tmp_path / "out" / "runs").rglob("frame_*")} == made


@pytest.mark.parametrize(
    ("text", "fit", "sentence"),
    [
        ("time,tpo\n0.1,1\n", "material.solid.youngs_modulus=1e3:1e5", "did you mean 'top'"),
        ("measure,value\ntpo,1\n", "material.solid.youngs_modulus=1e3:1e5", "did you mean 'top'"),
        ("measure,value,error\ntop,1,0\n", "material.solid.youngs_modulus=1e3:1e5", "should be positive"),
        ("time,top\n0.1,high\n", "material.solid.youngs_modulus=1e3:1e5", "line 2: top is 'high'"),
        ("time,top\n9,1\n", "material.solid.youngs_modulus=1e3:1e5", "the scene lasts 0.2 s"),
        ("a,b\n1,2\n", "material.solid.youngs_modulus=1e3:1e5", "its columns are a, b"),
        ("time,top\n", "material.solid.youngs_modulus=1e3:1e5", "has no values"),
        ("time,top\n0.1,1\n", "material.solid.youngs_modulus=1,2", "it should have limits"),
        ("time,top\n0.1,1\n", "material.solid.youngs_modulus=1e5:1e6", "begins with 6000, outside"),
        ("time,top\n0.1,1\n", "material.solid.yungs_modulus=1:2", "yungs_modulus"),
    ],
)
def test_a_wrong_target_or_parameter_is_one_sentence(tmp_path, text, fit, sentence):
    file = tmp_path / "target.csv"
    Path(file).write_text(text)
    with pytest.raises(spume.SceneError, match=sentence):
        spume.calibrate(BLOCK, file, [fit], tmp_path / "out", progress="none")


SILICONE = FOAM | {
    "method": "mpm",
    "material": {"soft": {"base": "silicone rubber"}},
    "body": [{"material": "soft", "shape": {"circle": {"center": [0.0, 0.0], "radius": 0.03}}}],
}
TRUE = {"shear_modulus": 3.0e4, "viscous_shear_modulus": 5.0e4, "deviatoric_viscosity": 2.0e4}
"""Relaxation time νd/(2 μN) = 0.2 s."""


def relaxation_modulus(t):
    """Standard linear solid: μE + μN exp(−t/τ)."""
    return TRUE["shear_modulus"] + TRUE["viscous_shear_modulus"] * np.exp(-t / 0.2)


def creep_compliance(t):
    """Standard linear solid: 1/μE − (1/μE − 1/(μE + μN)) exp(−t/τc), τc = τ (μE + μN)/μE."""
    elastic, whole = TRUE["shear_modulus"], TRUE["shear_modulus"] + TRUE["viscous_shear_modulus"]
    return 1 / elastic - (1 / elastic - 1 / whole) * np.exp(-t * elastic / (0.2 * whole))


@pytest.mark.parametrize(
    ("header", "curve"),
    [
        ("time [s],relaxation_modulus [Pa]", relaxation_modulus),
        ("time [s],relaxation_modulus [Pa],strain [%]", relaxation_modulus),
        ("time,creep_compliance [1/Pa]", creep_compliance),
        ("time,creep_compliance [1/Pa],stress [Pa]", creep_compliance),
    ],
)
def test_relaxation_and_creep_give_a_viscoelastic_material_back(tmp_path, header, curve):
    """The target is the closed form of linear viscoelasticity; the rheometer resolves time to 1e-3 of the largest
    value, which is up to 4e-3 of the smallest one here, and the steps of 0.4 % strain and 100 Pa (0.3 %) are linear."""
    times = np.geomspace(0.01, 2.0, 12)
    step = {True: ",0.4", False: ""}["strain" in header] or {True: ",100", False: ""}["stress" in header]
    rows = "".join(f"{t!r},{value!r}{step}\n" for t, value in zip(times.tolist(), curve(times).tolist()))
    (tmp_path / "curve.csv").write_text(f"{header}\n{rows}")
    fit = {f"material.soft.{name}": f"{value / 5}:{value * 6}:log" for name, value in TRUE.items()}
    start = {f"material.soft.{name}": value * 1.5 for name, value in TRUE.items()}
    found = spume.calibrate(
        SILICONE, tmp_path / "curve.csv", fit, tmp_path / "out", changes=start, progress="none", evaluations=200
    )
    assert found.converged
    for name, value in TRUE.items():
        assert found.parameters[f"material.soft.{name}"].value == pytest.approx(value, rel=0.01), name


def test_relaxation_depends_on_the_strain_of_the_step(tmp_path):
    """A foam keeps the stress of a strain below yield; above it, the stress relaxes to σY/√3. Elastic strains of
    τ/μ = 0.05 and a shear of 0.2 bring terms of their squares, 2/3 e² and γ²/6: below 1 %."""
    modulus = 25.0 / 3**0.5 / 0.2
    rows = "".join(f"{t:g},{modulus!r},20\n" for t in (1e4, 2e4, 4e4))
    (tmp_path / "curve.csv").write_text(f"time,relaxation_modulus,strain [%]\n{rows}")
    key = "material.foam.yield_stress"
    found = spume.calibrate(
        FOAM, tmp_path / "curve.csv", {key: "5:70:log"}, tmp_path / "out", progress="none",
        changes={"material.foam.flow_index": 1.0},
    )  # fmt: skip
    assert found.parameters[key].value == pytest.approx(25.0, rel=0.01)
