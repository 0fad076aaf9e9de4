"""glTF 2.0 in one binary file (GLB), for the web and for most programs that show meshes.

The file, a JSON text and a block of numbers, is written here because trimesh writes neither animations nor the
extensions for transmission and refraction. glTF has no meshes whose triangles change, so every frame is a separate
node, which an animation scales to zero outside its frame. y is up, as the format requires.
"""

import json
import struct
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from spume.export.axes import camera_pose, upright
from spume.export.contents import Contents, Piece
from spume.export.remark import is_current, leave_remark
from spume.look.appearance import Appearance
from spume.look.atomic import whole_file
from spume.look.work import each_frame

FLOAT, UNSIGNED = 5126, 5125
"""glTF's codes for 32-bit floats and integers."""
POINTS, TRIANGLES = 0, 4
SIZES = {1: "SCALAR", 3: "VEC3", 4: "VEC4"}


@dataclass
class Glb:
    """A glTF file being assembled."""

    tables: dict[str, list[Any]] = field(default_factory=dict)
    block: bytearray = field(default_factory=bytearray)
    extensions: set[str] = field(default_factory=set)

    def add(self, table: str, entry: dict[str, Any]) -> int:
        """Append an entry to a table such as "nodes"; returns its index."""
        entries = self.tables.setdefault(table, [])
        entries.append(entry)
        return len(entries) - 1

    def accessor(self, values: NDArray[Any], bounds: bool = False) -> int:
        """Append numbers, shape (n,) or (n, k); returns the index of their accessor."""
        kind, code = ("<u4", UNSIGNED) if values.dtype.kind in "iu" else ("<f4", FLOAT)
        rows = np.ascontiguousarray(values, dtype=kind)
        flat = rows.reshape(len(rows), -1)
        view = self.add("bufferViews", {"buffer": 0, "byteOffset": len(self.block), "byteLength": rows.nbytes})
        self.block += rows.tobytes()
        entry = {"bufferView": view, "componentType": code, "count": len(rows), "type": SIZES[flat.shape[1]]}
        if bounds:
            entry |= {"min": flat.min(axis=0).tolist(), "max": flat.max(axis=0).tolist()}
        return self.add("accessors", entry)

    def data(self, title: str, roots: list[int]) -> bytes:
        """The whole file."""
        about = {"asset": {"version": "2.0", "generator": "spume"}, "scene": 0}
        about |= {"scenes": [{"name": title, "nodes": roots}], "buffers": [{"byteLength": len(self.block)}]}
        if self.extensions:
            about["extensionsUsed"] = sorted(self.extensions)
        text = json.dumps(about | self.tables).encode()
        text += b" " * (-len(text) % 4)
        binary = bytes(self.block) + b"\0" * (-len(self.block) % 4)
        size = 12 + 8 + len(text) + 8 + len(binary)
        head = struct.pack("<4sII", b"glTF", 2, size)
        return (
            head + struct.pack("<I4s", len(text), b"JSON") + text + struct.pack("<I4s", len(binary), b"BIN\0") + binary
        )


def write_gltf(contents: Contents, file: Path, again: bool = False) -> bool:
    """Write the frames to `file`; returns whether that was needed."""
    recipe = contents.recipe("gltf")
    if not again and is_current(file, recipe):
        return False
    glb = Glb()
    looks = [_material(glb, name, each) for name, each in contents.materials]
    frames = each_frame(lambda number: _frame(glb, contents, looks, number), contents.numbers, "export")
    channels: list[tuple[int, str, NDArray[Any], NDArray[Any], str]] = []
    times = np.array([contents.time(number) for number in contents.numbers], np.float32)
    # a little early, so that no rounding of times shows the frame before
    changes = np.maximum(times - 0.01 / float(contents.run.scene.frame_rate), 0.0)
    if len(frames) > 1:
        for k, node in enumerate(frames.values()):
            # seen from the time of its frame to that of the next
            scale = np.zeros((len(times), 3), np.float32)
            scale[k] = 1.0
            glb.tables["nodes"][node]["scale"] = scale[0].tolist()
            channels.append((node, "scale", changes, scale, "STEP"))
    children = [*frames.values(), *_obstacles(glb, contents, times, channels), *_ground(glb, contents)]
    children += _camera(glb, contents, times, channels)
    root = glb.add(
        "nodes", {"name": contents.name, "children": children, "matrix": upright(contents.up).ravel().tolist()}
    )
    if channels:
        _animate(glb, channels)
    with whole_file(file) as unfinished:
        unfinished.write_bytes(glb.data(contents.run.title, [root]))
    leave_remark(file, recipe)
    return True


def _material(glb: Glb, name: str, looks: Appearance) -> int:
    surface = {
        "baseColorFactor": [*looks.color, 1.0],
        "roughnessFactor": looks.roughness,
        "metallicFactor": looks.metallic,
    }
    entry: dict[str, Any] = {"name": name, "pbrMetallicRoughness": surface, "doubleSided": True}
    entry["extras"] = {"subsurface": looks.subsurface, "grain": looks.grain}
    if looks.transparency > 0:
        used = {
            "KHR_materials_transmission": {"transmissionFactor": looks.transparency},
            "KHR_materials_ior": {"ior": 1.33},
        }
        glb.extensions |= set(used)
        entry["extensions"] = used
    return glb.add("materials", entry)


