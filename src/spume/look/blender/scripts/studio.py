"""Runs inside Blender: builds a scene out of meshes, grains, looks, lights and a camera; renders it or saves it.

Needs nothing but bpy and NumPy. The folder given on the command line holds job.json and arrays.npz; report.json is left
there. Coordinates are Blender's: metres, z up.
"""

import json
import math
import sys
import time
from pathlib import Path

import bpy
import numpy as np
from mathutils import Matrix, Vector

TINT = "tint"
"""Attribute with the colours of vertices: Cycles does not find one called "color" on points."""


def main(folder):
    job = json.loads((folder / "job.json").read_text())
    arrays = np.load(folder / "arrays.npz")
    began = time.monotonic()
    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene
    materials = {name: principled(name, look) for name, look in job["looks"].items()}
    for name, look in job["looks"].items():
        if "texture" in look:
            add_texture(materials[name], look, arrays[look["texture"]], folder)
    for item in job["items"]:
        add_item(scene, item, arrays, materials)
    scene.render.resolution_x, scene.render.resolution_y = job["size"]
    add_world(scene, job["world"])
    if job["ground"] is not None:
        add_ground(scene, job["ground"], job["world"]["background"], job["world"]["glow"])
    things = bpy.data.collections.new("all but the ground")
    for thing in scene.objects:
        if thing.name != "ground":
            things.objects.link(thing)
    for light in job["lights"]:
        add_light(scene, light, None if light["reaches"] == "all" else things)
    add_camera(scene, job["camera"])
    settings(scene, job)
    report = {"objects": len(scene.objects), "built": time.monotonic() - began}
    if job["task"] == "render":
        scene.render.filepath = str(folder / "picture.png")
        bpy.ops.render.render(write_still=True)
        Path(job["out"]).write_bytes((folder / "picture.png").read_bytes())
    else:
        bpy.ops.wm.save_as_mainfile(filepath=job["out"], compress=True)
    report["seconds"] = time.monotonic() - began
    (folder / "report.json").write_text(json.dumps(report))


def principled(name, look):
    """A material with the looks of spume's table."""
    material = bpy.data.materials.new(name)
    material.use_nodes = True
    nodes, links = material.node_tree.nodes, material.node_tree.links
    shader = nodes["Principled BSDF"]
    inputs = shader.inputs
    inputs["Base Color"].default_value = (*look["color"], 1.0)
    inputs["Roughness"].default_value = look["roughness"]
    inputs["Metallic"].default_value = look["metallic"]
    inputs["Transmission Weight"].default_value = look["transparency"]
    inputs["IOR"].default_value = look["refraction"]
    inputs["Subsurface Weight"].default_value = look["subsurface"]
    inputs["Subsurface Radius"].default_value = look["radius"]
    inputs["Subsurface Scale"].default_value = look["depth"]
    material.diffuse_color = (*look["color"], 1.0 - 0.6 * look["transparency"])
    if look.get("absorption"):
        inside = nodes.new("ShaderNodeVolumeAbsorption")
        inside.inputs["Color"].default_value = (*look["absorption"]["color"], 1.0)
        inside.inputs["Density"].default_value = look["absorption"]["density"]
        links.new(inside.outputs[0], nodes["Material Output"].inputs["Volume"])
    if look["bubbles"]:
        add_bubbles(nodes, links, shader, look["bubbles"])
    if look["colored"]:
        attribute = nodes.new("ShaderNodeAttribute")
        attribute.attribute_name = TINT
        attribute.location = (-300, 300)
        links.new(attribute.outputs["Color"], inputs["Base Color"])
    return material


def add_texture(material, look, data, folder):
    """A picture, which is packed into the file, times the material's colour."""
    file = folder / Path(look["texture"]).name
    file.write_bytes(data.tobytes())
    nodes, links = material.node_tree.nodes, material.node_tree.links
    picture, tint = nodes.new("ShaderNodeTexImage"), nodes.new("ShaderNodeMix")
    picture.image = bpy.data.images.load(str(file))
    picture.image.pack()
    tint.data_type, tint.blend_type = "RGBA", "MULTIPLY"
    tint.inputs["Factor"].default_value = 1.0
    colors = [each for each in tint.inputs if each.type == "RGBA"]
    colors[1].default_value = (*look["color"], 1.0)
    links.new(picture.outputs["Color"], colors[0])
    mixed = next(each for each in tint.outputs if each.type == "RGBA")
    links.new(mixed, nodes["Principled BSDF"].inputs["Base Color"])


