"""A run with implicit steps killed in a process of its own and resumed in another: the same bits, also of the step
lengths that follow the residuals and of what was counted."""

import pytest
from killed_runs import assert_resumes_after_kill, run_whole

import spume

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
