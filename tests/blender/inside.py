"""Runs inside Blender: does what job.json says with the extension, and reports what stands in the scene.

The extension is imported from the folder that the job names; Blender's own way of installing it is not needed.
"""

import json
import sys
import time
from pathlib import Path

import bpy
import numpy as np


def main(folder):
    job = json.loads((folder / "job.json").read_text())
    sys.path.insert(0, job["source"])
    import spume_blender
    from spume_blender import building, marking, panels

    bpy.ops.wm.read_factory_settings(use_empty=True)
    spume_blender.register()
    scene = bpy.context.scene
    report = {}
    if job["task"] == "show":
        bpy.ops.spume.import_run(directory=job["folder"])
        if job.get("twice"):
            building.import_folder(scene, job["folder"])
        report["frames"] = {number: described(scene, number) for number in job["frames"]}
        report["range"] = [scene.frame_start, scene.frame_end]
        report["rate"] = scene.render.fps / scene.render.fps_base
        if "picture" in job:
            render(scene, job)
    elif job["task"] == "write":
        {"usual": build, "difficult": build_difficult}[job["scene"]](scene)
        scene.spume.method, scene.spume.cell = "mpm", 0.05
        scene.frame_set(3)
        scene.unit_settings.scale_length = job.get("unit", 1.0)
        try:
            marking.write_scene(bpy.context, Path(job["folder"]))
        except marking.MarkingError as error:
            report["error"] = str(error)
        report["present"] = scene.frame_current
    elif job["task"] == "import":
        report["steps"] = []
        for source in job["folders"]:
            if source == "swap":  # the files of another folder take the places of those that were imported
                for file in Path(job["swap"]).iterdir():
                    (Path(job["folders"][0]) / file.name).write_bytes(file.read_bytes())
                continue
            try:
                building.import_folder(scene, source)
            except panels.cache.CacheError as error:
                report["steps"].append(str(error))
                continue
            report["steps"].append(described(scene, job["frame"]))
        if "lost" in job:
            Path(job["lost"]).rename(job["lost"] + "-moved")
            report["steps"].append(described(scene, job["frame"] + 1))
    elif job["task"] == "run":
        build(scene)
        scene.spume.method, scene.spume.cell, scene.spume.folder = "mpm", 0.05, job["folder"]
        scene.spume.what = "points"
        panels.launching.program = lambda given: job["program"]
        bpy.ops.spume.run()
        progress = []
        while panels.tick() is not None:
            progress += [each.progress() for each in panels.JOBS if each.run is not None]
            time.sleep(0.2)
        frames = {number: described(scene, number) for number in (scene.frame_start, scene.frame_end)}
        report = {"progress": progress, "error": scene.get("spume_error", ""), "frames": frames}
    elif job["task"] == "volumes":
        report = volumes(job)
    spume_blender.unregister()
    (folder / "report.json").write_text(json.dumps(report))


def volumes(job):
    """Every grid of an OpenVDB file: its class, what it sums up to, and the volume inside a level set."""
    sys.path.append(str(next(Path(bpy.utils.resource_path("LOCAL")).glob("python/lib/python3*/site-packages"))))
    import openvdb

    found = {}
    for about in openvdb.readAllGridMetadata(job["file"]):
        grid = openvdb.read(job["file"], about.name)
        spacing = grid.transform.voxelSize()[0]
        entry = {"class": str(about.metadata.get("class", "")), "spacing": spacing}
        values = [(item.value, item.count) for item in grid.citerOnValues()]
        entry["sum"] = np.sum([np.array(value) * count for value, count in values], axis=0).tolist()
        lower, upper = grid.evalActiveVoxelBoundingBox()
        entry["lower"], entry["upper"] = (spacing * np.array([lower, upper])).tolist()
        if entry["class"] == "level set":
            points, _, quads = (np.array(each) for each in grid.convertToPolygons(isovalue=0.0, adaptivity=0.0))
            a, b, c, d = (points[quads[:, k]] for k in range(4))
            inside = np.einsum("ij,ij->i", a, np.cross(b, c)) + np.einsum("ij,ij->i", a, np.cross(c, d))
            entry["volume"] = abs(float(inside.sum())) / 6.0
        found[about.name] = entry
    return found


def build(scene):
    """A ball over a plate that moves and turns, a plate that bends, a ground and an emitter."""
    scene.render.fps, scene.frame_start, scene.frame_end = 20, 1, 5
    bpy.ops.mesh.primitive_ico_sphere_add(radius=0.1, location=(0, 0, 0.5), subdivisions=3)
    ball = bpy.context.object
    ball.name, ball.spume.kind, ball.spume.material = "ball", "BODY", "gelatin"
    ball.spume.velocity = (0.0, 0.0, -1.0)
    bpy.ops.mesh.primitive_cube_add(size=0.2, location=(0.5, 0, 0.1))
    plate = bpy.context.object
    plate.name, plate.spume.kind, plate.spume.contact = "plate", "OBSTACLE", "stick"
    plate.keyframe_insert("location", frame=1)
    plate.keyframe_insert("rotation_euler", frame=1)
    plate.location, plate.rotation_euler = (0.5, 0.2, 0.1), (0.0, 0.0, 1.0)
    plate.keyframe_insert("location", frame=5)
    plate.keyframe_insert("rotation_euler", frame=5)
    bpy.ops.mesh.primitive_cube_add(size=0.2, location=(-0.5, 0, 0.1))
    bent = bpy.context.object
    bent.name, bent.spume.kind = "bent", "OBSTACLE"
    bent.shape_key_add(name="rest")
    key = bent.shape_key_add(name="bend")
    for point in key.data:
        point.co.x += 0.5 * point.co.z
    key.value = 0.0
    key.keyframe_insert("value", frame=1)
    key.value = 1.0
    key.keyframe_insert("value", frame=5)
    bpy.ops.mesh.primitive_plane_add(size=2.0, location=(0, 0, -0.1))
    bpy.context.object.name = "ground"
    bpy.context.object.spume.kind = "PLANE"
    bpy.ops.object.empty_add(location=(0, 0, 1.0))
    hose = bpy.context.object
    hose.name, hose.spume.kind, hose.spume.material = "hose", "EMITTER", "gelatin"
    hose.spume.radius, hose.spume.speed = 0.06, 1.0


