"""Obstacles that deform, from the scene to frames, pictures and exports."""

import json
import struct
from pathlib import Path

import mesh_files
import numpy as np
import pytest

import spume
from spume.exports.contents import contents
from spume.exports.gltf import write_gltf
from spume.frames.poses import obstacle_poses
from spume.frames.reader import Run
from spume.look.pictures.drawing import PictureOptions
from spume.look.pictures.space_drawer import space_drawer

pytest.importorskip("igl", reason="needs the extra 'geometry'")

RATE, SPEED = 20.0, 0.5


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A ball that sticks to the top of a crate that is sheared along x, as a path from the scene's folder."""
    folder = tmp_path_factory.mktemp("deforming")
    for k in range(4):
        shear = np.eye(3)
        shear[0, 1] = SPEED * k / RATE / 0.1
        file = mesh_files.write_crate(folder / "meshes", name=f"crate_{k}")
        lines = file.read_text().splitlines()
        corners = iter((mesh_files.corners(0.2) @ shear.T).tolist())
        moved = ["v {!r} {!r} {!r}".format(*next(corners)) if line.startswith("v ") else line for line in lines]
        file.write_text("\n".join(moved) + "\n")
    (folder / "scene.toml").write_text(
        f"""title = "A ball on a crate that is sheared"
method = "mpm"
duration = 0.1
frame_rate = {RATE}
gravity = [0, 0, 0]
grid = {{ cell = 0.03 }}
[[body]]
material = "gelatin"
shape = {{ sphere = {{ center = [0, 0.13, 0], radius = 0.04 }} }}
[[obstacle]]
name = "crate"
contact = "stick"
shape = {{ mesh_sequence = {{ files = "meshes/crate_*.obj", frame_rate = {RATE}, resolution = 0.02 }} }}
"""
    )
    return spume.run(folder / "scene.toml", out=folder / "run")


def corners(time: float) -> np.ndarray:
    shear = np.eye(3)
    shear[0, 1] = SPEED * time / 0.1
    return mesh_files.corners(0.2) @ shear.T


def test_frames_have_the_vertices_and_their_velocities(run: Run) -> None:
    for number in range(3):
        x, v = obstacle_poses(run, run[number]).vertices[0]
        np.testing.assert_allclose(x, corners(number / RATE), atol=1e-12)
        np.testing.assert_allclose(v[:, 0], 10 * SPEED * x[:, 1], atol=1e-9)


def test_material_that_touches_is_dragged_along(run: Run) -> None:
    """The lowest points of the ball move with the top of the crate, at SPEED."""
    points = run[2].populations["points"]
    lowest = points["x"][:, 1] < points["x"][:, 1].min() + 0.01
    assert points["v"][lowest, 0].mean() == pytest.approx(SPEED, rel=0.1)


def test_exports_have_the_shape_of_the_frame(run: Run) -> None:
    exported = contents(run, [0, 1, 2], "points", None)
    ((solid, mesh),) = exported.obstacles()
    for number, poses in enumerate(exported.poses):
        vertices, triangles = solid.shaped(mesh, poses).welded()
        np.testing.assert_allclose(vertices, corners(number / RATE), atol=1e-12)
        assert len(triangles) == 12
    names = [cover.name for cover, _ in mesh.parts(solid.name, solid.finish)]
    assert names == ["painted wood", "bare"]


def test_usd_has_points_and_velocities_at_each_frame(run: Run, tmp_path: Path) -> None:
    pytest.importorskip("pxr")
    from pxr import Usd, UsdGeom

    (file,) = spume.export(run, "usd", out=tmp_path / "a.usdc")
    stage = Usd.Stage.Open(str(file))
    mesh = next(UsdGeom.Mesh(each) for each in stage.Traverse() if each.GetName() == "crate")
    for number in range(3):
        np.testing.assert_allclose(np.array(mesh.GetPointsAttr().Get(number)), corners(number / RATE), atol=1e-6)
    np.testing.assert_allclose(np.array(mesh.GetVelocitiesAttr().Get(1))[:, 0], 10 * SPEED * corners(1 / RATE)[:, 1],
                               atol=1e-5)  # fmt: skip


def test_alembic_has_positions_at_each_frame_and_can_be_an_obstacle(run: Run, tmp_path: Path) -> None:
    pytest.importorskip("alembic3d")
    from spume.exports.alembic import write_alembic
    from spume.geometry.mesh_files.sequence import read_sequence

    write_alembic(contents(run, [0, 1, 2], "points", None), tmp_path / "a.abc")
    sequence = read_sequence(str(tmp_path / "a.abc"), None)
    np.testing.assert_allclose(sequence.times, [0, 0.05, 0.1], atol=1e-9)
    for number in range(3):
        np.testing.assert_allclose(sequence.vertices[number], corners(number / RATE), atol=1e-6)


def test_gltf_shows_the_mesh_of_each_frame_alone(run: Run, tmp_path: Path) -> None:
    write_gltf(contents(run, [0, 1, 2], "points", None), tmp_path / "a.glb")
    data = (tmp_path / "a.glb").read_bytes()
    tables = json.loads(data[20 : 20 + struct.unpack("<I", data[12:16])[0]])
    frames = [node for node in tables["nodes"] if node["name"].startswith("frame ")]
    inner = [tables["nodes"][child]["name"] for node in frames for child in node["children"]]
    assert inner == ["crate"] * 3


def test_pictures_show_the_shape_of_the_frame(run: Run) -> None:
    drawer = space_drawer(run, PictureOptions(width=160, height=90, show="points"), None)
    for number in (0, 2):
        found = np.concatenate([mesh.vertices for mesh, _ in drawer.placed_obstacles(run[number])])
        assert found[:, 0].max() == pytest.approx(corners(number / RATE)[:, 0].max(), abs=1e-9)
    inside = drawer.solids[0].distances(np.array([[0.09 * SPEED * 2 / RATE / 0.1, 0.09, 0.0]]),
                                        obstacle_poses(run, run[2]))  # fmt: skip
    assert inside[0] < 0
    assert np.isfinite(drawer.draw(2)).all()


def test_a_continued_run_has_the_same_bits(run: Run) -> None:
    first, second = spume.Simulation(run.path.parent / "scene.toml"), spume.Simulation(run.path.parent / "scene.toml")
    first.advance(0.05)
    second.method.restore(*first.method.checkpoint())
    for each in (first, second):
        each.advance(0.05)
    for name in ("x", "v", "F"):
        np.testing.assert_array_equal(getattr(first.particles, name), getattr(second.particles, name))
        np.testing.assert_array_equal(getattr(first.particles, name), run[2].populations["points"][name])
