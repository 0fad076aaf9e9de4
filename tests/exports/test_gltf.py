"""GLB files, read back by their specification, hold the frames' own numbers."""

from pathlib import Path

import numpy as np
from glb_file import Glb

from spume.exports.contents import contents
from spume.exports.gltf import write_gltf
from spume.frames.reader import open_run

SINGLE = np.finfo(np.float32).eps


def test_points_are_the_frames_in_their_materials(solid_run: Path, tmp_path: Path) -> None:
    run = open_run(solid_run)
    write_gltf(contents(run, [0, 1, 2], "points", None), tmp_path / "run.glb")
    glb = Glb(tmp_path / "run.glb")
    for frame in run:
        mesh = glb.about["meshes"][glb.node(f"frame {frame.number}")["mesh"]]
        assert [part["mode"] for part in mesh["primitives"]] == [0, 0]
        for kind, part in enumerate(mesh["primitives"]):
            x = glb.array(part["attributes"]["POSITION"])
            np.testing.assert_allclose(x, frame["x"][frame["material"] == kind], rtol=SINGLE)
            v = glb.array(part["attributes"]["_VELOCITY"])
            np.testing.assert_allclose(v, frame["v"][frame["material"] == kind], rtol=SINGLE)
            assert glb.about["materials"][part["material"]]["name"] == ("soft rubber", "gelatin")[kind]


def test_one_frame_is_seen_at_a_time(solid_run: Path, tmp_path: Path) -> None:
    """At the time of each frame, steps of the scale leave that frame's node at 1 and the others at 0."""
    write_gltf(contents(open_run(solid_run), [0, 1, 2], "points", None), tmp_path / "run.glb")
    glb = Glb(tmp_path / "run.glb")
    (animation,) = glb.about["animations"]
    for time in (0.0, 0.1, 0.2):
        seen = {}
        for channel in animation["channels"]:
            sampler = animation["samplers"][channel["sampler"]]
            if channel["target"]["path"] != "scale":
                continue
            assert sampler["interpolation"] == "STEP"
            times, values = glb.array(sampler["input"])[:, 0], glb.array(sampler["output"])
            name = glb.about["nodes"][channel["target"]["node"]]["name"]
            seen[name] = values[np.searchsorted(times, time, side="right") - 1, 0]
        assert seen == {f"frame {k}": float(k == round(10 * time)) for k in range(3)}


def test_an_obstacle_moves_as_the_scene_says(solid_run: Path, tmp_path: Path) -> None:
    write_gltf(contents(open_run(solid_run), [0, 1, 2], "points", None), tmp_path / "run.glb")
    glb = Glb(tmp_path / "run.glb")
    block = glb.about["nodes"].index(glb.node("block"))
    (animation,) = glb.about["animations"]
    moves = {
        channel["target"]["path"]: animation["samplers"][channel["sampler"]]
        for channel in animation["channels"]
        if channel["target"]["node"] == block
    }
    shift = glb.array(moves["translation"]["output"])
    expected = 0.1 * np.sin(2 * np.pi * 2.5 * np.arange(3) / 10)
    np.testing.assert_allclose(shift[:, 0], expected, atol=1e-7)
    np.testing.assert_allclose(glb.array(moves["rotation"]["output"]), np.tile([0, 0, 0, 1], (3, 1)), atol=1e-7)


def test_looks_are_those_of_the_materials(solid_run: Path, tmp_path: Path) -> None:
    chosen = contents(open_run(solid_run), [0], "points", None)
    write_gltf(chosen, tmp_path / "run.glb")
    about = Glb(tmp_path / "run.glb").about
    for (name, finish), material in zip(chosen.materials, about["materials"]):
        assert material["name"] == name
        assert material["pbrMetallicRoughness"]["roughnessFactor"] == finish.roughness
        np.testing.assert_allclose(material["pbrMetallicRoughness"]["baseColorFactor"][:3], finish.color)
    gelatin = about["materials"][1]["extensions"]["KHR_materials_transmission"]
    assert gelatin["transmissionFactor"] == chosen.materials[1][1].transparency > 0
    assert "KHR_materials_transmission" in about["extensionsUsed"]


def test_a_second_export_writes_nothing(solid_run: Path, tmp_path: Path) -> None:
    chosen = contents(open_run(solid_run), [0], "points", None)
    assert write_gltf(chosen, tmp_path / "run.glb")
    assert not write_gltf(chosen, tmp_path / "run.glb")
