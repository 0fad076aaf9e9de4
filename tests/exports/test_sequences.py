"""PLY and OBJ files, read back by trimesh, hold the frames' own numbers."""

from pathlib import Path

import numpy as np
import pytest
import synthetic_run

import spume
from spume.errors import SceneError
from spume.exports import exporting
from spume.exports.contents import contents
from spume.exports.sequence import write_frame
from spume.frames.reader import open_run

trimesh = pytest.importorskip("trimesh", reason="needs the package trimesh (extra 'geometry')")


@pytest.mark.parametrize(("kind", "tolerance"), [("ply", 0.0), ("obj", 1e-8)])
def test_points_come_back(kind: str, tolerance: float, solid_run: Path, tmp_path: Path) -> None:
    """PLY is binary and exact; trimesh reads OBJ's decimal text, exact as written, and may round its last digits."""
    run = open_run(solid_run)
    assert write_frame(contents(run, [1], "points", None), tmp_path, kind, False, 1) == 1
    loaded = trimesh.load(tmp_path / f"points_00001.{kind}", process=False)
    np.testing.assert_allclose(loaded.vertices, run[1]["x"], rtol=0, atol=tolerance)


def test_fields_in_ply_come_back_exactly(solid_run: Path, tmp_path: Path) -> None:
    run = open_run(solid_run)
    write_frame(contents(run, [2], "points", None), tmp_path, "ply", False, 2)
    loaded = trimesh.load(tmp_path / "points_00002.ply", process=False)
    data = loaded.metadata["_ply_raw"]["vertex"]["data"]
    frame = run[2]
    np.testing.assert_array_equal(np.ravel(data["vx"]), frame["v"][:, 0])
    np.testing.assert_array_equal(np.ravel(data["F_xx"]), frame["F"][:, 0, 0])
    np.testing.assert_array_equal(np.ravel(data["weak"]), frame["weak"])
    np.testing.assert_array_equal(np.ravel(data["material"]), frame["material"])


@pytest.mark.parametrize(("kind", "tolerance"), [("ply", 0.0), ("obj", 1e-8)])
def test_a_surface_comes_back_watertight(kind: str, tolerance: float, solid_run: Path, tmp_path: Path) -> None:
    chosen = contents(open_run(solid_run), [0], "surface", None)
    write_frame(chosen, tmp_path, kind, False, 0)
    loaded = trimesh.load(tmp_path / f"surface_00000.{kind}", process=False)
    skin = chosen.pieces(0)[0]
    np.testing.assert_allclose(loaded.vertices, skin.x, rtol=0, atol=tolerance)
    np.testing.assert_array_equal(loaded.faces, skin.triangles)
    assert loaded.is_watertight


def test_only_missing_frames_are_written(solid_run: Path, tmp_path: Path) -> None:
    chosen = contents(open_run(solid_run), [0], "points", None)
    assert write_frame(chosen, tmp_path, "ply", False, 0) == 1
    assert write_frame(chosen, tmp_path, "ply", False, 0) == 0
    assert write_frame(chosen, tmp_path, "ply", True, 0) == 1


def test_an_unknown_field_is_named(solid_run: Path, tmp_path: Path) -> None:
    chosen = contents(open_run(solid_run), [0], "points", "temperature")
    with pytest.raises(SceneError, match="temperature"):
        write_frame(chosen, tmp_path, "ply", False, 0)


@pytest.mark.parametrize(("what", "frames", "processes"), [("points", 3, 1), ("points", 60, 2), ("surface", 3, 2)])
def test_a_second_process_is_started_where_it_pays(tmp_path, monkeypatch, what, frames, processes):
    """It takes seconds to start, and a frame of points milliseconds to write."""
    found = []

    def each_frame(task, numbers, label, processes, cluster):
        found.append(processes)
        return dict.fromkeys(numbers, False)

    monkeypatch.setattr(exporting, "each_frame", each_frame)
    monkeypatch.setattr(exporting, "cores", lambda: 2)
    run = spume.open_run(synthetic_run.write_run(tmp_path, 2, cell=0.06))
    exporting.export_run(run, [0, 1] * (frames // 2) + [0] * (frames % 2), "ply", what=what)
    assert found == [processes]
