"""The point-based method killed in a process of its own and resumed in another: the same bits, with tearing, recovery
and resampling at work and lists that were built before the kill."""

import pytest
from killed_runs import assert_resumes_after_kill, assert_same_with_one_thread, run_whole

import spume

pytestmark = pytest.mark.slow_suite

SCENE = """\
title = "a stretched ball of paste falls on a turning paddle"
method = "point-based"
duration = 0.06
frame_rate = 100
seed = 5
gravity = [0.0, -9.81, 0.0]

[points]
spacing = 0.01

[forces]
pressure = 1e4
viscosity = 1.0

[tearing]
threshold = 0.5
recovery_time = 0.05

[resampling]
enabled = true
every = 5
coverage = 0.9
merge_distance = 0.6

[material.paste]
law = "corotated-plastic"
density = 1000.0
youngs_modulus = 1e5
poisson_ratio = 0.3
flow_rate = 500.0
yield_stress = 100.0

[[body]]
material = "paste"
shape = { sphere = { center = [0.0, 0.04, 0.0], radius = 0.04 } }
velocity = [0.2, -1.0, 0.0]
fill = { jitter = 0.3 }

[[force]]
center = [0.0, 0.04, 0.0]
growth = [2e3, 0.0, 0.0]

[[obstacle]]
shape = { box = { center = [0.0, -0.02, 0.0], size = [0.1, 0.02, 0.1] } }
contact = "stick"
motion = { rotate = { axis = [0.0, 1.0, 0.0], rate = 4.0 } }
"""


@pytest.fixture(scope="module")
def scene(tmp_path_factory):
    """The scene file, and the folder of its uninterrupted run."""
    return run_whole(tmp_path_factory.mktemp("points"), SCENE)


def test_the_scene_tears_and_is_resampled(scene):
    """Otherwise the tests below would say nothing about it."""
    report = spume.open_run(scene[1]).diagnostics[-1]
    assert report["weak_points"] > 0
    assert report["points_inserted"] > 0
    assert report["pairs_merged"] > 0


@pytest.mark.parametrize("frame", [0, 3])
def test_killed_and_resumed(scene, tmp_path, frame):
    assert_resumes_after_kill(*scene, tmp_path / "run", frame)


def test_one_thread_and_two_give_the_same_bits(scene, tmp_path):
    assert_same_with_one_thread(*scene, tmp_path / "run")
