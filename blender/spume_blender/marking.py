"""What objects of Blender are in a scene of spume, and the scene that they make."""

from pathlib import Path

import bpy
import numpy as np

from . import scene_text

KINDS = (
    ("NONE", "Nothing", "Not part of the simulation"),
    ("BODY", "Body", "Material that fills the mesh at the start"),
    ("OBSTACLE", "Obstacle", "A solid that the material cannot enter; it may move and deform"),
    ("PLANE", "Ground", "Everything below the object's own z axis is solid"),
    ("EMITTER", "Emitter", "A round opening across the object's own −z axis, from which material flows"),
)
CONTACTS = (
    ("separate", "Separate", "Material cannot enter, and may leave"),
    ("stick", "Stick", "Material sticks"),
    ("slip", "Slip", "Material slides along and does not leave"),
)
METHODS = (
    ("continuum-foam", "Continuum foam", "Foams and creams that flow and tear"),
    ("mpm", "Material points", "Elastic solids, sand, water, clay"),
)


class MarkingError(Exception):
    """A sentence for the user."""


class SpumeObject(bpy.types.PropertyGroup):
    """What an object is in the scene."""

    kind: bpy.props.EnumProperty(name="Kind", items=KINDS, default="NONE")
    material: bpy.props.StringProperty(
        name="Material", default="shaving cream", description="A material of spume; 'spume materials' lists them"
    )
    contact: bpy.props.EnumProperty(name="Contact", items=CONTACTS, default="separate")
    friction: bpy.props.FloatProperty(name="Friction", default=0.0, min=0.0)
    velocity: bpy.props.FloatVectorProperty(name="Velocity", subtype="VELOCITY", unit="VELOCITY")
    speed: bpy.props.FloatProperty(name="Speed", default=0.1, min=0.0, unit="VELOCITY")
    radius: bpy.props.FloatProperty(name="Radius", default=0.01, min=0.0, unit="LENGTH")
    start: bpy.props.FloatProperty(name="Start", default=0.0, min=0.0, description="Seconds after the first frame")
    stop: bpy.props.FloatProperty(name="Stop", default=0.0, min=0.0, description="Seconds; 0 for the end")


class SpumeScene(bpy.types.PropertyGroup):
    """Settings of the whole simulation."""

    method: bpy.props.EnumProperty(name="Method", items=METHODS)
    cell: bpy.props.FloatProperty(name="Cell", default=0.01, min=1e-6, unit="LENGTH", precision=4)
    folder: bpy.props.StringProperty(name="Folder", default="//spume", subtype="DIR_PATH")
    what: bpy.props.EnumProperty(
        name="Show", items=(("surface", "Surface", "A skin around the points"), ("points", "Points", "The points"))
    )
    follow: bpy.props.BoolProperty(name="Follow", default=True, description="Import frames as they appear")


def write_scene(context, folder):
    """Write scene.toml and the meshes of the marked objects into `folder`; returns the file and how many frames."""
    scene, folder = context.scene, Path(folder)
    marked = [thing for thing in scene.objects if thing.spume.kind != "NONE"]
    if not any(thing.spume.kind in ("BODY", "EMITTER") for thing in marked):
        raise MarkingError("Mark an object as a body or an emitter first: nothing would be simulated")
    if abs(scene.unit_settings.scale_length - 1.0) > 1e-6:
        raise MarkingError(
            f"The unit scale of the scene is {scene.unit_settings.scale_length:g}: spume takes Blender's units for "
            "metres, so set it to 1 and scale the objects"
        )
    meshes = folder / "meshes"
    meshes.mkdir(parents=True, exist_ok=True)
    names = _file_names(marked)
    rate = scene.render.fps / scene.render.fps_base
    count = scene.frame_end - scene.frame_start + 1
    if count < 2:
        raise MarkingError("The scene has one frame: set the start and the end of the animation")
    sampled = _sampled(context, [thing for thing in marked if thing.spume.kind != "BODY"])
    bodies, emitters, obstacles = [], [], []
    present = scene.frame_current
    scene.frame_set(scene.frame_start)
    for thing, name in zip(marked, names):
        own = thing.spume
        if own.kind == "BODY":
            file = _write_mesh(context, thing, meshes / f"{name}.obj")
            bodies.append(
                {"name": thing.name, "material": own.material, "file": file, "velocity": own.velocity[:],
                 "start": own.start}
            )  # fmt: skip
        elif own.kind == "EMITTER":
            motion = scene_text.keyframes(sampled[thing.name][0], rate)
            if motion == "deforms":
                raise MarkingError(f"The emitter '{thing.name}' changes its size: only its place and rotation may move")
            emitters.append(
                {"name": thing.name, "material": own.material, "place": sampled[thing.name][0][0],
                 "radius": own.radius, "speed": own.speed, "stop": own.stop, "motion": motion}
            )  # fmt: skip
        else:
            obstacles.append(_obstacle(context, thing, meshes, name, sampled.get(thing.name), rate))
    scene.frame_set(present)
    text = scene_text.text(
        bpy.path.display_name(bpy.data.filepath) or "From Blender", scene.spume.method, scene.spume.cell,
        (count - 1) / rate, rate, scene.gravity if scene.use_gravity else (0.0, 0.0, 0.0), bodies, emitters, obstacles,
    )  # fmt: skip
    file = folder / "scene.toml"
    file.write_text(text, encoding="utf-8")
    return file, count


