"""Modified Cam-clay against its closed forms: compression lines, critical state, undrained path."""

import json
import math

import numpy as np
import pytest
from one_point import OnePoint

from spume.cli import main
from spume.materials.cam_clay import CAM_CLAY, CamClayParameters, undrained_ratio
from spume.rheology.choosing import choose_material
from spume.rheology.soil import triaxial

KAOLIN = choose_material("kaolin clay", ["reference_pressure=10"]).parameters
assert isinstance(KAOLIN, CamClayParameters)
P_R = KAOLIN.reference_pressure


def consolidated(pressure: float) -> OnePoint:
    """A point compressed isotropically to p = `pressure`, in small steps."""
    point = OnePoint(CAM_CLAY, KAOLIN)
    while -np.trace(point.tau) / 3.0 < pressure:
        point.stretch(-1e-4, -1e-4, -1e-4)
    return point


def test_compression_follows_the_swelling_line_and_then_that_of_normal_consolidation():
    """ln V = −κ ln(P/p_r) up to the initial P_c, then −λ ln(P/P_c); on unloading κ again. Each step is exact."""
    point, logs, volumes = OnePoint(CAM_CLAY, KAOLIN), [], []
    for _ in range(4000):
        point.stretch(-1e-4, -1e-4, -1e-4)
        logs.append(math.log1p(-np.trace(point.tau) / 3.0 / P_R))
        volumes.append(math.log(point.volume_ratio()))
    logs, volumes = np.array(logs), np.array(volumes)
    bend = math.log1p(KAOLIN.preconsolidation_pressure / P_R)
    expected = -KAOLIN.swelling_index * np.minimum(logs, bend) - KAOLIN.compression_index * np.maximum(logs - bend, 0.0)
    assert logs[-1] > bend + 1.0
    np.testing.assert_allclose(volumes, expected, rtol=1e-10)
    for _ in range(100):
        point.stretch(1e-4, 1e-4, 1e-4)
    swollen = math.log1p(-np.trace(point.tau) / 3.0 / P_R)
    rise = math.log(point.volume_ratio()) - volumes[-1]
    assert rise == pytest.approx(KAOLIN.swelling_index * (logs[-1] - swollen), rel=1e-8)


@pytest.mark.parametrize("overconsolidation", [1.0, 8.0], ids=["wet", "dry"])
def test_shear_ends_at_the_critical_state(overconsolidation: float):
    """Drained: q = M (p + p_r), no further change of stress and volume, approached from both sides of the ellipse. What
    is left after a strain of 1.5 decays like exp(−strain/(λ − κ) …), below 1 %."""
    clay = choose_material("kaolin clay", ["reference_pressure=10"])
    pressure = KAOLIN.preconsolidation_pressure / overconsolidation
    found = triaxial(clay, pressure, largest=1.5).columns
    q, p = found["deviator_stress"], found["mean_stress"]
    assert q[-1] == pytest.approx(KAOLIN.critical_ratio * (p[-1] + P_R), rel=0.01)
    np.testing.assert_allclose(p, pressure + q / 3.0, rtol=1e-6)
    if overconsolidation == 1.0:
        assert np.all(np.diff(found["volumetric_strain"]) > 0.0)  # hardens by compression
        assert q.argmax() == len(q) - 1
    else:
        assert found["volumetric_strain"][-1] < 0.0  # dilates
        assert q.max() > 1.1 * q[-1]  # and softens from a peak


def test_the_undrained_path_is_that_of_the_textbook():
    """Normally consolidated clay at constant volume: P = P_0 (1 + (η/M)²)^−(1 − κ/λ), η = q/P ([Roscoe68]); it ends at
    2^−(1 − κ/λ) of the consolidation pressure. Backward Euler in steps refined to 2e-4 of the stress."""
    clay = choose_material("kaolin clay", ["reference_pressure=10"])
    pressure = 2.0 * KAOLIN.preconsolidation_pressure
    found = triaxial(clay, pressure, largest=0.5, drainage="undrained").columns
    # Cauchy stresses; the volume since rest is constant, and P is of the Kirchhoff stress
    J = ((pressure + P_R) / (KAOLIN.preconsolidation_pressure + P_R)) ** -KAOLIN.compression_index * (
        (KAOLIN.preconsolidation_pressure + P_R) / P_R
    ) ** -KAOLIN.swelling_index
    P, q = J * found["mean_stress"] + P_R, J * found["deviator_stress"]
    share = 1.0 - KAOLIN.swelling_index / KAOLIN.compression_index
    expected = P[0] * (1.0 + (q / P / KAOLIN.critical_ratio) ** 2) ** -share
    np.testing.assert_allclose(P, expected, rtol=2e-3)
    assert P[-1] / P[0] == pytest.approx(undrained_ratio(KAOLIN), rel=5e-3)
    np.testing.assert_allclose(found["volumetric_strain"], 0.0, atol=1e-12)
    assert found["pore_pressure"][-1] > 0.0


