"""A finished run shown with another camera, backdrop or look."""

import pickle
from pathlib import Path

import numpy as np
import pytest
import synthetic_run

import spume
from spume import SceneError, open_run
from spume.cli import main
from spume.look.finish import material_finishes


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return synthetic_run.write_run(tmp_path_factory.mktemp("runs") / "balls", frames=2)


def test_camera_and_looks_are_those_given_and_all_else_is_the_run_s(folder: Path) -> None:
    plain = open_run(folder)
    name = plain.scene.materials[0].name
    looks = {
        "camera": {"position": [1.0, 2.0, 3.0], "target": [0.0, 0.0, 0.0]},
        f'material."{name}".look.color': "#ff0000",
    }
    other = open_run(folder, looks=looks)
    assert other.scene.camera is not None
    assert other.scene.camera.position == (1.0, 2.0, 3.0)
    np.testing.assert_allclose(material_finishes(other.scene)[0].color, [1.0, 0.0, 0.0])
    changed = {"camera", "material"}
    before, after = plain.scene.resolved(), other.scene.resolved()
    assert {k: v for k, v in after.items() if k not in changed} == {k: v for k, v in before.items() if k not in changed}
    assert pickle.loads(pickle.dumps(other)).scene.resolved() == after


def test_pictures_are_drawn_again_for_another_backdrop_alone(folder: Path, tmp_path: Path) -> None:
    """Command and function agree; a second call with the same values draws nothing."""
    command = ["render", str(folder), "--frames", "0", "--size", "160x90", "--out", str(tmp_path)]
    assert main(command) == 0
    file = tmp_path / "frame_00000.png"
    first = file.read_bytes()
    assert main([*command, "--set", "backdrop.color=#a01010"]) == 0
    red, stamp = file.read_bytes(), file.stat().st_mtime_ns
    assert red != first
    spume.render(
        open_run(folder, looks={"backdrop.color": "#a01010"}), frames=0, width=160, height=90, out=tmp_path,
        samples=48,
    )  # fmt: skip
    assert file.stat().st_mtime_ns == stamp


@pytest.mark.parametrize("key", ["grid.cell=0.1", "duration=2", "body.0.velocity=[1, 0, 0]"])
def test_what_frames_depend_on_is_refused(folder: Path, key: str) -> None:
    with pytest.raises(SceneError, match="the frames of a run depend on it"):
        open_run(folder, looks=[key])


def test_a_look_that_would_divide_a_material_is_refused(folder: Path) -> None:
    with pytest.raises(SceneError, match="would divide its material"):
        _ = open_run(folder, looks={"body.0.look.color": "#102030"}).scene


def test_a_misspelt_key_is_told(folder: Path) -> None:
    with pytest.raises(SceneError, match="fov"):
        _ = open_run(folder, looks=["backdrop.color=#102030", "camera.fav=20"]).scene


def test_a_scene_without_a_camera_gets_an_angle_or_a_place(folder: Path) -> None:
    camera = open_run(folder, looks=["camera.fov=20"]).scene.camera
    assert camera is not None
    assert (camera.fov, camera.position) == (20.0, None)
    with pytest.raises(SceneError, match="'position' without 'target'"):
        _ = open_run(folder, looks=["camera.position=[1, 1, 1]"]).scene
    placed = ["camera.fov=20", "camera.position=[1, 1, 1]", "camera.target=[0, 0, 0]"]
    camera = open_run(folder, looks=placed).scene.camera
    assert camera is not None
    assert camera.position == (1.0, 1.0, 1.0)
