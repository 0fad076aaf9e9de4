"""Runs with implicit and semi-implicit steps killed in a process of their own and resumed in another: the same bits,
also of the step lengths that follow the residuals and of what was counted."""

import pytest
from killed_runs import assert_resumes_after_kill, assert_same_with_one_thread, run_whole

import spume

pytestmark = pytest.mark.slow_suite

SCENE = """\
title = "a disc of silicone falls onto a rough floor and a turning paddle"
method = "mpm"
dimension = 2
duration = 0.24
frame_rate = 50
seed = 5

[grid]
cell = 0.02
spline = "quadratic"
walls = { lower = [-0.5, 0.0], upper = [0.5, 1.0], contact = "separate", friction = 0.3 }

[time]
integrator = "implicit"
max_dt = 0.01

[implicit]
iterations = 6
accepted_residual = 0.05

[material.silicone]
law = "viscoelastic"
density = 1000.0
shear_modulus = 2e4
lame_modulus = 8e4
viscous_shear_modulus = 2e4
viscous_lame_modulus = 8e4
deviatoric_viscosity = 2e3
volumetric_viscosity = 2e3

[[body]]
material = "silicone"
shape = { circle = { center = [0.0, 0.15], radius = 0.1 } }
velocity = [0.5, -2.0]
spin = 3.0
fill = { jitter = 0.3 }

[[obstacle]]
shape = { rectangle = { center = [0.2, 0.1], size = [0.1, 0.05] } }
contact = "stick"
motion = { rotate = { rate = 4.0, about = [0.2, 0.1] } }
"""

SAND = """\
title = "a column of dry sand collapses in semi-implicit steps, under a spout"
method = "mpm"
dimension = 2
duration = 0.1
frame_rate = 50

[grid]
cell = 0.02
spline = "quadratic"

[time]
integrator = "semi-implicit"
max_dt = 0.005

[semi_implicit]
iterations = 3
unilateral = { a = -3e-3, b = 0.0, c0 = 1e-2, v0 = 1.0 }

[material."soft sand"]
base = "dry sand"
youngs_modulus = 1.6e4

[[body]]
material = "soft sand"
shape = { rectangle = { center = [0.0, 0.1], size = [0.16, 0.2] } }

[[emitter]]
material = "soft sand"
shape = { rectangle = { center = [0.0, 0.3], size = [0.06, 0.04] } }
velocity = [0.0, -1.0]

[[obstacle]]
shape = { half_plane = { point = [0.0, 0.0], normal = [0.0, 1.0] } }
contact = "separate"
friction = 0.6
"""


@pytest.fixture(scope="module")
def scene(tmp_path_factory):
    """The scene file, and the folder of its uninterrupted run."""
    return run_whole(tmp_path_factory.mktemp("implicit"), SCENE)


def test_the_residuals_shorten_steps(scene):
    last = spume.open_run(scene[1]).diagnostics[-1]
    assert last["repeated_steps"] + last["unconverged_steps"] > 0
    assert last["steps"] > 24 + last["repeated_steps"]


@pytest.mark.parametrize("frame", [2, 6])
def test_killed_and_resumed(scene, tmp_path, frame):
    assert_resumes_after_kill(*scene, tmp_path / "run", frame)


@pytest.fixture(scope="module")
def sand(tmp_path_factory):
    """The scene file of the sand, and the folder of its uninterrupted run."""
    return run_whole(tmp_path_factory.mktemp("sand"), SAND)


def test_three_iterations_leave_steps_of_sand_to_be_repeated(sand):
    assert spume.open_run(sand[1]).diagnostics[-1]["repeated_steps"] > 0


def test_sand_killed_and_resumed(sand, tmp_path):
    assert_resumes_after_kill(*sand, tmp_path / "run", 2)


def test_sand_on_one_thread_and_two(sand, tmp_path):
    assert_same_with_one_thread(*sand, tmp_path / "run")
