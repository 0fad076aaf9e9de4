"""A .blend file: what pictures show, with looks, lights and camera, ready to be rendered or changed in Blender."""

from pathlib import Path

from spume.cores import cores
from spume.errors import SceneError
from spume.export.contents import Contents
from spume.export.remark import is_current, leave_remark
from spume.frames.extent import run_dimension
from spume.look.atomic import whole_file
from spume.look.blender.process import run_script
from spume.look.blender.studio import studio
from spume.look.pictures.drawing import PictureOptions
from spume.look.pictures.space_drawer import space_drawer

SAMPLES = 64


def write_blend(contents: Contents, file: Path, again: bool = False) -> bool:
    """Write the frames to `file`; returns whether that was needed.

    Each frame has meshes of its own, which are seen in that frame alone: their triangles differ from frame to frame."""
    if run_dimension(contents.run) == 2:
        raise SceneError(f"'{contents.run.path}' is 2D, and .blend files are written of runs in space")
    recipe = contents.recipe("blend")
    if not again and is_current(file, recipe):
        return False
    drawer = space_drawer(contents.run, PictureOptions(1920, 1080, show=contents.what), None)
    job = studio(drawer, contents.numbers, "save", SAMPLES, cores())
    with whole_file(file) as unfinished:
        run_script("studio", {**job.tables, "out": str(unfinished.resolve())}, job.arrays, "writing .blend files")
    leave_remark(file, recipe)
    return True
