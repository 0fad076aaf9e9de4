"""USD files, read back by USD itself, hold the frames' own numbers."""

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("pxr", reason="needs the extra 'export' (usd-core)")
from pxr import Usd, UsdGeom, UsdShade

from spume.exports.contents import contents
from spume.exports.usd import write_usd
from spume.frames.reader import open_run

SINGLE = np.finfo(np.float32).eps
"""USD keeps points in single precision: values come back to half a unit of the last place."""


@pytest.fixture(params=["single", "clips"])
def stage(request, solid_run: Path, tmp_path: Path) -> Usd.Stage:
    file = tmp_path / "balls.usda"
    assert write_usd(contents(open_run(solid_run), [0, 1, 2], "points", None), file, request.param)
    return Usd.Stage.Open(str(file))


def test_every_sample_of_points_is_the_frame(stage: Usd.Stage, solid_run: Path) -> None:
    root = stage.GetDefaultPrim().GetPath()
    for number, frame in enumerate(open_run(solid_run)):
        for index, name in enumerate(("soft_rubber", "gelatin")):
            points = UsdGeom.Points(stage.GetPrimAtPath(f"{root}/points/{name}"))
            mine = frame["material"] == index
            np.testing.assert_allclose(points.GetPointsAttr().Get(number), frame["x"][mine], rtol=SINGLE)
            np.testing.assert_allclose(points.GetVelocitiesAttr().Get(number), frame["v"][mine], rtol=SINGLE)
            primvars = UsdGeom.PrimvarsAPI(points)
            np.testing.assert_array_equal(primvars.GetPrimvar("weak").Get(number), frame["weak"][mine])
            J = np.linalg.det(frame["F"][mine])
            np.testing.assert_allclose(primvars.GetPrimvar("J").Get(number), J, rtol=2 * SINGLE)
            # Balls of the given widths hold the volume of the points.
            widths = np.asarray(points.GetWidthsAttr().Get(number), dtype=float)
            np.testing.assert_allclose(np.pi / 6 * widths**3, frame["volume"][mine] * J, rtol=4 * SINGLE)


def test_units_axis_times_and_materials_are_declared(stage: Usd.Stage) -> None:
    assert UsdGeom.GetStageMetersPerUnit(stage) == 1.0
    assert UsdGeom.GetStageUpAxis(stage) == "Y"
    assert stage.GetTimeCodesPerSecond() == 10.0
    assert (stage.GetStartTimeCode(), stage.GetEndTimeCode()) == (0.0, 2.0)
    for name in ("soft_rubber", "gelatin"):
        prim = stage.GetPrimAtPath(f"{stage.GetDefaultPrim().GetPath()}/points/{name}")
        material, _ = UsdShade.MaterialBindingAPI(prim).ComputeBoundMaterial()
        assert material.GetPath().name == name
        assert material.ComputeSurfaceSource()[0].GetIdAttr().Get() == "UsdPreviewSurface"


def test_an_obstacle_moves_as_the_scene_says(stage: Usd.Stage) -> None:
    block = UsdGeom.Xformable(stage.GetPrimAtPath(f"{stage.GetDefaultPrim().GetPath()}/obstacles/block"))
    for number in range(3):
        moved = block.GetLocalTransformation(Usd.TimeCode(number)).ExtractTranslation()
        expected = 0.1 * np.sin(2 * np.pi * 2.5 * number / 10)
        np.testing.assert_allclose(moved, [expected, 0, 0], atol=1e-12)


@pytest.mark.parametrize("layout", ["single", "clips"])
def test_a_surface_keeps_its_triangles_and_fields(solid_run: Path, tmp_path: Path, layout: str) -> None:
    chosen = contents(open_run(solid_run), [1], "surface", None)
    file = tmp_path / "skin.usdc"
    write_usd(chosen, file, layout)
    stage = Usd.Stage.Open(str(file))
    mesh = UsdGeom.Mesh(stage.GetPrimAtPath(f"{stage.GetDefaultPrim().GetPath()}/surface"))
    skin = chosen.pieces(1)[0]
    np.testing.assert_array_equal(mesh.GetPointsAttr().Get(1), skin.x)
    np.testing.assert_array_equal(np.reshape(mesh.GetFaceVertexIndicesAttr().Get(1), (-1, 3)), skin.triangles)
    np.testing.assert_array_equal(UsdGeom.PrimvarsAPI(mesh).GetPrimvar("J").Get(1), skin.fields["J"])
    subsets = UsdShade.MaterialBindingAPI(mesh).GetMaterialBindSubsets()
    faces = np.concatenate([subset.GetIndicesAttr().Get(1) for subset in subsets])
    np.testing.assert_array_equal(np.sort(faces), np.arange(len(skin.triangles)))


def test_objects_and_materials_of_the_same_name_are_all_there(named_alike_run: Path, tmp_path: Path) -> None:
    write_usd(contents(open_run(named_alike_run), [0], "points", None), tmp_path / "points.usdc")
    opened = Usd.Stage.Open(str(tmp_path / "points.usdc"))

    def below(path: str) -> list[str]:
        return [prim.GetName() for prim in opened.GetDefaultPrim().GetPrimAtPath(path).GetChildren()]

    assert below("obstacles") == ["alike", "camera", "ground", "block", "a_b", "a_b_2"]
    assert below("points") == ["soft_gel", "soft_gel_2", "obstacle_block"]
    assert set(below("materials")) >= {"soft_gel", "soft_gel_2", "obstacle_block", "obstacle_block_2"}


def test_a_second_export_writes_nothing_until_a_frame_changes(solid_run: Path, tmp_path: Path) -> None:
    import os

    chosen = contents(open_run(solid_run), [0, 1], "points", None)
    file = tmp_path / "again.usdc"
    assert write_usd(chosen, file)
    assert not write_usd(chosen, file)
    os.utime(solid_run / "frames" / "frame_00001.safetensors")
    assert write_usd(chosen, file)
