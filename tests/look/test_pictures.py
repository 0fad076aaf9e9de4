"""Pictures, contact sheets, films and plots of runs."""

import itertools
import shutil
from pathlib import Path

import numpy as np
import pytest

from spume.cli import main
from spume.look.finish import BACKGROUND
from spume.look.pictures.camera import automatic_view
from spume.srgb import to_linear, to_srgb

for package in ("imageio", "imageio_ffmpeg", "matplotlib", "PIL"):
    pytest.importorskip(package, reason="needs the extra 'look'")

SMALL = ["--size", "320x180", "--quality", "preview", "--processes", "1"]


@pytest.fixture
def run(solid_run: Path, tmp_path: Path) -> Path:
    """A copy to leave pictures in."""
    return Path(shutil.copytree(solid_run, tmp_path / "balls"))


def load(file: Path) -> np.ndarray:
    from spume.look.pictures.png import read_png

    return read_png(file).astype(int)


def test_srgb_there_and_back() -> None:
    bytes_ = np.arange(256)
    np.testing.assert_array_equal(to_srgb(to_linear(bytes_ / 255)), bytes_)


@pytest.mark.parametrize("aspect", [0.6, 1.78])
def test_an_automatic_camera_holds_the_whole_box(aspect: float) -> None:
    """Every corner lies inside the pyramid of view: |across| ≤ aspect · t · depth and |over| ≤ t · depth."""
    lower, upper = np.array([-1.0, 0.0, 2.0]), np.array([3.0, 0.5, 2.5])
    for up in np.eye(3)[1:]:
        view = automatic_view(lower, upper, up, aspect)
        back = view.position - view.target
        back /= np.linalg.norm(back)
        right = np.cross(view.up, back)
        right /= np.linalg.norm(right)
        over = np.cross(back, right)
        half = np.tan(np.radians(view.angle) / 2)
        for corner in np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)]) * (upper - lower) + lower:
            away = corner - view.position
            depth = -away @ back
            assert depth > 0
            assert abs(away @ right) <= aspect * half * depth
            assert abs(away @ over) <= half * depth


def test_render_leaves_stills_a_sheet_and_a_film_and_only_draws_what_is_missing(run: Path) -> None:
    import imageio.v2 as imageio

    assert main(["render", str(run), *SMALL]) == 0
    stills = sorted((run / "pictures").glob("*.png"))
    assert [still.name for still in stills] == [f"frame_{k:05d}.png" for k in range(3)]
    picture = load(stills[0])
    assert picture.shape == (180, 320, 3)
    assert picture.std() > 10, "the picture is blank"
    edge = np.concatenate([picture[0], picture[:, 0], picture[:, -1]])
    assert np.abs(edge - to_srgb(np.array(BACKGROUND))).max() < 60, "something is cut off at the edge"
    red, blue = picture[..., 0] - picture[..., 2], picture[..., 2] - picture[..., 0]
    assert (red > 60).sum() > 300, "the red gelatin is not seen"
    assert (blue > 60).sum() > 300, "the blue rubber is not seen"
    assert (load(stills[2]) != picture).any(), "the frames do not differ"
    with imageio.get_reader(run / "pictures.mp4") as film:
        assert film.count_frames() == 3
        assert film.get_meta_data()["fps"] == pytest.approx(10.0)
        # Films are compressed: close, not equal.
        assert np.abs(film.get_data(0).astype(int) - picture).mean() < 4
    assert load(run / "pictures-sheet.png").shape[1] == 3 * 480 + 2 * 6
    stamps = [still.stat().st_mtime_ns for still in stills]
    stills[1].unlink()
    assert main(["render", str(run), *SMALL]) == 0
    assert [still.stat().st_mtime_ns == stamp for still, stamp in zip(stills, stamps)] == [True, False, True]


def test_an_obstacle_is_drawn_where_its_motion_has_it(tmp_path: Path) -> None:
    """The block swings by 0.1 m to the right in frame 1: the dark pixels above the balls move right."""
    import synthetic_run

    obstacles = synthetic_run.scene_tables()["obstacle"]
    obstacles[1]["look"] = {"color": "#60666e"}
    run = synthetic_run.write_run(
        tmp_path / "run", camera={"position": [0.0, 0.3, 1.4], "target": [0.0, 0.27, 0.0]}, obstacle=obstacles
    )
    main(["render", str(run), *SMALL, "--frames", "0:2"])
    middles = []
    for number in (0, 1):
        picture = load(run / "pictures" / f"frame_{number:05d}.png")
        gray = (np.ptp(picture, axis=2) < 25) & (picture.mean(axis=2) < 125)
        middles.append(np.nonzero(gray[:90])[1].mean())
    assert middles[1] > middles[0] + 10