def add_bubbles(nodes, links, shader, size):
    """The fine unevenness of a foam's surface: bubbles of `size` [m]."""
    noise, bump, place = (nodes.new(f"ShaderNode{kind}") for kind in ("TexNoise", "Bump", "NewGeometry"))
    noise.inputs["Scale"].default_value = 0.5 / size
    noise.inputs["Detail"].default_value = 3.0
    bump.inputs["Strength"].default_value = 0.35
    bump.inputs["Distance"].default_value = 0.5 * size
    links.new(place.outputs["Position"], noise.inputs["Vector"])
    links.new(noise.outputs[0], bump.inputs["Height"])
    links.new(bump.outputs["Normal"], shader.inputs["Normal"])


def add_item(scene, item, arrays, materials):
    """A mesh or a cloud of grains; one that belongs to a single frame is seen in that frame alone."""
    key = item["key"]
    data = cloud(item, arrays) if item["kind"] == "grains" else mesh(item, arrays)
    for look in item.get("looks", [item["look"]]):
        data.materials.append(materials[look])
    thing = bpy.data.objects.new(item["name"], data)
    scene.collection.objects.link(thing)
    if item["kind"] == "grains":
        as_balls(thing, materials[item["look"]])
    places = arrays.get(f"{key}/places")
    if places is not None:
        thing.rotation_mode = "QUATERNION"
        for frame, matrix in zip(item["frames"], places):
            thing.matrix_world = Matrix(matrix.tolist())
            if len(places) > 1:
                for channel in ("location", "rotation_quaternion"):
                    thing.keyframe_insert(channel, frame=frame)
        if len(places) > 1:
            interpolate(thing, "LINEAR")
    if item["only"] is not None:
        for frame, hidden in ((item["only"][0] - 1, True), (item["only"][0], False), (item["only"][1], True)):
            thing.hide_render = thing.hide_viewport = hidden
            thing.keyframe_insert("hide_render", frame=frame)
            thing.keyframe_insert("hide_viewport", frame=frame)
        interpolate(thing, "CONSTANT")


def interpolate(thing, kind):
    action = thing.animation_data.action
    if hasattr(action, "fcurves"):
        curves = action.fcurves
    else:  # Blender 5 keeps curves in layers
        bag = action.layers[0].strips[0].channelbag(thing.animation_data.action_slot)
        curves = bag.fcurves
    for curve in curves:
        for point in curve.keyframe_points:
            point.interpolation = kind


def mesh(item, arrays):
    key = item["key"]
    vertices, triangles = arrays[f"{key}/vertices"], arrays[f"{key}/triangles"]
    made = bpy.data.meshes.new(item["name"])
    made.vertices.add(len(vertices))
    made.vertices.foreach_set("co", vertices.astype(np.float32).ravel())
    made.loops.add(3 * len(triangles))
    made.loops.foreach_set("vertex_index", triangles.astype(np.int32).ravel())
    made.polygons.add(len(triangles))
    made.polygons.foreach_set("loop_start", np.arange(0, 3 * len(triangles), 3, dtype=np.int32))
    made.update(calc_edges=True)
    made.shade_smooth()
    if f"{key}/uv" in arrays:
        made.uv_layers.new(name="UVMap").data.foreach_set("uv", arrays[f"{key}/uv"].astype(np.float32).ravel())
    if f"{key}/cover" in arrays:
        made.polygons.foreach_set("material_index", arrays[f"{key}/cover"].astype(np.int32))
    if f"{key}/corner colors" in arrays:
        paint(made, "CORNER", arrays[f"{key}/corner colors"])
    if f"{key}/corner normals" in arrays:
        made.normals_split_custom_set(arrays[f"{key}/corner normals"].astype(np.float32))
    if f"{key}/normals" in arrays:
        made.normals_split_custom_set_from_vertices(arrays[f"{key}/normals"].astype(np.float32))
    if f"{key}/colors" in arrays:
        paint(made, "POINT", arrays[f"{key}/colors"])
    add_velocity(made, arrays, key)
    made.validate()
    return made


