"""Foams and the materials around them.

scene = spume.load_scene("ball-bounce")              # a built-in name or a TOML file
simulation = spume.Simulation(scene)
simulation.advance(1 / 30)                           # simulation.particles.x, .v, ... are NumPy arrays
for frame in spume.open_run("out/ball-bounce"): ...  # frames from disk
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from spume.errors import CacheError, RunFailed, SceneError, SpumeError
from spume.version import __version__

if TYPE_CHECKING:
    from spume.frames.reader import Frame, Run, open_run
    from spume.materials.registry import load_law_file as load_laws
    from spume.materials.registry import register_law
    from spume.scene.common import Scene
    from spume.scene.loading import load_scene
    from spume.simulation import Simulation

__all__ = [
    "CacheError",
    "Frame",
    "Run",
    "RunFailed",
    "Scene",
    "SceneError",
    "Simulation",
    "SpumeError",
    "__version__",
    "load_laws",
    "load_scene",
    "open_run",
    "register_law",
]

# Imported on first use, so that `import spume` and the short commands stay quick.
_HOMES = {
    "Frame": "spume.frames.reader",
    "Run": "spume.frames.reader",
    "open_run": "spume.frames.reader",
    "Scene": "spume.scene.common",
    "load_scene": "spume.scene.loading",
    "Simulation": "spume.simulation",
    "load_laws": "spume.materials.registry:load_law_file",
    "register_law": "spume.materials.registry",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'spume' has no attribute '{name}'")
    module, _, attribute = _HOMES[name].partition(":")
    return getattr(import_module(module), attribute or name)


def __dir__() -> list[str]:
    return sorted(__all__)
