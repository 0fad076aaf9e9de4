"""A .blend file with the contents of pictures, materials, lights and camera, to be rendered or edited in Blender.

The material of the run is one object for each piece and material, whose vertices and triangles Blender reads from a USD
file beside the .blend file (a mesh sequence cache). It needs neither spume nor scripts to be shown.
"""

import tempfile
from pathlib import Path
from typing import Any

from spume.cores import cores
from spume.errors import SceneError
from spume.exports.blender_cache import write_cache
from spume.exports.contents import Contents, default_place
from spume.exports.remark import is_current, leave_remark
from spume.frames.extent import run_dimension
from spume.look.blender.process import needed_blender, run_script
from spume.look.blender.studio import GRAINS_PER_POINT, studio
from spume.look.pictures.drawing import PictureOptions
from spume.look.pictures.space_drawer import space_drawer
from spume.whole_files import whole_file

SAMPLES = 64
PURPOSE = "writing .blend files"


def cache_file(file: Path) -> Path:
    """The file beside a .blend file with the meshes of all frames."""
    return file.with_name(f"{file.stem}_frames.usdc")


def write_blend(contents: Contents, file: Path, again: bool = False) -> bool:
    """Write the frames to `file` and the USD file beside it; returns whether that was needed.

    The arrays of each frame are kept in the run's folder export/blender-cache, so that an export that was stopped, or
    that is repeated when the run has gone on, prepares only the frames that are missing."""
    if run_dimension(contents.run) == 2:
        raise SceneError(f"'{contents.run.path}' is 2D, and .blend files can be written only for 3D runs")
    needed_blender(PURPOSE)
    recipe, cache = contents.recipe("blend"), cache_file(file)
    if not again and is_current(file, recipe) and cache.exists():
        return False
    frames = default_place(contents.run, "blender-cache" if contents.what == "surface" else "blender-cache-points")
    write_cache(contents, frames, again=again)
    drawer = space_drawer(contents.run, PictureOptions(1920, 1080, show=contents.what), None)
    job = studio(drawer, contents.numbers, "save", SAMPLES, cores(), material=False)
    with tempfile.TemporaryDirectory(prefix="spume-blend-") as folder, whole_file(cache) as unfinished_cache:
        base = Path(folder) / "base.blend"
        run_script("studio", {**job.tables, "out": str(base)}, job.arrays, PURPOSE)
        with whole_file(file) as unfinished:
            task: dict[str, Any] = {
                "base": str(base),
                "frames": str(frames.resolve()),
                "numbers": contents.numbers,
                "cache": str(unfinished_cache.resolve()),
                "shown": f"//{cache.name}",
                "out": str(unfinished.resolve()),
                "grains": _grains(contents),
            }
            run_script("cached", task, {}, PURPOSE)
    leave_remark(file, recipe)
    return True


def _grains(contents: Contents) -> dict[str, tuple[int, float, float]]:
    """For each material that is drawn as grains: how many for each point, their size in spacings, their variation."""
    finishes = enumerate(finish for _, finish in contents.materials)
    return {str(k): (GRAINS_PER_POINT, each.grain, each.variation) for k, each in finishes if each.grain}