def cloud(item, arrays):
    """Grains as loose vertices, which `as_balls` makes a cloud of balls of."""
    key = item["key"]
    x = arrays[f"{key}/vertices"]
    made = bpy.data.meshes.new(item["name"])
    made.vertices.add(len(x))
    made.vertices.foreach_set("co", x.astype(np.float32).ravel())
    radius = made.attributes.new("radius", "FLOAT", "POINT")
    radius.data.foreach_set("value", arrays[f"{key}/radii"].astype(np.float32))
    add_velocity(made, arrays, key)
    paint(made, "POINT", arrays[f"{key}/colors"])
    return made


def add_velocity(data, arrays, key):
    """The velocity [m/s] of each vertex, from which Cycles blurs meshes and points that are new in every frame."""
    if f"{key}/v" in arrays:
        attribute = data.attributes.new("velocity", "FLOAT_VECTOR", "POINT")
        attribute.data.foreach_set("vector", arrays[f"{key}/v"].astype(np.float32).ravel())


def as_balls(thing, material):
    """A modifier that turns vertices into points with the radius of their attribute; Cycles draws them as balls."""
    group = bpy.data.node_groups.new("grains", "GeometryNodeTree")
    group.interface.new_socket("Geometry", in_out="INPUT", socket_type="NodeSocketGeometry")
    group.interface.new_socket("Geometry", in_out="OUTPUT", socket_type="NodeSocketGeometry")
    nodes, links = group.nodes, group.links
    first, last = nodes.new("NodeGroupInput"), nodes.new("NodeGroupOutput")
    points, radius = nodes.new("GeometryNodeMeshToPoints"), nodes.new("GeometryNodeInputNamedAttribute")
    dress = nodes.new("GeometryNodeSetMaterial")
    radius.data_type = "FLOAT"
    radius.inputs["Name"].default_value = "radius"
    dress.inputs["Material"].default_value = material
    links.new(first.outputs[0], points.inputs["Mesh"])
    links.new(radius.outputs[0], points.inputs["Radius"])
    links.new(points.outputs[0], dress.inputs["Geometry"])
    links.new(dress.outputs[0], last.inputs[0])
    thing.modifiers.new("grains", "NODES").node_group = group


def paint(data, domain, colors):
    attribute = data.attributes.new(TINT, "FLOAT_COLOR", domain)
    full = np.ones((len(colors), 4), np.float32)
    full[:, :3] = colors
    attribute.data.foreach_set("color", full.ravel())


