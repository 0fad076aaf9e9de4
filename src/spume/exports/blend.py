"""A .blend file with the contents of pictures, materials, lights and camera, to be rendered or edited in Blender."""

from pathlib import Path

from spume.cores import cores
from spume.errors import SceneError
from spume.exports.contents import Contents
from spume.exports.remark import is_current, leave_remark
from spume.frames.extent import run_dimension
from spume.look.blender.process import run_script
from spume.look.blender.studio import studio
from spume.look.pictures.drawing import PictureOptions
from spume.look.pictures.space_drawer import space_drawer
from spume.whole_files import whole_file

SAMPLES = 64


def write_blend(contents: Contents, file: Path, again: bool = False) -> bool:
    """Write the frames to `file`; returns whether that was needed.

    Each frame has its own meshes, visible in that frame only, because triangles differ from frame to frame."""
    if run_dimension(contents.run) == 2:
        raise SceneError(f"'{contents.run.path}' is 2D, and .blend files can be written only for 3D runs")
    recipe = contents.recipe("blend")
    if not again and is_current(file, recipe):
        return False
    drawer = space_drawer(contents.run, PictureOptions(1920, 1080, show=contents.what), None)
    job = studio(drawer, contents.numbers, "save", SAMPLES, cores())
    with whole_file(file) as unfinished:
        run_script("studio", {**job.tables, "out": str(unfinished.resolve())}, job.arrays, "writing .blend files")
    leave_remark(file, recipe)
    return True
