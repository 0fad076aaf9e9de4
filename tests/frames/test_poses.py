"""Poses of obstacles, read from frames or, in runs of earlier versions, found from the scene."""

from pathlib import Path

import numpy as np
import pytest
import synthetic_run
from posed_run import add_poses, swung

from spume.errors import CacheError
from spume.exports.contents import contents
from spume.frames.info import frame_lines
from spume.frames.logs import log_populations
from spume.frames.poses import FIELDS, ObstaclePoses, obstacle_poses, poses_in_frames, positions_over_run
from spume.frames.quantities import quantity_names
from spume.frames.reader import open_run
from spume.runs.storage import read_checked, write_arrays

OLD = Path(__file__).with_name("old_format")


@pytest.fixture
def run_folder(tmp_path: Path) -> Path:
    return synthetic_run.write_run(tmp_path / "balls")


def check_same(found: ObstaclePoses, expected: ObstaclePoses) -> None:
    for field, one, other in zip(FIELDS, found, expected):
        np.testing.assert_array_equal(one, other, field)


def test_poses_are_those_in_the_frame(run_folder: Path) -> None:
    run = open_run(add_poses(run_folder, swung))
    for frame in run:
        check_same(obstacle_poses(run, frame), swung(frame.time))
    for frame, poses in zip(run, poses_in_frames(run, range(3))):
        check_same(poses, swung(frame.time))
    np.testing.assert_array_equal(positions_over_run(run), [swung(frame.time).position for frame in run])


def test_poses_of_frames_without_them_are_those_of_the_motions(run_folder: Path) -> None:
    run = open_run(run_folder)
    for frame in run:
        found = obstacle_poses(run, frame)
        x = 0.1 * np.sin(2 * np.pi * 2.5 * frame.time)
        np.testing.assert_allclose(found.position, [[0.0, 0.0, 0.0], [x, 0.0, 0.0]], atol=1e-15)
        np.testing.assert_array_equal(found.rotation, [np.eye(3)] * 2)
    assert np.ptp(positions_over_run(run)[:, 1, 0]) == pytest.approx(0.1, rel=1e-3)


def test_old_frames_of_a_resumed_run_have_the_poses_of_the_motions(run_folder: Path) -> None:
    """Resuming declares the population; the frames that an earlier version wrote do not have it."""
    expected = obstacle_poses(open_run(run_folder), open_run(run_folder)[1])
    before = (run_folder / "frames" / "frame_00001.safetensors").read_bytes()
    run = open_run(add_poses(run_folder, swung))
    (run_folder / "frames" / "frame_00001.safetensors").write_bytes(before)
    check_same(obstacle_poses(run, run[1]), expected)
    check_same(obstacle_poses(run, run[2]), swung(0.2))
    assert "obstacles (table)" in frame_lines(run, 1)
    assert "obstacles" in run[1]._repr_html_()


@pytest.mark.parametrize("name", ["ball", "foam"])
def test_runs_of_the_oldest_format_have_poses(name: str) -> None:
    run = open_run(OLD / name)
    poses = obstacle_poses(run, run[1])
    count = len(getattr(run.scene, "obstacle", ()))
    assert [each.shape for each in poses[:4]] == [(count, 3, 3), (count, 3), (count, 3), (count, 3)]


def test_poses_of_another_number_of_obstacles_are_one_sentence(run_folder: Path) -> None:
    run = open_run(add_poses(run_folder, lambda time: ObstaclePoses(*(each[:1] for each in swung(time)[:4]))))
    with pytest.raises(CacheError, match="has the poses of 1 obstacles, but the scene has 2"):
        obstacle_poses(run, run[0])


def test_incomplete_poses_are_one_sentence(run_folder: Path) -> None:
    run = open_run(add_poses(run_folder, swung))
    about, arrays = read_checked(run[0].path)
    del arrays["obstacles/rotation"]
    write_arrays(run[0].path, arrays, about)
    with pytest.raises(CacheError, match="has poses of obstacles without rotation"):
        obstacle_poses(run, run[0])


def test_the_table_of_poses_is_not_taken_for_points(run_folder: Path) -> None:
    plain = open_run(run_folder)
    x, names = plain[1].x, quantity_names(plain.populations)
    run = open_run(add_poses(run_folder, swung))
    np.testing.assert_array_equal(run[1].x, x)
    np.testing.assert_array_equal(run[1]["obstacles"].position, swung(0.1).position)
    assert quantity_names(run.populations) == names
    assert contents(run, [0], "points", None).piece_names == ["points"]
    assert log_populations(run) == []
    lines = frame_lines(run, 1)
    assert any("position" in line and "2×3" in line for line in lines[lines.index("obstacles (table)") :])
