"""Pictures of runs made of points and meshes: in 2D as filled outlines, in 3D as lit skins."""

from importlib.util import find_spec
from typing import TYPE_CHECKING

from spume.errors import MissingExtra, SceneError
from spume.frames.extent import point_bounds, quantity_limits, run_dimension
from spume.frames.quantities import quantities
from spume.frames.reader import Run
from spume.look.pictures.drawing import Drawer, PictureOptions
from spume.terminal import tell

if TYPE_CHECKING:
    from spume.look.pictures.space_drawer import SpaceDrawer


def make_drawer(run: Run, options: PictureOptions) -> Drawer:
    """The drawer for a run of points."""
    dimension = run_dimension(run)
    limits = options.limits
    if options.color is not None:
        quantities(run[0], options.color)
        limits = limits or quantity_limits(run, options.color)
    if dimension == 2:
        if options.engine == "beauty":
            raise SceneError(f"'{run.path}' is 2D, and --beauty is for 3D runs; leave it out")
        from spume.look.pictures.plane_drawer import PlaneDrawer

        return PlaneDrawer(run, options, limits, *point_bounds(run))
    from spume.look.pictures.space_drawer import space_drawer

    drawer = space_drawer(run, options, limits)
    if options.engine == "beauty":
        return _beauty(drawer)
    return drawer


def _beauty(drawer: "SpaceDrawer") -> Drawer:
    """The drawer of the chosen renderer; 'auto' is Cycles if Blender is installed, else Mitsuba."""
    from spume.look.blender.process import has_blender

    if drawer.options.renderer == "cycles" or (drawer.options.renderer == "auto" and has_blender()):
        from spume.look.blender.render import CyclesDrawer

        return CyclesDrawer(drawer)
    from spume.look.pictures.beauty import BeautyDrawer

    if drawer.options.renderer == "auto":
        if find_spec("mitsuba") is None:
            raise MissingExtra("blender", "bpy", "--beauty")
        tell("Blender is not installed: using Mitsuba, which is slower and noisier")
    return BeautyDrawer(drawer)
