"""Scenes that are well formed and make no sense: refused in one sentence with the figures, before anything is spent."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

from spume import Scene, SceneError, Simulation, memory
from spume.foam.plain import MaterialPointMethod
from spume.runs.loop import start_run

SPHERE = {"sphere": {"center": [0, 0.2, 0], "radius": 0.1}}
BODY = {"name": "ball", "material": "soft rubber", "shape": SPHERE}
SLOT = {
    "material": "soft rubber",
    "shape": {"box": {"center": [0, 5, 0], "size": [0.1, 0.1, 0.1]}},
    "velocity": [0, -1, 0],
}
WIDE = SLOT | {"shape": {"box": {"center": [0, 5, 0], "size": [10, 0.1, 10]}}}
GROUND = {"name": "ground", "shape": {"half_space": {"point": [0, 0, 0], "normal": [0, 1, 0]}}}


def tables(**changes):
    plain = {"title": "t", "method": "mpm", "duration": 1.0, "grid": {"cell": 0.02}, "body": [BODY]}
    return plain | changes


TOO_MANY = {
    "cells of 0.05 mm": (tables(grid={"cell": 5e-5}), r"2\.68e\+11 points.*187\.7 TB|187\.7 TB.*2\.68e\+11 points"),
    "cells of a nanometre": (tables(grid={"cell": 1e-9}), r"3\.35e\+25 points"),
    "a thousand points per axis": (tables(body=[BODY | {"fill": {"points_per_axis": 1000}}]), r"5\.24e\+11 points"),
    "an emitter ten metres wide": (tables(grid={"cell": 0.002}, emitter=[WIDE]), r"1e\+03 releases of 1e\+08"),
    "a billion copies": (
        tables(emitter=[SLOT | {"copies": {"count": 10**9, "interval": 1e-9}}]),
        r"1e\+09 releases of 1e\+03",
    ),
    "copies without end": (
        tables(emitter=[SLOT | {"copies": {"count": 10**12, "interval": 1e-300}}]),
        r"inf points|e\+",
    ),
    "an emitter for eleven days": (tables(duration=1e6, frame_rate=0.01, emitter=[SLOT]), r"1e\+08 releases"),
}


@pytest.fixture(scope="module", autouse=True)
def kernels_in_memory():
    """Loading kernels takes longer than refusing a scene."""
    MaterialPointMethod.estimate(Scene(**tables(emitter=[SLOT])))


@pytest.mark.parametrize("case", TOO_MANY)
def test_too_many_points_are_refused_within_a_second(case):
    absurd, figures = TOO_MANY[case]
    for attempt in (MaterialPointMethod.estimate, Simulation):
        scene = Scene(**absurd)
        began = time.process_time()
        with pytest.raises(SceneError, match=figures) as caught:
            attempt(scene)
        assert time.process_time() - began < 1.0
        assert "\n" not in str(caught.value)


def test_a_mesh_in_millimetres_is_refused_with_a_hint(tmp_path):
    trimesh = pytest.importorskip("trimesh", reason="needs the package trimesh (extra 'geometry')")
    trimesh.creation.box((100.0, 50.0, 80.0)).export(tmp_path / "box.stl")
    shape = {"mesh": {"file": str(tmp_path / "box.stl")}}
    with pytest.raises(SceneError, match=r"4e\+11 points, .*millimetres, give it scale = 0\.001"):
        MaterialPointMethod.estimate(Scene(**tables(grid={"cell": 0.02}, body=[BODY | {"shape": shape}])))


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"frame_rate": 1e9}, r"frame_rate is 1e\+09 1/s: that makes 1e\+09 frames"),
        ({"duration": 1e-308}, r"duration is 1e-308 s: it should be at least 1e-12 s"),
        ({"material": {"jelly": {"base": "soft rubber", "bulk_modulus": 1e30}}}, "waves of .* faster than light"),
        ({"material": {"jelly": {"base": "soft rubber", "density": 1e-30}}}, "waves of .* faster than light"),
        (
            {"material": {"jelly": {"base": "soft rubber", "bulk_modulus": 1e-30, "shear_modulus": 1e-30}}},
            r"material.jelly has elastic waves of .* its moduli are too small for its density",
        ),
        ({"material": {"jelly": {"base": "soft rubber", "density": 1e30}}}, "may move at 9.81 m/s in this scene"),
    ],
)
@pytest.mark.parametrize("method", ["mpm", "point-based"])
def test_nonsense_is_refused_when_the_scene_is_checked(changes, sentence, method):
    body = [BODY | {"material": "jelly"}] if "material" in changes else [BODY]
    scene = tables(body=body, method=method, **changes)
    if method == "point-based":
        scene["points"] = {"spacing": scene.pop("grid")["cell"]}
    with pytest.raises(SceneError, match=sentence) as caught:
        Scene(**scene)
    assert "\n" not in str(caught.value)


def test_the_advice_names_the_key_of_the_method():
    scene = tables(method="point-based", points={"spacing": 1e-6})
    del scene["grid"]
    with pytest.raises(SceneError, match=r"make the scene smaller, or points\.spacing, 1e-06 m, larger"):
        Simulation(Scene(**scene))


SHEET = {"box": {"center": [0, 0.2, 0], "size": [0.3, 0.1, 0.3]}}


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        (
            {"obstacle": [GROUND | {"shape": {"half_space": {"point": [0, 1, 0], "normal": [0, 1, 0]}}}]},
            "body 'ball' lies wholly inside obstacle 'ground'",
        ),
        (
            {"obstacle": [GROUND | {"motion": {"keyframes": {"times": [0.0], "positions": [[0, 0.5, 0]]}}}]},
            "body 'ball' lies wholly inside obstacle 'ground'",
        ),
        ({"body": [BODY, BODY | {"name": "twin"}]}, r"100 % of body 'ball' is inside body 'twin'"),
        (
            {"grid": {"cell": 0.02, "walls": {"lower": [0, 0, -1], "upper": [1, 1, 1]}}},
            r"body 'ball' reaches 0\.0948 m beyond grid\.walls\.lower along x, with 50 % of its points",
        ),
        (
            {"grid": {"cell": 0.02, "walls": {"lower": [-1, 0, -1], "upper": [1, 0.25, 1]}}},
            r"body 'ball' reaches 0\.0448 m beyond grid\.walls\.upper along y",
        ),
    ],
)
def test_material_that_starts_in_the_wrong_place_is_refused(changes, sentence):
    scene = Scene(**tables(**changes))
    for attempt in (MaterialPointMethod.estimate, Simulation):
        with pytest.raises(SceneError, match=sentence) as caught:
            attempt(scene)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "changes",
    [
        {"obstacle": [GROUND | {"shape": {"half_space": {"point": [0, 0.28, 0], "normal": [0, 1, 0]}}}]},
        {"body": [BODY, BODY | {"name": "later", "start": 0.5}]},
        {"body": [BODY, BODY | {"name": "below", "shape": {"box": {"center": [0, 0.05, 0], "size": [0.2, 0.1, 0.2]}}}]},
        {"grid": {"cell": 0.02, "walls": {"lower": [-1, 0.11, -1], "upper": [1, 1, 1]}}},
    ],
    ids=["partly in an obstacle", "later in the same place", "side by side", "less than a cell beyond the wall"],
)  # fmt: skip
def test_what_looks_similar_and_is_sensible_is_accepted(changes):
    assert MaterialPointMethod.estimate(Scene(**tables(**changes))).points > 0


def test_more_steps_than_anyone_can_wait_for_are_refused(tmp_path):
    scene = Scene(**tables(duration=1e6, frame_rate=0.001))
    with pytest.raises(SceneError, match=r"would take 1\.59e\+09 steps") as caught:
        start_run(scene, tmp_path / "run")
    assert "\n" not in str(caught.value)


def test_the_schedule_of_copies_is_that_of_its_definition():
    from spume.matter.sources import build_sources

    for count, interval, stop in ((7, 0.1, None), (4, 0.1, None), (100, 0.1, 0.3), (3, 0.7, None), (5, 1e-3, 0.1035)):
        emitter = SLOT | {"copies": {"count": count, "interval": interval}, "start": 0.1}
        scene = Scene(**tables(emitter=[emitter if stop is None else emitter | {"stop": stop}]))
        last = min(stop or 1.0, 1.0)
        expected = [t for t in (0.1 + k * interval for k in range(count)) if t <= last]
        assert build_sources(scene)[1].times == expected


def test_frames_that_do_not_fit_the_disk_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(memory, "free_space", lambda folder: 1_000_000)
    with pytest.raises(SceneError, match=r"the 31 frames need about \d+\.\d MB, and 1\.0 MB is free on the disk of"):
        start_run(Scene(**tables()), tmp_path / "run")


@pytest.mark.slow_suite
def test_the_estimate_of_disk_space_is_what_a_run_uses(tmp_path):
    scene = Scene(**tables(duration=0.02, frame_rate=100, emitter=[SLOT | {"velocity": [0, -3, 0]}]))
    cost = MaterialPointMethod.estimate(scene)
    start_run(scene, tmp_path / "run")
    frames = list((tmp_path / "run" / "frames").iterdir())
    assert cost.frames == len(frames)
    assert cost.disk == pytest.approx(sum(file.stat().st_size for file in frames), rel=0.05)


def test_address_space_limits_count(tmp_path):
    code = "from spume.memory import available_memory; print(*available_memory())"
    limited = f"ulimit -v 3000000; exec {sys.executable} -c '{code}'"
    result = subprocess.run(["bash", "-c", limited], capture_output=True, text=True, check=True)
    available, total = map(int, result.stdout.split())
    assert total <= 3_000_000 * 1024
    assert available < total


V1 = {"memory/b/memory.limit_in_bytes": "2000", "memory/b/memory.usage_in_bytes": "1200"}


@pytest.mark.parametrize(
    ("own", "files"),
    [
        ("0::/b/c\n", {"b/memory.max": "2000", "b/memory.current": "1500", "b/memory.stat": "inactive_file 300\n"}),
        ("0::/\n", {"memory.max": "2000", "memory.current": "1200"}),
        ("5:cpu:/a\n4:memory:/b\n", V1),
    ],
    ids=["group around the own one", "root of a container", "version 1"],
)  # fmt: skip
def test_limits_of_control_groups_count(tmp_path, monkeypatch, own, files):
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "own").write_text(own)
    monkeypatch.setattr(memory, "CGROUP", tmp_path)
    monkeypatch.setattr(memory, "OWN_CGROUP", tmp_path / "own")
    assert memory.available_memory() == (800, 2000)


def test_a_folder_that_does_not_exist_yet_is_on_the_disk_of_its_parents(tmp_path):
    assert memory.free_space(tmp_path / "a" / "b") == pytest.approx(memory.free_space(Path(tmp_path)), rel=0.01)
