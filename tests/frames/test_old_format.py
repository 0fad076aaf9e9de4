"""Runs written before frames had named populations (manifest format 1) still open; the folder old_format holds two."""

from pathlib import Path

import numpy as np
import pytest

from spume.frames.info import describe_frame
from spume.frames.reader import Frame, open_run

OLD = Path(__file__).with_name("old_format")


def test_points_of_an_old_run_are_the_population_points() -> None:
    run = open_run(OLD / "ball")
    assert [(each.name, each.kind, each.spacing) for each in run.populations] == [("points", "points", 0.01)]
    frame = run[2]
    assert frame.x.shape == frame["points"].x.shape == (32, 3)
    assert frame["points"].v.mean(axis=0)[1] == pytest.approx(-1.0 - 9.81 * 0.02, rel=1e-3)
    assert run.scene.method == "mpm"
    assert describe_frame(run, 2)["fields"]["J"]["shape"] == [32]


def test_the_volume_ratio_of_an_old_frame_follows_from_its_deformation_gradient() -> None:
    frame = open_run(OLD / "ball")[2]
    assert "J" in frame
    np.testing.assert_allclose(frame["points"]["J"], np.linalg.det(frame.F), rtol=1e-14)


def test_an_old_dry_foam_is_a_table_with_its_fields() -> None:
    run = open_run(OLD / "foam")
    assert run.populations[0].kind == "table"
    assert len(run[0].pressures) == 16
    assert run[0]["positions"].shape[1] == 2


def test_old_frames_of_a_resumed_run_follow_its_new_declarations() -> None:
    """Resuming declares the populations of the present version; the frames before keep plain names."""
    from spume.dryfoam.method import POPULATIONS

    frame = Frame(OLD / "foam" / "frames" / "frame_00001.safetensors", POPULATIONS)
    assert len(frame["bubbles"].pressures) == 16
    assert frame["vertices"].positions.shape[1] == 2
    np.testing.assert_array_equal(frame.pressures, frame["bubbles"].pressures)


def test_old_runs_can_be_drawn(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="needs the extra 'look'")
    from spume.look.pictures.drawing import PictureOptions, make_drawer

    picture = make_drawer(open_run(OLD / "foam"), PictureOptions(200, 150)).draw(0)
    assert picture.shape == (150, 200, 3)
    assert picture.std() > 10
