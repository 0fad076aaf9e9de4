"""glTF 2.0 in one binary file (GLB), for the web and for most programs that show meshes.

glTF has no meshes whose triangles change, so every frame is a separate node, which an animation scales to zero outside
its frame. y is up, as the format requires.
"""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spume.exports.axes import camera_pose, upright
from spume.exports.contents import Contents, Piece
from spume.exports.remark import is_current, leave_remark
from spume.geometry.mesh_files.mesh_file import Texture
from spume.look.finish import Finish
from spume.look.glb import POINTS, TRIANGLES, Glb
from spume.look.triangle_mesh import TriangleMesh
from spume.whole_files import whole_file
from spume.work import each_frame


def write_gltf(contents: Contents, file: Path, again: bool = False) -> bool:
    """Write the frames to `file`; returns whether that was needed."""
    recipe = contents.recipe("gltf")
    if not again and is_current(file, recipe):
        return False
    glb = Glb()
    finishes = contents.materials
    if contents.has_paint:  # the colour of a material multiplies those of vertices
        finishes = [(name, each._replace(color=(1.0, 1.0, 1.0))) for name, each in finishes]
    materials = [_material(glb, name, each) for name, each in finishes]
    frames = each_frame(lambda number: _frame(glb, contents, materials, number), contents.numbers, "export")
    channels: list[tuple[int, str, NDArray[Any], NDArray[Any], str]] = []
    times = np.array([contents.time(number) for number in contents.numbers], np.float32)
    # a little early, so that no rounding of times shows the frame before
    changes = np.maximum(times - 0.01 / float(contents.run.scene.frame_rate), 0.0)
    for number, inner in zip(contents.numbers, _deforming(glb, contents)):
        if inner:
            glb.tables["nodes"][frames[number]]["children"] = inner
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
        unfinished.write_bytes(glb.data([root], contents.run.title))
    leave_remark(file, recipe)
    return True


def _material(glb: Glb, name: str, finish: Finish, texture: Texture | None = None) -> int:
    surface: dict[str, Any] = {
        "baseColorFactor": [*finish.color, 1.0],
        "roughnessFactor": finish.roughness,
        "metallicFactor": finish.metallic,
    }
    if texture is not None:
        surface["baseColorTexture"] = {"index": glb.texture(texture)}
    entry: dict[str, Any] = {"name": name, "pbrMetallicRoughness": surface, "doubleSided": True}
    entry["extras"] = {"subsurface": finish.subsurface, "grain": finish.grain}
    if finish.transparency > 0:
        used = {
            "KHR_materials_transmission": {"transmissionFactor": finish.transparency},
            "KHR_materials_ior": {"ior": 1.33},
        }
        glb.extensions |= set(used)
        entry["extensions"] = used
    return glb.add("materials", entry)


def _frame(glb: Glb, contents: Contents, materials: list[int], number: int) -> int:
    """A node with the pieces of a frame."""
    primitives = []
    for piece in contents.pieces(number, tensors=False):
        if len(piece.x):
            primitives += _primitives(glb, contents, piece, materials)
    node: dict[str, Any] = {"name": f"frame {number}"}
    if primitives:
        node["mesh"] = glb.add("meshes", {"name": f"frame {number}", "primitives": primitives})
    return glb.add("nodes", node)


