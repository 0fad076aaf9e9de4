"""Objects of Blender from a folder of frames, and what shows the arrays of a frame in them."""

import json

import bpy
import numpy as np
from mathutils import Matrix

from . import cache, looks, points

FOLDER, ITEM, KIND = "spume_folder", "spume_item", "spume_kind"
"""Keys of objects: the folder that they show, their name in it, and "mesh", "points", "lines", "obstacle", "ground" or
"camera"."""


def import_folder(scene, folder, offset=None):
    """The collection with everything in `folder`; objects of an earlier import are updated.

    offset: Blender's frame at which the run begins, for a run of the scene's own objects, of which only the material is
    shown. None: a run of its own, with its obstacles, camera and frames."""
    folder = str(folder)
    own_run = offset is None
    tables, arrays = cache.read_scene(folder), cache.obstacle_arrays(folder)
    numbers = cache.frame_numbers(folder)
    collection = _collection(scene, tables["name"], folder)
    collection["spume_offset"] = offset or 0
    materials = [looks.material(look, folder) for look in tables["materials"]]
    for piece in tables["pieces"]:
        thing = _object(collection, f"{tables['name']} {piece['name']}", folder, piece["name"], piece["kind"])
        own = [materials[k] for k in piece["materials"]] or materials[:1]
        _dress(thing.data, own)
        thing["spume_materials"] = piece["materials"] or [0]
        if piece["kind"] == "points":
            points.as_balls(thing, 0.5 * piece["spacing"], own[0])
        else:
            points.remove(thing)
    for entry in tables["obstacles"] if own_run else ():
        thing = _object(collection, entry["title"], folder, entry["name"], "obstacle")
        key = entry["name"]
        _fill_obstacle(thing.data, arrays, key)
        _dress(thing.data, [looks.material(look, folder) for look in entry["looks"]])
        thing["spume_deforms"] = entry["deforms"]
    if own_run and tables["ground"] is not None and "ground/x" in arrays:
        thing = _object(collection, "ground", folder, "ground", "ground")
        fill(thing.data, arrays["ground/x"], arrays["ground/triangles"])
        _dress(thing.data, [looks.material({"name": "ground", **tables["ground"]}, folder)])
    _remove_others(collection, folder, tables, own_run and tables["ground"] is not None)
    for thing in collection.objects:
        thing["spume_offset"] = offset or 0
    scene.render.use_motion_blur = True
    if own_run:
        if numbers and "camera/place" in cache.frame(folder, numbers[0]):
            _camera(scene, collection, folder)
        scene.render.fps = max(1, round(tables["rate"]))
        scene.render.fps_base = scene.render.fps / tables["rate"]
        if numbers:
            scene.frame_start, scene.frame_end = numbers[0], numbers[-1]
        animate(collection, folder, numbers)
    show(scene)
    return collection


def _collection(scene, name, folder):
    for known in bpy.data.collections:
        if known.get(FOLDER) == folder:
            return known
    made = bpy.data.collections.new(name)
    made[FOLDER] = folder
    scene.collection.children.link(made)
    return made


def _object(collection, name, folder, item, kind):
    for known in collection.objects:
        if known.get(ITEM) == item and known.get(FOLDER) == folder:
            known[KIND] = kind
            return known
    made = bpy.data.objects.new(name, bpy.data.meshes.new(name))
    made[FOLDER], made[ITEM], made[KIND] = folder, item, kind
    collection.objects.link(made)
    return made


def _remove_others(collection, folder, tables, has_ground):
    """Remove what an earlier import showed and the folder no longer has. Objects of the user are left alone."""
    listed = {entry["name"] for entry in (*tables["pieces"], *tables["obstacles"])} | {"camera"}
    for thing in list(collection.objects):
        is_listed = thing.get(ITEM) in listed or (has_ground and thing.get(ITEM) == "ground")
        if thing.get(FOLDER) == folder and not is_listed:
            bpy.data.objects.remove(thing)


def _dress(mesh, materials):
    """The slots of a mesh; those that are there keep what was put into them."""
    for k, material in enumerate(materials):
        if k >= len(mesh.materials):
            mesh.materials.append(material)


def _camera(scene, collection, folder):
    for known in collection.objects:
        if known.get(KIND) == "camera":
            return
    data = bpy.data.cameras.new("spume camera")
    data.sensor_fit = "VERTICAL"
    made = bpy.data.objects.new("spume camera", data)
    made[FOLDER], made[ITEM], made[KIND] = folder, "camera", "camera"
    collection.objects.link(made)
    if scene.camera is None:
        scene.camera = made


def animate(collection, folder, numbers):
    """Keyframes of what moves as a whole: obstacles and the camera. Frames that have them are left alone, unless the
    files of some have been replaced: then all are made again."""
    now, done = cache.stamps(folder), json.loads(collection.get("spume_stamps", "{}"))
    moving = [thing for thing in collection.objects if thing.get(KIND) in ("obstacle", "camera")]
    if any(now.get(number) != stamp for number, stamp in done.items()):
        done = {}
        for thing in moving:
            thing.animation_data_clear()
            thing.data.animation_data_clear()
    for number in (number for number in numbers if str(number) not in done):
        arrays = cache.frame(folder, number)
        for thing in moving:
            place = arrays.get(f"{thing.get(ITEM)}/place")
            if place is None:
                continue
            thing.rotation_mode = "QUATERNION"
            before = thing.rotation_quaternion.copy()
            thing.matrix_world = Matrix(place.tolist())
            thing.rotation_quaternion.make_compatible(before)
            thing.keyframe_insert("location", frame=number)
            thing.keyframe_insert("rotation_quaternion", frame=number)
            if thing.get(KIND) == "camera":
                thing.data.angle_y = float(arrays["camera/angle"])
                thing.data.dof.focus_distance = float(arrays["camera/focus"])
                thing.data.clip_start, thing.data.clip_end = 1e-4, 1e4
                thing.data.keyframe_insert("lens", frame=number)
    collection["spume_stamps"] = json.dumps(now)


