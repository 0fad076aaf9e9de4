"""Runs inside Blender: adds the material of a run to a .blend file as meshes that are read from a USD file beside it.

job.json: base (the .blend file with the surroundings), frames (a folder as `exports/blender_cache.py` writes it),
numbers, cache (the USD file to write), shown (its path in the .blend file), out (the .blend file), grains (of materials
that are drawn as grains: count and diameter in spacings, variation). Only Blender's own packages are used.
"""

import json
import re
import sys
from pathlib import Path

import bpy
import numpy as np

sys.path.insert(0, str(Path(__file__).parent))  # Python does not add it by itself when it is told to be safe
import own_libraries
from studio import TINT, add_texture, as_balls, principled

own_libraries.find()
from pxr import Sdf, Usd, UsdGeom, Vt  # noqa: E402


def main(folder):
    job = json.loads((folder / "job.json").read_text())
    frames, cache = Path(job["frames"]), Path(job["cache"])
    scene = json.loads((frames / "scene.json").read_text())
    bpy.ops.wm.open_mainfile(filepath=job["base"])
    listed = write_cache(job, scene, frames, cache)
    before = set(bpy.data.objects)
    bpy.ops.wm.usd_import(filepath=str(cache), set_frame_range=False, import_materials=False)
    made = [each for each in bpy.data.objects if each not in before]
    materials = [look(entry, frames) for entry in scene["materials"]]
    for thing in made:
        entry = next((each for each in listed if each["prim"] == thing.name), None)
        if thing.type != "MESH" or entry is None:
            continue
        thing.name = entry["name"]
        material = materials[entry["material"]]
        thing.data.materials.clear()
        thing.data.materials.append(material)
        if entry["kind"] == "points":
            use_tint(material)
            as_balls(thing, material)
    for each in bpy.data.cache_files:
        each.name, each.filepath = job["shown"].lstrip("/"), job["shown"]
    bpy.ops.wm.save_as_mainfile(filepath=job["out"], compress=True, relative_remap=False)
    (folder / "report.json").write_text(json.dumps({"objects": [thing.name for thing in made]}))


def look(entry, frames):
    """A material by its name in the scene."""
    made = principled(entry["name"], entry)
    if entry.get("texture"):
        data = np.frombuffer((frames / entry["texture"]).read_bytes(), np.uint8)
        add_texture(made, entry, data, frames)
    return made


def use_tint(material):
    """Colour by the attribute of the points."""
    nodes, links = material.node_tree.nodes, material.node_tree.links
    if not any(node.type == "ATTRIBUTE" for node in nodes):
        attribute = nodes.new("ShaderNodeAttribute")
        attribute.attribute_name = TINT
        links.new(attribute.outputs["Color"], nodes["Principled BSDF"].inputs["Base Color"])


def write_cache(job, scene, frames, cache):
    """A USD file with a mesh for each piece and material, whose vertices and triangles are sampled at every frame."""
    stage = Usd.Stage.CreateNew(str(cache))
    UsdGeom.SetStageUpAxis(stage, UsdGeom.Tokens.z)
    UsdGeom.SetStageMetersPerUnit(stage, 1.0)
    stage.SetTimeCodesPerSecond(scene["rate"])
    stage.SetFramesPerSecond(scene["rate"])
    stage.SetStartTimeCode(job["numbers"][0])
    stage.SetEndTimeCode(job["numbers"][-1])
    stage.SetDefaultPrim(UsdGeom.Xform.Define(stage, "/run").GetPrim())
    listed: list[dict] = []
    for piece in scene["pieces"]:
        for k in piece["materials"] or [0]:
            name = f"{piece['name']}_{scene['materials'][k]['name']}"
            prim = f"{re.sub('[^A-Za-z0-9_]', '_', name)}_{len(listed)}"  # names of prims have letters and digits only
            mesh = UsdGeom.Mesh.Define(stage, f"/run/{prim}")
            mesh.CreateSubdivisionSchemeAttr(UsdGeom.Tokens.none)
            entry = {"name": name, "prim": prim, "kind": piece["kind"], "material": k, "mesh": mesh, "piece": piece}
            listed.append(entry | {"most": 0})
    for number in job["numbers"]:
        arrays = np.load(frames / f"frame_{number:05d}.npz")
        for entry in listed:
            count = sample(entry, arrays, number, job["grains"].get(str(entry["material"])))
            entry["most"] = max(entry["most"], count)
    for entry in listed:
        if entry["most"] == 0:  # a material that this piece has in no frame
            stage.RemovePrim(entry["mesh"].GetPath())
    stage.Save()
    kept = [entry for entry in listed if entry["most"]]
    for entry in kept:
        if sum(each["piece"] is entry["piece"] for each in kept) == 1:
            entry["name"] = entry["piece"]["name"]
    return kept


