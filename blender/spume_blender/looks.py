"""Materials of Blender from the looks of spume."""

from pathlib import Path

import bpy

TINT = "tint"
"""The attribute with the colours of vertices and points."""


def material(look, folder):
    """A material with the look of a table in scene.json. One that was made for this folder is used as it is, so that
    what was changed by hand stays when a run is imported again."""
    name, key = look["name"], f"{look['name']} of {folder}"
    for known in bpy.data.materials:
        if known.get("spume") == key:
            return known
    made = bpy.data.materials.new(name)
    made["spume"] = key
    made.use_nodes = True
    shader = made.node_tree.nodes["Principled BSDF"]
    inputs = shader.inputs
    inputs["Base Color"].default_value = (*look["color"], 1.0)
    inputs["Roughness"].default_value = look["roughness"]
    inputs["Metallic"].default_value = look["metallic"]
    inputs["Transmission Weight"].default_value = look["transparency"]
    inputs["IOR"].default_value = look["refraction"]
    inputs["Subsurface Weight"].default_value = look["subsurface"]
    inputs["Subsurface Radius"].default_value = look["radius"]
    inputs["Subsurface Scale"].default_value = look["depth"]
    made.diffuse_color = (*look["color"], 1.0 - 0.6 * look["transparency"])
    if look.get("colored"):
        node = made.node_tree.nodes.new("ShaderNodeAttribute")
        node.location = (-400, 300)
        node.attribute_name = TINT
        made.node_tree.links.new(node.outputs["Color"], shader.inputs["Base Color"])
    if look.get("texture"):
        _textured(made, shader, Path(folder) / look["texture"])
    return made


def _textured(made, shader, file):
    node = made.node_tree.nodes.new("ShaderNodeTexImage")
    node.location = (-400, 300)
    node.image = bpy.data.images.load(str(file), check_existing=True)
    made.node_tree.links.new(node.outputs["Color"], shader.inputs["Base Color"])
