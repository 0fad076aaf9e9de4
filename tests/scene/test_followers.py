"""Obstacles that move with what they follow, and lists of tables in scenes that extend another."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from spume.errors import SceneError
from spume.geometry.motion import pose
from spume.matter.environment import build_obstacles
from spume.scene.controls import controls
from spume.scene.followers import moving_obstacles
from spume.scene.loading import load_scene

SLIDE = {"velocity": {"linear": [0.5, 0.0, 0.0]}}
SPIN = {"rotate": {"axis": [0, 1, 0], "rate": 2.0}}


def scene(*obstacles: dict[str, Any], emitter_motion: dict[str, Any] | None = SLIDE) -> dict[str, Any]:
    ball = {"sphere": {"center": [0.0, 0.5, 0.0], "radius": 0.1}}
    emitter = {
        "name": "nozzle", "material": "gelatin", "velocity": [0, -1, 0], "stop": 0.1,
        "nozzle": {"circle": {"center": [0, 1, 0], "radius": 0.05}},
    }  # fmt: skip
    if emitter_motion is not None:
        emitter["motion"] = emitter_motion
    return {
        "title": "A nozzle", "method": "mpm", "duration": 1.0, "grid": {"cell": 0.05}, "emitter": [emitter],
        "obstacle": [{"shape": ball} | each for each in obstacles],
    }  # fmt: skip


def test_a_follower_has_the_pose_of_the_emitter() -> None:
    made = load_scene(scene({"name": "tip", "follows": "nozzle"}))
    obstacles = build_obstacles(made)
    np.testing.assert_allclose(obstacles.at(0.4).poses[0, 9:12], (0.2, 0, 0))
    np.testing.assert_allclose(obstacles.at(0.4).poses[0, 12:15], (0.5, 0, 0))


def test_its_own_motion_is_carried_out_in_the_frame_of_what_it_follows() -> None:
    """x ↦ T(R(x)): it spins about the axis, and the axis slides."""
    made = load_scene(scene({"name": "tip", "follows": "nozzle", "motion": SPIN}))
    found = pose(moving_obstacles(made)[0].motion, 0.3, 3)
    np.testing.assert_allclose(found.p, (0.15, 0, 0), atol=1e-15)
    np.testing.assert_allclose(found.R[0], (np.cos(0.6), 0, np.sin(0.6)), atol=1e-15)
    np.testing.assert_allclose(found.v, (0.5, 0, 0), atol=1e-15)


def test_followers_can_be_followed_in_any_order() -> None:
    made = load_scene(scene({"name": "lid", "follows": "tip"}, {"name": "tip", "follows": "nozzle"}))
    for obstacle in moving_obstacles(made):
        np.testing.assert_allclose(pose(obstacle.motion, 0.4, 3).p, (0.2, 0, 0))


def test_what_is_followed_may_be_at_rest() -> None:
    made = load_scene(scene({"name": "tip", "follows": "nozzle"}, emitter_motion=None))
    assert moving_obstacles(made)[0].motion is None


def test_a_stored_scene_is_the_same_and_a_changed_motion_is_followed() -> None:
    made = load_scene(scene({"name": "tip", "follows": "nozzle"}))
    assert type(made)(**made.resolved()).resolved() == made.resolved()
    faster = made.changed({"emitter.0.motion": {"velocity": {"linear": [1.0, 0, 0]}}})
    np.testing.assert_allclose(pose(moving_obstacles(faster)[0].motion, 0.4, 3).p, (0.4, 0, 0))


def test_a_follower_has_no_slider_for_a_motion_of_its_own() -> None:
    made = load_scene(scene({"name": "tip", "follows": "nozzle"}))
    assert [each.key for each in controls(made) if each.key.startswith("obstacle")] == ["obstacle.0.friction"]


@pytest.mark.parametrize(
    ("obstacles", "message"),
    [
        ([{"follows": "nozle"}], "did you mean 'nozzle'"),
        ([{"name": "a", "follows": "b"}, {"name": "b", "follows": "a"}], "circle"),
        ([{"name": "a", "follows": "a"}], "circle"),
        ([{"name": "nozzle"}, {"follows": "nozzle"}], "an emitter and of an obstacle"),
    ],
)
def test_what_cannot_be_followed_is_said(obstacles: list[dict[str, Any]], message: str) -> None:
    with pytest.raises(SceneError, match=message):
        load_scene(scene(*obstacles))


BASE = """title = "Base"
method = "mpm"
duration = 1.0
grid = { cell = 0.05 }
[[body]]
name = "ball"
material = "gelatin"
shape = { sphere = { center = [0, 0.5, 0], radius = 0.1 } }
[[obstacle]]
name = "table"
contact = "stick"
shape = { half_space = { point = [0, 0, 0], normal = [0, 1, 0] } }
[[obstacle]]
shape = { half_space = { point = [0, -1, 0], normal = [0, 1, 0] } }
"""
WALL = """[[obstacle]]
name = "wall"
shape = { half_space = { point = [-1, 0, 0], normal = [1, 0, 0] } }
"""


def extending(folder: Path, text: str) -> Path:
    (folder / "base.toml").write_text(BASE)
    (folder / "more.toml").write_text('extends = "base.toml"\ntitle = "More"\n' + text)
    return folder / "more.toml"


def test_a_new_table_comes_after_those_of_the_extended_scene(tmp_path: Path) -> None:
    made = load_scene(extending(tmp_path, WALL))
    assert [each.name for each in made.obstacle] == ["table", "", "wall"]


def test_a_table_with_the_same_name_takes_the_place_of_the_other(tmp_path: Path) -> None:
    made = load_scene(extending(tmp_path, WALL.replace("wall", "table")))
    assert [each.name for each in made.obstacle] == ["table", ""]
    assert made.obstacle[0].contact == "separate"  # all of it is replaced


def test_a_list_can_be_replaced_as_a_whole(tmp_path: Path) -> None:
    made = load_scene(extending(tmp_path, 'replaces = ["obstacle"]\n' + WALL))
    assert [each.name for each in made.obstacle] == ["wall"]


def test_dotted_keys_and_changes_find_a_table_by_its_name(tmp_path: Path) -> None:
    file = extending(tmp_path, '"obstacle.table.contact" = "slip"\n')
    assert load_scene(file).obstacle[0].contact == "slip"
    assert load_scene(file, ["obstacle.table.contact=separate"]).obstacle[0].contact == "separate"
    assert load_scene(file).changed({"obstacle.table.friction": 0.0}).obstacle[0].friction == 0.0


def test_a_list_that_is_not_there_cannot_be_replaced(tmp_path: Path) -> None:
    with pytest.raises(SceneError, match="replaces names 'obstacle', of which this scene has none"):
        load_scene(extending(tmp_path, 'replaces = ["obstacle"]\n'))


def test_an_error_names_the_line_of_the_table_that_was_added(tmp_path: Path) -> None:
    text = WALL + 'contact = "glue"\n'
    file = extending(tmp_path, text)
    with pytest.raises(SceneError, match=r"more\.toml:6"):
        load_scene(file)
    (tmp_path / "base.toml").write_text(BASE.replace('contact = "stick"', 'contact = "glue"'))
    file.write_text('extends = "base.toml"\ntitle = "More"\n' + WALL)
    with pytest.raises(SceneError, match=r"base\.toml:11"):
        load_scene(file)
