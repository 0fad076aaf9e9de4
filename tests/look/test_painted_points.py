"""Points that carry the colours of the mesh of their body."""

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import spume
from spume import Run, SceneError
from spume.exports.formats import What
from spume.fields import PAINT
from spume.geometry.mesh_files.colors import nearest_colors
from spume.geometry.mesh_files.reading import read_mesh_file
from spume.look.blender.process import has_blender, run_script
from spume.look.finish import Finish
from spume.look.grains import covered_by
from spume.look.pictures.drawing import PictureOptions
from spume.look.pictures.space_drawer import space_drawer
from spume.srgb import to_linear

RED, BLUE = (200, 20, 20), (20, 20, 200)
# a cube from −1 to 1 whose texture is red for x < 0 and blue for x > 0
CORNERS = [(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
FACES = [(1, 2, 4, 3), (5, 7, 8, 6), (1, 5, 6, 2), (3, 4, 8, 7), (1, 3, 7, 5), (2, 6, 8, 4)]


@pytest.fixture
def cube(tmp_path: Path) -> Path:
    picture = np.zeros((4, 64, 3), np.uint8)
    picture[:, :32], picture[:, 32:] = RED, BLUE
    Image.fromarray(picture).save(tmp_path / "halves.png")
    (tmp_path / "cube.mtl").write_text("newmtl halves\nmap_Kd halves.png\n", encoding="utf-8")
    lines = ["mtllib cube.mtl", "usemtl halves", *(f"v {x} {y} {z}" for x, y, z in CORNERS)]
    lines += [f"vt {0.25 + 0.25 * (x + 1)} 0.5" for x, _, _ in CORNERS]
    lines += ["f " + " ".join(f"{k}/{k}" for k in face) for face in FACES]
    (tmp_path / "cube.obj").write_text("\n".join(lines), encoding="utf-8")
    return tmp_path / "cube.obj"


def color(rgb: tuple[int, int, int]) -> np.ndarray:
    return to_linear(np.array(rgb) / 255)


def scene(cube: Path, **body: object) -> dict[str, object]:
    shape = {"mesh": {"file": str(cube), "scale": 0.05}}
    turned = {"rotate": {"axis": [0, 1, 0], "angle": 90.0, "shape": shape}}
    placed = {"translate": {"by": [0.3, 0.2, 0.0], "shape": turned}}
    given = {"name": "cube", "material": "soft rubber", "shape": placed, "colors": "mesh"} | body
    return {
        "title": "t", "method": "mpm", "duration": 0.05, "frame_rate": 20, "grid": {"cell": 0.025},
        "camera": {"position": [0.3, 0.2, 0.6], "target": [0.3, 0.2, 0.0]}, "body": [given],
    }  # fmt: skip


def test_the_nearest_place_of_the_surface_gives_the_colour(cube: Path) -> None:
    """Away from the border by more than the distance of two pixels, over which textures are interpolated."""
    x = np.random.default_rng(0).uniform(-1.5, 1.5, (300, 3))
    x = x[np.abs(x[:, 0]) > 0.1]
    # a place deep inside may be nearest to a side across the border only if it is nearer to it than to its own
    found = nearest_colors(read_mesh_file(str(cube)), x)
    expected = np.where(x[:, :1] < 0, color(RED), color(BLUE))
    np.testing.assert_allclose(found[:, :3], expected, atol=1e-12)
    np.testing.assert_array_equal(found[:, 3], 1.0)


@pytest.fixture
def run(cube: Path, tmp_path: Path) -> Run:
    return spume.run(scene(cube), tmp_path / "run", progress="none")


def test_points_of_a_turned_body_carry_its_texture_on_and_its_picture_shows_it(run: Run) -> None:
    """Turned by a quarter about y, red (x < 0) is in front, towards +z; the colours are those of the start in every
    frame."""
    first, last = run[0], run[-1]
    paint = np.asarray(first[PAINT.name])
    away = np.abs(np.asarray(first["x"])[:, 2]) > 0.006
    expected = np.where(np.asarray(first["x"])[:, 2:] > 0, color(RED), color(BLUE))
    np.testing.assert_allclose(paint[away, :3], expected[away], atol=1e-12)
    order = [np.argsort(np.asarray(frame["id"])) for frame in (first, last)]
    np.testing.assert_array_equal(paint[order[0]], np.asarray(last[PAINT.name])[order[1]])
    picture = space_drawer(run, PictureOptions(width=160, height=90), None).draw(0)
    middle = picture[40:50, 75:85].reshape(-1, 3).mean(axis=0)
    assert middle[0] > 3 * middle[2]


@pytest.mark.parametrize("what", ["points", "surface"])
def test_usd_has_the_colours(run: Run, tmp_path: Path, what: What) -> None:
    """Points and skin: red in front, blue behind; the material takes its colour from them."""
    usd = pytest.importorskip("pxr.Usd", reason="needs the extra 'export'")
    from pxr import UsdGeom, UsdShade

    (file,) = spume.export(run, "usd", what=what, out=tmp_path / "a.usda", layout="single")
    stage = usd.Stage.Open(str(file))
    kind = UsdGeom.Points if what == "points" else UsdGeom.Mesh
    (prim,) = (each for each in stage.Traverse() if each.IsA(kind))
    x = np.array(UsdGeom.PointBased(prim).GetPointsAttr().Get(0))
    colors = np.array(UsdGeom.Gprim(prim).GetDisplayColorPrimvar().Get(0))
    away = np.abs(x[:, 2]) > 0.03
    np.testing.assert_allclose(colors[away], np.where(x[:, 2:] > 0, color(RED), color(BLUE))[away], atol=1e-6)
    material, _ = UsdShade.MaterialBindingAPI(prim).ComputeBoundMaterial()
    reader = UsdShade.Shader(stage.GetPrimAtPath(f"{material.GetPath()}/color"))
    assert reader.GetInput("varname").Get() == "displayColor"


def test_gltf_has_the_colours_and_white_materials(run: Run, tmp_path: Path) -> None:
    (file,) = spume.export(run, "gltf", frames=0, out=tmp_path / "a.glb")
    data = file.read_bytes()
    tables = json.loads(data[20 : 20 + int.from_bytes(data[12:16], "little")])
    assert tables["materials"][0]["pbrMetallicRoughness"]["baseColorFactor"] == [1.0, 1.0, 1.0, 1.0]
    assert all("COLOR_0" in each["attributes"] for each in tables["meshes"][0]["primitives"])


def assert_painted(x: np.ndarray, colors: np.ndarray, atol: float = 1e-6) -> None:
    """Red in front, blue behind, away from the border."""
    away = np.abs(x[:, 2]) > 0.03
    assert away.sum() > 100
    np.testing.assert_allclose(colors[away], np.where(x[:, 2:] > 0, color(RED), color(BLUE))[away], atol=atol)


@pytest.mark.parametrize("what", ["points", "surface"])
def test_ply_has_the_colours_as_bytes(run: Run, tmp_path: Path, what: What) -> None:
    """Rounded to a 255th in sRGB, at most 0.009 in linear light, where sRGB is steepest."""
    spume.export(run, "ply", what=what, frames=0, out=tmp_path)
    (file,) = tmp_path.glob("*.ply")
    header, _, body = file.read_bytes().partition(b"end_header\n")
    names = [
        line.split() for line in header.decode().splitlines() if line.startswith("property") and "list" not in line
    ]
    kinds = {"float": "<f4", "double": "<f8", "uchar": "u1", "int": "<i4"}
    count = int(header.decode().split("element vertex ")[1].split()[0])
    rows = np.frombuffer(body, np.dtype([(name, kinds[kind]) for _, kind, name in names]), count)
    x = np.stack([rows[axis] for axis in "xyz"], axis=1)
    assert_painted(x, to_linear(np.stack([rows[each] for each in ("red", "green", "blue")], axis=1) / 255), 0.009)


@pytest.mark.slow_suite
@pytest.mark.parametrize("what", ["points", "surface"])
def test_alembic_has_the_colours(run: Run, tmp_path: Path, what: What) -> None:
    pytest.importorskip("alembic3d", reason="needs the extra 'alembic' (alembic3d)")
    from alembic3d import Abc, AbcGeom

    (file,) = spume.export(run, "alembic", what=what, out=tmp_path / "a.abc")
    top = Abc.IArchive(str(file)).getTop()
    kind = AbcGeom.IPoints if what == "points" else AbcGeom.IPolyMesh
    schema = kind(top, top.getChildHeader(0).getName()).getSchema()
    x = np.array([list(each) for each in schema.getValue(Abc.ISampleSelector(0.0)).getPositions()])
    found = AbcGeom.IC3fGeomParam(schema.getArbGeomParams(), "Cd").getExpandedValue(Abc.ISampleSelector(0.0)).getVals()
    assert_painted(x, np.array([[each.r, each.g, each.b] for each in found]))


@pytest.mark.parametrize("what", ["points", "surface"])
def test_blender_gets_the_colours_and_materials_that_read_them(run: Run, tmp_path: Path, what: What) -> None:
    spume.export(run, "blender-cache", what=what, frames=0, out=tmp_path)
    tables = json.loads((tmp_path / "scene.json").read_text())
    (piece,) = tables["pieces"]
    arrays = np.load(tmp_path / "frame_00000.npz")
    x, up = arrays[f"{piece['name']}/x"], np.array([[1, 0, 0], [0, 0, 1], [0, -1, 0]])
    assert_painted(x @ up.T, arrays[f"{piece['name']}/color"])
    assert all(tables["materials"][k]["colored"] for k in piece["materials"])


@pytest.mark.skipif(not has_blender(), reason="needs Blender: the extra 'blender', or SPUME_BLENDER")
def test_a_blend_file_has_the_colours(run: Run, tmp_path: Path) -> None:
    spume.export(run, "blend", frames=0, out=tmp_path / "a.blend")
    job = {"file": str(tmp_path / "a.blend"), "format": "blend", "frames": [0], "rate": 20.0}
    report = run_script("importing", job, {}, "importing")
    (skin,) = (each for each in report["frames"][0].values() if each["type"] == "MESH" and each["count"])
    assert "tint" in skin["attributes"]


def test_other_bodies_keep_the_colour_of_their_material(cube: Path) -> None:
    finish = Finish((0.2, 0.4, 0.6))
    paint = np.array([[0.0, 0.0, 0.0, 0.0], [0.9, 0.1, 0.1, 1.0], [0.45, 0.05, 0.05, 0.5]])
    found = covered_by(paint, finish)
    np.testing.assert_allclose(found[0], finish.color)
    np.testing.assert_allclose(found[1], [0.9, 0.1, 0.1])
    np.testing.assert_allclose(found[2], 0.5 * (found[0] + found[1]))


def test_runs_without_painted_bodies_have_no_such_field(cube: Path) -> None:
    simulation = spume.Simulation(spume.load_scene(scene(cube, colors="material")))
    assert PAINT.name not in simulation.particles


def test_a_shape_without_colours_is_told(cube: Path, tmp_path: Path) -> None:
    with pytest.raises(SceneError, match="is 'mesh', but the shape is not a mesh"):
        spume.load_scene(scene(cube, shape={"sphere": {"center": [0, 0, 0], "radius": 0.1}}))
    plain = tmp_path / "plain.obj"
    plain.write_text(
        "".join(line + "\n" for line in cube.read_text().splitlines() if not line.startswith(("mtl", "use")))
    )
    with pytest.raises(SceneError, match="has no colours of its own"):
        spume.load_scene(scene(cube, shape={"mesh": {"file": str(plain), "scale": 0.05}}))
