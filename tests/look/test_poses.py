"""Obstacles are drawn at the poses in the frames."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import synthetic_run
from posed_run import add_poses, poses_of_scene, swung

from spume.frames.reader import open_run
from spume.look.blender.studio import studio, to_blender
from spume.look.pictures.drawing import PictureOptions, make_drawer
from spume.look.pictures.space_drawer import space_drawer
from spume.look.viewer import page
from spume.look.viewer.watched_run import watch

SMALL = PictureOptions(160, 90, show="points")
TURN = {"rate": 4.0, "about": [0.05, 0.4]}
OTHER: dict[int, dict[str, Any]] = {
    2: {"rotate": TURN},
    3: {"rotate": {**TURN, "about": [0.05, 0.4, 0.0], "axis": [0.0, 0.0, 1.0]}},
}
"""A motion of the block that is not the scene's."""


def picture(folder: Path) -> np.ndarray:
    return make_drawer(open_run(folder), SMALL).draw(1)


@pytest.mark.parametrize("dimension", [2, 3])
def test_pictures_show_the_poses_of_the_frames_and_not_the_motion(dimension: int, tmp_path: Path) -> None:
    ground, block = synthetic_run.scene_tables(dimension)["obstacle"]
    moved = synthetic_run.write_run(
        tmp_path / "moved", dimension=dimension, obstacle=[ground, block | {"motion": OTHER[dimension]}]
    )
    expected = poses_of_scene(open_run(moved).scene)
    add_poses(moved, expected)
    edited = synthetic_run.write_run(tmp_path / "edited", dimension=dimension)
    before = picture(edited)
    after = picture(add_poses(edited, expected))
    assert not np.array_equal(before, after)
    np.testing.assert_array_equal(after, picture(moved))


def test_pictures_with_the_poses_of_the_motion_are_those_of_a_run_without_poses(tmp_path: Path) -> None:
    folder = synthetic_run.write_run(tmp_path / "balls")
    before = picture(folder)
    np.testing.assert_array_equal(picture(add_poses(folder, poses_of_scene(open_run(folder).scene))), before)


def test_the_viewer_and_the_page_place_obstacles_by_the_frames(tmp_path: Path) -> None:
    watched = watch(add_poses(synthetic_run.write_run(tmp_path / "balls"), swung))
    (block,) = watched.solids
    packed = page._run(watched, None, ("points",))["solids"][0]
    for number, frame in enumerate(watched.run):
        R, p = block.place(watched.poses(frame))
        np.testing.assert_array_equal(R, swung(frame.time).rotation[1])
        np.testing.assert_array_equal(p, swung(frame.time).position[1])
        matrix = np.reshape(packed["places"][number], (4, 4)).T
        np.testing.assert_array_equal(matrix[:3, :3], R)
        np.testing.assert_array_equal(matrix[:3, 3], p)


def test_blender_gets_the_poses_of_the_frames(tmp_path: Path) -> None:
    run = open_run(add_poses(synthetic_run.write_run(tmp_path / "balls"), swung))
    drawer = space_drawer(run, SMALL, None)
    job = studio(drawer, [0, 2], "save", 1, 1)
    (item,) = [each for each in job.tables["items"] if each["name"] == "block"]
    assert item["frames"] == [0, 2]
    turn = to_blender(drawer.up)
    for place, time in zip(job.arrays[f"{item['key']}/places"], (0.0, 0.2)):
        np.testing.assert_allclose(place[:3, :3], turn @ swung(time).rotation[1] @ turn.T, atol=1e-15)
        np.testing.assert_allclose(place[:3, 3], turn @ swung(time).position[1], atol=1e-15)
