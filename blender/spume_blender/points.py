"""Geometry nodes that show vertices as balls, or as instances of an object."""

import bpy

NAME = "Spume points"


def as_balls(thing, radius, material):
    """A modifier on an object of loose vertices. "Instance" may be an object that is put at every point; without it the
    points are balls, which Cycles blurs by their velocities."""
    modifier = thing.modifiers.get(NAME) or thing.modifiers.new(NAME, "NODES")
    modifier.node_group = _group()
    keys = {item.name: item.identifier for item in modifier.node_group.interface.items_tree if item.in_out == "INPUT"}
    modifier[keys["Radius"]] = radius
    modifier[keys["Material"]] = material
    return modifier


def remove(thing):
    """Show the vertices of an object as its mesh again."""
    modifier = thing.modifiers.get(NAME)
    if modifier is not None:
        thing.modifiers.remove(modifier)


def _group():
    known = bpy.data.node_groups.get(NAME)
    if known is not None:
        return known
    group = bpy.data.node_groups.new(NAME, "GeometryNodeTree")
    sockets = group.interface
    sockets.new_socket("Geometry", in_out="OUTPUT", socket_type="NodeSocketGeometry")
    sockets.new_socket("Geometry", in_out="INPUT", socket_type="NodeSocketGeometry")
    sockets.new_socket("Radius", in_out="INPUT", socket_type="NodeSocketFloat").default_value = 0.01
    sockets.new_socket("Material", in_out="INPUT", socket_type="NodeSocketMaterial")
    sockets.new_socket("Instance", in_out="INPUT", socket_type="NodeSocketObject")
    sockets.new_socket("Use Instance", in_out="INPUT", socket_type="NodeSocketBool")
    nodes, links = group.nodes, group.links
    first, last = nodes.new("NodeGroupInput"), nodes.new("NodeGroupOutput")
    balls, dress = nodes.new("GeometryNodeMeshToPoints"), nodes.new("GeometryNodeSetMaterial")
    source, copies = nodes.new("GeometryNodeObjectInfo"), nodes.new("GeometryNodeInstanceOnPoints")
    choice = nodes.new("GeometryNodeSwitch")
    choice.input_type = "GEOMETRY"
    for k, node in enumerate((first, balls, dress, source, copies, choice, last)):
        node.location = (220 * k, 0)
    links.new(first.outputs["Geometry"], balls.inputs["Mesh"])
    links.new(first.outputs["Radius"], balls.inputs["Radius"])
    links.new(balls.outputs[0], dress.inputs["Geometry"])
    links.new(first.outputs["Material"], dress.inputs["Material"])
    links.new(first.outputs["Instance"], source.inputs["Object"])
    links.new(first.outputs["Geometry"], copies.inputs["Points"])
    links.new(source.outputs["Geometry"], copies.inputs["Instance"])
    links.new(first.outputs["Radius"], copies.inputs["Scale"])
    links.new(first.outputs["Use Instance"], choice.inputs["Switch"])
    links.new(dress.outputs[0], choice.inputs["False"])
    links.new(copies.outputs[0], choice.inputs["True"])
    links.new(choice.outputs[0], last.inputs[0])
    return group