def show(scene):
    """The arrays of the scene's present frame, in all objects that show a folder."""
    seen = {}
    for thing in scene.objects:
        folder = thing.get(FOLDER)
        if folder is None or thing.get(KIND) not in ("mesh", "points", "lines", "obstacle"):
            continue
        if not cache.is_cache(folder):  # moved or deleted: the last frame that was shown stays
            continue
        if folder not in seen:
            wanted = scene.frame_current - thing.get("spume_offset", 0)
            number = cache.nearest_frame(cache.frame_numbers(folder), wanted)
            seen[folder] = {} if number is None else cache.frame(folder, number)
        _show(thing, seen[folder])


def _show(thing, arrays):
    item, kind = thing[ITEM], thing[KIND]
    x = arrays.get(f"{item}/x")
    if kind == "obstacle":
        if x is not None:  # it deforms
            thing.data.vertices.foreach_set("co", x.ravel())
            _vectors(thing.data, "velocity", arrays[f"{item}/v"])
            thing.data.update()
        return
    if x is None:
        thing.data.clear_geometry()
        return
    mesh = thing.data
    if kind == "mesh":
        fill(mesh, x, arrays[f"{item}/triangles"], arrays.get(f"{item}/normals"))
        slots = list(thing["spume_materials"])
        faces = np.array([slots.index(k) if k in slots else 0 for k in range(max(slots, default=0) + 1)], np.int32)
        kinds = np.clip(arrays[f"{item}/material"], 0, len(faces) - 1)
        mesh.polygons.foreach_set("material_index", faces[kinds])
    else:
        mesh.clear_geometry()
        mesh.vertices.add(len(x))
        mesh.vertices.foreach_set("co", x.ravel())
        if kind == "lines":
            _edges(mesh, arrays[f"{item}/lines"], len(x))
    if f"{item}/color" in arrays:
        color = np.ones((len(x), 4), np.float32)
        color[:, :3] = arrays[f"{item}/color"]
        attribute = mesh.attributes.new(looks.TINT, "FLOAT_COLOR", "POINT")
        attribute.data.foreach_set("color", color.ravel())
    if f"{item}/v" in arrays:
        _vectors(mesh, "velocity", arrays[f"{item}/v"])
    for name, values in arrays.items():
        if name.startswith(f"{item}/@") and len(values) == len(x):
            kind_of = "INT" if values.dtype.kind == "i" else "FLOAT"
            attribute = mesh.attributes.new(name.partition("@")[2], kind_of, "POINT")
            attribute.data.foreach_set("value", values)
    mesh.update()


def fill(mesh, x, triangles, normals=None):
    """Replace the geometry of a mesh; its materials stay."""
    mesh.clear_geometry()
    mesh.vertices.add(len(x))
    mesh.vertices.foreach_set("co", np.ascontiguousarray(x, np.float32).ravel())
    mesh.loops.add(3 * len(triangles))
    mesh.loops.foreach_set("vertex_index", np.ascontiguousarray(triangles, np.int32).ravel())
    mesh.polygons.add(len(triangles))
    mesh.polygons.foreach_set("loop_start", np.arange(0, 3 * len(triangles), 3, dtype=np.int32))
    mesh.update(calc_edges=True)
    mesh.shade_smooth()
    if normals is not None and len(normals) == len(x):
        mesh.normals_split_custom_set_from_vertices(np.ascontiguousarray(normals, np.float32))


def _fill_obstacle(mesh, arrays, key):
    fill(mesh, arrays[f"{key}/x"], arrays[f"{key}/triangles"])
    if f"{key}/uv" in arrays and not mesh.uv_layers:
        mesh.uv_layers.new(name="UVMap")
    if f"{key}/uv" in arrays:
        mesh.uv_layers[0].data.foreach_set("uv", arrays[f"{key}/uv"].ravel())
    if f"{key}/material" in arrays:
        mesh.polygons.foreach_set("material_index", arrays[f"{key}/material"])
    mesh.normals_split_custom_set(np.ascontiguousarray(arrays[f"{key}/normals"], np.float32))


def _edges(mesh, starts, count):
    """The edges between the points of each line; `starts` has the first point of each, then the number of points."""
    first = np.delete(np.arange(count), np.asarray(starts[1:]) - 1)
    mesh.edges.add(len(first))
    mesh.edges.foreach_set("vertices", np.stack([first, first + 1], axis=1).astype(np.int32).ravel())


def _vectors(mesh, name, values):
    attribute = mesh.attributes.get(name) or mesh.attributes.new(name, "FLOAT_VECTOR", "POINT")
    attribute.data.foreach_set("vector", np.ascontiguousarray(values, np.float32).ravel())