def sample(entry, arrays, number, grains):
    """The part of a piece with one material, at a frame; returns the number of its vertices."""
    mesh, name = entry["mesh"], entry["piece"]["name"]
    x, kinds = arrays[f"{name}/x"], arrays[f"{name}/material"]
    v = arrays[f"{name}/v"] if f"{name}/v" in arrays.files else None
    own = kinds == entry["material"]
    if entry["kind"] == "mesh":
        triangles = arrays[f"{name}/triangles"][own]
        used, corners = np.unique(triangles, return_inverse=True)
        normals = arrays[f"{name}/normals"][used]
        mesh.CreateNormalsAttr().Set(vectors(normals), number)
        mesh.SetNormalsInterpolation(UsdGeom.Tokens.vertex)
        place, triangles = x[used], corners.reshape(-1, 3)
        v = None if v is None else v[used]
        if f"{name}/color" in arrays.files:
            set_tint(mesh, arrays[f"{name}/color"][used], number)
    else:
        colors = arrays[f"{name}/color"][own] if f"{name}/color" in arrays.files else np.ones((int(own.sum()), 3))
        count, diameter, variation = grains or (1, 1.0, 0.0)
        spacing = entry["piece"]["spacing"]
        place, colors = scattered(x[own], colors, spacing, count, variation)
        v = None if v is None else np.repeat(v[own], count, axis=0)
        triangles = np.zeros((0, 3), int)
        api = UsdGeom.PrimvarsAPI(mesh)
        set_tint(mesh, colors, number)
        size = diameter * spacing / np.cbrt(count) * (1.25 if count > 1 else 1.0)
        radius = api.CreatePrimvar("radius", Sdf.ValueTypeNames.FloatArray, UsdGeom.Tokens.vertex)
        radius.Set(Vt.FloatArray.FromNumpy(np.full(len(place), 0.5 * size, np.float32)), number)
    mesh.CreatePointsAttr().Set(vectors(place), number)
    mesh.CreateFaceVertexCountsAttr().Set(ints(np.full(len(triangles), 3)), number)
    mesh.CreateFaceVertexIndicesAttr().Set(ints(triangles.ravel()), number)
    if v is not None:
        mesh.CreateVelocitiesAttr().Set(vectors(v), number)
    return len(place)


def set_tint(mesh, colors, number):
    """The colours of the vertices at a frame."""
    full = np.ones((len(colors), 4), np.float32)
    full[:, :3] = colors
    tint = UsdGeom.PrimvarsAPI(mesh).CreatePrimvar(TINT, Sdf.ValueTypeNames.Color4fArray, UsdGeom.Tokens.vertex)
    tint.Set(Vt.Vec4fArray.FromNumpy(full), number)


def scattered(x, colors, spacing, count, variation):
    """Grains within the share of each point, whose places in it do not change from frame to frame."""
    if count == 1:
        return x, colors
    random = np.random.default_rng(0)
    offsets = random.uniform(-0.7, 0.7, (len(x), count, 3)) * spacing
    brightness = 1.0 + variation * random.uniform(-0.5, 0.5, (len(x), count, 1))
    return (x[:, None] + offsets).reshape(-1, 3), (colors[:, None] * brightness).reshape(-1, 3)


def vectors(values):
    return Vt.Vec3fArray.FromNumpy(np.ascontiguousarray(values, np.float32))


def ints(values):
    return Vt.IntArray.FromNumpy(np.ascontiguousarray(values, np.int32))


main(Path(sys.argv[-1]))
