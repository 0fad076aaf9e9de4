"""Runs on ranks by MPI, for real: frames, checkpoints, refusals, and what happens when a rank fails."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import mpi_runs
import pytest
from mpi_runs import assert_same, finish, start
from waiting import wait_until

SCENE = """
title = "two discs meet above a ground"
method = "mpm"
dimension = 2
duration = 0.06
frame_rate = 100
[grid]
cell = 0.012
[transfer]
scheme = "flip"
[[body]]
material = "soft rubber"
shape = { circle = { center = [-0.08, 0.07], radius = 0.06 } }
velocity = [1.0, -0.5]
[[body]]
material = "soft rubber"
shape = { circle = { center = [0.08, 0.07], radius = 0.06 } }
velocity = [-1.0, -0.5]
[[obstacle]]
name = "ground"
shape = { half_space = { point = [0.0, 0.0], normal = [0.0, 1.0] } }
friction = 0.3
[[measure]]
name = "push"
what = { force = { obstacle = "ground" } }
[[measure]]
name = "middle"
what = { rebound = { direction = [0.0, 1.0] } }
"""
EVERY_METHOD = {
    "mpm": ("colliding-discs", 4, ("duration=0.03",)),
    "continuum-foam": ("shaving-cream", 3, ("grid.cell=0.012", "duration=0.1", "frame_rate=60")),
    "sand-water": ("dam-breach-2d", 4, ("grid.cell=0.02", "duration=0.02", "frame_rate=100")),
    "point-based": ("dough-star", 4, ("points.spacing=0.0075", "duration=0.05")),
    "implicit": ("roller", 4, ("grid.cell=0.04", "duration=0.09")),
    "total frame": ("roller", 4, ("grid.cell=0.04", "grid.frame=total", "duration=0.03", "frame_rate=100")),
    "semi-implicit": ("dam-breach-2d-semi-implicit", 3, ("grid.cell=0.12", "duration=0.02", "frame_rate=100")),
}
"""Scene, ranks, changes."""


@pytest.fixture
def scene(tmp_path: Path) -> Path:
    file = tmp_path / "scene.toml"
    file.write_text(SCENE)
    return file


def whole_run(scene: Path, *changes: str) -> Path:
    folder = scene.parent / "whole"
    assert finish(1, "run", str(scene), "--out", str(folder), *changes).returncode == 0
    return folder


def changed(*pairs: str) -> list[str]:
    return [word for pair in pairs for word in ("--set", pair)]


def test_a_run_on_two_ranks_writes_the_frames_of_one(scene):
    few = changed("duration=0.02")
    whole = whole_run(scene, *few)
    done = finish(2, "run", str(scene), "--out", str(scene.parent / "two"), *few)
    assert done.returncode == 0, done.stderr
    assert_same(scene.parent / "two", whole)


@pytest.mark.slow_suite
def test_the_option_starts_the_ranks(scene):
    line = [sys.executable, "-m", "spume", "run", str(scene), "--out", str(scene.parent / "two"), "--ranks=2"]
    done = subprocess.run([*line, *changed("duration=0.01")], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    assert (scene.parent / "two" / "frames" / "frame_00001.safetensors").exists()


@pytest.mark.slow_suite
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_any_number_of_ranks_and_threads_writes_the_same_frames(scene, size, threads):
    whole = whole_run(scene)
    done = finish(size, "run", str(scene), "--out", str(scene.parent / "ranks"), threads=threads)
    assert done.returncode == 0, done.stderr
    assert_same(scene.parent / "ranks", whole)


@pytest.mark.slow_suite
@pytest.mark.parametrize("method", EVERY_METHOD)
def test_built_in_scenes_on_ranks_write_the_frames_of_one(tmp_path, method):
    scene, size, values = EVERY_METHOD[method]
    arguments = ["run", scene, *changed(*values)]
    assert finish(1, *arguments, "--out", str(tmp_path / "whole")).returncode == 0
    assert finish(size, *arguments, "--out", str(tmp_path / "ranks")).returncode == 0
    assert_same(tmp_path / "ranks", tmp_path / "whole")


def stopped_at_frame(process: subprocess.Popen, folder: Path, number: int) -> None:
    file = folder / "frames" / f"frame_{number:05d}.safetensors"
    wait_until(lambda: file.exists() or process.poll() is not None, f"there is {file}", pause=0.002)


@pytest.mark.slow_suite
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_all_ranks_and_another_number_of_ranks_goes_on(scene, number):
    whole, folder = whole_run(scene), scene.parent / "ranks"
    line = [sys.executable, "-m", "spume", "run", str(scene), "--out", str(folder), "--ranks", "3"]
    process = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    stopped_at_frame(process, folder, 2)
    process.send_signal(number)
    said, _ = process.communicate(timeout=60)
    assert process.returncode != 0
    assert f"spume resume {folder}" in said
    assert finish(2, "resume", str(folder)).returncode == 0
    assert_same(folder, whole)


@pytest.mark.slow_suite
@pytest.mark.parametrize("attempt", range(6))
def test_a_killed_rank_ends_the_run_and_the_frames_stay_good(scene, attempt):
    whole, folder = whole_run(scene), scene.parent / "ranks"
    if attempt % 2:
        script = scene.parent / "in_parts.py"
        script.write_text(FAULT.format(rank=-1, fault="pass", whole_up_to=0))
        process = mpi_runs.start_line([*mpi_runs.command(3)[:4], str(script), "run", str(scene), "--out", str(folder)])
    else:
        process = start(3, "run", str(scene), "--out", str(folder))
    stopped_at_frame(process, folder, attempt)
    rng = random.Random(attempt)
    time.sleep(rng.uniform(0.0, 0.2))
    if children := ranks_of(process, folder):
        os.kill(rng.choice(children), signal.SIGKILL)
    process.communicate(timeout=60)
    assert finish(rng.choice([1, 2, 4]), "resume", str(folder)).returncode == 0
    assert_same(folder, whole)


def ranks_of(process: subprocess.Popen, folder: Path) -> list[int]:
    """The processes of the ranks of a run."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            words = (place / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if str(folder).encode() in words and b"-n" not in words and int(place.name) != process.pid:
            found.append(int(place.name))
    return found


