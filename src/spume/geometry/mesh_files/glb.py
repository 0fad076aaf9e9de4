"""GLB files (binary glTF 2.0): the meshes of all nodes where the scene has them, with materials and textures."""

import base64
import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spume.geometry.mesh_files.mesh_file import Floats, MeshFile, MeshMaterial, Texture, is_picture

TYPES = {5120: "i1", 5121: "u1", 5122: "<i2", 5123: "<u2", 5125: "<u4", 5126: "<f4"}
COMPONENTS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4}
TRIANGLES = 4
DEEPEST = 100
"""Levels of nodes below each other."""


def read_glb(path: Path) -> MeshFile:
    """The triangles of a GLB file in its scene, with its axes: glTF has y up."""
    return _Reader(*_chunks(path.read_bytes())).mesh()


def _chunks(data: bytes) -> tuple[dict[str, Any], bytes]:
    """The text and the block of numbers."""
    magic, version, _ = struct.unpack_from("<4sII", data)
    if magic != b"glTF" or version != 2:
        raise ValueError("it is not a binary glTF 2.0 file")
    text, block, place = b"", b"", 12
    while place + 8 <= len(data):
        size, kind = struct.unpack_from("<I4s", data, place)
        chunk = data[place + 8 : place + 8 + size]
        if kind == b"JSON":
            text = chunk
        elif kind == b"BIN\0":
            block = chunk
        place += 8 + size
    return json.loads(text), block


