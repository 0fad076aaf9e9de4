"""Spume for Blender: shows runs of spume, and starts them from the objects of a scene."""

import bpy
from bpy.app.handlers import persistent

from . import building, panels


@persistent
def on_frame(scene, *_):
    """Show the frame that the scene has come to."""
    try:
        building.show(scene)
    except building.cache.CacheError as error:
        panels.tell(scene, str(error))


def menu(self, context):
    self.layout.operator(panels.SPUME_OT_import.bl_idname, text="Spume run (folder)")


def register():
    for each in panels.CLASSES:
        bpy.utils.register_class(each)
    bpy.types.Object.spume = bpy.props.PointerProperty(type=panels.marking.SpumeObject)
    bpy.types.Scene.spume = bpy.props.PointerProperty(type=panels.marking.SpumeScene)
    bpy.app.handlers.frame_change_pre.append(on_frame)
    if not bpy.app.background:
        bpy.types.TOPBAR_MT_file_import.append(menu)


def unregister():
    for job in panels.JOBS:
        job.stop()
    if not bpy.app.background:
        bpy.types.TOPBAR_MT_file_import.remove(menu)
    bpy.app.handlers.frame_change_pre.remove(on_frame)
    del bpy.types.Scene.spume, bpy.types.Object.spume
    for each in reversed(panels.CLASSES):
        bpy.utils.unregister_class(each)
