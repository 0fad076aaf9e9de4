"""Scenes on ranks have the bits of one process: every point, and what is summed over all of them."""

import copy

import numba
import numpy as np
import pytest
from lockstep import on_ranks
from rank_states import assert_same_states, state

from spume.scene.loading import load_scene

FOAM = {
    "title": "three pieces of foam meet above the ground",
    "method": "continuum-foam",
    "dimension": 2,
    "duration": 1.0,
    "grid": {"cell": 0.015},
    "material": {"weak": {"base": "shaving cream", "viscosity": 0.5, "yield_stress": 5.0, "tear_threshold": 0.05}},
    "body": [
        {
            "material": "weak",
            "shape": {"rectangle": {"center": [-0.08, 0.062], "size": [0.1, 0.12]}},
            "velocity": [1.5, 0.3],
            "spin": 8.0,
        },
        {"material": "weak", "shape": {"circle": {"center": [0.06, 0.09], "radius": 0.05}}, "velocity": [-2.0, -1.0]},
        {
            "material": "weak",
            "shape": {"circle": {"center": [0.0, 0.2], "radius": 0.03}},
            "velocity": [0.0, -3.0],
            "fill": {"jitter": 1.0},
        },
    ],
    "obstacle": [
        {"name": "ground", "shape": {"half_space": {"point": [0.0, 0.0], "normal": [0.0, 1.0]}}, "contact": "stick"}
    ],
    "measure": [
        {"name": "push", "what": {"force": {"obstacle": "ground"}}},
        {"name": "flow", "what": {"discharge": {"point": [0.0, 0.1], "normal": [0.0, -1.0]}}},
    ],
    "resampling": {"every": 7, "merge_distance": 0.4},
    "subgrid_removal": {"every": 4, "smallest": 0.3},
    "frames": {"energy": True},
}
"""It tears, is removed, resampled, and its pieces have velocity fields of their own."""


def elsewhere(factor: float, shift: float) -> dict:
    """The scene FOAM with all x multiplied by `factor`, 1 or −1, and moved by `shift` along both axes [m]."""
    scene = copy.deepcopy(FOAM)
    for body in scene["body"]:
        (shape,) = body["shape"].values()
        shape["center"] = [factor * shape["center"][0] + shift, shape["center"][1] + shift]
        body["velocity"] = [factor * body["velocity"][0], body["velocity"][1]]
        body["spin"] = factor * body.get("spin", 0.0)
    scene["obstacle"][0]["shape"]["half_space"]["point"] = [0.0, shift]
    scene["measure"][1]["what"]["discharge"]["point"] = [shift, 0.1 + shift]
    return scene


STRIP = {
    "title": "two drops of foam fall on a long strip of it",
    "method": "continuum-foam",
    "dimension": 2,
    "duration": 1.0,
    "grid": {"cell": 0.01},
    "body": [
        {"material": "shaving cream", "shape": {"rectangle": {"center": [0.0, 0.06], "size": [2.4, 0.1]}}},
        {
            "material": "shaving cream",
            "shape": {"circle": {"center": [-1.0, 0.19], "radius": 0.06}},
            "velocity": [0.0, -6.0],
        },
        {
            "material": "shaving cream",
            "shape": {"circle": {"center": [0.7, 0.17], "radius": 0.04}},
            "velocity": [3.0, -6.0],
        },
    ],
    "obstacle": FOAM["obstacle"],
    "resampling": {"every": 10, "merge_distance": 0.3},
}
"""Most of it needs no resampling, so ranks hand over a part of the points only."""
SHAVING = ["grid.cell=0.012", "resampling.every=5", "recovery.every=3", "subgrid_removal.every=4"]
DISCS = ["grid.cell=0.012", "grid.spline='quadratic'", "body.0.volume='grid'"]
SCENES = {
    "foam": (lambda: load_scene(FOAM), 60),
    "mirrored foam": (lambda: load_scene(elsewhere(-1.0, 0.0)), 60),
    "foam half a cell away": (lambda: load_scene(elsewhere(1.0, 0.0075)), 60),
    "foam far away": (lambda: load_scene(elsewhere(1.0, -73.3)), 60),
    "strip": (lambda: load_scene(STRIP), 160),
    "colliding-discs": (lambda: load_scene("colliding-discs", DISCS), 60),
    "shaving-cream": (lambda: load_scene("shaving-cream", SHAVING, preset="draft"), 12),
    "paddle": (lambda: load_scene("paddle", ["grid.cell=0.02"]), 20),
    "toothpaste": (lambda: load_scene("toothpaste", (), preset="draft"), 60),
    "dam-breach-2d": (lambda: load_scene("dam-breach-2d", (), preset="draft"), 24),
    "sand-column": (lambda: load_scene("sand-column", (), preset="draft"), 40),
    "silicone-thread": (lambda: load_scene("silicone-thread", (), preset="draft"), 250),
    "cream-rosette": (lambda: load_scene("cream-rosette", (), preset="draft"), 120),
    "dough-star": (lambda: load_scene("dough-star", (), preset="draft"), 60),
}
LONG = (
    "mirrored foam", "foam half a cell away", "foam far away", "strip", "dam-breach-2d", "paddle", "toothpaste",
    "sand-column", "shaving-cream", "cream-rosette", "dough-star", "silicone-thread",
)  # fmt: skip


@pytest.mark.parametrize(
    ("name", "size", "threads"),
    [
        ("foam", 3, 1),
        pytest.param("foam", 4, 2, marks=pytest.mark.slow_suite),
        pytest.param("foam", 8, 1, marks=pytest.mark.slow_suite),
        ("colliding-discs", 2, 1),
        *[pytest.param(name, size, 1, marks=pytest.mark.slow_suite) for name in LONG for size in (2, 4)],
    ],
)
def test_scenes_on_ranks_have_the_bits_of_one_process(name, size, threads):
    build, steps = SCENES[name]
    threads = min(threads, numba.config.NUMBA_NUM_THREADS)
    ranks = on_ranks(size, lambda messages: state(build(), steps, messages, threads))
    assert_same_states(state(build(), steps), ranks)


def test_the_foam_of_these_tests_does_everything():
    build, steps = SCENES["foam"]
    _, values = state(build(), steps)
    counters = values[-2]
    assert counters["points_inserted"] > 0
    assert counters["pairs_merged"] > 0
    assert counters["points_removed"] > 0
    loads, passed = values[3], values[4]
    assert np.abs(loads["ground"]["impulse"]).max() > 0
    assert passed["flow"] != 0
