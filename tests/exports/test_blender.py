"""Exports stand in Blender where the scene has them: a first look; `make validate` compares everything."""

from pathlib import Path

import numpy as np
import pytest

import spume
from spume.cli import main
from spume.errors import MissingExtra
from spume.exports.contents import contents
from spume.frames.reader import open_run
from spume.look.blender.process import blender_command, has_blender, run_script
from spume.look.blender.studio import to_blender

NEEDS_BLENDER = pytest.mark.skipif(not has_blender(), reason="needs Blender: the extra 'blender', or SPUME_BLENDER")


@pytest.mark.parametrize("axis", range(3))
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_up_becomes_z_by_a_rotation(axis: int, sign: float) -> None:
    """A rotation (R Rᵀ = 1, det R = 1) that takes `up` to z, so that nothing is mirrored."""
    up = sign * np.eye(3)[axis]
    turn = to_blender(up)
    np.testing.assert_allclose(turn @ up, [0.0, 0.0, 1.0])
    np.testing.assert_allclose(turn @ turn.T, np.eye(3))
    assert np.linalg.det(turn) == pytest.approx(1.0)


@NEEDS_BLENDER
@pytest.mark.parametrize("kind", ["usd", "blend"])
def test_everything_stands_where_the_scene_has_it(solid_run: Path, tmp_path: Path, kind: str) -> None:
    pytest.importorskip("pxr", reason="needs the extra 'export'")
    from validation.blender_import import checks

    failed = [check.quantity for check in checks(open_run(solid_run), [0, 2], kind, tmp_path) if not check.passed]
    assert not failed


def test_without_blender_one_sentence_says_what_to_install(solid_run: Path, monkeypatch, capsys, tmp_path) -> None:
    monkeypatch.setattr("spume.look.blender.process.blender_command", lambda: None)
    with pytest.raises(MissingExtra, match=r"'bpy'.*spume\[blender\].*SPUME_BLENDER"):
        run_script("studio", {}, {}, "writing .blend files")
    assert main(["export", str(solid_run), "--to", "blend", "--frames", "0", "--out", str(tmp_path / "a.blend")]) == 5
    error = capsys.readouterr().err.splitlines()[-1]
    assert error.startswith("error: writing .blend files needs")
    assert not (tmp_path / "a.blend").exists()


def test_a_wrong_blender_is_named(monkeypatch) -> None:
    monkeypatch.setenv("SPUME_BLENDER", "/nowhere/blender")
    blender_command.cache_clear()
    try:
        with pytest.raises(Exception, match="SPUME_BLENDER is '/nowhere/blender', which is not a program"):
            blender_command()
    finally:
        monkeypatch.undo()
        blender_command.cache_clear()


def test_a_blend_file_of_the_plane_is_refused(plane_run: Path, tmp_path: Path) -> None:
    from spume.errors import SceneError
    from spume.exports.blend import write_blend

    with pytest.raises(SceneError, match="2D"):
        write_blend(contents(open_run(plane_run), [0], "points", None), tmp_path / "a.blend")


@NEEDS_BLENDER
def test_a_blend_file_has_the_surfaces_of_bodies_by_name(tmp_path: Path) -> None:
    """Names with spaces, a body that appears late, and materials of obstacles by name."""
    ball = {"sphere": {"center": [0.0, 0.2, 0.0], "radius": 0.1}}
    late = {"sphere": {"center": [0.4, 0.2, 0.0], "radius": 0.1}}
    run = spume.run(
        {
            "title": "t", "method": "mpm", "duration": 0.1, "frame_rate": 20, "grid": {"cell": 0.05},
            "body": [
                {"name": "red ball", "material": "soft rubber", "shape": ball, "surface": "embedded"},
                {"name": "late", "material": "gelatin", "shape": late, "start": 0.06},
            ],
            "obstacle": [{"name": "big box", "shape": {"box": {"center": [0, -1, 0], "size": [1, 1, 1]}}}],
        },
        tmp_path / "run", progress="none",
    )  # fmt: skip
    spume.export(run, "blend", out=tmp_path / "a.blend")
    job = {"file": str(tmp_path / "a.blend"), "format": "blend", "frames": [0, 2], "rate": 20.0}
    first, last = run_script("importing", job, {}, "importing")["frames"]
    meshes = {name for name, entry in last.items() if entry["type"] == "MESH"}
    assert meshes == {"surface of red ball", "surface", "big box"}
    assert (first["surface"]["count"], last["surface"]["count"] > 0) == (0, True)
    assert last["big box"]["materials"] == ["big box"]
