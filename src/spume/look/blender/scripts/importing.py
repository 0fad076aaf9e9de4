"""Runs inside Blender: imports a USD, Alembic or glTF file and reports what stands where, frame by frame.

job.json: file, format ("usd", "alembic", "gltf" or "blend"), frames. The report lists for every frame the type, world
matrix, first vertex in the world and number of vertices of each object, and the settings of the scene.
"""

import json
import sys
from pathlib import Path

import bpy
import numpy as np


def main(folder):
    job = json.loads((folder / "job.json").read_text())
    if job["format"] == "blend":
        bpy.ops.wm.open_mainfile(filepath=job["file"])
    else:
        bpy.ops.wm.read_factory_settings(use_empty=True)
        # formats that hold times are shown at the rate the scene has when they are read
        bpy.context.scene.render.fps = round(job["rate"])
        importers = {"usd": bpy.ops.wm.usd_import, "alembic": bpy.ops.wm.alembic_import}
        if job["format"] == "gltf":
            bpy.ops.import_scene.gltf(filepath=job["file"])
        else:
            importers[job["format"]](filepath=job["file"])
    scene = bpy.context.scene
    report = {
        "rate": scene.render.fps / scene.render.fps_base,
        "range": [scene.frame_start, scene.frame_end],
        "materials": {each.name: look(each) for each in bpy.data.materials},
        "lights": len([each for each in scene.objects if each.type == "LIGHT"]),
        "camera": None if scene.camera is None else scene.camera.name,
        "frames": [described(scene, frame) for frame in job["frames"]],
    }
    (folder / "report.json").write_text(json.dumps(report))


def look(material):
    shader = material.node_tree.nodes.get("Principled BSDF") if material.node_tree else None
    if shader is None:
        return {}
    names = ("Base Color", "Roughness", "Metallic", "Transmission Weight", "Subsurface Weight")
    values = {name: shader.inputs[name].default_value for name in names}
    return {name: list(value) if name == "Base Color" else value for name, value in values.items()}


def described(scene, frame):
    scene.frame_set(frame)
    graph = bpy.context.evaluated_depsgraph_get()
    found = {}
    for thing in scene.objects:
        made = thing.evaluated_get(graph)
        entry = {"type": thing.type, "matrix": [list(row) for row in made.matrix_world], "hidden": made.hide_render}
        data = made.data if thing.type in ("MESH", "POINTCLOUD") else None
        if data is not None:
            x = positions(data)
            entry["count"] = len(x)
            if len(x):
                world = np.array(made.matrix_world)
                moved = x @ world[:3, :3].T + world[:3, 3]
                entry |= {"first": moved[0].tolist(), "lower": moved.min(axis=0).tolist()}
                entry["upper"] = moved.max(axis=0).tolist()
                entry["attributes"] = [each.name for each in data.attributes]
        if thing.type == "MESH" and data is not None:
            entry["layers"] = len(data.uv_layers)
            entry["materials"] = [each.name for each in data.materials if each is not None]
            entry["textures"] = [picture_size(each) for each in data.materials]
        if thing.type == "CAMERA":
            entry["angle"] = thing.data.angle_y
        found[thing.name] = entry
    return found


def picture_size(material):
    """Width and height of the picture that colours a material, if there is one [pixels]."""
    nodes = material.node_tree.nodes if material is not None and material.node_tree else ()
    pictures = [node.image for node in nodes if node.type == "TEX_IMAGE" and node.image is not None]
    return list(pictures[0].size) if pictures else None


def positions(data):
    if "position" not in data.attributes:  # a mesh without vertices
        return np.empty((0, 3), np.float32)
    x = np.empty(3 * len(data.attributes["position"].data), np.float32)
    data.attributes["position"].data.foreach_get("vector", x)
    return x.reshape(-1, 3).astype(np.float64)


main(Path(sys.argv[-1]))