@pytest.mark.slow_suite
def test_a_simulation_that_fails_ends_all_ranks_with_one_sentence(scene):
    wrong = changed("time.dt=0.002")
    alone = finish(1, "run", str(scene), "--out", str(scene.parent / "one"), *wrong)
    done = finish(3, "run", str(scene), "--out", str(scene.parent / "ranks"), *wrong)
    assert done.returncode == alone.returncode == 3
    errors = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    assert len(errors) == 1, done.stderr
    assert "Traceback" not in done.stderr


FAULT = """
import sys
from spume.runs.launching import communicator
import spume.runs.crew as crew
crew.WHOLE_UP_TO = {whole_up_to}
import spume.mpm.species as species
from spume.cli import main
calls = 0
original = species.GridSpecies.gather
def gather(self, dt):
    global calls
    calls += 1
    if calls == 7 and communicator().rank == {rank}:
        {fault}
    original(self, dt)
species.GridSpecies.gather = gather
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.slow_suite
@pytest.mark.parametrize("rank", [0, 1])
def test_an_exception_on_a_rank_ends_all_ranks(scene, rank):
    script, folder = scene.parent / "fault.py", scene.parent / "ranks"
    script.write_text(FAULT.format(rank=rank, fault="raise MemoryError('no memory left')", whole_up_to=0))
    line = [*mpi_runs.command(3)[:4], str(script), "run", str(scene), "--out", str(folder)]
    done = subprocess.run(line, capture_output=True, text=True, env=mpi_runs.environment(), timeout=120)
    assert done.returncode != 0
    assert "no memory left" in done.stderr
    assert finish(2, "resume", str(folder)).returncode == 0
    assert_same(folder, whole_run(scene))


@pytest.mark.slow_suite
@pytest.mark.parametrize(("rank", "whole_up_to"), [(0, 200_000), (2, 0)])
def test_a_full_disk_ends_all_ranks_with_one_sentence(scene, rank, whole_up_to):
    script, folder = scene.parent / "fault.py", scene.parent / "ranks"
    full = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (2000, resource.RLIM_INFINITY))"
    script.write_text(FAULT.format(rank=rank, fault=full, whole_up_to=whole_up_to))
    line = [*mpi_runs.command(3)[:4], str(script), "run", str(scene), "--out", str(folder)]
    done = subprocess.run(line, capture_output=True, text=True, env=mpi_runs.environment(), timeout=120)
    assert done.returncode != 0
    errors = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    assert len(errors) == 1, done.stderr
    assert "Traceback" not in done.stderr
    assert finish(2, "resume", str(folder)).returncode == 0
    assert_same(folder, whole_run(scene))


@pytest.mark.slow_suite
def test_a_scene_that_ranks_cannot_run_is_refused_with_one_sentence(tmp_path):
    done = finish(2, "run", "dry-foam-shear", "--out", str(tmp_path / "run"))
    assert done.returncode == 2
    lines = [line for line in done.stderr.splitlines() if line]
    assert lines == [
        "error: the method 'dry-foam' does not run on several ranks yet: 'mpm', 'continuum-foam', 'sand-water' and "
        "'point-based' do; use one rank"
    ]
