"""Operators and the panel in the sidebar of the 3D view."""

import textwrap
from pathlib import Path

import bpy

from . import building, cache, launching, marking

JOBS = []
"""What spume does in the background."""
_states = {}


class SpumePreferences(bpy.types.AddonPreferences):
    """Where the program is."""

    bl_idname = __package__
    program: bpy.props.StringProperty(
        name="Program spume", subtype="FILE_PATH", description="The program spume; found on the search path if empty"
    )

    def draw(self, context):
        self.layout.prop(self, "program")


def spume_program(context):
    entry = context.preferences.addons.get(__package__)
    found = launching.program(entry.preferences.program if entry else "")
    if found is None:
        raise cache.CacheError("The program spume was not found: name it in the preferences of the extension Spume")
    return found


class SPUME_OT_import(bpy.types.Operator):
    """Import a run of spume, or a folder written by 'spume export --to blender-cache'"""

    bl_idname, bl_label = "spume.import_run", "Import a Spume Run"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012 - Blender's own convention
    directory: bpy.props.StringProperty(subtype="DIR_PATH")

    def invoke(self, context, event):
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def execute(self, context):
        folder = Path(bpy.path.abspath(self.directory))
        try:
            if cache.is_cache(folder):
                building.import_folder(context.scene, folder)
            elif cache.is_run(folder):
                start_export(context, folder)
            else:
                raise cache.CacheError(f"'{folder}' is neither a run of spume nor a folder exported for Blender")
        except cache.CacheError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        return {"FINISHED"}


class SPUME_OT_refresh(bpy.types.Operator):
    """Read the frames of imported runs again, and export those that are new"""

    bl_idname, bl_label = "spume.refresh", "Refresh"

    def execute(self, context):
        try:
            for collection in bpy.data.collections:
                folder = collection.get(building.FOLDER)
                if folder is not None and cache.is_cache(folder):
                    offset = None if collection.get("spume_own", True) else collection["spume_offset"]
                    building.import_folder(context.scene, folder, offset)
                    run = collection.get("spume_run")
                    if run and cache.is_run(run):
                        start_export(context, Path(run), None, offset)
        except cache.CacheError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        return {"FINISHED"}


class SPUME_OT_run(bpy.types.Operator):
    """Write the marked objects as a scene, run it in the background, and show its frames as they appear"""

    bl_idname, bl_label = "spume.run", "Simulate"

    def execute(self, context):
        folder = Path(bpy.path.abspath(context.scene.spume.folder))
        try:
            if context.scene.spume.folder.startswith("//") and not bpy.data.filepath:
                raise cache.CacheError("Save the file first, or give a folder that does not begin with //")
            spume = spume_program(context)
            file, count = marking.write_scene(context, folder)
        except (cache.CacheError, marking.MarkingError) as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        run = folder / "run"
        context.scene["spume_error"] = ""
        JOBS.append(launching.Job("Simulating", [launching.run_command(spume, file, run)], folder, run, count))
        JOBS[-1].what, JOBS[-1].offset = context.scene.spume.what, context.scene.frame_start
        for thing in context.scene.objects:  # the run shows their material instead
            if thing.spume.kind == "BODY":
                thing.hide_render, thing.display_type = True, "WIRE"
        watch()
        return {"FINISHED"}


class SPUME_OT_stop(bpy.types.Operator):
    """Stop what spume does in the background; 'spume resume' continues a run"""

    bl_idname, bl_label = "spume.stop", "Stop"

    def execute(self, context):
        for job in JOBS:
            job.stop()
        return {"FINISHED"}


class SPUME_PT_panel(bpy.types.Panel):
    """The panel in the sidebar."""

    bl_label, bl_idname = "Spume", "SPUME_PT_panel"
    bl_space_type, bl_region_type, bl_category = "VIEW_3D", "UI", "Spume"

    def draw(self, context):
        layout, settings, thing = self.layout, context.scene.spume, context.object
        if thing is not None:
            own = thing.spume
            box = layout.box()
            box.label(text=thing.name)
            box.prop(own, "kind")
            keys = {
                "BODY": ("material", "velocity", "start"), "OBSTACLE": ("contact", "friction"),
                "PLANE": ("contact", "friction"), "EMITTER": ("material", "radius", "speed", "stop"),
            }  # fmt: skip
            for key in keys.get(own.kind, ()):
                box.prop(own, key)
        for key in ("method", "cell", "folder", "what", "follow"):
            layout.prop(settings, key)
        layout.operator("spume.run", icon="PLAY")
        for job in JOBS:
            text = job.last_line()[:60]
            if hasattr(layout, "progress") and job.frames:
                layout.progress(factor=job.progress(), text=job.label)
            layout.label(text=text or job.label)
        if JOBS:
            layout.operator("spume.stop", icon="CANCEL")
        for k, line in enumerate(textwrap.wrap(context.scene.get("spume_error", ""), 48)):
            layout.label(text=line, icon="ERROR" if k == 0 else "BLANK1")
        row = layout.row()
        row.operator("spume.import_run", icon="IMPORT")
        row.operator("spume.refresh", icon="FILE_REFRESH")


def tell(scene, sentence):
    """Print what went wrong in the console, and show it in the panel until something else is started."""
    print(f"spume: {sentence}")
    scene["spume_error"] = sentence


def start_export(context, run, what=None, offset=None):
    """Write the frames of a run that are missing for Blender, and import them as they appear."""
    folder = run / "export" / "blender"
    command = launching.export_command(spume_program(context), run, folder, what or context.scene.spume.what)
    JOBS.append(launching.Job("Exporting", [command], folder, None, launching.frames_of(run)))
    JOBS[-1].shows, JOBS[-1].source, JOBS[-1].offset = folder, run, offset
    watch()


def watch():
    if not bpy.app.timers.is_registered(tick):
        bpy.app.timers.register(tick, first_interval=1.0)


def tick():
    """Look after the jobs, import frames that have appeared; returns the seconds until the next time, or None."""
    context = bpy.context
    for job in list(JOBS):
        running = job.poll()
        _show_new_frames(context, job)
        if not running:
            JOBS.remove(job)
            if job.error:
                tell(context.scene, job.error)
        run = getattr(job, "run", None)
        if run is not None and not any(getattr(each, "source", None) == run for each in JOBS):
            exported = getattr(job, "exported", 0)
            finished = launching.finished_frames(run)
            if finished > exported and (context.scene.spume.follow or not running):
                job.exported = finished
                start_export(context, run, getattr(job, "what", None), job.offset)
    return 1.0 if JOBS else None


def _show_new_frames(context, job):
    folder = getattr(job, "shows", None)
    if folder is None or not cache.is_cache(folder):
        return
    now = cache.state(folder)
    if now is None or _states.get(str(folder)) == now or not cache.frame_numbers(folder):
        return
    _states[str(folder)] = now
    try:
        collection = building.import_folder(context.scene, folder, job.offset)
        collection["spume_run"], collection["spume_own"] = str(job.source), job.offset is None
    except cache.CacheError as error:
        tell(context.scene, str(error))


CLASSES = (
    marking.SpumeObject, marking.SpumeScene, SpumePreferences, SPUME_OT_import, SPUME_OT_refresh, SPUME_OT_run,
    SPUME_OT_stop, SPUME_PT_panel,
)  # fmt: skip
