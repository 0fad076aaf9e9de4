"""Every format takes any number of populations, each as it is: points as points, a mesh as a mesh."""

from pathlib import Path

import numpy as np
import pytest

from spume.errors import SceneError
from spume.exports.contents import Contents, contents
from spume.frames.reader import open_run


@pytest.fixture(scope="module")
def chosen(several_run: Path) -> Contents:
    return contents(open_run(several_run), [0, 1], "points", None)


def test_pieces_are_the_populations(chosen: Contents) -> None:
    frame = chosen.run[1]
    pieces = chosen.pieces(1)
    assert [piece.name for piece in pieces] == chosen.piece_names == ["rubber", "jelly", "shell"]
    for piece in pieces:
        np.testing.assert_array_equal(piece.x, frame[piece.name].x)
    assert [piece.triangles is None for piece in pieces] == [True, True, False]
    # The tetrahedron is about its middle, and its vertices are in outward order.
    outward = pieces[2].x - pieces[2].x.mean(axis=0)
    np.testing.assert_allclose(pieces[2].normals, outward / np.linalg.norm(outward, axis=1)[:, None], atol=1e-12)


def test_chosen_fields_go_to_the_populations_that_have_them(several_run: Path) -> None:
    some = contents(open_run(several_run), [0], "points", "speed,strain")
    assert [list(piece.fields) for piece in some.pieces(0)] == [["speed"], [], ["speed", "strain"]]
    with pytest.raises(SceneError, match="temperature"):
        contents(open_run(several_run), [0], "points", "temperature").pieces(0)


def test_usd_has_a_prim_for_each(chosen: Contents, tmp_path: Path) -> None:
    pytest.importorskip("pxr", reason="needs the extra 'export' (usd-core)")
    from pxr import Usd, UsdGeom

    from spume.exports.usd import write_usd

    write_usd(chosen, tmp_path / "several.usda")
    stage = Usd.Stage.Open(str(tmp_path / "several.usda"))
    root = stage.GetDefaultPrim().GetPath()
    frame = chosen.run[1]
    rubber = UsdGeom.Points(stage.GetPrimAtPath(f"{root}/rubber/soft_rubber"))
    jelly = UsdGeom.Points(stage.GetPrimAtPath(f"{root}/jelly/gelatin"))
    shell = UsdGeom.Mesh(stage.GetPrimAtPath(f"{root}/shell"))
    for prim, name in ((rubber, "rubber"), (jelly, "jelly"), (shell, "shell")):
        np.testing.assert_allclose(prim.GetPointsAttr().Get(1), frame[name].x, rtol=1e-6)
    assert len(UsdGeom.Points(stage.GetPrimAtPath(f"{root}/jelly/soft_rubber")).GetPointsAttr().Get(1)) == 0
    np.testing.assert_array_equal(shell.GetFaceVertexIndicesAttr().Get(1), frame["shell"].triangles.ravel())
    np.testing.assert_allclose(UsdGeom.PrimvarsAPI(shell).GetPrimvar("strain").Get(1), frame["shell"].strain)


def test_vtkhdf_has_a_file_for_each(chosen: Contents, tmp_path: Path) -> None:
    h5py = pytest.importorskip("h5py", reason="needs the extra 'export'")
    from spume.exports.vtkhdf import write_vtkhdf

    file = tmp_path / "points.vtkhdf"
    assert write_vtkhdf(chosen, file)
    assert not write_vtkhdf(chosen, file)
    files = chosen.population_files(file)
    assert [each.name for each in files] == [f"points_{name}.vtkhdf" for name in ("rubber", "jelly", "shell")]
    assert sorted(tmp_path.iterdir()) == sorted(files)
    with h5py.File(tmp_path / "points_shell.vtkhdf") as hdf:
        root = hdf["VTKHDF"]
        np.testing.assert_array_equal(root["Points"][4:], chosen.run[1]["shell"].x)
        np.testing.assert_array_equal(root["Polygons/Connectivity"][:12], chosen.run[0]["shell"].triangles.ravel())
        np.testing.assert_array_equal(root["PointData/strain"][:4], chosen.run[0]["shell"].strain)


def test_a_sequence_has_a_file_for_each(chosen: Contents, tmp_path: Path) -> None:
    trimesh = pytest.importorskip("trimesh", reason="needs the extra 'view'")
    from spume.exports.sequence import write_frame

    assert write_frame(chosen, tmp_path, "ply", False, 1) == 3
    assert write_frame(chosen, tmp_path, "ply", False, 1) == 0
    shell = trimesh.load(tmp_path / "shell_00001.ply", process=False)
    np.testing.assert_array_equal(shell.vertices, chosen.run[1]["shell"].x)
    assert shell.is_watertight
    rubber = trimesh.load(tmp_path / "rubber_00001.ply", process=False)
    np.testing.assert_array_equal(rubber.vertices, chosen.run[1]["rubber"].x)


@pytest.mark.slow_suite
def test_alembic_has_an_object_for_each(chosen: Contents, tmp_path: Path) -> None:
    pytest.importorskip("alembic3d", reason="needs the extra 'alembic'")
    from alembic3d import Abc, AbcGeom

    from spume.exports.alembic import write_alembic

    write_alembic(chosen, tmp_path / "several.abc")
    top = Abc.IArchive(str(tmp_path / "several.abc")).getTop()
    names = [top.getChildHeader(k).getName() for k in range(top.getNumChildren())]
    assert names[:3] == ["several_rubber", "several_jelly", "several_shell"]
    sample = AbcGeom.IPoints(top, names[1]).getSchema().getValue(Abc.ISampleSelector(0.1))
    assert len(sample.getPositions()) == len(chosen.run[1]["jelly"].x)
