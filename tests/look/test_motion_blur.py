"""Motion blur: what Cycles is given to blur what moves."""

from pathlib import Path

import numpy as np
import pytest

from spume.errors import SceneError
from spume.frames.poses import ObstaclePoses, moved
from spume.frames.reader import open_run
from spume.look.blender.studio import studio, to_blender
from spume.look.pictures.drawing import PictureOptions
from spume.look.pictures.space_drawer import space_drawer


@pytest.mark.parametrize("show", ["surface", "points"])
def test_vertices_and_points_have_their_velocities_in_blenders_axes(solid_run: Path, show) -> None:
    """The points move as v = (STRETCH · 10 · X, 0, 0): along x in Blender, outwards on both sides."""
    drawer = space_drawer(open_run(solid_run), PictureOptions(show=show, quality="preview"), None)
    job = studio(drawer, [1], "render", 1, 1)
    moving = {name.partition("/")[0]: array for name, array in job.arrays.items() if name.endswith("/v")}
    assert moving
    for key, v in moving.items():
        x = job.arrays[f"{key}/vertices"]
        assert v.shape == x.shape
        np.testing.assert_allclose(v[:, 1:], 0.0, atol=1e-12)
        assert (np.sign(v[:, 0]) == np.sign(x[:, 0])).all()
    assert job.tables["shutter"] == 0.5


def test_the_velocity_turns_with_the_axis_that_is_up(solid_run: Path) -> None:
    drawer = space_drawer(open_run(solid_run), PictureOptions(show="points"), None)
    turn = to_blender(drawer.up)
    job = studio(drawer, [1], "render", 1, 1)
    v = np.concatenate([array for name, array in job.arrays.items() if name.endswith("/v")])
    found = np.sort(np.linalg.norm(v @ turn, axis=1))
    expected = np.sort(np.linalg.norm(open_run(solid_run)[1]["points"]["v"], axis=1))
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_obstacles_move_through_a_single_picture(solid_run: Path) -> None:
    """x = A sin ω t has the velocity A ω cos ω t: that is the way between the keys of the frames beside the picture."""
    run = open_run(solid_run)
    job = studio(space_drawer(run, PictureOptions(quality="preview"), None), [2], "render", 1, 1)
    (block,) = (item for item in job.tables["items"] if item["name"] == "block")
    assert block["frames"] == [1, 2, 3]
    places = job.arrays[f"{block['key']}/places"][:, 0, 3]
    omega, interval = 2 * np.pi * 2.5, 1 / 10
    expected = 0.1 * omega * np.cos(omega * 2 * interval) * interval
    np.testing.assert_allclose(np.diff(places), expected, rtol=1e-9)


def test_an_obstacle_turns_by_its_angular_velocity() -> None:
    """A quarter turn about z in a second at π/2 rad/s takes x to y."""
    still = np.zeros((1, 3))
    poses = ObstaclePoses(np.eye(3)[None], still, np.array([[1.0, 0.0, 0.0]]), np.array([[0.0, 0.0, np.pi / 2]]))
    after = moved(poses, 1.0)
    np.testing.assert_allclose(after.rotation[0] @ [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], atol=1e-15)
    np.testing.assert_allclose(after.position, [[1.0, 0.0, 0.0]])


@pytest.mark.parametrize("shutter", [-0.1, 1.1])
def test_a_shutter_beyond_the_interval_is_refused(shutter: float) -> None:
    with pytest.raises(SceneError, match="give 0 for sharp pictures up to 1"):
        PictureOptions(shutter=shutter)
