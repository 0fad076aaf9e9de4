"""Bodies with an embedded surface: pictures, viewer and exports show their mesh, or on request a skin."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from glb_file import Glb

import spume
from spume.cli import main
from spume.frames.reader import open_run
from spume.look.blender.process import has_blender
from spume.look.pictures.drawing import PictureOptions, make_drawer

Mesh = tuple[np.ndarray, np.ndarray]
SIDE, RADIUS, DISTANCE = 0.2, 0.1, 0.5


@pytest.fixture(scope="module")
def mixed_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A box with an embedded mesh beside a ball without one, at rest."""
    folder = tmp_path_factory.mktemp("runs") / "mixed"
    rubber = {"law": "hencky", "density": 1000.0, "youngs_modulus": 1e4, "poisson_ratio": 0.3}
    spume.run(
        {
            "title": "mixed", "method": "mpm", "duration": 0.02, "frame_rate": 50, "gravity": [0.0, 0.0, 0.0],
            "grid": {"cell": 0.04}, "material": {"rubber": rubber},
            "body": [
                {"name": "box", "material": "rubber", "surface": "embedded",
                 "shape": {"box": {"center": [0.0, 0.0, 0.0], "size": [SIDE, SIDE, SIDE]}}},
                {"name": "ball", "material": "rubber",
                 "shape": {"sphere": {"center": [DISTANCE, 0.0, 0.0], "radius": RADIUS}}},
            ],
        },
        folder, progress="none",
    )  # fmt: skip
    return folder


def corner_distance(x: np.ndarray) -> float:
    """From the corner of the box to the nearest vertex [m]: a skin rounds corners off, by some 0.3 spacings or more."""
    return float(np.linalg.norm(np.asarray(x) - SIDE / 2, axis=1).min())


SHARP = 1e-6
"""The mesh of a box has its corners; positions are in single precision in some formats."""
ROUND = 0.2 * 0.02
"""A fifth of a point spacing."""


def covers_ball(x: np.ndarray) -> bool:
    return bool((np.asarray(x)[:, 0] > DISTANCE - 1.5 * RADIUS).any())


@pytest.mark.parametrize("skin", ["embedded", "reconstructed"])
def test_a_picture_shows_the_mesh_or_a_skin(mixed_run: Path, skin: str) -> None:
    run = open_run(mixed_run)
    drawer = make_drawer(run, PictureOptions(200, 150, quality="preview", skin=skin))
    frame = drawer.run[1]
    parts = [part.vertices for part, _ in drawer.material_parts(frame)]
    together = np.concatenate(parts)
    assert covers_ball(together)
    if skin == "embedded":
        mesh = frame["surface of box"]
        # at edges, places have a vertex for each side
        places = [np.unique(part, axis=0) for part in parts if not covers_ball(part)]
        # the skin of the other body does not surround the points of this one
        assert len(places) == 1
        assert np.array_equal(places[0], np.unique(mesh.x, axis=0))
        assert corner_distance(together) < SHARP
    else:
        assert "surface of box" not in frame.populations
        assert corner_distance(together) > ROUND


@pytest.mark.parametrize("skin", ["embedded", "reconstructed"])
def test_the_viewer_shows_the_mesh_or_a_skin(mixed_run: Path, skin: str, tmp_path: Path) -> None:
    from spume.look.viewer.watched_run import watch

    watched = watch(mixed_run, skin)
    shown = watched.frame(1, "surface", ["material"])
    assert set(shown) == ({"points", "surface of box"} if skin == "embedded" else {"points"})
    together = np.concatenate([each.vertices for each in shown.values()])
    assert covers_ball(together)
    assert (corner_distance(together) < SHARP) == (skin == "embedded")
    watched.refresh()
    assert watched.run.skin == skin
    page = tmp_path / "page.html"
    assert main(["view", str(mixed_run), "--export", str(page), "--show", "surface", "--skin", skin]) == 0
    data = json.loads(re.search(r'<script[^>]*id="data"[^>]*>(.*?)</script>', page.read_text(), re.S)[1])
    frames = data["runs"][0]["shows"]["surface"]["frames"]
    assert [len(frame) for frame in frames] == [len(shown)] * 2


def read_usd(folder: Path) -> list[Mesh]:
    pytest.importorskip("pxr", reason="needs the extra 'export' (usd-core)")
    from pxr import Usd, UsdGeom

    stage = Usd.Stage.Open(str(folder / "surface.usdc"))
    meshes = [UsdGeom.Mesh(prim) for prim in stage.Traverse() if prim.IsA(UsdGeom.Mesh)]
    return [
        (np.asarray(mesh.GetPointsAttr().Get(1)), np.reshape(mesh.GetFaceVertexIndicesAttr().Get(1), (-1, 3)))
        for mesh in meshes
    ]


