"""The material point method killed in a process of its own, and resumed in another: the same bits, whether the kernels
came from the cache or were compiled."""

import shutil
import subprocess
import sys

import pytest
from killed_runs import (
    assert_resumes_after_kill,
    assert_same_run,
    assert_same_with_one_thread,
    finish,
    run_whole,
    start,
    wait_for_frame,
)

from spume.numerics.jit import cache_directory
from spume.runs.progress import COMPILING

pytestmark = pytest.mark.slow_suite

SCENE = """\
title = "a spinning disc, a stream and a paddle in a box"
method = "mpm"
dimension = 2
duration = 0.2
frame_rate = 50
seed = 5

[grid]
cell = 0.02
spline = "quadratic"
walls = { lower = [-0.5, 0.0], upper = [0.5, 1.0], contact = "separate", friction = 0.2 }

[[body]]
material = "soft rubber"
shape = { circle = { center = [0.0, 0.2], radius = 0.1 } }
velocity = [0.5, -1.0]
spin = 3.0
fill = { jitter = 0.3 }

[[emitter]]
material = "gelatin"
shape = { rectangle = { center = [-0.3, 0.5], size = [0.1, 0.1] } }
velocity = [1.0, -1.0]
rate = { times = [0.0, 0.05, 0.1, 0.2], values = [0.1, 0.15, 0.0, 0.1] }
motion = { combine = { of = [
    { rotate = { rate = 3.0, about = [-0.3, 0.5] } },
    { polyline = { points = [[0.0, 0.0], [0.1, 0.0], [0.1, 0.2]], stop = 0.2 } },
] } }
fill = { jitter = 0.2 }
barrel = 0.05

[[obstacle]]
shape = { rectangle = { center = [0.2, 0.1], size = [0.1, 0.05] } }
contact = "stick"
motion = { rotate = { rate = 4.0, about = [0.2, 0.1] } }
"""

INTERRUPTED = """\
import os, signal, sys

from spume.cli import main
from spume.runs.progress import Plain


def step(self, progress):
    if progress.time > 0.045:
        os.kill(os.getpid(), signal.SIGINT)
    plain_step(self, progress)


plain_step, Plain.step = Plain.step, step
sys.exit(main(sys.argv[1:]))
"""
"""The command line, which gets a Ctrl-C after a step between the frames at 0.04 s and 0.06 s."""


@pytest.fixture(scope="module")
def scene(tmp_path_factory):
    """The scene file, and the folder of its uninterrupted run."""
    return run_whole(tmp_path_factory.mktemp("mpm"), SCENE)


@pytest.mark.parametrize("frame", [0, 4])
def test_killed_and_resumed(scene, tmp_path, frame):
    assert_resumes_after_kill(*scene, tmp_path / "run", frame)


def test_killed_while_its_kernels_were_still_compiled_and_resumed_with_those_of_the_cache(scene, tmp_path):
    """Only the laws' kernels are missing from this cache: compiling all kernels would take half a minute."""
    file, whole = scene
    shutil.copytree(cache_directory(), tmp_path / "cache" / "kernels")
    missing = list((tmp_path / "cache" / "kernels").rglob("spume.materials.loops.*"))
    for kernel in missing:
        kernel.unlink()
    process = start(file, tmp_path / "run", SPUME_CACHE_DIR=str(tmp_path / "cache"))
    wait_for_frame(process, tmp_path / "run", 2)
    process.kill()
    _, err = process.communicate()
    assert missing
    assert COMPILING in err
    finish("resume", str(tmp_path / "run"))
    assert_same_run(tmp_path / "run", whole)


def test_interrupted_in_the_middle_of_a_frame_and_resumed(scene, tmp_path):
    file, whole = scene
    arguments = [sys.executable, "-c", INTERRUPTED, "run", str(file), "--out", str(tmp_path / "run")]
    process = subprocess.run(arguments, capture_output=True, text=True)
    assert process.returncode == 130
    assert f"spume resume {tmp_path / 'run'}" in process.stdout
    assert "Traceback" not in process.stderr
    finish("resume", str(tmp_path / "run"))
    assert_same_run(tmp_path / "run", whole)


def test_one_thread_and_two_give_the_same_bits(scene, tmp_path):
    assert_same_with_one_thread(*scene, tmp_path / "run")