def test_a_plane_run_is_drawn_with_its_colour_bar(plane_run: Path, tmp_path: Path) -> None:
    assert (
        main(["render", str(plane_run), *SMALL, "--color", "v.x", "--out", str(tmp_path / "a"), "--stills-only"]) == 0
    )
    plain = load(tmp_path / "a" / "frame_00002.png")
    assert plain.shape[0] == 180
    assert plain.shape[1] > 320, "the colour bar stands beside the picture"
    assert not (tmp_path / "a.mp4").exists()


def test_runs_stand_side_by_side(run: Path, tmp_path: Path) -> None:
    command = ["render", str(run), "--compare", str(run), "--color", "J", *SMALL, "--frames", "2"]
    assert main([*command, "--out", str(tmp_path / "c")]) == 0
    picture = load(tmp_path / "c" / "frame_00002.png")
    left, right = picture[40:, :160], picture[40:, 164:324]
    assert np.abs(left - right).max() == 0, "the same run twice looks the same twice"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--color", "temperature"], "temperature"),
        (["--size", "big"], "--size big"),
        (["--size", "9x9"], "9 x 9"),
        (["--limits", "1"], "--limits 1"),
        (["--frames", "9"], "frames 0 to 2"),
        (["--labels", "a,b"], "--labels"),
    ],
)
def test_wrong_arguments_are_one_sentence(solid_run: Path, tmp_path: Path, capsys, arguments, words) -> None:
    assert main(["render", str(solid_run), "--out", str(tmp_path), *arguments]) == 2
    error = capsys.readouterr().err
    assert words in error
    assert "Traceback" not in error


@pytest.mark.parametrize("suffix", [".png", pytest.param(".svg", marks=pytest.mark.slow_suite)])
def test_a_plot_has_a_panel_for_everything_reported(solid_run: Path, tmp_path: Path, capsys, suffix: str) -> None:
    file = tmp_path / f"plot{suffix}"
    assert main(["plot", str(solid_run), "--all", "--out", str(file)]) == 0
    words = capsys.readouterr().out
    for panel in ("energy", "momentum", "volume", "points", "time per stage"):
        assert panel in words
    assert file.stat().st_size > 10_000
    if suffix == ".svg":
        assert "<svg" in file.read_text()[:1000]


def test_a_plot_leaves_out_what_does_not_vary(solid_run: Path, tmp_path: Path, capsys) -> None:
    """Mass, number of points and time step of this run are constant."""
    assert main(["plot", str(solid_run), "--out", str(tmp_path / "plot.svg")]) == 0
    panels, _, rest = capsys.readouterr().out.partition(" in ")
    assert {"energy", "momentum", "volume", "time per stage"} <= set(panels.split(", "))
    assert not {"mass", "points", "time step"} & set(panels.split(", "))
    assert "--all draws 3 more" in rest


def test_a_plot_in_an_unknown_format_is_one_sentence(solid_run: Path, tmp_path: Path, capsys) -> None:
    assert main(["plot", str(solid_run), "--out", str(tmp_path / "plot.xls")]) == 2
    assert "png" in capsys.readouterr().err


def test_a_plane_run_has_no_surface(plane_run: Path, capsys) -> None:
    assert main(["surface", str(plane_run)]) == 2
    assert "2D" in capsys.readouterr().err


def test_an_interrupted_render_keeps_what_is_done_and_makes_the_film_of_it(run: Path, monkeypatch, capsys) -> None:
    from spume.look.pictures.space_drawer import SpaceDrawer

    drawn = SpaceDrawer.draw

    def stops_at_the_third(self: SpaceDrawer, number: int):
        if number == 2:
            raise KeyboardInterrupt
        return drawn(self, number)

    monkeypatch.setattr(SpaceDrawer, "draw", stops_at_the_third)
    assert main(["render", str(run), *SMALL]) == 130
    assert sorted(file.name for file in (run / "pictures").glob("*.png")) == ["frame_00000.png", "frame_00001.png"]
    assert (run / "pictures.mp4").stat().st_size > 0
    assert "interrupted after 2 of 3 pictures" in capsys.readouterr().err
    monkeypatch.undo()
    assert main(["render", str(run), *SMALL]) == 0
    assert len(list((run / "pictures").glob("*.png"))) == 3