def read_alembic(folder: Path) -> list[Mesh]:
    pytest.importorskip("alembic3d", reason="needs the extra 'alembic' (alembic3d)")
    from alembic3d import Abc, AbcGeom

    top = Abc.IArchive(str(folder / "surface.abc")).getTop()
    found = []
    for header in map(top.getChildHeader, range(top.getNumChildren())):
        if AbcGeom.IPolyMesh.matches(header):
            sample = AbcGeom.IPolyMesh(top, header.getName()).getSchema().getValue(Abc.ISampleSelector(1))
            x = np.array([[v[0], v[1], v[2]] for v in sample.getPositions()])
            # Alembic winds faces clockwise
            found.append((x, np.array(list(sample.getFaceIndices())).reshape(-1, 3)[:, ::-1]))
    return found


def read_gltf(folder: Path) -> list[Mesh]:
    glb = Glb(folder / "surface.glb")
    primitives = glb.about["meshes"][glb.node("frame 1")["mesh"]]["primitives"]
    return [
        (glb.array(part["attributes"]["POSITION"]), glb.array(part["indices"]).reshape(-1, 3)) for part in primitives
    ]


def read_vtkhdf(folder: Path) -> list[Mesh]:
    pytest.importorskip("h5py", reason="needs the extra 'export' (h5py)")
    pytest.importorskip("pyvista", reason="needs the extra 'test' (VTK's reader)")
    from vtkhdf_file import read_steps

    last = [list(read_steps(file))[1][1] for file in folder.glob("*.vtkhdf")]
    return [(np.asarray(mesh.points), np.asarray(mesh.regular_faces)) for mesh in last]


def read_obj(folder: Path) -> list[Mesh]:
    found = []
    for file in folder.glob("*_00001.obj"):
        words = [line.split() for line in file.read_text().splitlines()]
        x = np.array([[float(word) for word in line[1:4]] for line in words if line[:1] == ["v"]])
        faces = [[int(word.split("/")[0]) - 1 for word in line[1:4]] for line in words if line[:1] == ["f"]]
        found.append((x, np.array(faces)))
    return found


FORMATS = {
    "usd": ("surface.usdc", read_usd),
    "alembic": ("surface.abc", read_alembic),
    "gltf": ("surface.glb", read_gltf),
    "vtkhdf": ("surface.vtkhdf", read_vtkhdf),
    "obj": ("", read_obj),
}


@pytest.mark.parametrize("skin", ["embedded", "reconstructed"])
@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=[pytest.mark.slow_suite] if kind == "alembic" else []) for kind in FORMATS]
)
def test_an_export_holds_the_mesh_or_a_skin(mixed_run: Path, kind: str, skin: str, tmp_path: Path) -> None:
    file, read = FORMATS[kind]
    command = ["export", str(mixed_run), "--to", kind, "--what", "surface", "--skin", skin]
    assert main([*command, "--out", str(tmp_path / file)]) == 0
    meshes = read(tmp_path)
    together = np.concatenate([x for x, _ in meshes])
    assert covers_ball(together)
    assert (corner_distance(together) < SHARP) == (skin == "embedded")
    if skin == "embedded":
        frame = open_run(mixed_run)[1]["surface of box"]
        (box,) = (mesh for mesh in meshes if len(mesh[0]) == len(frame.x))
        np.testing.assert_allclose(box[0], frame.x, rtol=1e-6, atol=1e-7)
        np.testing.assert_array_equal(box[1], np.asarray(frame.triangles))


@pytest.mark.skipif(not has_blender(), reason="needs Blender: the extra 'blender', or SPUME_BLENDER")
def test_blender_shows_the_corners_of_the_mesh(mixed_run: Path, tmp_path: Path) -> None:
    """A .blend file and an import of USD: one of the meshes has the vertices and the size of the box."""
    from validation.blender_import import imported

    count = len(open_run(mixed_run)[1]["surface of box"].x)
    for kind in ("blend", "usd"):
        (frame,) = imported(open_run(mixed_run), [1], kind, tmp_path / kind)["frames"]
        sizes = [np.subtract(each["upper"], each["lower"]) for each in frame.values() if each.get("count") == count]
        assert len(sizes) == 1
        np.testing.assert_allclose(sizes[0], SIDE, atol=SHARP)


def test_skins_on_disk_and_default_files_are_kept_apart(mixed_run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The volume within the skin is that of the points it surrounds."""
    volumes = {}
    for skin in ("embedded", "reconstructed", "embedded"):
        assert main(["surface", str(mixed_run), "--frames", "1", "--quality", "preview", "--skin", skin]) == 0
        volumes[skin] = float(capsys.readouterr().out.splitlines()[1].split()[4])
    ball = 4 / 3 * np.pi * RADIUS**3
    assert volumes["embedded"] == pytest.approx(ball, rel=0.01)
    assert volumes["reconstructed"] == pytest.approx(ball + SIDE**3, rel=0.01)
    assert main(["export", str(mixed_run), "--to", "ply", "--what", "surface", "--skin", "reconstructed"]) == 0
    assert [file.name for file in (mixed_run / "export" / "ply-reconstructed").glob("*_00001.ply")] == [
        "surface_00001.ply"
    ]
    assert PictureOptions(skin="reconstructed").suffix == "-reconstructed"
    assert PictureOptions().suffix == ""