def _obstacle(context, thing, meshes, name, sampled, rate):
    own = thing.spume
    entry = {"name": thing.name, "contact": own.contact, "friction": own.friction, "motion": None, "color": None}
    if thing.active_material is not None:
        entry["color"] = thing.active_material.diffuse_color[:3]
    places, shapes = sampled
    if own.kind == "PLANE":
        return entry | {"plane": places[0], "motion": scene_text.keyframes([unscaled(place) for place in places], rate)}
    motion = scene_text.keyframes(places, rate)
    still = all(len(x) == len(shapes[0]) and np.abs(x - shapes[0]).max(initial=0.0) < 1e-7 for x in shapes)
    if still and motion != "deforms":
        return entry | {"file": _write_mesh(context, thing, meshes / f"{name}.obj"), "motion": motion}
    if len({len(x) for x in shapes}) > 1:
        raise MarkingError(f"The obstacle '{thing.name}' has another number of vertices in other frames")
    triangles = _mesh_of(context, thing)[1]
    own_folder = meshes / name  # a pattern such as 'Cube_*' would also find the files of 'Cube.001'
    own_folder.mkdir(exist_ok=True)
    for old in own_folder.glob("[0-9]*.obj"):  # of a longer animation
        old.unlink()
    for k, (place, x) in enumerate(zip(places, shapes)):
        _write_obj(own_folder / f"{k:05d}.obj", x, triangles, place)
    return entry | {"files": f"meshes/{name}/*.obj"}


def unscaled(place):
    """The rotation and the place of a 4 × 4 matrix."""
    made = np.array(place, dtype=float)
    made[:3, :3] /= np.linalg.norm(made[:3, :3], axis=0)
    if np.linalg.det(made[:3, :3]) < 0:
        made[:3, 0] *= -1.0
    return made


def _file_names(things):
    """A name of a file for each object, no two of which are equal, also where capitals do not count."""
    taken, found = set(), []
    for thing in things:
        plain = name = bpy.path.clean_name(thing.name)
        count = 1
        while name.casefold() in taken:
            count += 1
            name = f"{plain}-{count}"
        taken.add(name.casefold())
        found.append(name)
    return found


def _sampled(context, things):
    """The matrices of objects at every frame, and the vertices of obstacles in their own frames."""
    scene, present = context.scene, context.scene.frame_current
    found = {thing.name: ([], []) for thing in things}
    for number in range(scene.frame_start, scene.frame_end + 1):
        scene.frame_set(number)
        for thing in things:
            places, shapes = found[thing.name]
            graph = context.evaluated_depsgraph_get()
            places.append(np.array(thing.evaluated_get(graph).matrix_world))
            if abs(np.linalg.det(places[-1][:3, :3])) < 1e-18:
                scene.frame_set(present)
                raise MarkingError(f"'{thing.name}' has no size in frame {number}: its scale is zero")
            if thing.spume.kind == "OBSTACLE":
                shapes.append(_mesh_of(context, thing)[0])
    scene.frame_set(present)
    return found


def _mesh_of(context, thing):
    """Vertices and triangles of an object with its modifiers, in its own frame."""
    made = thing.evaluated_get(context.evaluated_depsgraph_get())
    try:
        mesh = made.to_mesh()
    except RuntimeError:
        raise MarkingError(f"'{thing.name}' has no surface: bodies and obstacles are meshes") from None
    if mesh is None or not len(mesh.polygons):
        raise MarkingError(f"'{thing.name}' has no surface: bodies and obstacles are meshes")
    mesh.calc_loop_triangles()
    x = np.empty(3 * len(mesh.vertices), np.float32)
    mesh.vertices.foreach_get("co", x)
    triangles = np.empty(3 * len(mesh.loop_triangles), np.int32)
    mesh.loop_triangles.foreach_get("vertices", triangles)
    made.to_mesh_clear()
    return x.reshape(-1, 3).astype(float), triangles.reshape(-1, 3)


def _write_mesh(context, thing, file):
    """Write an object as an OBJ file; returns its name relative to the scene."""
    _write_obj(file, *_mesh_of(context, thing), np.array(thing.matrix_world))
    return f"{file.parent.name}/{file.name}"


def _write_obj(file, x, triangles, place):
    """Write vertices of an object's own frame where its matrix puts them, facing outwards also if it mirrors them."""
    if np.linalg.det(place[:3, :3]) < 0:
        triangles = triangles[:, ::-1]
    file.write_text(scene_text.obj(x @ place[:3, :3].T + place[:3, 3], triangles))
