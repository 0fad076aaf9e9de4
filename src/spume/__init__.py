"""Foams and the materials around them.

scene = spume.load_scene("ball-bounce")              # a built-in name, a TOML file or a dict
run = spume.run(scene, "out/ball-bounce")            # frames on disk; spume.resume continues a stopped run
for frame in run[::10]: ...                          # frame.x, frame.v, ... are NumPy arrays
spume.render(run)                                    # pictures, a contact sheet and a film
spume.export(run, "usd")                             # for other programs
simulation = spume.Simulation(scene)                 # or in memory, without files
simulation.advance(1 / 30)                           # simulation.particles.x, .v, ... are NumPy arrays
"""

from typing import TYPE_CHECKING

from spume.errors import CacheError, MissingExtra, RunFailed, SceneError, SpumeError
from spume.lazy import lazy_names
from spume.version import __version__

if TYPE_CHECKING:
    from spume.api import Pictures, export, render, resume, run, surface
    from spume.frames.measurements import MeasuredSeries
    from spume.frames.populations import FramePopulations, PopulationArrays
    from spume.frames.reader import Frame, Frames, Run, open_run
    from spume.look.pictures.drawing import Drawer, PictureOptions, make_drawer
    from spume.look.surface.files import SkinReport
    from spume.materials.registry import load_law_file as load_laws
    from spume.materials.registry import register_law
    from spume.methods import Progress
    from spume.scene.common import Scene
    from spume.scene.loading import load_scene
    from spume.simulation import Simulation
    from spume.sweeps.calibration import Calibration, calibrate
    from spume.sweeps.samples import Range
    from spume.sweeps.sweep import Sweep, resume_sweep, sweep

__all__ = [
    "CacheError",
    "Calibration",
    "Drawer",
    "Frame",
    "FramePopulations",
    "Frames",
    "MeasuredSeries",
    "MissingExtra",
    "PictureOptions",
    "Pictures",
    "PopulationArrays",
    "Progress",
    "Range",
    "Run",
    "RunFailed",
    "Scene",
    "SceneError",
    "Simulation",
    "SkinReport",
    "SpumeError",
    "Sweep",
    "__version__",
    "calibrate",
    "export",
    "load_laws",
    "load_scene",
    "make_drawer",
    "open_run",
    "register_law",
    "render",
    "resume",
    "resume_sweep",
    "run",
    "surface",
    "sweep",
]

_HOMES = {
    "Calibration": "spume.sweeps.calibration",
    "Drawer": "spume.look.pictures.drawing",
    "Frame": "spume.frames.reader",
    "FramePopulations": "spume.frames.populations",
    "Frames": "spume.frames.reader",
    "MeasuredSeries": "spume.frames.measurements",
    "PictureOptions": "spume.look.pictures.drawing",
    "Pictures": "spume.api",
    "PopulationArrays": "spume.frames.populations",
    "Progress": "spume.methods",
    "Range": "spume.sweeps.samples",
    "Run": "spume.frames.reader",
    "Scene": "spume.scene.common",
    "Simulation": "spume.simulation",
    "SkinReport": "spume.look.surface.files",
    "Sweep": "spume.sweeps.sweep",
    "calibrate": "spume.sweeps.calibration",
    "export": "spume.api",
    "load_laws": "spume.materials.registry:load_law_file",
    "load_scene": "spume.scene.loading",
    "make_drawer": "spume.look.pictures.drawing",
    "open_run": "spume.frames.reader",
    "register_law": "spume.materials.registry",
    "render": "spume.api",
    "resume": "spume.api",
    "resume_sweep": "spume.sweeps.sweep",
    "run": "spume.api",
    "surface": "spume.api",
    "sweep": "spume.sweeps.sweep",
}


__getattr__ = lazy_names(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted(__all__)
