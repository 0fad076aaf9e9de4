"""Impulses on obstacles: what the material loses is what the obstacles and gravity get, for every method."""

from typing import Any

import numpy as np
import pytest

import spume
from spume.matter.obstacle_loads import split

GROUND = {"name": "ground", "shape": {"half_plane": {"point": [0.0, 0.0], "normal": [0.0, 1.0]}}}
SIDE = {"name": "side", "shape": {"half_plane": {"point": [0.05, 0.0], "normal": [-1.0, 0.0]}}}
BLOCK = {"shape": {"rectangle": {"center": [0.02, 0.021], "size": [0.04, 0.04]}}, "velocity": [0.6, -0.4]}
COMMON: dict[str, Any] = {
    "title": "loads", "dimension": 2, "duration": 1.0, "grid": {"cell": 0.01},
    "measure": [{"name": "weight", "what": {"force": {"obstacle": "ground"}}}],  # loads are summed up on demand only
}  # fmt: skip
QUADRATIC = {"cell": 0.01, "spline": "quadratic"}
"""As in other tests of implicit steps, whose kernels these share."""
G = np.array([0.0, -9.81])

SCENES: dict[str, dict[str, Any]] = {
    "explicit": {"method": "mpm", "body": [{**BLOCK, "material": "gelatin"}]},
    "flip": {"method": "mpm", "body": [{**BLOCK, "material": "gelatin"}], "transfer": {"scheme": "flip"}},
    "foam": {"method": "continuum-foam", "body": [{**BLOCK, "material": "shaving cream"}]},
    "point-based": {
        "method": "point-based",
        "grid": None,
        "points": {"spacing": 0.005},
        "body": [{**BLOCK, "material": "modelling clay"}],
    },
    "sand-water": {
        "method": "sand-water",
        "body": [
            {**BLOCK, "material": "wet sand"},
            {**BLOCK, "material": "water"},
        ],
        "mixture": {"hydraulic_conductivity": 1e-3},
    },
    "semi-implicit sand-water": {
        "method": "sand-water",
        "body": [
            {**BLOCK, "material": "wet sand"},
            {**BLOCK, "material": "water"},
        ],
        "mixture": {"hydraulic_conductivity": 1e-3},
        "time": {"integrator": "semi-implicit", "max_dt": 2e-3},
        "semi_implicit": {"tolerance": 1e-8, "iterations": 20, "linear_tolerance": 1e-8},
    },
    "newton": {
        "method": "mpm",
        "grid": QUADRATIC,
        "body": [{**BLOCK, "material": "gelatin"}],
        "time": {"integrator": "implicit", "max_dt": 2e-3},
        "implicit": {"solver": "newton", "tolerance": 1e-9},
    },
    "admm": {
        "method": "mpm",
        "grid": QUADRATIC,
        "body": [{**BLOCK, "material": "gelatin"}],
        "time": {"integrator": "implicit", "max_dt": 2e-3},
        "implicit": {"tolerance": 1e-7, "iterations": 400, "linear_tolerance": 1e-9},
    },
    "semi-implicit solid": {
        "method": "mpm",
        "grid": QUADRATIC,
        "body": [{**BLOCK, "material": "gelatin"}],
        "time": {"integrator": "semi-implicit", "max_dt": 2e-3},
        "semi_implicit": {"tolerance": 1e-8, "iterations": 20, "linear_tolerance": 1e-8},
    },
}
ROUNDING = 1e-11
TOLERANCES = dict.fromkeys(SCENES, ROUNDING) | {
    "newton": 1e-7,
    "admm": 1e-5,
    "semi-implicit solid": 1e-6,
    "semi-implicit sand-water": 1e-6,
}
"""Part of the momentum that came in: rounding of some hundred steps, or what the solver's own tolerance leaves."""


def simulation(name: str, contact: dict[str, Any]) -> spume.Simulation:
    tables = {**COMMON, **SCENES[name], "obstacle": [{**GROUND, **contact}, {**SIDE, **contact}]}
    return spume.Simulation({key: value for key, value in tables.items() if value is not None})


SLOW = "semi-implicit sand-water"


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow_suite) if name == SLOW else name for name in SCENES]
)
def test_obstacles_get_the_momentum_that_the_material_loses(name: str) -> None:
    """Momentum: P(t) = P(0) + M g t − Σ impulses of the obstacles. Both obstacles are hit."""
    sim = simulation(name, {"contact": "separate", "friction": 0.3})
    before = sim.diagnostics()
    sim.advance(0.05)
    after = sim.diagnostics()
    impulses = [np.array(each["impulse"]) for each in after["obstacles"].values()]
    expected = np.array(before["momentum"]) + before["mass"] * G * sim.time - np.array(after["momentum"])
    scale = before["mass"] * 0.05 * 9.81 + np.linalg.norm(before["momentum"])
    np.testing.assert_allclose(sum(impulses), expected, rtol=0, atol=TOLERANCES[name] * scale)
    ground, side = (np.array(after["obstacles"][key]["impulse"]) for key in ("ground", "side"))
    assert ground[1] < -0.1 * scale, "the ground is pressed down"
    assert side[0] > 0.1 * scale, "the side is pressed outwards"


