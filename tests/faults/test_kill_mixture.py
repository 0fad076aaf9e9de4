"""Mixtures of sand and water killed and resumed, and on one thread and two: the same bits."""

import pytest
from killed_runs import assert_resumes_after_kill, assert_same_with_one_thread, run_whole

pytestmark = pytest.mark.slow_suite

SCENE = """\
title = "water runs over a heap of sand"
method = "sand-water"
dimension = 2
duration = 0.1
frame_rate = 50

[grid]
cell = 0.04
walls = {{ lower = [-0.6, 0.0], upper = [0.6, 1.0], contact = "separate", friction = 0.3 }}

[time]
integrator = "{integrator}"
max_dt = 0.005

[mixture]
hydraulic_conductivity = 0.01
coupling = "{coupling}"

[material."soft sand"]
base = "wet sand"
youngs_modulus = 1.0e5

[material.river]
base = "water"
bulk_modulus = 1.0e5

[[body]]
material = "soft sand"
shape = {{ rectangle = {{ center = [0.1, 0.16], size = [0.4, 0.32] }} }}

[[emitter]]
material = "river"
shape = {{ rectangle = {{ center = [-0.3, 0.3], size = [0.08, 0.2] }} }}
velocity = [1.5, 0.0]

[[obstacle]]
shape = {{ rectangle = {{ center = [0.6, 0.0], size = [0.4, 0.1] }} }}
drained = true

[[force]]
acceleration = [1.0, 0.0]
"""
KINDS = [
    ("explicit", "drag"),
    ("explicit", "pore-pressure"),
    ("semi-implicit", "drag"),
    ("semi-implicit", "pore-pressure"),
]


@pytest.fixture(scope="module", params=KINDS, ids=lambda kind: f"{kind[0]}, {kind[1]}")
def scene(request, tmp_path_factory):
    """The scene file, and the folder of its uninterrupted run."""
    integrator, coupling = request.param
    return run_whole(tmp_path_factory.mktemp("mixture"), SCENE.format(integrator=integrator, coupling=coupling))


def test_killed_and_resumed(scene, tmp_path):
    assert_resumes_after_kill(*scene, tmp_path / "run", 2)


def test_one_thread_and_two_give_the_same_bits(scene, tmp_path):
    assert_same_with_one_thread(*scene, tmp_path / "run")
