"""Mesh files are read with everything they say, in the order in which they say it."""

from pathlib import Path

import mesh_files
import numpy as np
import pytest

from spume.errors import SceneError
from spume.geometry.mesh_files.mesh_file import turned_out
from spume.geometry.mesh_files.reading import read_mesh_file
from spume.look.glb import Glb

pytest.importorskip("PIL", reason="needs the extra 'look'")


@pytest.fixture(scope="module")
def crate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return mesh_files.write_crate(tmp_path_factory.mktemp("crate"))


def test_an_obj_file_keeps_its_vertices_and_polygons_become_triangles(crate: Path) -> None:
    mesh = read_mesh_file(str(crate))
    np.testing.assert_array_equal(mesh.vertices, mesh_files.corners(0.2))
    assert len(mesh.triangles) == 12
    a, b, c = (mesh.vertices[mesh.triangles[:, k]] for k in range(3))
    assert np.einsum("ij,ij->", a, np.cross(b, c)) / 6 == pytest.approx(0.2**3)


def test_texture_coordinates_belong_to_corners(crate: Path) -> None:
    """Each square face has the whole picture, so each vertex has several coordinates."""
    mesh = read_mesh_file(str(crate))
    assert mesh.uv is not None
    assert mesh.uv.shape == (12, 3, 2)
    np.testing.assert_array_equal(mesh.uv[0], [(0, 0), (1, 0), (1, 1)])
    np.testing.assert_array_equal(mesh.uv[1], [(0, 0), (1, 1), (0, 1)])


def test_materials_come_from_the_library(crate: Path) -> None:
    mesh = read_mesh_file(str(crate))
    painted, bare = mesh.materials
    assert painted.name == "painted wood"
    assert painted.texture is not None
    assert painted.texture.data == mesh_files.picture()
    assert painted.roughness == 0.9
    assert bare.color == (0.5, 0.25, 0.125)
    assert (bare.metallic, bare.transparency, bare.texture) == (1.0, 0.0, None)
    assert mesh.material is not None
    np.testing.assert_array_equal(mesh.material, [0] * 8 + [1] * 4)


def test_faces_before_the_first_material_have_none(tmp_path: Path) -> None:
    text = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nusemtl paint\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
    (tmp_path / "four.obj").write_text(text)
    mesh = read_mesh_file("four.obj", tmp_path)
    assert [each.name for each in mesh.materials] == ["paint", "none"]
    assert mesh.material is not None
    np.testing.assert_array_equal(mesh.material, [1, 0, 0, 0])


def test_indices_from_the_end_and_continued_lines_mean_the_same(tmp_path: Path) -> None:
    (tmp_path / "a.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    (tmp_path / "b.obj").write_text("v 0 0 0\nv 1 0 0 # a comment\nv 0 1 0\nf -3 \\\n-2 -1\n")
    one, two = (read_mesh_file(name, tmp_path) for name in ("a.obj", "b.obj"))
    np.testing.assert_array_equal(one.triangles, two.triangles)
    np.testing.assert_array_equal(one.vertices, two.vertices)


def test_missing_materials_and_textures_are_named_and_the_mesh_is_read(tmp_path: Path) -> None:
    (tmp_path / "a.mtl").write_text("newmtl one\nmap_Kd -o 0 0 gone away.png\n")
    (tmp_path / "a.obj").write_text("mtllib a.mtl\nmtllib b.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nusemtl one\nf 1 2 3\n")
    mesh = read_mesh_file("a.obj", tmp_path)
    assert mesh.missing == ("gone away.png", "b.mtl")
    assert mesh.materials[0].texture is None


def test_a_mesh_that_is_inside_out_is_turned_with_its_corners(crate: Path) -> None:
    mesh = read_mesh_file(str(crate))
    assert turned_out(mesh) is mesh
    inverted = mesh._replace(triangles=mesh.triangles[:, ::-1], uv=mesh.uv[:, ::-1])  # type: ignore[index]
    back = turned_out(inverted)
    np.testing.assert_array_equal(back.triangles, mesh.triangles)
    np.testing.assert_array_equal(back.uv, mesh.uv)


def test_stl_files_get_each_vertex_once_in_their_order(tmp_path: Path) -> None:
    trimesh = pytest.importorskip("trimesh")
    box = trimesh.creation.box((1.0, 2.0, 3.0))
    box.export(tmp_path / "box.stl")
    mesh = read_mesh_file("box.stl", tmp_path)
    assert len(mesh.vertices) == 8
    np.testing.assert_allclose(mesh.vertices[mesh.triangles], box.vertices[box.faces], rtol=1e-7)
    first = np.unique(mesh.triangles.ravel(), return_index=True)[1]
    assert (np.diff(first) > 0).all()


def test_ply_files_keep_colours_of_vertices(tmp_path: Path) -> None:
    """sRGB 255 is 1 and 188 is 0.5029 (IEC 61966-2-1: ((188/255 + 0.055)/1.055)^2.4)."""
    pytest.importorskip("trimesh")
    rows = "0 0 0 255 0 0\n1 0 0 188 188 188\n0 1 0 0 0 255\n"
    kinds = "".join(f"property float {axis}\n" for axis in "xyz")
    kinds += "".join(f"property uchar {name}\n" for name in ("red", "green", "blue"))
    head = f"ply\nformat ascii 1.0\nelement vertex 3\n{kinds}element face 1\nproperty list uchar int vertex_indices\n"
    (tmp_path / "a.ply").write_text(f"{head}end_header\n{rows}3 0 1 2\n")
    mesh = read_mesh_file("a.ply", tmp_path)
    expected = ((188 / 255 + 0.055) / 1.055) ** 2.4
    np.testing.assert_allclose(mesh.colors, [(1, 0, 0), (expected,) * 3, (0, 0, 1)], rtol=1e-12)


def glb_file(folder: Path, change=None, **node) -> str:
    """A textured triangle below a node; `change` edits the tables before they are written."""
    glb = Glb()
    attributes = {
        "POSITION": glb.accessor(np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0]]), bounds=True),
        "NORMAL": glb.accessor(np.array([[0.0, 0, 1]] * 3)),
        "TEXCOORD_0": glb.accessor(np.array([[0.0, 1], [1, 1], [0, 0]])),
    }
    from spume.geometry.mesh_files.mesh_file import Texture

    surface = {"baseColorFactor": [1, 1, 1, 1], "metallicFactor": 0.25, "roughnessFactor": 0.75}
    surface["baseColorTexture"] = {"index": glb.texture(Texture("paint", mesh_files.picture()))}
    material = glb.add("materials", {"name": "glazed", "pbrMetallicRoughness": surface})
    primitive = {"attributes": attributes, "indices": glb.accessor(np.array([0, 1, 2])), "material": material}
    mesh = glb.add("meshes", {"primitives": [primitive]})
    glb.add("nodes", {"mesh": mesh} | node)
    top = glb.add("nodes", {"translation": [0, 0, 5], "children": [0]})
    if change is not None:
        change(glb.tables)
    (folder / "a.glb").write_bytes(glb.data([top]))
    return "a.glb"