def _frame(glb: Glb, contents: Contents, looks: list[int], number: int) -> int:
    """A node with the pieces of a frame."""
    primitives = []
    for piece in contents.pieces(number, tensors=False):
        if len(piece.x):
            primitives += _primitives(glb, contents, piece, looks)
    node: dict[str, Any] = {"name": f"frame {number}"}
    if primitives:
        node["mesh"] = glb.add("meshes", {"name": f"frame {number}", "primitives": primitives})
    return glb.add("nodes", node)


def _primitives(glb: Glb, contents: Contents, piece: Piece, looks: list[int]) -> list[dict[str, Any]]:
    """The parts of a piece, one for each material."""
    if piece.triangles is None or piece.normals is None:
        found = []
        for kind in np.unique(piece.kinds):
            shown, each = piece.take(piece.kinds == kind), contents.materials[kind][1]
            attributes = {"POSITION": glb.accessor(shown.x, bounds=True)}
            if shown.colors is not None:  # the material's colour multiplies that of the points
                relative = shown.colors / np.maximum(each.color, 1e-6)
                attributes["COLOR_0"] = glb.accessor(np.clip(relative, 0.0, 1.0))
            found.append({"attributes": attributes, "mode": POINTS, "material": looks[kind]})
        return found
    attributes = {"POSITION": glb.accessor(piece.x, bounds=True), "NORMAL": glb.accessor(piece.normals)}
    faces = piece.kinds[piece.triangles[:, 0]]
    return [
        {
            "attributes": attributes,
            "indices": glb.accessor(piece.triangles[faces == kind].ravel()),
            "mode": TRIANGLES,
            "material": looks[kind],
        }
        for kind in np.unique(faces)
    ]


def _mesh_node(glb: Glb, name: str, vertices: Any, triangles: Any, normals: Any, looks: Appearance) -> int:
    attributes = {"POSITION": glb.accessor(vertices, bounds=True), "NORMAL": glb.accessor(normals)}
    primitive = {"attributes": attributes, "indices": glb.accessor(np.ravel(triangles)), "mode": TRIANGLES}
    primitive["material"] = _material(glb, name, looks)
    return glb.add("nodes", {"name": name, "mesh": glb.add("meshes", {"name": name, "primitives": [primitive]})})


def _obstacles(glb: Glb, contents: Contents, times: NDArray[Any], channels: list[Any]) -> list[int]:
    nodes = []
    for solid, mesh in contents.obstacles():
        if len(mesh.triangles) == 0:
            continue
        node = _mesh_node(glb, solid.name, mesh.vertices, mesh.triangles, mesh.normals, solid.appearance)
        places = [solid.place(contents.time(number)) for number in contents.numbers]
        _place(glb, node, places, times if solid.motion is not None else times[:1], channels)
        nodes.append(node)
    return nodes


def _place(glb: Glb, node: int, places: list[Any], times: NDArray[Any], channels: list[Any]) -> None:
    """Place a node at its first pose, and animate it through the others."""
    turns = Rotation.from_matrix(np.array([R for R, _ in places])).as_quat()  # x, y, z, w as in glTF
    # q and −q are the same rotation: the nearer one, so that programs turn the short way
    for k in range(1, len(turns)):
        if turns[k] @ turns[k - 1] < 0:
            turns[k] *= -1
    shifts = np.array([p for _, p in places])
    glb.tables["nodes"][node] |= {"rotation": turns[0].tolist(), "translation": shifts[0].tolist()}
    if len(times) > 1:
        channels.append((node, "rotation", times, turns, "LINEAR"))
        channels.append((node, "translation", times, shifts, "LINEAR"))


def _ground(glb: Glb, contents: Contents) -> list[int]:
    height = contents.ground()
    if height is None or not contents.views(1.0):
        return []
    corners = contents.ground_corners(np.array(contents.box), height)
    triangles, normals = np.array([[0, 1, 2], [0, 2, 3]]), np.tile(contents.up, (4, 1))
    return [_mesh_node(glb, "ground", corners, triangles, normals, contents.ground_looks)]


def _camera(glb: Glb, contents: Contents, times: NDArray[Any], channels: list[Any]) -> list[int]:
    views = list(contents.views(16 / 9).values())
    if not views:
        return []
    lens = {"yfov": float(np.radians(views[0].angle)), "znear": 1e-3 * float(np.linalg.norm(views[0].position))}
    camera = glb.add("cameras", {"type": "perspective", "perspective": lens})
    node = glb.add("nodes", {"name": "camera", "camera": camera})
    places = [camera_pose(view) for view in views]
    moves = any(not np.allclose(R, places[0][0]) or not np.allclose(p, places[0][1]) for R, p in places)
    _place(glb, node, places, times if moves else times[:1], channels)
    return [node]


def _animate(glb: Glb, channels: list[Any]) -> None:
    inputs: dict[int, int] = {}
    samplers, targets = [], []
    for node, path, times, values, interpolation in channels:
        if id(times) not in inputs:
            inputs[id(times)] = glb.accessor(np.asarray(times, np.float32), bounds=True)
        samplers.append(
            {
                "input": inputs[id(times)],
                "output": glb.accessor(np.asarray(values, np.float64)),
                "interpolation": interpolation,
            }
        )
        targets.append({"sampler": len(samplers) - 1, "target": {"node": node, "path": path}})
    glb.add("animations", {"name": "run", "channels": targets, "samplers": samplers})
