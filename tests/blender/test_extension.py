"""The extension for Blender: what it reads and writes, and, where Blender is there, what stands in the scene."""

import json
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import synthetic_run

import spume
from spume.exports.blender_cache import frame_file
from spume.geometry.mesh_files.reading import read_mesh_file
from spume.geometry.motion import pose
from spume.look.blender.process import blender_command, has_blender
from spume.look.blender.studio import to_blender
from spume.scene.loading import load_scene

HOUSE = Path(__file__).parents[2]
SOURCE = HOUSE / "blender"
INSIDE = Path(__file__).with_name("inside.py")
NEEDS_BLENDER = pytest.mark.skipif(not has_blender(), reason="needs Blender: the extra 'blender', or SPUME_BLENDER")
TURN = to_blender(np.array([0.0, 1.0, 0.0]))


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return synthetic_run.write_run(tmp_path_factory.mktemp("runs") / "balls")


@pytest.fixture(scope="module")
def folder(run_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("cache")
    spume.export(run_folder, "blender-cache", what="points", out=place)
    return place


@pytest.fixture
def extension(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The modules that need no Blender."""
    monkeypatch.syspath_prepend(str(SOURCE / "spume_blender"))
    import cache
    import launching
    import scene_text

    yield {"cache": cache, "launching": launching, "scene_text": scene_text}
    for name in ("cache", "launching", "scene_text"):
        sys.modules.pop(name, None)


def inside_blender(tmp_path: Path, **job: Any) -> dict[str, Any]:
    (tmp_path / "job.json").write_text(json.dumps(job | {"source": str(SOURCE)}))
    command = blender_command()
    assert command is not None
    last = ["--", str(tmp_path)] if len(command) > 1 else [str(tmp_path)]
    ended = subprocess.run([*command, str(INSIDE), *last], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout[-2000:] + ended.stderr[-2000:]
    found: dict[str, Any] = json.loads((tmp_path / "report.json").read_text())
    return found


def test_a_frame_has_the_points_of_the_run_in_blender_s_axes(folder: Path, extension: Any) -> None:
    scene = extension["cache"].read_scene(folder)
    (piece,) = scene["pieces"]
    assert (piece["kind"], [scene["materials"][k]["name"] for k in piece["materials"]]) == (
        "points", ["soft_rubber", "gelatin"],
    )  # fmt: skip
    assert extension["cache"].frame_numbers(folder) == [0, 1, 2]
    for number in range(3):
        expected = synthetic_run.frame_arrays(number)
        arrays = extension["cache"].frame(folder, number)
        np.testing.assert_allclose(arrays[f"{piece['name']}/x"], expected["x"] @ TURN.T, atol=1e-6)
        np.testing.assert_allclose(arrays[f"{piece['name']}/v"], expected["v"] @ TURN.T, atol=1e-6)
        np.testing.assert_array_equal(arrays[f"{piece['name']}/material"], expected["material"])


def test_obstacles_have_the_place_of_each_frame(folder: Path, run_folder: Path, extension: Any) -> None:
    made = spume.open_run(run_folder).scene
    for number in range(3):
        place = extension["cache"].frame(folder, number)["block/place"]
        at = pose(made.obstacle[1].motion, number / made.frame_rate, 3)
        np.testing.assert_allclose(place[:3, 3], TURN @ at.p, atol=1e-12)


def test_only_missing_and_outdated_frames_are_written(run_folder: Path, tmp_path: Path, capsys: Any) -> None:
    from spume.cli import main

    command = ["export", str(run_folder), "--to", "blender-cache", "--what", "points", "--out", str(tmp_path / "out")]
    assert main([*command, "--frames", "0:2"]) == 0
    assert capsys.readouterr().out.startswith("2 frames written, 0 already up to date")
    before = frame_file(tmp_path / "out", 0).stat().st_mtime_ns
    assert main(command) == 0
    assert capsys.readouterr().out.startswith("1 frames written, 2 already up to date")
    frame_file(tmp_path / "out", 1).write_bytes(b"PK cut off")
    assert main(command) == 0
    assert capsys.readouterr().out.startswith("1 frames written, 2 already up to date")
    assert frame_file(tmp_path / "out", 0).stat().st_mtime_ns == before
    assert main([*command, "--fields", "weak"]) == 0  # other contents
    assert capsys.readouterr().out.startswith("3 frames written")


def test_a_folder_of_another_version_is_refused_in_one_sentence(tmp_path: Path, extension: Any) -> None:
    (tmp_path / "scene.json").write_text('{"format": 99}')
    with pytest.raises(extension["cache"].CacheError, match="has format 99, and this extension reads 1"):
        extension["cache"].read_scene(tmp_path)


def test_keyframes_of_a_rigid_motion_are_that_motion(extension: Any) -> None:
    """Matrices turn by 100° per frame about a moving axis: full turns are counted."""
    places = []
    for k in range(8):
        angle = np.radians(100.0 * k)
        place = np.eye(4)
        place[:2, :2] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
        place[:3, 3] = [1.0 + 0.1 * k, 2.0, 3.0]
        places.append(place)
    found = extension["scene_text"].keyframes(places, 10.0)
    np.testing.assert_allclose(np.array(found["rotations"])[:, 1], 100.0 * np.arange(8), atol=1e-9)
    np.testing.assert_allclose(np.array(found["positions"])[:, 0], 0.1 * np.arange(8), atol=1e-12)
    np.testing.assert_allclose(found["about"], [1.0, 3.0, -2.0])
    assert extension["scene_text"].keyframes([places[0]] * 4, 10.0) is None
    grown = np.diag([1.1, 1.1, 1.1, 1.0])
    assert extension["scene_text"].keyframes([np.eye(4), grown], 10.0) == "deforms"


def test_the_text_of_a_scene_is_one_that_spume_reads(tmp_path: Path, extension: Any) -> None:
    """A plate that turns about its own middle: spume puts its points where Blender has them."""
    text = extension["scene_text"]
    place = np.eye(4)
    place[:3, 3] = [1.0, 2.0, 0.5]
    turned = place.copy()
    turned[:3, :3] = [[0, -1, 0], [1, 0, 0], [0, 0, 1]]
    corners = np.array([[x, y, z] for x in (-0.1, 0.1) for y in (-0.1, 0.1) for z in (-0.1, 0.1)])
    hull = [[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1], [2, 3, 7], [2, 7, 6], [0, 2, 6],
            [0, 6, 4], [1, 5, 7], [1, 7, 3]]  # fmt: skip
    (tmp_path / "plate.obj").write_text(text.obj(corners + place[:3, 3], hull))
    (tmp_path / "ball.obj").write_text(text.obj(corners + np.array([0, 0, 2]), hull))
    motion = text.keyframes([place, turned], 10.0)
    (tmp_path / "scene.toml").write_text(
        text.text(
            'A "title"', "mpm", 0.05, 0.1, 10.0, (0, 0, -9.81),
            [{"name": "b", "material": "gelatin", "file": "ball.obj", "velocity": (0, 1, 0), "start": 0}],
            [{"name": "e", "material": "gelatin", "place": place, "radius": 0.1, "speed": 1.0, "stop": 0,
              "motion": motion}],
            [{"name": "plate", "contact": "stick", "friction": 0, "file": "plate.obj", "motion": motion,
              "color": (1, 0, 0)},
             {"name": "g", "contact": "separate", "friction": 0.3, "plane": place, "motion": None, "color": None}],
        )
    )  # fmt: skip
    pytest.importorskip("igl", reason="needs the extra 'geometry'")
    made = load_scene(tmp_path / "scene.toml")
    assert made.title == 'A "title"'
    np.testing.assert_allclose(made.gravity, (0, -9.81, 0))
    np.testing.assert_allclose(made.body[0].velocity, (0, 0, -1))
    at = pose(made.obstacle[0].motion, 0.1, 3)
    own = (corners + place[:3, 3]) @ text.TURN.T
    expected = (corners @ turned[:3, :3].T + turned[:3, 3]) @ text.TURN.T
    np.testing.assert_allclose(own @ at.R.T + at.p, expected, atol=1e-9)
    np.testing.assert_allclose(made.emitter[0].velocity, (0, -1, 0))
    assert made.obstacle[0].look.color == "#ff0000"
    np.testing.assert_allclose(made.obstacle[1].shape.normal, (0, 1, 0))


def test_a_job_says_how_far_it_is_and_what_went_wrong(tmp_path: Path, extension: Any) -> None:
    launching = extension["launching"]
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "frames.jsonl").write_text("{}\n{}\n{")
    script = "import sys; print('error: no such thing', file=sys.stderr); sys.exit(3)"
    job = launching.Job("Simulating", [[sys.executable, "-c", script], ["never"]], tmp_path, tmp_path / "run", 5)
    assert job.progress() == pytest.approx(0.4)
    job._process.wait()
    assert not job.poll()
    assert job.error == "error: no such thing"


def test_the_zip_has_its_manifest_at_the_root_and_the_same_bytes_again(tmp_path: Path) -> None:
    from tools.blender_extension import build

    first, second = build(tmp_path / "a"), build(tmp_path / "b")
    assert first.read_bytes() == second.read_bytes()
    with zipfile.ZipFile(first) as archive:
        about = tomllib.loads(archive.read("blender_manifest.toml").decode())
        names = archive.namelist()
    assert first.name == f"{about['id']}-{about['version']}.zip"
    assert {"__init__.py", "building.py", "LICENSE"} <= set(names)
    assert not [name for name in names if "/" in name]
    for text in [about["tagline"], *about["permissions"].values()]:  # limits of Blender's own check
        assert len(text) <= 64
        assert not text.endswith(".")


@NEEDS_BLENDER
def test_a_run_stands_in_blender_where_it_is(folder: Path, tmp_path: Path) -> None:
    """Imported twice: nothing is doubled."""
    report = inside_blender(tmp_path, task="show", folder=str(folder), frames=[0, 2], twice=True)
    assert report["range"] == [0, 2]
    assert report["rate"] == 10.0
    for number in (0, 2):
        things = report["frames"][str(number)]
        assert sorted(each["kind"] for each in things.values()) == ["camera", "ground", "obstacle", "points"]
        (points,) = (each for each in things.values() if each["kind"] == "points")
        expected = synthetic_run.frame_arrays(number)["x"] @ TURN.T
        assert points["count"] == points["balls"] == len(expected)
        np.testing.assert_allclose(points["lower"], expected.min(axis=0), atol=1e-6)
        np.testing.assert_allclose(points["upper"], expected.max(axis=0), atol=1e-6)
        assert {"velocity", "weak", "J", "tint"} <= set(points["attributes"])
        assert points["materials"] == ["soft_rubber", "gelatin"]


@NEEDS_BLENDER
@pytest.mark.slow_suite
def test_marked_objects_are_simulated_and_shown(tmp_path: Path) -> None:
    """A ball falls beside a plate that turns and one that bends; the frames appear in Blender's own frames."""
    pytest.importorskip("igl", reason="needs the extra 'geometry'")
    program = Path(sys.executable).with_name("spume")
    report = inside_blender(tmp_path, task="run", folder=str(tmp_path / "made"), program=str(program))
    assert report["error"] == ""
    assert report["progress"][-1] == 1.0
    assert report["progress"] == sorted(report["progress"])
    heights = []
    for number in ("1", "5"):
        (points,) = (each for each in report["frames"][number].values() if each["kind"] == "points")
        heights.append(points["lower"][2])
        assert "obstacle" not in [each["kind"] for each in report["frames"][number].values()]
    fall = 1.0 * 0.2 + 0.5 * 9.81 * 0.2**2
    # implicit in the transfer: a hundredth of it
    assert heights[0] - heights[1] == pytest.approx(fall, rel=0.02)


@NEEDS_BLENDER
def test_a_painted_skin_keeps_its_colours(run_folder: Path, tmp_path: Path) -> None:
    """Colours of vertices in the folder become the attribute that the material reads."""
    place = tmp_path / "painted"
    spume.export(run_folder, "blender-cache", what="surface", frames=0, out=place)
    tables = json.loads((place / "scene.json").read_text())
    for look in tables["materials"]:
        look["colored"] = True
    (place / "scene.json").write_text(json.dumps(tables))
    name = tables["pieces"][0]["name"]
    arrays = dict(np.load(frame_file(place, 0)))
    arrays[f"{name}/color"] = np.full_like(arrays[f"{name}/x"], 0.5)
    np.savez(frame_file(place, 0), **arrays)
    found = inside_blender(tmp_path, task="show", folder=str(place), frames=[0])["frames"]["0"]
    (skin,) = (each for each in found.values() if each["kind"] == "mesh")
    assert {"tint", "velocity"} <= set(skin["attributes"])
    assert skin["tint"] == pytest.approx([0.5, 0.5, 0.5, 1.0])
    assert skin["painted"]


@NEEDS_BLENDER
def test_objects_with_similar_names_have_files_of_their_own(tmp_path: Path) -> None:
    """Also where capitals do not count; and a ground that rises has a motion."""
    pytest.importorskip("igl", reason="needs the extra 'geometry'")
    made = tmp_path / "made"
    (made / "meshes" / "Cube").mkdir(parents=True)
    (made / "meshes" / "Cube" / "00007.obj").write_text("of a longer animation")
    report = inside_blender(tmp_path, task="write", scene="difficult", folder=str(made))
    assert report == {"present": 3}
    scene = load_scene(made / "scene.toml")
    files = [body.shape.file for body in scene.body]
    assert len({str(file).casefold() for file in files}) == 3
    middles = [read_mesh_file(str(made / file)).vertices.mean(axis=0) for file in files]
    np.testing.assert_allclose(np.array(middles)[:, 0], [0, 1, 2], atol=1e-6)
    one, other = (each.shape for each in scene.obstacle[:2])
    for shape, place in ((one, -0.5), (other, 0.5)):
        found = sorted(Path(str(shape.files)).parent.glob("*.obj"))
        assert len(found) == 5
        assert read_mesh_file(str(found[0])).vertices[:, 0].mean() == pytest.approx(place)
    ground = scene.obstacle[2]
    np.testing.assert_allclose(pose(ground.motion, 0.2, 3).p - pose(ground.motion, 0.0, 3).p, (0, 0.4, 0), atol=1e-6)


@NEEDS_BLENDER
def test_other_units_than_metres_are_refused(tmp_path: Path) -> None:
    report = inside_blender(tmp_path, task="write", scene="difficult", folder=str(tmp_path / "made"), unit=0.01)
    assert "unit scale of the scene is 0.01" in report["error"]


@NEEDS_BLENDER
def test_what_has_changed_in_a_folder_changes_in_the_scene(run_folder: Path, tmp_path: Path) -> None:
    """Points become a skin, an obstacle moves otherwise, another one is gone; a folder that is lost changes nothing."""
    place = tmp_path / "cache"
    spume.export(run_folder, "blender-cache", what="points", out=place)
    kept = tmp_path / "kept"
    shutil.copytree(place, kept)
    spume.export(run_folder, "blender-cache", what="surface", out=place)
    tables = json.loads((place / "scene.json").read_text())
    gone = tables["obstacles"].pop(0)["name"] if len(tables["obstacles"]) > 1 else None
    (place / "scene.json").write_text(json.dumps(tables))
    moved = tables["obstacles"][0]["name"]
    for number in range(3):
        arrays = dict(np.load(frame_file(place, number)))
        arrays[f"{moved}/place"][:3, 3] += (0.0, 0.0, 1.0)
        np.savez(frame_file(place, number), **arrays)
    found = inside_blender(
        tmp_path, task="import", folders=[str(kept), "swap", str(kept)], swap=str(place), frame=2, lost=str(kept)
    )["steps"]  # fmt: skip
    first, second, lost = found
    kinds = {name: each["kind"] for name, each in second.items()}
    assert "points" not in kinds.values()
    assert "mesh" in kinds.values()
    assert not [each for each in second.values() if each["kind"] == "mesh" and "balls" in each]
    assert gone is None or gone not in second
    heights = [each[moved]["matrix"][2][3] for each in (first, second)]
    assert heights[1] - heights[0] == pytest.approx(1.0)
    assert {name: each.get("count") for name, each in lost.items()} == {
        name: each.get("count") for name, each in second.items()
    }


@NEEDS_BLENDER
def test_two_runs_have_their_own_looks_under_one_name(folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    shutil.copytree(folder, other)
    tables = json.loads((other / "scene.json").read_text())
    for look in tables["materials"]:
        look["color"] = [0.1, 0.2, 0.3]
    (other / "scene.json").write_text(json.dumps(tables))
    found = inside_blender(tmp_path, task="import", folders=[str(folder), str(other)], frame=0)["steps"][1]
    colors = [each["colors"] for each in found.values() if each["kind"] == "points"]
    assert len(colors) == 2
    assert sum(np.allclose(each, [0.1, 0.2, 0.3]) for each in colors) == 1


def test_a_frame_that_is_cut_off_is_told_in_one_sentence(folder: Path, tmp_path: Path, extension: Any) -> None:
    shutil.copytree(folder, tmp_path / "cut")
    whole = frame_file(tmp_path / "cut", 1).read_bytes()
    for left in (0, 10, len(whole) // 2):
        frame_file(tmp_path / "cut", 1).write_bytes(whole[:left])
        with pytest.raises(extension["cache"].CacheError, match=r"frame_00001\.npz' cannot be read"):
            extension["cache"].frame(tmp_path / "cut", 1)