def test_a_glb_file_is_read_where_its_nodes_have_it(tmp_path: Path) -> None:
    half = float(np.sqrt(0.5))
    mesh = read_mesh_file(glb_file(tmp_path, rotation=[0, 0, half, half], scale=[2, 2, 2]), tmp_path)
    np.testing.assert_allclose(mesh.vertices, [(0, 0, 5), (0, 2, 5), (-2, 0, 5)], atol=1e-12)
    np.testing.assert_allclose(mesh.normals, np.tile((0.0, 0.0, 1.0), (1, 3, 1)), atol=1e-12)
    np.testing.assert_allclose(mesh.uv, [[(0, 0), (1, 0), (0, 1)]], atol=1e-12)
    (material,) = mesh.materials
    assert (material.name, material.roughness, material.metallic) == ("glazed", 0.75, 0.25)
    assert material.texture is not None
    assert material.texture.data == mesh_files.picture()


def test_a_mirrored_node_keeps_the_outside_outside(tmp_path: Path) -> None:
    """The normal of the triangle agrees with the normals of its corners."""
    mesh = read_mesh_file(glb_file(tmp_path, scale=[-1, 1, 1]), tmp_path)
    a, b, c = mesh.vertices[mesh.triangles[0]]
    assert mesh.normals is not None
    np.testing.assert_allclose(np.cross(b - a, c - a), mesh.normals[0, 0], atol=1e-12)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda t: t.update(extensionsRequired=["KHR_draco_mesh_compression"]), "compressed .* without compression"),
        (lambda t: t["accessors"][0].update(count=10**9), "beyond the end of the file"),
        (lambda t: t["images"][0].update(bufferView=None) or t["images"][0].pop("bufferView"), "refers to the file ''"),
        (lambda t: t["nodes"][0].update(children=[1]), "levels deep"),
        (lambda t: t["meshes"][0].update(primitives=[]), "holds no triangles"),
        (lambda t: t["accessors"][3].update(bufferView=99), "cannot be read"),
    ],
)
def test_a_glb_file_that_cannot_be_used_is_refused_in_one_sentence(tmp_path: Path, change, sentence: str) -> None:
    with pytest.raises(SceneError, match=sentence) as caught:
        read_mesh_file(glb_file(tmp_path, change), tmp_path)
    assert "\n" not in str(caught.value)


def test_damaged_glb_files_are_read_or_refused_in_one_sentence(tmp_path: Path) -> None:
    whole = (tmp_path / glb_file(tmp_path)).read_bytes()
    rng = np.random.default_rng(3)
    for k in range(80):
        data = bytearray(whole[: rng.integers(0, len(whole))] if k % 4 == 0 else whole)
        for place in rng.integers(0, len(data), min(3, len(data))) if data else ():
            data[place] = rng.integers(0, 256)
        (tmp_path / f"{k}.glb").write_bytes(bytes(data))
        sentence = ""
        try:
            read_mesh_file(f"{k}.glb", tmp_path)
        except SceneError as error:
            sentence = str(error)
        assert "\n" not in sentence