def test_runs_side_by_side_share_camera_box_ground_and_background(solid_run: Path, tmp_path: Path) -> None:
    """One run stands on a ground at 0, the other is larger and has a scene without one."""
    import synthetic_run

    from spume.frames.reader import open_run
    from spume.look.pictures.drawing import PictureOptions
    from spume.look.pictures.stills import _drawers

    tables = synthetic_run.scene_tables()
    floating = [each for each in tables["obstacle"] if each["name"] != "ground"]
    other = synthetic_run.write_run(tmp_path / "floating", frames=4, obstacle=floating)
    first, second = _drawers([open_run(solid_run), open_run(other)], PictureOptions(320, 180))
    np.testing.assert_array_equal([first.lower, first.upper], [second.lower, second.upper])
    assert (first.ground, first.soil, first.backdrop) == (second.ground, second.soil, second.backdrop)
    for mine, theirs in zip(first.view, second.view):
        np.testing.assert_array_equal(mine, theirs)
    assert second.ground == 0.0


def test_depth_of_field_blurs_what_is_out_of_focus() -> None:
    """A disc of stripes, sharp when it is in focus: the differences between neighbouring pixels shrink out of focus."""
    from spume.look.pictures.camera import View
    from spume.look.pictures.raster import ShadedMesh, rasterize

    edges = np.linspace(-1.0, 1.0, 41)
    vertices, triangles, light = [], [], []
    for k, (left, right) in enumerate(itertools.pairwise(edges)):
        vertices += [[left, -1, 0], [right, -1, 0], [right, 1, 0], [left, 1, 0]]
        triangles += [[4 * k, 4 * k + 1, 4 * k + 2], [4 * k, 4 * k + 2, 4 * k + 3]]
        light += [[float(k % 2)] * 3] * 4
    stripes = ShadedMesh(np.array(vertices, float), np.array(triangles, np.int32), np.array(light))
    straight = View(np.array([0.0, 0.0, 4.0]), np.zeros(3), np.array([0.0, 1.0, 0.0]), 20.0)
    contrast = {}
    for name, focus in (("sharp", 4.0), ("blurred", 1.0)):
        picture = rasterize([stripes], straight._replace(aperture=0.2, focus=focus), (160, 90), (0.0, 0.0, 0.0))
        contrast[name] = np.abs(np.diff(picture[45, 20:140, 0].astype(int))).mean()
    assert contrast["blurred"] < 0.5 * contrast["sharp"]


def test_a_grain_is_a_ball_lit_from_the_lamp() -> None:
    """One large grain, the lamp at the upper left: its brightness follows the cosine between normal and lamp. Half a
    pixel changes the light by about 3 %, and a byte rounds it by about 1 %."""
    from spume.look.pictures.camera import View
    from spume.look.pictures.raster import BALL, GAMMA, ShadedMesh, rasterize

    grain = ShadedMesh(np.zeros((1, 3)), np.empty((0, 3), np.int32), np.full((1, 3), 0.5), 1.0)
    view = View(np.array([0.0, 0.0, 4.0]), np.zeros(3), np.array([0.0, 1.0, 0.0]), 20.0)
    lamp = np.array([-1.0, 1.0, 1.0]) / np.sqrt(3.0)
    picture = rasterize([grain], view, (96, 96), (0.0, 0.0, 0.0), lamp)[..., 0].astype(int)
    radius = 0.5 * 96 / (2 * 4.0 * np.tan(np.radians(10.0)))
    side = 12 / radius
    shade, facing = BALL
    cosines = ((np.sqrt(1 - 2 * side**2) + sign * 2 * side) / np.sqrt(3.0) for sign in (1, -1))
    bright, dark = (shade + facing * cosine for cosine in cosines)
    seen = to_linear(np.array([picture[36, 36], picture[60, 60]]) / 255)
    assert seen[0] / seen[1] == pytest.approx((bright / dark) ** GAMMA, rel=0.05)