@pytest.mark.parametrize("overconsolidation", [1.0, 2.0, 20.0])
def test_undrained_clay_of_any_history_yields_and_ends_where_the_closed_form_says(overconsolidation: float):
    """At constant volume κ ln(P/P_0) + (λ − κ) ln(P_c/P_c0) = 0. Before it yields at q = M √(P_0 (P_c0 − P_0)), P does
    not change; at the critical state P_c = 2 P, so P = P_0^(κ/λ) (P_c0/2)^(1 − κ/λ) and q = M P."""
    clay = choose_material("kaolin clay", ["reference_pressure=10"])
    pressure = KAOLIN.preconsolidation_pressure / overconsolidation
    found = triaxial(clay, pressure, largest=0.4, drainage="undrained").columns
    start, bound = pressure + P_R, KAOLIN.preconsolidation_pressure + P_R
    # Kirchhoff stresses: P_0 follows from the swelling line, J = (P_0/p_r)^−κ, and the given Cauchy stress
    for _ in range(50):
        J = (start / P_R) ** -KAOLIN.swelling_index
        start = J * pressure + P_R
    P, q = J * found["mean_stress"] + P_R, J * found["deviator_stress"]
    yielding = KAOLIN.critical_ratio * math.sqrt(max(start * (bound - start), 0.0))
    before = 3.0 * KAOLIN.shear_modulus * found["axial_strain"] < 0.99 * yielding
    np.testing.assert_allclose(P[before], start, rtol=1e-6)
    share = KAOLIN.swelling_index / KAOLIN.compression_index
    assert P[-1] == pytest.approx(start**share * (bound / 2.0) ** (1.0 - share), rel=0.01)
    assert q[-1] == pytest.approx(KAOLIN.critical_ratio * P[-1], rel=0.01)
    assert (found["pore_pressure"][-1] > 0.0) == (overconsolidation < 5.0)


def test_stress_stays_on_the_ellipse():
    """q²/M² + P (P − P_c) = 0 after every plastic step, however long, to the tolerance of the return."""
    rng = np.random.default_rng(3)
    point = consolidated(KAOLIN.preconsolidation_pressure)
    start, yielded = KAOLIN.preconsolidation_pressure + P_R, 0
    for _ in range(300):
        before = point.field("dissipation")
        tau = point.step(np.eye(3) + 0.02 * rng.uniform(-1.0, 1.0, (3, 3)))
        P, Pc = P_R - np.trace(tau) / 3.0, start * math.exp(point.field("hardening"))
        q = math.sqrt(1.5) * np.linalg.norm(tau - np.trace(tau) / 3.0 * np.eye(3))
        f = (q / KAOLIN.critical_ratio) ** 2 + P * (P - Pc)
        assert f <= 1e-9 * Pc * Pc
        if point.field("dissipation") > before and Pc > 4.001 * P_R:
            yielded += 1
            assert abs(f) <= 1e-9 * Pc * Pc
    assert yielded > 50


def test_orders_of_parameters_are_checked():
    with pytest.raises(ValueError, match="less than compression_index"):
        CamClayParameters(**(KAOLIN.model_dump() | {"swelling_index": 0.2}))
    with pytest.raises(ValueError, match="three times reference_pressure"):
        CamClayParameters(**(KAOLIN.model_dump() | {"reference_pressure": 3e4}))


def test_undrained_tests_are_on_the_command_line(capsys: pytest.CaptureFixture[str]):
    assert main(["rheometer", "kaolin clay", "--triaxial", "1e5", "--undrained", "--strain", "0.3", "--json"]) == 0
    last = json.loads(capsys.readouterr().out)[-1]
    assert last["axial_strain"] == pytest.approx(0.3)
    assert last["pore_pressure"] == pytest.approx(1e5 - last["mean_stress"] + last["deviator_stress"] / 3.0)
    assert main(["rheometer", "kaolin clay", "--undrained"]) == 2
    assert "--undrained: it belongs to --triaxial" in capsys.readouterr().err