@pytest.mark.parametrize(
    ("integrator", "coupling"),
    [
        ("explicit", "drag"),
        pytest.param("explicit", "pore-pressure", marks=pytest.mark.slow_suite),
        *(("semi-implicit", coupling) for coupling in ("drag", "pore-pressure")),
    ],
)
def test_the_floor_carries_the_weight_of_sand_and_water(integrator: str, coupling: str) -> None:
    """Wet sand between walls without friction. Gravity sets in at once, so the column rings with speeds of up to g H/c
    (of a point at rest volume that falls for the time a wave takes through the height H), and the mean force over T is
    the weight to within 2 M g H/c / T, undamped."""
    height, speed, duration = 0.04, 10.0, 0.4
    walls = [{"name": name, "shape": {"half_plane": {"point": [x, 0.0], "normal": [n, 0.0]}}, "contact": "slip"}
             for name, x, n in (("left", 0.0, 1.0), ("right", 0.04, -1.0))]  # fmt: skip
    shape = {"rectangle": {"center": [0.02, 0.5 * height], "size": [0.04, height]}}
    sand = {"law": "drucker-prager", "density": 1600.0, "youngs_modulus": 1.6e5, "poisson_ratio": 0.0,
            "friction_angle": 30.0}  # fmt: skip
    water = {"law": "water", "density": 400.0, "bulk_modulus": 4e4}
    sim = spume.Simulation({
        **COMMON, "method": "sand-water", "obstacle": [{**GROUND, "contact": "slip"}, *walls],
        "material": {"sand": sand, "water": water},
        "body": [{"material": "sand", "shape": shape}, {"material": "water", "shape": shape}],
        "mixture": {"hydraulic_conductivity": 1e-3, "coupling": coupling}, "time": {"integrator": integrator},
    })  # fmt: skip
    before = sim.diagnostics()
    sim.advance(duration)
    force = np.array(sim.diagnostics()["obstacles"]["ground"]["impulse"]) / sim.time
    weight = before["mass"] * 9.81
    assert -force[1] == pytest.approx(weight, rel=2 * height / (speed * duration))


@pytest.mark.parametrize("contact", ["stick", "slip", "separate"])
def test_obstacles_get_the_angular_momentum_that_the_material_loses(contact: str) -> None:
    """About the origin: L(t) = L(0) + M ∫ x̄ × g dt − Σ angular impulses. The centre x̄ of the steps is not known, but
    without gravity the balance is exact with APIC, which conserves angular momentum on the way to the grid and back."""
    tables = {**COMMON, **SCENES["explicit"], "gravity": [0.0, 0.0]}
    sim = spume.Simulation({**tables, "obstacle": [{**GROUND, "contact": contact}, {**SIDE, "contact": contact}]})
    before = sim.diagnostics()
    sim.advance(0.03)
    after = sim.diagnostics()
    got = sum(np.array(each["angular_impulse"]) for each in after["obstacles"].values())
    lost = np.array(before["angular_momentum"]) - np.array(after["angular_momentum"])
    scale = np.linalg.norm(before["momentum"]) * 0.05
    assert abs(lost[2]) > 0.01 * scale
    np.testing.assert_allclose(got, lost, rtol=0, atol=ROUNDING * scale)


def test_loads_are_the_same_bits_for_any_number_of_threads() -> None:
    import numba

    if numba.config.NUMBA_NUM_THREADS < 2:
        pytest.skip("needs two threads")
    found = []
    for threads in (1, 2):
        numba.set_num_threads(threads)
        sim = simulation("explicit", {"contact": "separate"})
        sim.advance(0.02)
        found.append(sim.diagnostics()["obstacles"])
    assert found[0] == found[1]


def test_an_impulse_in_a_corner_is_split_along_the_normals_and_friction_goes_to_the_larger_part() -> None:
    node = np.array([3, 7, 7, 9])
    normal = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 1.0, 0.0]])
    impulse = np.array([[1.0, 2.0, 0.0], [2.0, 5.0, 0.7], [2.0, 5.0, 0.7], [0.0, 1.0, 0.0]])
    parts = split(node, normal, impulse)
    np.testing.assert_allclose(parts, [[1, 2, 0], [2, 0, 0], [0, 5, 0.7], [0, 1, 0]], rtol=0, atol=1e-7)


def test_an_impulse_is_kept_where_obstacles_share_a_normal() -> None:
    same = np.array([[0.0, 1.0], [0.0, 1.0]])
    parts = split(np.array([4, 4]), same, np.array([[0.0, 3.0], [0.0, 3.0]]))
    np.testing.assert_allclose(parts.sum(axis=0), [0.0, 3.0], rtol=0, atol=1e-12)


def test_a_scene_that_asks_for_no_force_sums_up_none() -> None:
    tables = {**COMMON, **SCENES["explicit"], "measure": [], "obstacle": [{**GROUND, "contact": "stick"}]}
    sim = spume.Simulation(tables)
    sim.advance(0.01)
    assert "obstacles" not in sim.diagnostics()