def build_difficult(scene):
    """Bodies whose files would have one name, a mirrored cube that bends beside another one, a ground that rises."""
    scene.render.fps, scene.frame_start, scene.frame_end = 20, 1, 5
    for k, name in enumerate(("Ball.001", "Ball_001", "BALL.001")):
        bpy.ops.mesh.primitive_ico_sphere_add(radius=0.1, location=(k, 0, 0.5))
        bpy.context.object.name, bpy.context.object.spume.kind = name, "BODY"
        bpy.context.object.spume.material = "gelatin"
    for name, place in (("Cube", -0.5), ("Cube.001", 0.5)):
        bpy.ops.mesh.primitive_cube_add(size=0.2, location=(place, 0, 0.1), scale=(-1.0, 1.0, 1.0))
        cube = bpy.context.object
        cube.name, cube.spume.kind = name, "OBSTACLE"
        cube.shape_key_add(name="rest")
        key = cube.shape_key_add(name="bend")
        for point in key.data:
            point.co.x += 0.5 * point.co.z
        key.value = 0.0
        key.keyframe_insert("value", frame=1)
        key.value = 1.0
        key.keyframe_insert("value", frame=5)
    bpy.ops.mesh.primitive_plane_add(size=2.0, location=(0, 0, -0.1))
    ground = bpy.context.object
    ground.name, ground.spume.kind, ground.scale = "ground", "PLANE", (3.0, 2.0, 1.0)
    ground.keyframe_insert("location", frame=1)
    ground.location = (0, 0, 0.3)
    ground.keyframe_insert("location", frame=5)


def described(scene, number):
    scene.frame_set(number)
    graph = bpy.context.evaluated_depsgraph_get()
    found = {}
    for thing in scene.objects:
        entry = {"kind": thing.get("spume_kind"), "matrix": [list(row) for row in thing.matrix_world]}
        if thing.type == "MESH":
            mesh = thing.data
            x = np.empty(3 * len(mesh.vertices), np.float32)
            mesh.vertices.foreach_get("co", x)
            x = x.reshape(-1, 3)
            entry |= {"count": len(x), "faces": len(mesh.polygons)}
            entry["materials"] = [each.name for each in mesh.materials if each]
            entry["colors"] = [list(each.diffuse_color)[:3] for each in mesh.materials if each]
            entry["attributes"] = [each.name for each in mesh.attributes]
            if len(x):
                entry |= {"lower": x.min(axis=0).tolist(), "upper": x.max(axis=0).tolist()}
            if "velocity" in mesh.attributes and len(x):
                v = np.empty(3 * len(x), np.float32)
                mesh.attributes["velocity"].data.foreach_get("vector", v)
                entry["velocity"] = v.reshape(-1, 3).mean(axis=0).tolist()
            if "tint" in mesh.attributes and len(x):
                color = np.empty(4 * len(x), np.float32)
                mesh.attributes["tint"].data.foreach_get("color", color)
                entry["tint"] = color.reshape(-1, 4).mean(axis=0).tolist()
                shaders = [each.node_tree.nodes["Principled BSDF"] for each in mesh.materials]
                entry["painted"] = all(each.inputs["Base Color"].is_linked for each in shaders)
            if thing.modifiers:
                made = thing.evaluated_get(graph).evaluated_geometry()
                cloud = made.pointcloud
                entry["balls"] = 0 if cloud is None else len(cloud.points)
        if thing.type == "CAMERA":
            entry["angle"] = thing.data.angle_y
        found[thing.name] = entry
    return found


def render(scene, job):
    light = bpy.data.objects.new("sun", bpy.data.lights.new("sun", "SUN"))
    light.data.energy, light.rotation_euler = job.get("sun", 3.0), (0.7, 0.2, 0.5)
    scene.collection.objects.link(light)
    scene.world = bpy.data.worlds.new("sky")
    scene.world.use_nodes = True
    scene.world.node_tree.nodes["Background"].inputs["Color"].default_value = (0.75, 0.8, 0.85, 1.0)
    scene.render.engine, scene.cycles.samples, scene.cycles.device = "CYCLES", job.get("samples", 16), "CPU"
    scene.cycles.use_denoising = True
    scene.render.resolution_x, scene.render.resolution_y = job.get("size", (480, 270))
    scene.render.image_settings.file_format = "PNG"
    scene.frame_set(job["frames"][-1])
    scene.render.filepath = job["picture"]
    bpy.ops.render.render(write_still=True)


main(Path(sys.argv[-1]))
