"""The camera of scenes without one, and what is said of pictures that show little."""

from pathlib import Path

import numpy as np
import pytest
import synthetic_run

from spume.cli import main
from spume.frames.reader import open_run
from spume.look.pictures.drawing import PictureOptions
from spume.look.pictures.framing import outermost_points, view_of_points
from spume.look.pictures.space_drawer import space_drawer
from spume.look.pictures.visible import eye_of


@pytest.mark.parametrize("aspect", [0.6, 1.78])
@pytest.mark.parametrize("up", [(0, 1, 0), (0, 0, 1), (0, -1, 0)])
def test_points_fill_the_picture_up_to_the_margin(aspect: float, up: tuple[int, ...]) -> None:
    """All points are inside, and along one axis they reach from margin to margin: 1/1.16 of the picture."""
    points = np.random.default_rng(1).normal(size=(500, 3)) * (0.3, 0.1, 0.2) + (5.0, -2.0, 1.0)
    view = view_of_points(points, np.array(up, float), aspect)
    eye = eye_of(view, (round(400 * aspect), 400))
    right, above, along = eye.seen(points).T
    column, row = right / along * eye.scale / (0.5 * eye.columns), above / along * eye.scale / (0.5 * eye.rows)
    assert max(np.abs(column).max(), np.abs(row).max()) <= 1.0 / 1.16 + 0.01
    assert max(np.ptp(column), np.ptp(row)) == pytest.approx(2.0 / 1.16, rel=0.02)


def test_an_angle_alone_moves_the_camera_that_finds_its_place(tmp_path: Path) -> None:
    """With half the angle it sees the same width from twice as far away, but for the depth of the material."""
    run = synthetic_run.write_run(tmp_path / "a")
    wide, narrow = (space_drawer(open_run(run, looks=looks), PictureOptions(320, 180), None).view
                    for looks in ([], ["camera.fov=15"]))  # fmt: skip
    assert (wide.angle, narrow.angle) == (30.0, 15.0)
    far = [np.linalg.norm(view.position - view.target) for view in (wide, narrow)]
    assert 1.7 < far[1] / far[0] < 2.5
    toward = [(view.position - view.target) / each for view, each in zip((wide, narrow), far)]
    np.testing.assert_allclose(toward[0], toward[1], atol=1e-12)


def test_obstacles_and_strays_do_not_widen_the_view(tmp_path: Path) -> None:
    far = {"shape": {"box": {"center": [0.0, 3.0, 0.0], "size": [9.0, 0.1, 9.0]}}}
    scene = synthetic_run.scene_tables()
    plain = open_run(synthetic_run.write_run(tmp_path / "a"))
    roofed = open_run(synthetic_run.write_run(tmp_path / "b", obstacle=[*scene["obstacle"], far]))
    views = [space_drawer(run, PictureOptions(320, 180), None).view for run in (plain, roofed)]
    np.testing.assert_array_equal(views[0].position, views[1].position)
    x = outermost_points(plain)
    assert np.abs(x).max() < 0.5


def test_balls_cover_the_part_of_the_picture_that_their_discs_do(solid_run: Path) -> None:
    """Two balls of radius 0.1 m."""
    run = open_run(solid_run)
    drawer = space_drawer(run, PictureOptions(320, 180), None)
    middles = np.array([[-0.15, 0.2, 0.0], [0.15, 0.2, 0.0]])
    depth = (middles - drawer.view.position) @ eye_of(drawer.view, (320, 180)).axes[2]
    half = np.tan(np.radians(0.5 * drawer.view.angle))
    expected = (np.pi * (0.1 / (2 * half * depth)) ** 2 * 180 / 320).sum()
    # the points reach to half a spacing below the surface or above, and are drawn 0.6 spacings wide
    assert drawer.covered(0) == pytest.approx(expected, rel=0.15)
    assert drawer.covered(0) > 0.1


@pytest.mark.parametrize(("away", "is_small"), [(1.0, False), (4.0, True)])
def test_a_render_says_that_the_material_is_small(tmp_path: Path, capsys, away: float, is_small: bool) -> None:
    camera = {"position": [0.0, 0.2, away], "target": [0.0, 0.2, 0.0]}
    run = synthetic_run.write_run(tmp_path / "run", frames=1, camera=camera)
    assert main(["render", str(run), "--size", "64x64", "--quality", "preview"]) == 0
    words = capsys.readouterr().err
    assert ("the material covers" in words and "camera" in words) == is_small


def test_material_behind_an_obstacle_is_not_counted(tmp_path: Path) -> None:
    """A wall before the balls hides them from the camera."""
    wall = {"shape": {"box": {"center": [0.0, 0.3, 0.5], "size": [2.0, 2.0, 0.1]}}, "contact": "slip"}
    camera = {"position": [0.0, 0.3, 1.5], "target": [0.0, 0.25, 0.0]}
    run = open_run(synthetic_run.write_run(tmp_path / "run", frames=1, camera=camera, obstacle=[wall]))
    assert space_drawer(run, PictureOptions(320, 180), None).covered(0) == 0.0
