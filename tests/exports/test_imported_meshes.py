"""Imported meshes as obstacles: exports have the vertices, texture coordinates, materials and textures of the file."""

import json
import struct
from pathlib import Path

import mesh_files
import numpy as np
import pytest
import synthetic_run

from spume.exports.contents import contents
from spume.exports.gltf import write_gltf
from spume.frames.reader import Run, open_run
from spume.geometry.mesh_files.reading import read_mesh_file
from spume.look.blender.process import has_blender, run_script
from spume.look.textures import painted

pytest.importorskip("PIL", reason="needs the extra 'look'")
pytest.importorskip("igl", reason="needs the extra 'geometry'")

PLACE = np.array([0.0, 0.1, 0.5])


@pytest.fixture(scope="module")
def crate_run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Balls beside a crate that stands away from the origin, and swings."""
    folder = tmp_path_factory.mktemp("runs")
    file = mesh_files.write_crate(folder / "meshes")
    shape = {"translate": {"shape": {"mesh": {"file": str(file), "resolution": 0.02}}, "by": PLACE.tolist()}}
    motion = {"oscillate": {"direction": [1.0, 0.0, 0.0], "amplitude": 0.1, "frequency": 2.5}}
    return open_run(
        synthetic_run.write_run(folder / "run", obstacle=[{"name": "crate", "shape": shape, "motion": motion}])
    )


def test_an_obstacle_keeps_the_vertices_of_its_file(crate_run: Run) -> None:
    """Eight vertices and twelve triangles, in the order of the file, also beside other shapes in a union."""
    ((solid, mesh),) = contents(crate_run, [0], "points", None).obstacles()
    vertices, triangles = mesh.welded()
    np.testing.assert_allclose(vertices, mesh_files.corners(0.2) + PLACE, atol=1e-15)
    assert len(triangles) == 12
    names = [cover.name for cover, _ in mesh.parts(solid.name, solid.finish)]
    assert names == ["painted wood", "bare"]


def test_meshes_beside_other_shapes_in_an_obstacle_stay_whole(crate_run: Run, tmp_path: Path) -> None:
    file = mesh_files.write_crate(tmp_path)
    crate = {"mesh": {"file": str(file), "resolution": 0.02}}
    both = {"union": {"of": [crate, {"sphere": {"center": [0.0, 0.3, 0.0], "radius": 0.05}}]}}
    turned = {"rotate": {"shape": both, "axis": [0, 1, 0], "angle": 30}}
    run = open_run(synthetic_run.write_run(tmp_path / "run", frames=1, obstacle=[{"name": "both", "shape": turned}]))
    ((solid, mesh),) = contents(run, [0], "points", None).obstacles()
    vertices, _ = mesh.welded()
    c, s = np.cos(np.pi / 6), np.sin(np.pi / 6)
    turn = np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]])
    np.testing.assert_allclose(vertices[:8], mesh_files.corners(0.2) @ turn.T, atol=1e-15)
    assert [cover.name for cover, _ in mesh.parts(solid.name, solid.finish)] == ["painted wood", "bare", "both"]


def test_the_scene_s_look_comes_before_that_of_the_file(tmp_path: Path) -> None:
    file = mesh_files.write_crate(tmp_path)
    look = {"color": "#00ff00", "roughness": 0.2}
    crate = {"name": "crate", "shape": {"mesh": {"file": str(file), "resolution": 0.02}}, "look": look}
    run = open_run(synthetic_run.write_run(tmp_path / "run", frames=1, obstacle=[crate]))
    ((_, mesh),) = contents(run, [0], "points", None).obstacles()
    for cover in mesh.covers:
        assert cover.finish.color == (0.0, 1.0, 0.0)
        assert cover.finish.roughness == 0.2
        assert cover.texture is None
    assert mesh.covers[1].finish.metallic == 1.0


def test_pictures_show_the_texture_where_the_file_has_it(crate_run: Run) -> None:
    """Where u is away from the border between the halves, the colour is that of the half."""
    ((solid, mesh),) = contents(crate_run, [0], "points", None).obstacles()
    (wood, _), (bare, finish) = painted(mesh, solid.name, solid.finish)
    assert wood.uv is not None
    assert wood.colors is not None
    inner = (wood.uv > 0.1) & (wood.uv < 0.9)
    left, right = (inner.all(axis=1) & side for side in (wood.uv[:, 0] < 0.43, wood.uv[:, 0] > 0.57))
    assert left.sum() > 10
    np.testing.assert_allclose(wood.colors[left], np.tile((1.0, 0.0, 0.0), (left.sum(), 1)))
    np.testing.assert_allclose(wood.colors[right], np.tile((0.0, 0.0, 1.0), (right.sum(), 1)))
    assert bare.colors is None
    assert finish.color == (0.5, 0.25, 0.125)


def test_usd_has_vertices_coordinates_textures_and_a_subset_for_each_material(crate_run: Run, tmp_path: Path) -> None:
    pytest.importorskip("pxr", reason="needs the extra 'export'")
    from pxr import Usd, UsdGeom, UsdShade

    from spume.exports.usd import write_usd

    write_usd(contents(crate_run, [0, 1], "points", None), tmp_path / "a.usdc", "single")
    stage = Usd.Stage.Open(str(tmp_path / "a.usdc"))
    mesh = UsdGeom.Mesh(stage.GetPrimAtPath("/run/obstacles/crate"))
    expected = (mesh_files.corners(0.2) + PLACE).astype(np.float32)
    np.testing.assert_array_equal(np.array(mesh.GetPointsAttr().Get()), expected)
    file = read_mesh_file(crate_run.scene.obstacle[0].shape.shape.file)
    coordinates = UsdGeom.PrimvarsAPI(mesh).GetPrimvar("st")
    assert coordinates.GetInterpolation() == "faceVarying"
    np.testing.assert_array_equal(np.array(coordinates.Get()), file.uv.reshape(-1, 2).astype(np.float32))
    subsets = UsdShade.MaterialBindingAPI(mesh.GetPrim()).GetMaterialBindSubsets()
    assert [len(each.GetIndicesAttr().Get()) for each in subsets] == [8, 4]
    bound = UsdShade.MaterialBindingAPI(subsets[0].GetPrim()).ComputeBoundMaterial()[0]
    picture = UsdShade.Shader(stage.GetPrimAtPath(f"{bound.GetPath()}/texture"))
    place = picture.GetInput("file").Get().resolvedPath
    assert Path(place).read_bytes() == mesh_files.picture()


def test_gltf_has_a_primitive_and_a_picture_for_each_material(crate_run: Run, tmp_path: Path) -> None:
    write_gltf(contents(crate_run, [0], "points", None), tmp_path / "a.glb")
    data = (tmp_path / "a.glb").read_bytes()
    (size,) = struct.unpack_from("<I", data, 12)
    tables, block = json.loads(data[20 : 20 + size]), data[28 + size :]
    (mesh,) = (each for each in tables["meshes"] if each["name"] == "crate")
    wood, bare = mesh["primitives"]
    assert [tables["accessors"][each["indices"]]["count"] for each in (wood, bare)] == [24, 12]
    surface = tables["materials"][wood["material"]]["pbrMetallicRoughness"]
    image = tables["images"][tables["textures"][surface["baseColorTexture"]["index"]]["source"]]
    view = tables["bufferViews"][image["bufferView"]]
    assert block[view["byteOffset"] : view["byteOffset"] + view["byteLength"]] == mesh_files.picture()
    assert "baseColorTexture" not in tables["materials"][bare["material"]]["pbrMetallicRoughness"]


def test_a_mesh_read_back_from_gltf_is_the_same(crate_run: Run, tmp_path: Path) -> None:
    """By the reader of GLB files: places, coordinates and colours of every corner."""
    write_gltf(contents(crate_run, [0], "points", None), tmp_path / "a.glb")
    again = read_mesh_file("a.glb", tmp_path)
    file = read_mesh_file(crate_run.scene.obstacle[0].shape.shape.file)
    wood = [each.name for each in again.materials].index("painted wood")
    members = again.material == wood
    found = again.vertices[again.triangles[members]]
    expected = (file.vertices + PLACE)[file.triangles[:8]]
    np.testing.assert_allclose(found, expected, atol=1e-7)


NEEDS_BLENDER = pytest.mark.skipif(not has_blender(), reason="needs Blender: the extra 'blender', or SPUME_BLENDER")


@NEEDS_BLENDER
@pytest.mark.parametrize("kind", ["usd", "alembic", "blend", "gltf"])
def test_blender_finds_the_mesh_as_it_was(crate_run: Run, tmp_path: Path, kind: str) -> None:
    """Eight vertices (glTF splits them by normals and coordinates), texture coordinates and two materials."""
    from validation.blender_import import WRITERS

    name, write = WRITERS[kind]
    write(contents(crate_run, [0, 1], "points", None), tmp_path / name)
    job = {"file": str(tmp_path / name), "format": kind, "frames": [0], "rate": 10.0}
    found = run_script("importing", job, {}, "importing")["frames"][0]
    (crate,) = (entry for key, entry in found.items() if key.startswith("crate") and entry["type"] == "MESH")
    assert crate["count"] == (24 if kind == "gltf" else 8)
    assert crate["layers"] == 1
    assert len(crate["materials"]) == 2 or kind == "alembic"
    textured = [each for each in crate["textures"] if each is not None]
    assert textured == ([] if kind == "alembic" else [[8, 4]])
