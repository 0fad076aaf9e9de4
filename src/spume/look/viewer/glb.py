"""A mesh with its looks as binary glTF, the form in which the viewer's page takes meshes with materials.

[glTF 2.0] A file is a header, a JSON chunk that describes the scene, and a chunk of binary arrays.
"""

import json
import struct
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spume.look.appearance import Appearance

ARRAY_BUFFER, ELEMENT_ARRAY_BUFFER = 34962, 34963
FLOAT, UNSIGNED_INT, UNSIGNED_SHORT = 5126, 5125, 5123
MAGIC, JSON_CHUNK, BINARY_CHUNK = 0x46546C67, 0x4E4F534A, 0x004E4942
STEPS = 65535


def glb(
    vertices: NDArray[Any],
    normals: NDArray[Any],
    colors: NDArray[Any],
    parts: list[tuple[NDArray[Any], Appearance]],
) -> bytes:
    """Vertices with normals and colours (linear RGB, 0 to 1), shape (n, 3) each, and triangles in parts with their
    looks, whose colour is not used."""
    bodies: list[bytes] = []
    views: list[dict[str, Any]] = []
    accessors: list[dict[str, Any]] = []

    def add(array: NDArray[Any], kind: int, shape: str, target: int, **more: Any) -> int:
        body = np.ascontiguousarray(array).tobytes()
        start = sum(map(len, bodies))
        views.append({"buffer": 0, "byteOffset": start, "byteLength": len(body), "target": target})
        bodies.append(body + bytes(-len(body) % 4))
        accessors.append({"bufferView": len(views) - 1, "componentType": kind, "type": shape, **more})
        return len(accessors) - 1

    places = np.asarray(vertices, np.float32)
    count = len(places)
    extent = {"min": places.min(axis=0).tolist(), "max": places.max(axis=0).tolist()}
    tints = np.full((count, 4), STEPS, np.uint16)
    tints[:, :3] = np.round(STEPS * np.clip(colors, 0.0, 1.0))
    attributes = {
        "POSITION": add(places, FLOAT, "VEC3", ARRAY_BUFFER, count=count, **extent),
        "NORMAL": add(np.asarray(normals, np.float32), FLOAT, "VEC3", ARRAY_BUFFER, count=count),
        "COLOR_0": add(tints, UNSIGNED_SHORT, "VEC4", ARRAY_BUFFER, count=count, normalized=True),
    }
    primitives = []
    for k, (triangles, _) in enumerate(parts):
        corners = np.asarray(triangles, np.uint32).ravel()
        indices = add(corners, UNSIGNED_INT, "SCALAR", ELEMENT_ARRAY_BUFFER, count=len(corners))
        primitives.append({"attributes": attributes, "indices": indices, "material": k})
    binary = b"".join(bodies)
    scene = {
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": primitives}],
        "materials": [_material(looks) for _, looks in parts],
        "accessors": accessors,
        "bufferViews": views,
        "buffers": [{"byteLength": len(binary)}],
    }
    text = json.dumps(scene, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 4)
    chunks = struct.pack("<II", len(text), JSON_CHUNK) + text + struct.pack("<II", len(binary), BINARY_CHUNK) + binary
    return struct.pack("<III", MAGIC, 2, 12 + len(chunks)) + chunks


def _material(looks: Appearance) -> dict[str, Any]:
    surface = {
        "baseColorFactor": [1.0, 1.0, 1.0, looks.opacity],
        "metallicFactor": looks.metallic,
        "roughnessFactor": looks.roughness,
    }
    blended = {"alphaMode": "BLEND"} if looks.opacity < 1.0 else {}
    return {"pbrMetallicRoughness": surface, "doubleSided": looks.opacity == 1.0} | blended
