"""Obstacles are exported at the poses in the frames."""

from pathlib import Path

import numpy as np
import pytest
import synthetic_run
from glb_file import Glb
from posed_run import add_poses, swung
from scipy.spatial.transform import Rotation

from spume.exports.alembic import write_alembic
from spume.exports.contents import Contents, contents
from spume.exports.gltf import write_gltf
from spume.exports.usd import write_usd
from spume.frames.reader import open_run

EXPECTED = [swung(time) for time in (0.0, 0.1, 0.2)]


@pytest.fixture
def chosen(tmp_path: Path) -> Contents:
    """A run with a block that moves in the frames otherwise than in the scene."""
    folder = synthetic_run.write_run(tmp_path / "balls")
    return contents(open_run(add_poses(folder, swung)), [0, 1, 2], "points", None)


def test_an_obstacle_without_a_motion_moves_as_the_frames_say(tmp_path: Path) -> None:
    ground, block = synthetic_run.scene_tables()["obstacle"]
    del block["motion"]
    folder = synthetic_run.write_run(tmp_path / "balls", obstacle=[ground, block])
    given = contents(open_run(add_poses(folder, swung)), [0, 1, 2], "points", None)
    ((solid, _),) = given.obstacles()
    for (R, p), poses in zip(solid.places(given.poses), EXPECTED, strict=True):
        np.testing.assert_array_equal(R, poses.rotation[1])
        np.testing.assert_array_equal(p, poses.position[1])


def test_usd_transforms_are_the_poses_of_the_frames(chosen: Contents, tmp_path: Path) -> None:
    pytest.importorskip("pxr", reason="needs the extra 'export' (usd-core)")
    from pxr import Usd, UsdGeom

    write_usd(chosen, tmp_path / "run.usda", "single")
    stage = Usd.Stage.Open(str(tmp_path / "run.usda"))
    block = UsdGeom.Xformable(stage.GetPrimAtPath(f"{stage.GetDefaultPrim().GetPath()}/obstacles/block"))
    for number, poses in enumerate(EXPECTED):
        matrix = np.array(block.GetLocalTransformation(Usd.TimeCode(number)))
        np.testing.assert_allclose(matrix[:3, :3], poses.rotation[1].T, atol=1e-15)
        np.testing.assert_allclose(matrix[3, :3], poses.position[1], atol=1e-15)


def test_a_single_usd_frame_has_its_pose(chosen: Contents, tmp_path: Path) -> None:
    pytest.importorskip("pxr", reason="needs the extra 'export' (usd-core)")
    from pxr import Usd, UsdGeom

    write_usd(contents(chosen.run, [1], "points", None), tmp_path / "run.usda", "single")
    stage = Usd.Stage.Open(str(tmp_path / "run.usda"))
    block = UsdGeom.Xformable(stage.GetPrimAtPath(f"{stage.GetDefaultPrim().GetPath()}/obstacles/block"))
    matrix = np.array(block.GetLocalTransformation(Usd.TimeCode(1)))
    np.testing.assert_allclose(matrix[3, :3], EXPECTED[1].position[1], atol=1e-15)


def test_gltf_animations_are_the_poses_of_the_frames(chosen: Contents, tmp_path: Path) -> None:
    write_gltf(chosen, tmp_path / "run.glb")
    glb = Glb(tmp_path / "run.glb")
    block = glb.about["nodes"].index(glb.node("block"))
    (animation,) = glb.about["animations"]
    moves = {
        channel["target"]["path"]: glb.array(animation["samplers"][channel["sampler"]]["output"])
        for channel in animation["channels"]
        if channel["target"]["node"] == block
    }
    single = np.finfo(np.float32).eps
    np.testing.assert_allclose(moves["translation"], [each.position[1] for each in EXPECTED], atol=single)
    turned = Rotation.from_quat(moves["rotation"]).as_matrix()
    np.testing.assert_allclose(turned, [each.rotation[1] for each in EXPECTED], atol=4 * single)


@pytest.mark.slow_suite
def test_alembic_transforms_are_the_poses_of_the_frames(chosen: Contents, tmp_path: Path) -> None:
    pytest.importorskip("alembic3d", reason="needs the extra 'alembic' (alembic3d)")
    from alembic3d import Abc, AbcGeom

    write_alembic(chosen, tmp_path / "run.abc")
    archive = Abc.IArchive(str(tmp_path / "run.abc"))
    schema = AbcGeom.IXform(archive.getTop(), "block").getSchema()
    for poses, time in zip(EXPECTED, (0.0, 0.1, 0.2)):
        matrix = schema.getValue(Abc.ISampleSelector(time)).getMatrix()
        found = np.array([[matrix[i][j] for j in range(4)] for i in range(4)])
        np.testing.assert_allclose(found[:3, :3], poses.rotation[1].T, atol=1e-12)
        np.testing.assert_allclose(found[3, :3], poses.position[1], atol=1e-12)