class _Reader:
    """Collects the triangles of all nodes."""

    def __init__(self, tables: dict[str, Any], block: bytes) -> None:
        self.tables, self.block = tables, block
        required = set(tables.get("extensionsRequired", ())) - {"KHR_texture_transform"}
        if any("draco" in name.lower() or "meshopt" in name.lower() for name in required):
            raise ValueError(f"its meshes are compressed ({', '.join(sorted(required))}): save it without compression")
        self.places: list[Floats] = []
        self.faces: list[NDArray[np.int64]] = []
        self.uv: list[Floats | None] = []
        self.normals: list[Floats | None] = []
        self.kinds: list[int] = []
        self.count = 0

    def mesh(self) -> MeshFile:
        scenes = self.tables.get("scenes", [])
        roots = scenes[self.tables.get("scene", 0)].get("nodes", []) if scenes else range(len(self.tables["nodes"]))
        for node in roots:
            self._node(node, np.eye(4), 0)
        listed = [self._material(each) for each in self.tables.get("materials", [])]
        plain = len(listed)
        kinds = [plain if kind < 0 else kind for kind in self.kinds]
        used = sorted(set(kinds))
        listed.append(MeshMaterial("none"))
        sizes = [len(each) for each in self.faces]
        return MeshFile(
            np.concatenate([np.empty((0, 3)), *self.places]),
            np.concatenate([np.empty((0, 3), np.int64), *self.faces]),
            _joined(self.uv),
            _joined(self.normals),
            None,
            tuple(listed[kind] for kind in used),
            np.repeat([used.index(kind) for kind in kinds], sizes) if kinds else None,
        )

    def _node(self, index: int, above: Floats, level: int) -> None:
        if level > DEEPEST:
            raise ValueError(f"its nodes are more than {DEEPEST} levels deep")
        node = self.tables["nodes"][index]
        world = above @ _matrix(node)
        if "mesh" in node:
            for primitive in self.tables["meshes"][node["mesh"]]["primitives"]:
                if primitive.get("mode", TRIANGLES) == TRIANGLES:
                    self._primitive(primitive, world)
        for child in node.get("children", ()):
            self._node(child, world, level + 1)

    def _primitive(self, primitive: dict[str, Any], world: Floats) -> None:
        attributes = primitive["attributes"]
        x = self._accessor(attributes["POSITION"])
        listed = self._accessor(primitive["indices"]) if "indices" in primitive else np.arange(len(x), dtype=np.float64)
        faces = listed.astype(np.int64).reshape(-1, 3)
        if len(faces) and faces.max() >= len(x):
            raise ValueError("it has triangles with corners that it does not define")
        linear = world[:3, :3]
        if np.linalg.det(linear) < 0:  # a mirror image
            faces = np.ascontiguousarray(faces[:, ::-1])
        self.places.append(x @ linear.T + world[:3, 3])
        self.faces.append(faces + self.count)
        uv = self._accessor(attributes["TEXCOORD_0"])[faces] if "TEXCOORD_0" in attributes else None
        # glTF counts v from the top of a picture
        self.uv.append(None if uv is None else uv * [1.0, -1.0] + [0.0, 1.0])
        normals = None
        if "NORMAL" in attributes:
            across = self._accessor(attributes["NORMAL"]) @ np.linalg.inv(linear)
            length = np.linalg.norm(across, axis=1, keepdims=True)
            normals = (across / np.where(length > 0, length, 1.0))[faces] if (length > 0).all() else None
        self.normals.append(normals)
        self.kinds.append(primitive.get("material", -1))
        self.count += len(x)

    def _accessor(self, index: int) -> Floats:
        """Numbers, shape (n, k) or (n, 1); normalised integers as fractions."""
        entry = self.tables["accessors"][index]
        if "sparse" in entry or "bufferView" not in entry:
            raise ValueError("it has sparse accessors, which are not supported")
        view = self.tables["bufferViews"][entry["bufferView"]]
        kind, columns = np.dtype(TYPES[entry["componentType"]]), COMPONENTS[entry["type"]]
        row = kind.itemsize * columns
        step = view.get("byteStride", row)
        start = view.get("byteOffset", 0) + entry.get("byteOffset", 0)
        count = int(entry["count"])
        data = self._buffer(view["buffer"])
        if count < 0 or start < 0 or step < row or (count and start + (count - 1) * step + row > len(data)):
            raise ValueError("its numbers go beyond the end of the file")
        if count == 0:
            return np.empty((0, columns))
        values = np.ndarray((count, columns), kind, data, start, (step, kind.itemsize)).astype(np.float64)
        return values / np.iinfo(kind).max if entry.get("normalized") else values

    def _buffer(self, index: int) -> bytes:
        uri = self.tables["buffers"][index].get("uri")
        if uri is None:
            return self.block
        return _embedded(uri)

    def _material(self, entry: dict[str, Any]) -> MeshMaterial:
        surface = entry.get("pbrMetallicRoughness", {})
        red, green, blue = (float(each) for each in (*surface.get("baseColorFactor", (1.0,) * 4),)[:3])
        more = entry.get("extensions", {}).get("KHR_materials_transmission", {})
        clear = float(more.get("transmissionFactor", 0.0))
        if entry.get("alphaMode") == "BLEND" and "baseColorFactor" in surface:
            clear = max(clear, 1.0 - float(surface["baseColorFactor"][3]))
        return MeshMaterial(
            str(entry.get("name", "material")),
            (red, green, blue),
            float(surface.get("roughnessFactor", 1.0)),
            # a map of metal and roughness is not read: its mean is unknown, and most things are not metals
            0.0 if "metallicRoughnessTexture" in surface else float(surface.get("metallicFactor", 1.0)),
            clear,
            self._texture(surface.get("baseColorTexture")),
        )

    def _texture(self, entry: dict[str, Any] | None) -> Texture | None:
        if entry is None:
            return None
        source = self.tables["textures"][entry["index"]].get("source")
        if source is None:
            return None
        image = self.tables["images"][source]
        if "bufferView" in image:
            view = self.tables["bufferViews"][image["bufferView"]]
            start = view.get("byteOffset", 0)
            data = self._buffer(view["buffer"])[start : start + view["byteLength"]]
        else:
            data = _embedded(str(image.get("uri", "")))
        if not is_picture(data):
            raise ValueError("it has a texture that is neither PNG nor JPEG")
        return Texture(str(image.get("name") or f"texture {source}"), bytes(data))


def _embedded(uri: str) -> bytes:
    head, _, text = uri.partition(",")
    if not (head.startswith("data:") and head.endswith(";base64")):
        raise ValueError(f"it refers to the file '{uri:.80}': save it as one GLB file with everything in it")
    return base64.b64decode(text)


def _matrix(node: dict[str, Any]) -> Floats:
    """The node's own transform."""
    from scipy.spatial.transform import Rotation  # slow to import

    if "matrix" in node:
        return np.array(node["matrix"], dtype=np.float64).reshape(4, 4).T
    made = np.eye(4)
    turn = Rotation.from_quat(node.get("rotation", (0.0, 0.0, 0.0, 1.0))).as_matrix()
    made[:3, :3] = turn * np.array(node.get("scale", (1.0, 1.0, 1.0)), dtype=np.float64)
    made[:3, 3] = node.get("translation", (0.0, 0.0, 0.0))
    return made


def _joined(each: list[Floats | None]) -> Floats | None:
    """All parts in one array; None unless every part has values."""
    present = [part for part in each if part is not None]
    return np.concatenate(present) if present and len(present) == len(each) else None