def add_world(scene, world):
    """A soft sky with bright panels that lights the scene; the camera sees the backdrop instead, brightest in the
    middle."""
    made = bpy.data.worlds.new("surroundings")
    made.use_nodes = True
    scene.world = made
    nodes, links = made.node_tree.nodes, made.node_tree.links
    nodes.clear()
    out = nodes.new("ShaderNodeOutputWorld")
    mix = nodes.new("ShaderNodeMixShader")
    path = nodes.new("ShaderNodeLightPath")
    sky, seen = nodes.new("ShaderNodeBackground"), nodes.new("ShaderNodeBackground")
    seen.inputs["Color"].default_value = (*world["background"], 1.0)
    # darker below than above, so that surfaces are modelled by the sky too
    ramp, height = nodes.new("ShaderNodeValToRGB"), nodes.new("ShaderNodeSeparateXYZ")
    coordinates, half = nodes.new("ShaderNodeTexCoord"), nodes.new("ShaderNodeMapRange")
    half.inputs["From Min"].default_value = -1.0
    ramp.color_ramp.elements[0].color = (*world["below"], 1.0)
    ramp.color_ramp.elements[1].color = (*world["above"], 1.0)
    links.new(coordinates.outputs["Generated"], height.inputs["Vector"])
    links.new(height.outputs["Z"], half.inputs["Value"])
    links.new(half.outputs["Result"], ramp.inputs["Fac"])
    light = ramp.outputs["Color"]
    for panel in world["panels"]:
        towards, edge, added = (nodes.new(f"ShaderNode{kind}") for kind in ("VectorMath", "MapRange", "VectorMath"))
        towards.operation, added.operation = "DOT_PRODUCT", "ADD"
        towards.inputs[1].default_value = panel["direction"]
        edge.interpolation_type = "SMOOTHSTEP"
        edge.inputs["From Min"].default_value, edge.inputs["From Max"].default_value = panel["from"], panel["to"]
        edge.inputs["To Max"].default_value = panel["strength"]
        links.new(coordinates.outputs["Generated"], towards.inputs[0])
        links.new(towards.outputs["Value"], edge.inputs["Value"])
        links.new(light, added.inputs[0])
        links.new(edge.outputs["Result"], added.inputs[1])
        light = added.outputs["Vector"]
    links.new(light, sky.inputs["Color"])
    links.new(glow(nodes, links, world["glow"], aspect_of(scene)), seen.inputs["Strength"])
    links.new(path.outputs["Is Camera Ray"], mix.inputs[0])
    links.new(sky.outputs[0], mix.inputs[1])
    links.new(seen.outputs[0], mix.inputs[2])
    links.new(mix.outputs[0], out.inputs["Surface"])


def aspect_of(scene):
    return scene.render.resolution_x / scene.render.resolution_y


def glow(nodes, links, brightness, aspect):
    """The brightness of the backdrop, which falls from the middle of the picture."""
    place, middle = nodes.new("ShaderNodeTexCoord"), nodes.new("ShaderNodeVectorMath")
    middle.operation = "SUBTRACT"
    middle.inputs[1].default_value = (0.5, 0.48, 0.0)
    stretch, length = nodes.new("ShaderNodeVectorMath"), nodes.new("ShaderNodeVectorMath")
    stretch.operation, length.operation = "MULTIPLY", "LENGTH"
    stretch.inputs[1].default_value = (aspect, 1.0, 0.0)
    fall = nodes.new("ShaderNodeMapRange")
    fall.interpolation_type = "SMOOTHSTEP"
    fall.inputs["From Max"].default_value = 1.1
    fall.inputs["To Min"].default_value = brightness[0]
    fall.inputs["To Max"].default_value = brightness[0] - brightness[1]
    links.new(place.outputs["Window"], middle.inputs[0])
    links.new(middle.outputs["Vector"], stretch.inputs[0])
    links.new(stretch.outputs["Vector"], length.inputs[0])
    links.new(length.outputs["Value"], fall.inputs["Value"])
    return fall.outputs["Result"]


def add_ground(scene, ground, background, brightness):
    """A wide disc that fades into the background with the distance behind the scene."""
    made = bpy.data.meshes.new("ground")
    count, reach = 96, ground["far"]
    ring = [
        (reach * math.cos(2 * math.pi * k / count), reach * math.sin(2 * math.pi * k / count), 0.0)
        for k in range(count)
    ]
    made.from_pydata(ring, [], [tuple(range(count))])
    material = principled("ground", ground["look"])
    nodes, links = material.node_tree.nodes, material.node_tree.links
    geometry, distance = nodes.new("ShaderNodeNewGeometry"), nodes.new("ShaderNodeVectorMath")
    fade, mix = nodes.new("ShaderNodeMapRange"), nodes.new("ShaderNodeMixShader")
    glow_shader = nodes.new("ShaderNodeEmission")
    # the distance behind the middle of the scene
    behind = nodes.new("ShaderNodeVectorMath")
    behind.operation, distance.operation = "SUBTRACT", "DOT_PRODUCT"
    behind.inputs[1].default_value = ground["middle"]
    distance.inputs[1].default_value = ground["away"]
    fade.interpolation_type = "SMOOTHERSTEP"
    fade.inputs["From Min"].default_value, fade.inputs["From Max"].default_value = ground["fade"]
    glow_shader.inputs["Color"].default_value = (*background, 1.0)
    links.new(geometry.outputs["Position"], behind.inputs[0])
    links.new(behind.outputs["Vector"], distance.inputs[0])
    links.new(glow(nodes, links, brightness, aspect_of(bpy.context.scene)), glow_shader.inputs["Strength"])
    links.new(distance.outputs["Value"], fade.inputs["Value"])
    links.new(fade.outputs["Result"], mix.inputs[0])
    links.new(nodes["Principled BSDF"].outputs[0], mix.inputs[1])
    links.new(glow_shader.outputs[0], mix.inputs[2])
    links.new(mix.outputs[0], nodes["Material Output"].inputs["Surface"])
    made.materials.append(material)
    thing = bpy.data.objects.new("ground", made)
    thing.location = ground["middle"]
    scene.collection.objects.link(thing)


