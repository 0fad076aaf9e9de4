"""What the viewer sends to its page: meshes with looks as binary glTF, and the shadow on the ground."""

import json
import struct

import numpy as np
import pytest

from spume.look.finish import Finish
from spume.look.viewer.mesh_file import mesh_file
from spume.look.viewer.shadow import SLANT, ground_shadow
from spume.look.viewer.watched_run import MATERIAL, Shown

WATER = Finish((0.2, 0.4, 0.8), roughness=0.05, transparency=1.0)
CLAY = Finish((0.6, 0.3, 0.2), roughness=0.9)
VERTICES = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 2]])
TRIANGLES = np.array([[0, 1, 2], [1, 2, 3]])


def read(data: bytes) -> tuple[dict, bytes]:
    """The JSON and the arrays of a GLB file, laid out as glTF 2.0 section 4 says."""
    magic, version, length = struct.unpack_from("<4sII", data)
    assert (magic, version, length) == (b"glTF", 2, len(data))
    size, kind = struct.unpack_from("<I4s", data, 12)
    assert (kind, size % 4) == (b"JSON", 0)
    rest = 20 + size
    binary, kind = struct.unpack_from("<I4s", data, rest)
    assert (kind, rest + 8 + binary) == (b"BIN\0", len(data))
    return json.loads(data[20:rest]), data[rest + 8 :]


def array(scene: dict, body: bytes, index: int) -> np.ndarray:
    accessor = scene["accessors"][index]
    view = scene["bufferViews"][accessor["bufferView"]]
    kind = {5126: np.float32, 5125: np.uint32, 5123: np.uint16}[accessor["componentType"]]
    flat = np.frombuffer(body[view["byteOffset"] :][: view["byteLength"]], kind)
    return flat.reshape(accessor["count"], -1)


def test_a_mesh_comes_back_with_its_colours_and_looks() -> None:
    colors = np.linspace(0, 1, 12).reshape(4, 3)
    parts = [(TRIANGLES[:1], CLAY), (TRIANGLES[1:], WATER)]
    scene, body = read(mesh_file(VERTICES, VERTICES, colors, parts))
    first, second = scene["meshes"][0]["primitives"]
    attributes = first["attributes"]
    np.testing.assert_array_equal(array(scene, body, attributes["POSITION"]), VERTICES)
    np.testing.assert_allclose(array(scene, body, attributes["COLOR_0"])[:, :3] / 65535, colors, atol=0.5 / 65535)
    assert array(scene, body, first["indices"]).ravel().tolist() == [0, 1, 2]
    assert array(scene, body, second["indices"]).ravel().tolist() == [1, 2, 3]
    clay, water = scene["materials"]
    assert "alphaMode" not in clay
    assert clay["pbrMetallicRoughness"]["roughnessFactor"] == 0.9
    assert water["alphaMode"] == "BLEND"
    assert water["pbrMetallicRoughness"]["baseColorFactor"][3] == pytest.approx(0.4)
    assert water["pbrMetallicRoughness"]["roughnessFactor"] == 0.05


def test_triangles_have_the_looks_of_their_material() -> None:
    shown = Shown(VERTICES, TRIANGLES, VERTICES, {MATERIAL: np.array([0.0, 1.0, 1.0, 1.0])}, 0.1)
    (first, clay), (second, water) = shown.parts([CLAY, WATER])
    assert (first.tolist(), clay) == ([[0, 1, 2]], CLAY)
    assert (second.tolist(), water) == ([[1, 2, 3]], WATER)


def test_a_shadow_lies_under_a_ball_to_the_side_the_light_leans() -> None:
    """The shadow of a ball at height h is centred at h times the slant, and as wide as the ball leans: 2r √(1 + s²)."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(4000, 3))
    x = 0.05 * x / np.linalg.norm(x, axis=1)[:, None]
    up = np.array([0.0, 0.0, 1.0])
    shadow = ground_shadow([x + 0.2 * up], up, 0.0, 0.004, 1.0)
    assert shadow is not None
    np.testing.assert_allclose(shadow.middle[:2], 0.2 * np.array(SLANT), atol=0.004)
    np.testing.assert_allclose(shadow.R, np.eye(3), atol=1e-15)
    dark = shadow.image[:, :, 3]
    columns = np.flatnonzero(dark.max(axis=0) > 0.5 * dark.max())
    width = len(columns) * shadow.width / dark.shape[1]
    assert width == pytest.approx(0.1 * np.sqrt(1 + SLANT[0] ** 2), abs=4 * shadow.width / dark.shape[1])
    assert shadow.image[0, 0, 3] == 0


def test_what_is_high_above_the_ground_casts_no_shadow() -> None:
    up = np.array([0.0, 1.0, 0.0])
    assert ground_shadow([np.array([[0.0, 5.0, 0.0]])], up, 0.0, 0.01, 1.0) is None
    assert ground_shadow([], up, 0.0, 0.01, 1.0) is None
