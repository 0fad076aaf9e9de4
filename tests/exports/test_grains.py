"""Sand is exported as grains, darker where wet, and water as a clear surface, also where a surface is asked for."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from glb_file import Glb

from spume.exports.contents import Contents, contents
from spume.exports.gltf import write_gltf
from spume.frames.reader import open_run
from spume.look.grains import WET, shades
from spume.look.surface.files import surface_frame

SINGLE = np.finfo(np.float32).eps


@pytest.fixture(scope="module")
def chosen(wet_run: Path) -> Contents:
    return contents(open_run(wet_run), [0, 1, 2], "surface", None)


def expected_colors(chosen: Contents, number: int, kind: int) -> np.ndarray:
    """Colours of the pictures: the look's, varied by id, darker by WET where the pores are full."""
    sand = chosen.run[number]["sand"]
    mine, finish = sand["material"] == kind, chosen.materials[kind][1]
    brightness = shades(sand["id"][mine], finish.variation) * (1.0 - WET * sand["saturation"][mine])
    return brightness[:, None] * np.array(finish.color)


def test_the_run_is_wet_in_part_and_gains_grains(chosen: Contents) -> None:
    """The scene shows what the tests below need: dry and wet sand, and a material that appears later."""
    wet = chosen.run[2]["sand"]["saturation"]
    assert wet.min() == 0.0
    assert wet.max() > 0.99
    assert [name for name, _ in chosen.materials] == ["beach", "sea", "beach of stream"]
    assert set(chosen.run[0]["sand"]["material"]) == {0}
    assert set(chosen.run[2]["sand"]["material"]) == {0, 2}


def test_only_the_water_is_skinned(chosen: Contents, tmp_path: Path) -> None:
    assert chosen.skinned == ["water"]
    reports = surface_frame(chosen.run, 0, "preview", "all", out=tmp_path, populations=chosen.skinned)
    assert [report.part for report in reports] == ["water"]
    assert [folder.name for folder in tmp_path.iterdir()] == ["water"]


def test_sand_is_points_and_water_a_mesh_in_every_frame(chosen: Contents) -> None:
    assert chosen.piece_names == ["sand", "surface"]
    for number in chosen.numbers:
        sand, water = chosen.pieces(number)
        assert (sand.triangles is None, water.triangles is None) == (True, False)
        assert (sand.materials, water.materials) == ((0, 2), (1,))
        assert set(water.kinds) == {1}
        np.testing.assert_array_equal(sand.x, chosen.run[number]["sand"]["x"])


def test_colours_need_no_exported_fields(wet_run: Path, chosen: Contents) -> None:
    """`--fields speed` leaves out the material, the ids and the saturation, not the looks."""
    few = contents(open_run(wet_run), [2], "surface", "speed")
    for piece, whole in zip(few.pieces(2), chosen.pieces(2)):
        np.testing.assert_array_equal(piece.kinds, whole.kinds)
        if whole.colors is not None:
            np.testing.assert_array_equal(piece.colors, whole.colors)


def _below(stage: Any, path: str) -> list[str]:
    return [prim.GetName() for prim in stage.GetPrimAtPath(path).GetChildren()]


@pytest.mark.parametrize("layout", ["single", "clips"])
def test_usd(chosen: Contents, tmp_path: Path, layout: str) -> None:
    pytest.importorskip("pxr", reason="needs the extra 'export' (usd-core)")
    from pxr import Usd, UsdGeom, UsdShade

    from spume.exports.usd import write_usd

    write_usd(chosen, tmp_path / "wet.usda", layout)
    stage = Usd.Stage.Open(str(tmp_path / "wet.usda"))
    root = stage.GetDefaultPrim().GetPath()
    # only materials that the sand can have, and none of them below the water
    assert _below(stage, f"{root}/sand") == ["beach", "beach_of_stream"]
    assert _below(stage, f"{root}/surface") == []
    for kind, name in ((0, "beach"), (2, "beach_of_stream")):
        points = UsdGeom.Points(stage.GetPrimAtPath(f"{root}/sand/{name}"))
        colors = np.asarray(points.GetDisplayColorPrimvar().Get(2))
        np.testing.assert_allclose(colors, expected_colors(chosen, 2, kind), rtol=2 * SINGLE)
    water = UsdGeom.Mesh(stage.GetPrimAtPath(f"{root}/surface"))
    assert len(water.GetFaceVertexIndicesAttr().Get(2)) > 0
    (opacity,) = water.GetDisplayOpacityAttr().Get()
    assert 0.0 < opacity < 1.0
    material, _ = UsdShade.MaterialBindingAPI(water.GetPrim()).ComputeBoundMaterial()
    assert material.GetPath().name == "sea"
    assert material.ComputeSurfaceSource()[0].GetInput("opacity").Get() == opacity


def test_usd_points_have_no_prims_without_members(wet_run: Path, tmp_path: Path) -> None:
    pytest.importorskip("pxr", reason="needs the extra 'export' (usd-core)")
    from pxr import Usd

    from spume.exports.usd import write_usd

    write_usd(contents(open_run(wet_run), [0, 1, 2], "points", None), tmp_path / "wet.usda")
    stage = Usd.Stage.Open(str(tmp_path / "wet.usda"))
    root = stage.GetDefaultPrim().GetPath()
    assert _below(stage, f"{root}/sand") == ["beach", "beach_of_stream"]
    assert _below(stage, f"{root}/water") == ["sea"]


def test_gltf(chosen: Contents, tmp_path: Path) -> None:
    write_gltf(chosen, tmp_path / "wet.glb")
    glb = Glb(tmp_path / "wet.glb")
    primitives = glb.about["meshes"][glb.node("frame 2")["mesh"]]["primitives"]
    found = {glb.about["materials"][part["material"]]["name"]: part for part in primitives}
    assert {name: part["mode"] for name, part in found.items()} == {"beach": 0, "beach of stream": 0, "sea": 4}
    for kind, name in ((0, "beach"), (2, "beach of stream")):
        base = glb.about["materials"][found[name]["material"]]["pbrMetallicRoughness"]["baseColorFactor"][:3]
        colors = glb.array(found[name]["attributes"]["COLOR_0"]) * base
        # glTF's colours of points are at most those of the material
        expected = np.minimum(expected_colors(chosen, 2, kind), base)
        np.testing.assert_allclose(colors, expected, rtol=4 * SINGLE)
    sea = glb.about["materials"][found["sea"]["material"]]
    assert sea["extensions"]["KHR_materials_transmission"]["transmissionFactor"] > 0.0