def add_light(scene, light, receivers):
    made = bpy.data.lights.new(light["name"], "AREA")
    made.shape, made.size = "DISK", light["size"]
    made.energy, made.color = light["power"], light["color"]
    thing = bpy.data.objects.new(light["name"], made)
    thing.location = light["position"]
    aim = Vector(light["target"]) - Vector(light["position"])
    thing.rotation_euler = aim.to_track_quat("-Z", "Y").to_euler()
    scene.collection.objects.link(thing)
    if receivers is not None:
        thing.light_linking.receiver_collection = receivers


def add_camera(scene, camera):
    made = bpy.data.cameras.new("camera")
    made.sensor_fit = "VERTICAL"
    thing = bpy.data.objects.new("camera", made)
    scene.collection.objects.link(thing)
    thing.rotation_mode = "QUATERNION"
    moves = len(camera["views"]) > 1
    for frame, view in zip(camera["frames"], camera["views"]):
        position, target, up = (Vector(view[key]) for key in ("position", "target", "up"))
        back = (position - target).normalized()
        right = up.cross(back).normalized()
        turned = Matrix((right, back.cross(right), back)).transposed()
        thing.location, thing.rotation_quaternion = position, turned.to_quaternion()
        made.angle_y = math.radians(view["angle"])
        made.clip_start, made.clip_end = 1e-3 * camera["reach"], 100 * camera["reach"]
        made.dof.use_dof = view["aperture"] > 0
        if view["aperture"] > 0:
            made.dof.focus_distance = view["focus"]
            made.dof.aperture_fstop = made.lens / 1000 / view["aperture"]
        if moves:
            thing.keyframe_insert("location", frame=frame)
            thing.keyframe_insert("rotation_quaternion", frame=frame)
            made.keyframe_insert("lens", frame=frame)
            made.dof.keyframe_insert("focus_distance", frame=frame)
    scene.camera = thing


def settings(scene, job):
    render, cycles = scene.render, scene.cycles
    render.engine = "CYCLES"
    render.resolution_x, render.resolution_y = job["size"]
    render.resolution_percentage = 100
    render.fps, render.fps_base = round(job["rate"]), round(job["rate"]) / job["rate"]
    render.use_motion_blur, render.motion_blur_shutter = job["shutter"] > 0, max(job["shutter"], 0.01)
    scene.frame_start, scene.frame_end = job["range"]
    scene.frame_set(job["range"][0])
    render.image_settings.file_format = "PNG"
    if job["task"] == "render":
        render.threads_mode, render.threads = "FIXED", job["threads"]
    cycles.device = "CPU"
    cycles.samples = job["samples"]
    cycles.use_adaptive_sampling, cycles.adaptive_threshold = True, 0.02
    cycles.use_denoising, cycles.denoiser = True, "OPENIMAGEDENOISE"
    cycles.denoising_input_passes, cycles.denoising_prefilter = "RGB_ALBEDO_NORMAL", "FAST"
    cycles.max_bounces, cycles.transparent_max_bounces = 8, 8
    cycles.transmission_bounces, cycles.caustics_reflective = 8, False
    cycles.sample_clamp_indirect = 4.0
    scene.view_settings.view_transform = job["transform"]
    scene.view_settings.look = job["contrast"]
    scene.view_settings.exposure = job["exposure"]


if __name__ == "__main__":
    main(Path(sys.argv[-1]))