def _primitives(glb: Glb, contents: Contents, piece: Piece, materials: list[int]) -> list[dict[str, Any]]:
    """The parts of a piece, one for each material."""
    if piece.triangles is None or piece.normals is None:
        found = []
        for kind in np.unique(piece.kinds):
            shown, each = piece.take(piece.kinds == kind), contents.materials[kind][1]
            attributes = {"POSITION": glb.accessor(shown.x, bounds=True)} | _velocity(glb, shown)
            if shown.colors is not None:  # the material's colour multiplies that of the points
                relative = shown.colors / np.maximum(1.0 if contents.has_paint else each.color, 1e-6)
                attributes["COLOR_0"] = glb.accessor(np.clip(relative, 0.0, 1.0))
            found.append({"attributes": attributes, "mode": POINTS, "material": materials[kind]})
        return found
    attributes = {"POSITION": glb.accessor(piece.x, bounds=True), "NORMAL": glb.accessor(piece.normals)}
    attributes |= _velocity(glb, piece)
    if piece.colors is not None:
        attributes["COLOR_0"] = glb.accessor(np.clip(piece.colors, 0.0, 1.0))
    faces = piece.kinds[piece.triangles[:, 0]]
    return [
        {
            "attributes": attributes,
            "indices": glb.accessor(piece.triangles[faces == kind].ravel()),
            "mode": TRIANGLES,
            "material": materials[kind],
        }
        for kind in np.unique(faces)
    ]


def _velocity(glb: Glb, piece: Piece) -> dict[str, int]:
    """The velocities [m/s] as an attribute of one's own, whose name begins with an underscore."""
    return {"_VELOCITY": glb.accessor(np.asarray(piece.fields["v"], np.float32))} if "v" in piece.fields else {}


def _mesh_node(glb: Glb, name: str, mesh: TriangleMesh, finish: Finish) -> int:
    """A node with a mesh, a primitive for each of its covers."""
    attributes = {"POSITION": glb.accessor(mesh.vertices, bounds=True), "NORMAL": glb.accessor(mesh.normals)}
    if mesh.uv is not None:  # glTF counts v from the top of a picture
        attributes["TEXCOORD_0"] = glb.accessor(mesh.uv * [1.0, -1.0] + [0.0, 1.0])
    if mesh.colors is not None:
        attributes["COLOR_0"] = glb.accessor(np.clip(mesh.colors, 0.0, 1.0))
        finish = finish._replace(color=(1.0, 1.0, 1.0))
    primitives = [
        {
            "attributes": attributes,
            "indices": glb.accessor(triangles.ravel()),
            "mode": TRIANGLES,
            "material": _material(glb, cover.name, cover.finish, cover.texture),
        }
        for cover, triangles in mesh.parts(name, finish)
    ]
    return glb.add("nodes", {"name": name, "mesh": glb.add("meshes", {"name": name, "primitives": primitives})})


def _obstacles(glb: Glb, contents: Contents, times: NDArray[Any], channels: list[Any]) -> list[int]:
    nodes = []
    for solid, mesh in contents.obstacles():
        if len(mesh.triangles) == 0 or solid.deforms(contents.poses[0]):
            continue
        node = _mesh_node(glb, solid.name, mesh, solid.finish)
        places = solid.places(contents.poses)
        _place(glb, node, places, times if len(places) > 1 else times[:1], channels)
        nodes.append(node)
    return nodes


def _deforming(glb: Glb, contents: Contents) -> list[list[int]]:
    """For each frame, nodes with the obstacles that deform, which are seen in that frame alone."""
    found: list[list[int]] = [[] for _ in contents.numbers]
    for solid, mesh in contents.obstacles():
        for nodes, poses in zip(found, contents.poses):
            if solid.deforms(poses):
                node = _mesh_node(glb, solid.name, solid.shaped(mesh, poses), solid.finish)
                _place(glb, node, [solid.place(poses)], np.zeros(1), [])
                nodes.append(node)
    return found


def _place(glb: Glb, node: int, places: list[Any], times: NDArray[Any], channels: list[Any]) -> None:
    """Place a node at its first pose, and animate it through the others."""
    from scipy.spatial.transform import Rotation  # slow to import

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
    ground = contents.ground()
    return [] if ground is None else [_mesh_node(glb, "ground", ground, contents.ground_finish)]


def _camera(glb: Glb, contents: Contents, times: NDArray[Any], channels: list[Any]) -> list[int]:
    views = list(contents.views().values())
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
